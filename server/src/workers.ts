import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from 'pino'

/** What a worker tells the process that started it, once it listens. */
export interface Listening {
  readonly origin: string
  readonly notes: string
}

interface Stop {
  readonly drainMs: number
}

/** A worker that died is replaced after as long, in milliseconds, so that one that cannot start does not keep the machine busy. */
const replacementPauseMs = 500

export interface Supervision {
  readonly count: number
  readonly logger: Logger
  readonly onListening: (listening: Listening) => void
  /** A worker listens: one of the first, or one in the place of another. */
  readonly onWorker: (worker: Worker) => void
  /** Resolves with how long to drain, once the workers are to stop. */
  readonly toldToStop: Promise<number>
}

/**
 * Runs worker processes that share the port, each a service of its own, until told to stop, and replaces those that die.
 * @returns the exit code: that of the first worker where it does not get to listen.
 */
export async function superviseWorkers({
  count,
  logger,
  onListening,
  onWorker,
  toldToStop,
}: Supervision): Promise<number> {
  const fork = () => {
    const worker = cluster.fork()
    void listeningOf(worker).then(() => onWorker(worker))
    return worker
  }
  // It brings the tables up to date, makes the secret key and the first API tokens: once, and before any other needs them.
  const first = fork()
  const started = await Promise.race([listeningOf(first), exitCodeOf(first)])
  if (typeof started === 'number') return started
  let isStopping = false
  const replaceOnExit = (worker: Worker) => {
    worker.once('exit', (code: number | null, signal: string | null) => {
      if (isStopping) return
      logger.error({ pid: worker.process.pid, code, signal }, 'worker died')
      setTimeout(() => {
        if (!isStopping) replaceOnExit(fork())
      }, replacementPauseMs)
    })
  }
  replaceOnExit(first)
  const others = Array.from({ length: count - 1 }, fork)
  others.forEach(replaceOnExit)
  await Promise.all(others.map((worker) => Promise.race([listeningOf(worker), exitCodeOf(worker)])))
  onListening(started)
  const drainMs = await toldToStop
  isStopping = true
  await Promise.all(
    Object.values(cluster.workers ?? {}).map(async (worker) => {
      if (worker === undefined || worker.isDead()) return
      const exited = once(worker, 'exit')
      worker.send({ drainMs } satisfies Stop)
      await exited
    }),
  )
  return 0
}

/** In a worker, before it starts: resolves with how long to drain, once it is to stop. */
export async function toldBySupervisor(): Promise<number> {
  for (;;) {
    const [message] = (await once(process, 'message')) as [object]
    if ('drainMs' in message) return (message as Stop).drainMs
  }
}

/** In a worker: tells the process that started it that it listens. */
export function tellSupervisor({ origin, notes }: Listening): void {
  process.send?.({ origin, notes } satisfies Listening)
}

async function listeningOf(worker: Worker): Promise<Listening> {
  const [listening] = (await once(worker, 'message')) as [Listening]
  return listening
}

async function exitCodeOf(worker: Worker): Promise<number> {
  const [code] = (await once(worker, 'exit')) as [number | null]
  return code ?? 1
}
