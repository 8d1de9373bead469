import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { Worker } from 'node:worker_threads'
import type { Database, Statement } from 'better-sqlite3'
import type { CheckpointOutcome, CheckpointRequest } from './checkpoint-thread.ts'

/** Number of pages in the write-ahead log at which it is checkpointed. */
const maxPages = 4000
/**
 * Maximum size of the file of the log after it restarts, in bytes: 10,000 pages. It is larger only while a long read transaction keeps
 * the log from restarting.
 */
const maxFileBytes = 40 * 1_048_576
/** Size from which the file of an idle store is emptied, in bytes. A smaller one is left, because the next commits need it. */
const idleFileBytes = 4 * 1_048_576
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
  #hasCommitted = false

  constructor(database: Database, path: string) {
    this.#database = database
    this.#path = path
    this.#setCommits(false)
    // SQLite never shrinks the file otherwise.
    database.pragma(`journal_size_limit = ${maxFileBytes}`)
    this.#askLength = database.prepare('PRAGMA wal_checkpoint(NOOP)')
  }

  get isRunning(): boolean {
    return this.#isRunning
  }

  /** Call it after a commit that wrote. */
  afterCommit(): void {
    this.#hasCommitted = true
    const now = performance.now()
    if (this.#isRunning || now - this.#askedAt < askEveryMs) return
    this.#askedAt = now
    const length = this.#askLength.get()
    if (length === undefined || length.log - length.checkpointed < maxPages) return
    this.#request({ path: this.#path, truncates: false })
  }

  /** Empties the file of the log if it is too large, or large and nothing was written since the last call. */
  async shrinkLog(): Promise<void> {
    const isIdle = !this.#hasCommitted
    this.#hasCommitted = false
    const { size } = await stat(`${this.#path}-wal`)
    if (!this.#isRunning && size > (isIdle ? idleFileBytes : maxFileBytes))
      this.#request({ path: this.#path, truncates: true })
  }

  #request(request: CheckpointRequest): void {
    this.#isRunning = true
    this.#worker ??= this.#start()
    this.#worker.postMessage(request)
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
