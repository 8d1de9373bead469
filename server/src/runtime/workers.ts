import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'

/** What a worker tells the process that started it, once it listens. */
export interface Listening {
  readonly origin: string
  readonly notes: string
}

interface Stop {
  readonly drainMs: number
}

/** A worker that died is replaced after the first pause, in milliseconds; one that dies soon each time after twice as long each time. */
const firstPauseMs = 500
const maxPauseMs = 10_000
/** One that has lived for as long, in milliseconds, did not die soon. */
const soonMs = 10_000
/** Where no worker listens, and each of them has failed to start so many times on end, no more are started. */
const maxFailedStarts = 4
/** Tells a worker which of them it is, from 0 on; one in the place of another has its number. */
const numberVariable = 'UGS_WORKER_NUMBER'

/** The service has ended by itself. For the operator. */
export class WorkersError extends Error {
  override readonly name = 'WorkersError'
}

export interface Supervision {
  readonly count: number
  readonly logger: Logger
  readonly onListening: (listening: Listening) => void
  /** A worker listens: one of the first, or one in the place of another. */
  readonly onWorker: (worker: Worker) => void
  /** Resolves with how long to drain, once the workers are to stop. */
  readonly toldToStop: Promise<number>
}

/** A worker and those that come in its place. */
interface Place {
  readonly number: number
  isListening: boolean
  /** Of those, one after another, that died soon. */
  soonDead: number
  /** Of those, one after another, that did not get to listen. */
  failedStarts: number
}

/**
 * Runs worker processes that share the port, each a service of its own, until told to stop, and replaces those that die.
 * @returns the exit code: that of the first worker where it does not get to listen.
 * @throws WorkersError where all of them are gone, and no other can be started
 */
export async function superviseWorkers({
  count,
  logger,
  onListening,
  onWorker,
  toldToStop,
}: Supervision): Promise<number> {
  const over = new AbortController()
  let giveUp: () => void
  const gaveUp = new Promise<'gave up'>((resolve) => (giveUp = () => resolve('gave up')))
  const places = Array.from({ length: count }, (_, number): Place => {
    return { number, isListening: false, soonDead: 0, failedStarts: 0 }
  })
  const fork = (place: Place) => {
    const worker = cluster.fork({ [numberVariable]: place.number })
    void listeningOf(worker).then(() => {
      place.isListening = true
      place.failedStarts = 0
      onWorker(worker)
    })
    return worker
  }
  const replaceOnExit = (place: Place, worker: Worker) => {
    const forkedAt = performance.now()
    worker.once('exit', (code: number | null, signal: string | null) => {
      if (over.signal.aborted) return
      if (!place.isListening) place.failedStarts++
      place.isListening = false
      place.soonDead = performance.now() - forkedAt < soonMs ? place.soonDead + 1 : 0
      const pauseMs = Math.min(firstPauseMs * 2 ** Math.max(place.soonDead - 1, 0), maxPauseMs)
      logger.error({ pid: worker.process.pid, code, signal, pause_ms: pauseMs }, 'worker died')
      if (places.every((one) => !one.isListening && one.failedStarts >= maxFailedStarts)) giveUp()
      sleep(pauseMs, undefined, over).then(
        () => replaceOnExit(place, fork(place)),
        () => undefined,
      )
    })
  }

  const [first, ...others] = places as [Place, ...Place[]]
  // It brings the tables up to date, makes the secret key and the first API tokens: once, and before any other needs them.
  const firstWorker = fork(first)
  const started = await Promise.race([listeningOf(firstWorker), exitCodeOf(firstWorker)])
  if (typeof started === 'number') return started
  replaceOnExit(first, firstWorker)
  await Promise.all(
    others.map((place) => {
      const worker = fork(place)
      replaceOnExit(place, worker)
      return Promise.race([listeningOf(worker), exitCodeOf(worker)])
    }),
  )
  onListening(started)
  const end = await Promise.race([toldToStop, gaveUp])
  over.abort()
  await stopAll(end === 'gave up' ? 0 : end)
  if (end === 'gave up') {
    throw new WorkersError(
      `no worker can be started: each failed ${maxFailedStarts} times on end, and said why above`,
    )
  }
  return 0
}

async function stopAll(drainMs: number): Promise<void> {
  await Promise.all(
    Object.values(cluster.workers ?? {}).map(async (worker) => {
      if (worker === undefined || worker.isDead()) return
      const exited = exitCodeOf(worker)
      // It may be dying.
      worker.send({ drainMs } satisfies Stop, () => undefined)
      await exited
    }),
  )
}

/** In a worker: whether it does for all of them what is to be done once. */
export function isFirstWorker(): boolean {
  return process.env[numberVariable] === '0'
}

/** In a worker, before it starts: resolves with how long to drain, once it is to stop. */
export function toldBySupervisor(): Promise<number> {
  return new Promise((resolve) => {
    process.on('message', (message: object) => {
      if ('drainMs' in message) resolve((message as Stop).drainMs)
    })
  })
}

/** In a worker: tells the process that started it that it listens. */
export function tellSupervisor({ origin, notes }: Listening): void {
  process.send?.({ origin, notes } satisfies Listening)
}

function listeningOf(worker: Worker): Promise<Listening> {
  return new Promise((resolve) => worker.once('message', resolve))
}

function exitCodeOf(worker: Worker): Promise<number> {
  return new Promise((resolve) => worker.once('exit', (code: number | null) => resolve(code ?? 1)))
}
