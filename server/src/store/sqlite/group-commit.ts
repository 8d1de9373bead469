import { setTimeout as sleep } from 'node:timers/promises'
import BetterSqlite3, { type Database, type Statement } from 'better-sqlite3'
import type { BatchObserver } from '../batch-observer.ts'
import type { SlowStatements } from '../slow-statements.ts'
import { faultOf, isBusy, isOfSomeStatements, isUnavailable } from './sqlite-fault.ts'
import type { Checkpointer } from './checkpointer.ts'
import type { ChangeTracker } from './change-tracker.ts'
import type { Integrity } from './integrity.ts'
import type { LogFlusher } from './log-flusher.ts'
import type { StoreFiles } from './store-files.ts'

const { SqliteError } = BetterSqlite3

interface Pending {
  readonly name: string
  readonly operation: () => unknown
  /** The result may depend on commits that are not yet on disk. */
  readonly waitsForFlush: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  /** Context of the observer. */
  readonly context: unknown
}

/** An operation that waits for another process's lock. */
interface Waiting extends Pending {
  /** Time on the monotonic clock at which the operation fails. */
  readonly lockDeadline: number
  readonly error: unknown
}

type Result = { readonly value: unknown } | { readonly error: unknown }

export interface GroupCommitOptions {
  readonly observer?: BatchObserver | undefined
  readonly slowStatements?: SlowStatements | undefined
  /** Maximum time to wait for another process's write lock, in milliseconds. */
  readonly lockTimeoutMs: number
}

/** Checks around each transaction. */
export interface GroupCommitGuards {
  readonly files: Pick<StoreFiles, 'check' | 'checkOccasionally'>
  readonly checkpointer: Pick<Checkpointer, 'afterCommit' | 'isRunning'>
  readonly changeTracker: ChangeTracker
  readonly integrity: Pick<Integrity, 'refuseChange' | 'afterError'>
  readonly flusher: Pick<LogFlusher, 'flush' | 'whenFlushed'>
}

/** Interval of attempts to get a lock that another process holds, in milliseconds. */
const lockRetryMs = 1
/** Pause of this process after a write while other processes write too, in milliseconds. Longer than `lockRetryMs`. */
const yieldMs = 2
/** Time after another process's last write during which this process yields the lock, in milliseconds. */
const foreignWriteMs = 1000

/**
 * Runs all operations of one event-loop iteration, reads and writes, in one transaction, and settles them when the commit is on disk.
 * One flush serves all of them, and other iterations go on meanwhile (decision 0003). Writes that meet another process's lock wait
 * for a later iteration; reads do not wait (decision 0023).
 */
export class GroupCommit {
  #queue: Pending[] = []
  #waiting: Waiting[] = []
  /** Number of operations requested so far, without bulk work. */
  #requested = 0
  #isShared = false
  #retryTimer: NodeJS.Timeout | undefined
  readonly #unfinished = new Set<Promise<unknown>>()
  readonly #begin: Statement
  readonly #beginImmediate: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  readonly #countChanges: Statement<[], number>
  /** Number of rows changed by this connection, as of the last transaction. */
  #changes = 0
  /** Version of the data after this connection's last write. */
  #version: number
  /** Commits may not be on disk: at first those of earlier processes, which may have been killed. */
  #mustFlush = true
  #lastForeignWriteAt = -Infinity
  #yieldUntil = -Infinity
  readonly #files: GroupCommitGuards['files']
  readonly #checkpointer: GroupCommitGuards['checkpointer']
  readonly #changeTracker: ChangeTracker
  readonly #integrity: GroupCommitGuards['integrity']
  readonly #flusher: GroupCommitGuards['flusher']
  readonly #database: Database
  readonly #options: GroupCommitOptions

  constructor(database: Database, guards: GroupCommitGuards, options: GroupCommitOptions) {
    this.#database = database
    this.#files = guards.files
    this.#checkpointer = guards.checkpointer
    this.#changeTracker = guards.changeTracker
    this.#integrity = guards.integrity
    this.#flusher = guards.flusher
    this.#options = options
    // While SQLite waits for a lock, the event loop is blocked.
    database.pragma('busy_timeout = 0')
    this.#begin = database.prepare('BEGIN')
    this.#beginImmediate = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#rollback = database.prepare('ROLLBACK')
    this.#countChanges = database.prepare<[], number>('SELECT total_changes()').pluck()
    this.#version = this.#changeTracker.version
  }

