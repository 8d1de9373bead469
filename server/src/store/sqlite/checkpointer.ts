import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Database, Statement } from 'better-sqlite3'
import type { CheckpointOutcome } from './checkpoint-thread.ts'

/** Number of pages in the write-ahead log at which it is checkpointed. */
const maxPages = 4000
/** Minimum interval of checks of the log's length, in milliseconds. */
const askEveryMs = 20
/** Pause after a checkpoint that another process kept from reaching the end of the log, in milliseconds. */
const retryAfterMs = 500

/** Checkpoints the write-ahead log in a separate thread, so that the event loop does not wait for it. */
export class Checkpointer {
  readonly #database: Database
  readonly #path: string
  readonly #askLength: Statement<[], { log: number; checkpointed: number }>
  #askedAt = -Infinity
  #worker: Worker | undefined
  #isRunning = false

  constructor(database: Database, path: string) {
    this.#database = database
    this.#path = path
    this.#setCommits(false)
    this.#askLength = database.prepare('PRAGMA wal_checkpoint(NOOP)')
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Call it after a commit that wrote. */
  afterCommit(): void {
    const now = performance.now()
    if (this.#isRunning || now - this.#askedAt < askEveryMs) return
    this.#askedAt = now
    const length = this.#askLength.get()
    if (length === undefined || length.log - length.checkpointed < maxPages) return
    this.#isRunning = true
    this.#worker ??= this.#start()
    this.#worker.postMessage(this.#path)
  }

  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    // `once` rejects if the thread cannot be started.
    if (this.#isRunning)
      await Promise.race([once(worker, 'message'), once(worker, 'exit')]).catch(() => undefined)
    await worker.terminate()
  }

  #start(): Worker {
    const worker = new Worker(new URL('checkpoint-thread.js', import.meta.url))
    worker.unref()
    worker.on('message', (outcome: CheckpointOutcome) => {
      this.#isRunning = false
      if (outcome === 'blocked') this.#askedAt = performance.now() + retryAfterMs
      this.#setCommits(outcome === 'failed')
    })
    worker.on('error', () => undefined)
    // No thread can be started, or it has failed.
    worker.on('exit', () => {
      this.#isRunning = false
      this.#askedAt = Infinity
      this.#setCommits(true)
    })
    return worker
  }

  /** Sets whether commits checkpoint the log, which they do while the thread cannot. */
  #setCommits(doCheckpoint: boolean): void {
    this.#database.pragma(`wal_autocheckpoint = ${doCheckpoint ? maxPages : 0}`)
  }
}
