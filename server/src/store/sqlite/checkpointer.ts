import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Database, Statement } from 'better-sqlite3'

/**
 * Number of pages in the write-ahead log at which the thread checkpoints them: few, because commits wait while the disk writes
 * them.
 */
const threadPages = 1000
/** Length of the write-ahead log, in pages, at which a commit checkpoints it. */
export const commitPages = 4000
/** Minimum interval of checks of the log's length, in milliseconds. */
const askEveryMs = 20

/**
 * Checkpoints the write-ahead log in a separate thread, so that no response waits for it. Pages added meanwhile are few; the commit
 * that finds the log too long checkpoints them, and the log restarts.
 */
export class Checkpointer {
  readonly #path: string
  readonly #askLength: Statement<[], { log: number; checkpointed: number }>
  #askedAt = -Infinity
  #worker: Worker | undefined
  #isRunning = false
  /** No thread can be started; commits do all checkpoints. */
  #isBroken = false

  constructor(database: Database, path: string) {
    this.#path = path
    this.#askLength = database.prepare('PRAGMA wal_checkpoint(NOOP)')
  }

  /** Call it after a commit that wrote. */
  afterCommit(): void {
    const now = performance.now()
    if (this.#isRunning || this.#isBroken || now - this.#askedAt < askEveryMs) return
    this.#askedAt = now
    const length = this.#askLength.get()
    if (length === undefined || length.log - length.checkpointed < threadPages) return
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
    worker.on('message', () => (this.#isRunning = false))
    worker.on('error', () => {
      this.#isRunning = false
      this.#isBroken = true
    })
    return worker
  }
}