  /**
   * Runs an operation. It is synchronous, uses only the database, and may run again after a rollback. A slow operation is reported by
   * its name.
   * @throws Fault `unavailable`
   */
  run<T>(name: string, operation: () => T): Promise<T> {
    this.#requested++
    return this.#enqueue(name, operation)
  }

  /** Runs an operation like `run`, and returns its result even if commits that it sees are not yet on disk. */
  runWithoutFlush<T>(name: string, operation: () => T): Promise<T> {
    this.#requested++
    return this.#enqueue(name, operation, { waitsForFlush: false })
  }

  /**
   * Runs an operation of bulk work. If other operations are requested meanwhile, it resolves after a pause as long as the operation
   * took, which leaves them half of the time.
   */
  async runInBackground<T>(name: string, operation: () => T): Promise<T> {
    const requested = this.#requested
    let durationMs = 0
    const result = await this.#enqueue(name, () => {
      const started = performance.now()
      const value = operation()
      durationMs = performance.now() - started
      return value
    })
    this.#isShared = this.#requested > requested
    if (this.#isShared) await sleep(durationMs)
    return result
  }

  /** True if other operations were requested during the last one of bulk work. */
  get isShared(): boolean {
    return this.#isShared
  }

  #enqueue<T>(name: string, operation: () => T, { waitsForFlush } = { waitsForFlush: true }): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#queue.length === 0) {
        if (performance.now() < this.#yieldUntil) setTimeout(this.#runQueue, yieldMs)
        else setImmediate(this.#runQueue)
      }
      const context = this.#options.observer?.requestContext()
      const settle = { resolve: resolve as (value: unknown) => void, reject }
      this.#queue.push({ name, operation, waitsForFlush, ...settle, context })
    })
  }

  /** Tracks work that consists of several operations, so that `finish` waits for it. */
  async runInIterations<T>(work: () => Promise<T>): Promise<T> {
    const running = work()
    this.#unfinished.add(running)
    try {
      return await running
    } finally {
      this.#unfinished.delete(running)
    }
  }

  /** Resolves when all operations have ended. */
  async finish(): Promise<void> {
    await Promise.allSettled(this.#unfinished)
    // Runs after all others, even if the store fails.
    await Promise.allSettled([this.run('finish', () => undefined)])
    while (this.#waiting.length > 0) await sleep(lockRetryMs)
    await Promise.allSettled([this.#flusher.whenFlushed()])
  }

  readonly #runQueue = (): void => {
    clearTimeout(this.#retryTimer)
    const arrived = this.#queue
    this.#queue = []
    if (this.#lockForWaiters()) {
      this.#settle([...this.#waiting.splice(0), ...arrived])
    } else {
      const before = this.#waiting.length
      this.#settle(arrived)
      // SQLite also refuses a write after a read of data that has changed since. Then the lock may be free.
      if (this.#waiting.length > before && this.#lockForWaiters()) this.#settle(this.#waiting.splice(0))
    }
    this.#giveUp()
    if (this.#waiting.length > 0) this.#retryTimer = setTimeout(this.#runQueue, lockRetryMs)
  }

  /** Begins a write transaction if operations wait for one and the lock is free. */
  #lockForWaiters(): boolean {
    if (this.#waiting.length === 0) return false
    try {
      this.#files.checkOccasionally()
      this.#beginImmediate.run()
      return true
    } catch (error) {
      // The transaction will meet and report any other error.
      return !isBusy(error)
    }
  }

  #giveUp(): void {
    // A checkpoint of this process may hold the lock. It releases the lock by itself, but a slow disk delays that.
    if (this.#checkpointer.isRunning) return
    const now = performance.now()
    this.#waiting = this.#waiting.filter(({ lockDeadline, reject, error }) => {
      if (now < lockDeadline) return true
      reject(faultOf(error))
      return false
    })
  }

  #settle(batch: readonly (Pending | Waiting)[]): void {
    if (batch.length === 0) return
    const results = this.#runTogether(batch)
    const flushed = batch.some((pending) => pending.waitsForFlush) ? this.#flusher.whenFlushed() : undefined
    batch.forEach((pending, i) => {
      const result = results[i] as Result
      if ('value' in result) {
        if (flushed === undefined || !pending.waitsForFlush) pending.resolve(result.value)
        else
          flushed.then(
            () => pending.resolve(result.value),
            (error: unknown) => pending.reject(faultOf(error)),
          )
      } else if (isBusy(result.error)) {
        const lockDeadline = performance.now() + this.#options.lockTimeoutMs
        this.#waiting.push({ lockDeadline, ...pending, error: result.error })
      } else pending.reject(faultOf(result.error))
    })
  }

  #runTogether(batch: readonly Pending[]): Result[] {
    const end = this.#options.observer?.begin(
      'transaction',
      batch.map(({ context }) => context),
    )
    try {
      const results = this.#transaction(batch)
      end?.(false)
      return results
    } catch (error) {
      end?.(true)
      const isOfOne = error instanceof OperationError
      this.#integrity.afterError(isOfOne ? error.cause : error)
      // The transaction itself failed, and with it every operation.
      if (!isOfOne && !isOfSomeStatements(error)) return batch.map(() => ({ error }))
      if (batch.length === 1) return [{ error: isOfOne ? error.cause : error }]
      // One operation failed, or only writes fail. Run each alone, so that the others succeed.
      return batch.flatMap((pending) => this.#runTogether([pending]))
    }
  }

  #transaction(batch: readonly Pending[]): Result[] {
    if (!this.#database.inTransaction) this.#files.checkOccasionally()
    const before = this.#changes
    const results = this.#attempt(batch)
    if (this.#changes !== before) {
      this.#mustFlush = true
      this.#files.check()
      this.#afterCommit()
    }
    if (this.#mustFlush) this.#flusher.flush(batch.map(({ context }) => context))
    this.#mustFlush = false
    return results
  }

  /** Errors are ignored: the commit succeeded, and the next transaction reports what is wrong. */
  #afterCommit(): void {
    try {
      this.#checkpointer.afterCommit()
      this.#yieldWriteLock()
    } catch {
      // The commit stands.
    }
  }

  /** Pauses after a write if other processes write too; a busy process would otherwise starve them. */
  #yieldWriteLock(): void {
    const now = performance.now()
    const { version } = this.#changeTracker
    if (version !== this.#version) this.#lastForeignWriteAt = now
    else if (now - this.#lastForeignWriteAt < foreignWriteMs) this.#yieldUntil = now + yieldMs
    this.#version = version
  }

  #attempt(batch: readonly Pending[]): Result[] {
    const endStatement = this.#options.slowStatements?.start()
    try {
      if (!this.#database.inTransaction) this.#begin.run()
      // The first read sets the snapshot of the transaction.
      if (this.#changeTracker.detectForeignChanges()) this.#mustFlush = true
      const results = batch.map(({ name, operation }) => {
        const result = runOperation(operation)
        endStatement?.(name)
        return result
      })
      this.#changeTracker.beforeCommit()
      const changes = this.#countChanges.get() as number
      if (changes !== this.#changes) this.#integrity.refuseChange()
      this.#commit.run()
      this.#changes = changes
      endStatement?.('COMMIT')
      return results
    } catch (error) {
      this.#undo()
      throw error
    }
  }

  /** Rolls back. An error of the rollback is ignored in favor of the one that caused it. */
  #undo(): void {
    this.#changeTracker.afterRollback()
    try {
      if (this.#database.inTransaction) this.#rollback.run()
    } catch {
      // After some errors SQLite has already rolled back.
    }
    // SQLite also counts changes that were rolled back.
    this.#changes = this.#countChanges.get() as number
  }
}

/** The failure of an operation, as opposed to its transaction. */
class OperationError extends Error {
  override readonly name = 'OperationError'
}

function runOperation(operation: () => unknown): Result {
  try {
    return { value: operation() }
  } catch (error) {
    // Another process holds the lock. Only the first change of a transaction can meet it, so nothing was changed yet.
    if (isBusy(error)) return { error }
    throw isOfTransaction(error) ? error : new OperationError('an operation failed', { cause: error })
  }
}

/** Returns whether the error would fail every statement of the transaction. */
function isOfTransaction(error: unknown): boolean {
  return error instanceof SqliteError && isUnavailable(error)
}
