import { closeSync, fdatasync, fstatSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Database } from 'better-sqlite3'
import { errorCodeOf } from '../../domain/util/error-code.ts'
import type { BatchObserver } from '../batch-observer.ts'
import type { SlowStatements } from '../slow-statements.ts'

const flushFile = promisify(fdatasync)

/** Commits may not be on disk. The message has a code and the remedy, for the log. */
export class FlushError extends Error {
  override readonly name = 'FlushError'
}

/**
 * Flushes the write-ahead log to disk in a system thread, so that the event loop does not wait for the disk. Commits made during a
 * flush share the next one.
 */
export class LogFlusher {
  readonly #database: Database
  readonly #path: string
  readonly #options: FlushOptions
  /** Stays open: the system reports a failed write only to files that were open at that time. */
  #log: number
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** Contexts of the requests that wait for the next flush. */
  #contexts: unknown[] = []
  #hasFailed = false

  /** @param path path of the log */
  constructor(database: Database, path: string, options: FlushOptions = {}) {
    this.#database = database
    this.#path = path
    this.#options = options
    this.#log = openSync(path, 'r+')
    // Commits leave the flush to this class.
    database.pragma('synchronous = NORMAL')
  }

  /** Resolves when all commits that were flushed so far are on disk. Undefined if they already are. @throws FlushError */
  whenFlushed(): Promise<void> | undefined {
    return this.#next ?? this.#running ?? (this.#hasFailed ? this.#start() : undefined)
  }

  /** Flushes all commits so far. @param contexts contexts of their requests, for the observer */
  flush(contexts: readonly unknown[]): void {
    if (this.#options.observer !== undefined) this.#contexts.push(...contexts)
    if (this.#running === undefined) void this.#start()
    else
      this.#next ??= this.#running
        .catch(() => undefined)
        .then(() => {
          this.#next = undefined
          return this.#start()
        })
    // Nobody may be waiting for it.
    this.#next?.catch(() => undefined)
  }

  /** Call it after the database is closed. */
  close(): void {
    closeSync(this.#log)
  }

  #start(): Promise<void> {
    this.#running = this.#observed().finally(() => {
      this.#running = undefined
    })
    this.#running.catch(() => undefined)
    return this.#running
  }

  async #observed(): Promise<void> {
    const { observer, slowStatements } = this.#options
    const endStatement = slowStatements?.start()
    // A repeated flush after a failure has none.
    const endBatch = this.#contexts.length > 0 ? observer?.begin('flush', this.#contexts) : undefined
    this.#contexts = []
    try {
      await this.#flushAll()
      endBatch?.(false)
    } catch (error) {
      endBatch?.(true)
      throw error
    } finally {
      endStatement?.('flush')
    }
  }

  async #flushAll(): Promise<void> {
    try {
      if (this.#hasFailed) this.#emptyLog()
      // The log was removed and created again.
      else if (fstatSync(this.#log).nlink === 0) this.#reopen()
      await flushFile(this.#log)
      this.#hasFailed = false
    } catch (error) {
      const isFirst = !this.#hasFailed
      this.#hasFailed = true
      if (isFirst) return this.#flushAll()
      throw new FlushError(
        `FLUSH_FAILED: the last commits could not be written to disk (${errorCodeOf(error)}); check the disk, and stop backups`,
      )
    }
  }

  /**
   * Copies all commits to the database file. After a failure, the system may have dropped a part of the log, and a later flush would
   * not notice.
   */
  #emptyLog(): void {
    if (this.#database.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) !== 0)
      throw Object.assign(new Error('another process reads the log'), { code: 'SQLITE_BUSY' })
    this.#reopen()
  }

  #reopen(): void {
    const log = openSync(this.#path, 'r+')
    closeSync(this.#log)
    this.#log = log
  }
}

export interface FlushOptions {
  readonly observer?: BatchObserver | undefined
  readonly slowStatements?: SlowStatements | undefined
}
