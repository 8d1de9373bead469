import { OperatorError } from '../domain/util/operator-error.ts'
import cluster, { type Worker } from 'node:cluster'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { FirstStart } from './first-start.ts'

/** Message of a worker to the supervisor once it listens. */
export interface Listening {
  readonly origin: string
  readonly firstStart: FirstStart
}

interface Stop {
  readonly drainMs: number
}

/** Pause before a dead worker is replaced. Doubles with each consecutive early death, up to `maxPauseMs`. */
const firstPauseMs = 500
const maxPauseMs = 10_000
/** A worker that dies within this time dies early. */
const earlyDeathMs = 10_000
/** The supervisor gives up if no worker listens and each has failed to start this many times in a row. */
const maxFailedStarts = 4
/** Environment variable with the number of a worker, from 0. A replacement has the number of its predecessor. */
const numberVariable = 'UGS_WORKER_NUMBER'

export interface Supervision {
  readonly count: number
  readonly logger: Logger
  readonly onListening: (listening: Listening) => void
  /** Runs whenever a worker listens, replacements included. */
  readonly onWorker: (worker: Worker) => void
  /** Resolves with the drain time in milliseconds when the workers must stop. */
  readonly stopRequested: Promise<number>
}

/** State of a worker and its replacements. */
interface Slot {
  readonly number: number
  isListening: boolean
  /** Consecutive workers that died early. */
  earlyDeaths: number
  /** Consecutive workers that died before they listened. */
  failedStarts: number
}

/**
 * Runs worker processes that share the port until a stop is requested, and replaces workers that die.
 * @returns exit code: that of the first worker if it fails to start, otherwise 0
 * @throws OperatorError if no worker runs and none can be started
 */
export async function superviseWorkers(supervision: Supervision): Promise<number> {
  const workers = new Workers(supervision)
  // The first worker creates the tables, the secret key and the first API tokens, which the others need.
  const started = await workers.startFirst()
  if (typeof started === 'number') return started
  await workers.startOthers()
  supervision.onListening(started)
  const end = await Promise.race([supervision.stopRequested, workers.gaveUp])
  await workers.stop(end === 'gave up' ? 0 : end)
  if (end === 'gave up') {
    throw new OperatorError(
      `no worker can be started: each failed ${maxFailedStarts} times in a row, for the reasons logged above`,
    )
  }
  return 0
}

class Workers {
  readonly #logger: Logger
  readonly #onWorker: (worker: Worker) => void
  readonly #slots: readonly Slot[]
  readonly #stopping = new AbortController()
  #giveUp!: () => void
  readonly gaveUp = new Promise<'gave up'>((resolve) => (this.#giveUp = () => resolve('gave up')))

  constructor({ count, logger, onWorker }: Pick<Supervision, 'count' | 'logger' | 'onWorker'>) {
    this.#logger = logger
    this.#onWorker = onWorker
    this.#slots = Array.from({ length: count }, (_, number) => {
      return { number, isListening: false, earlyDeaths: 0, failedStarts: 0 }
    })
  }

  /** Starts the first worker. Returns its exit code if it does not get to listen. */
  async startFirst(): Promise<Listening | number> {
    const first = this.#slots[0] as Slot
    const worker = this.#fork(first)
    const started = await Promise.race([listeningOf(worker), exitCodeOf(worker)])
    if (typeof started !== 'number') this.#replaceOnExit(first, worker)
    return started
  }

  async startOthers(): Promise<void> {
    const starts = this.#slots.slice(1).map((slot) => {
      const worker = this.#fork(slot)
      this.#replaceOnExit(slot, worker)
      return Promise.race([listeningOf(worker), exitCodeOf(worker)])
    })
    await Promise.all(starts)
  }

  async stop(drainMs: number): Promise<void> {
    this.#stopping.abort()
    await Promise.all(
      Object.values(cluster.workers ?? {}).map(async (worker) => {
        if (worker === undefined || worker.isDead()) return
        const exited = exitCodeOf(worker)
        // Ignores errors, because the worker may be dying.
        worker.send({ drainMs } satisfies Stop, () => undefined)
        await exited
      }),
    )
  }

  #fork(slot: Slot): Worker {
    const worker = cluster.fork({ [numberVariable]: slot.number })
    void listeningOf(worker).then(() => {
      slot.isListening = true
      slot.failedStarts = 0
      this.#onWorker(worker)
    })
    return worker
  }

  #replaceOnExit(slot: Slot, worker: Worker): void {
    const forkedAt = performance.now()
    worker.once('exit', (code: number | null, signal: string | null) => {
      if (this.#stopping.signal.aborted) return
      if (!slot.isListening) slot.failedStarts++
      slot.isListening = false
      slot.earlyDeaths = performance.now() - forkedAt < earlyDeathMs ? slot.earlyDeaths + 1 : 0
      const pauseMs = Math.min(firstPauseMs * 2 ** Math.max(slot.earlyDeaths - 1, 0), maxPauseMs)
      this.#logger.error({ pid: worker.process.pid, code, signal, pause_ms: pauseMs }, 'worker died')
      if (this.#slots.every((other) => !other.isListening && other.failedStarts >= maxFailedStarts)) {
        this.#giveUp()
      }
      sleep(pauseMs, undefined, { signal: this.#stopping.signal }).then(
        () => this.#replaceOnExit(slot, this.#fork(slot)),
        () => undefined,
      )
    })
  }
}

/** True in the worker that runs maintenance for all workers. */
export function isFirstWorker(): boolean {
  return process.env[numberVariable] === '0'
}

/** Called in a worker before it starts. Resolves with the drain time in milliseconds when the worker must stop. */
export function stopRequestedBySupervisor(): Promise<number> {
  return new Promise((resolve) => {
    process.on('message', (message: object) => {
      if ('drainMs' in message) resolve((message as Stop).drainMs)
    })
  })
}

/** Called in a worker. Reports to the supervisor that the worker listens. */
export function reportListening({ origin, firstStart }: Listening): void {
  process.send?.({ origin, firstStart } satisfies Listening)
}

function listeningOf(worker: Worker): Promise<Listening> {
  return new Promise((resolve) => worker.once('message', resolve))
}

function exitCodeOf(worker: Worker): Promise<number> {
  return new Promise((resolve) => worker.once('exit', (code: number | null) => resolve(code ?? 1)))
}
