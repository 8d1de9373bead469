import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Database, Statement } from 'better-sqlite3'

/** How long the log gets before it is brought home by the thread, and, at the latest, by a commit, in pages. */
const threadPages = 3600
export const commitPages = 4000
/** The length of the log is asked for so often at most, in milliseconds. */
const askEveryMs = 20

/**
 * Brings what is in the log home to the database, in a thread of its own: no answer waits for the writing, nor for the disk.
 * What has been added meanwhile, the commit that finds the log too long brings home, which is little, and the log begins anew.
 */
export class Checkpointer {
  readonly #path: string
  readonly #askLength: Statement<[], { log: number; checkpointed: number }>
  #askedAt = -Infinity
  #worker: Worker | undefined
  #isRunning = false
  /** There is no thread to be had: the commits do it all. */
  #isBroken = false

  constructor(database: Database, path: string) {
    this.#path = path
    this.#askLength = database.prepare('PRAGMA wal_checkpoint(NOOP)')
  }

  /** To be called after a commit that wrote. */
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
    if (this.#isRunning) await Promise.race([once(worker, 'message'), once(worker, 'exit')])
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
