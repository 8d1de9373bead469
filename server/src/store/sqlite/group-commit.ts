import { setTimeout as sleep } from 'node:timers/promises'
import BetterSqlite3, { type Database, type Statement } from 'better-sqlite3'
import type { BatchObserver } from '../batch-observer.ts'
import { faultOf, isBusy, isOfSomeStatements, isUnavailable } from './sqlite-fault.ts'
import type { Checkpointer } from './checkpointer.ts'
import type { ChangeTracker } from './change-tracker.ts'
import type { StoreFiles } from './store-files.ts'

const { SqliteError } = BetterSqlite3

interface Pending {
  readonly operation: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  /** Of the observer. */
  readonly context: unknown
}

/** What another process's lock keeps waiting, and until when, by the monotonic clock. */
interface Waiting extends Pending {
  readonly lockDeadline: number
  readonly error: unknown
}

type Result = { readonly value: unknown } | { readonly error: unknown }

export interface GroupCommitOptions {
  readonly observer?: BatchObserver | undefined
  /** How long to wait for another process that writes. */
  readonly lockTimeoutMs: number
}

/** What looks after the database while it is written to. */
export interface GroupCommitGuards {
  readonly files: Pick<StoreFiles, 'check' | 'checkNowAndThen'>
  readonly checkpointer: Pick<Checkpointer, 'afterCommit'>
  readonly changeTracker: ChangeTracker
}

/** A lock that another process has is asked for so often, in milliseconds. */
const lockRetryMs = 1
/** For as long this process leaves the lock alone after it had it, where others want it: longer than they wait to ask again. */
const yieldMs = 2
/** Others want it where they had it so long ago at most, in milliseconds, and not since. */
const foreignWriteMs = 1000

/**
 * Runs what arrives within one turn of the event loop, reads and writes alike, in one transaction, and settles all of
 * it after the commit: one fsync serves a whole turn, and nobody is told of what is not yet on the disk. What finds another
 * process writing waits for a later turn, and what only reads does not wait for it (decision 0023).
 */
export class GroupCommit {
  #queue: Pending[] = []
  #waiting: Waiting[] = []
  #retryTimer: NodeJS.Timeout | undefined
  readonly #unfinished = new Set<Promise<unknown>>()
  readonly #begin: Statement
  readonly #beginImmediate: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  readonly #countChanges: Statement<[], number>
  /** As it was counted last. */
  #changes = 0
  /** Of the data, as it was after the last commit that wrote. */
  #version: number
  #lastForeignWriteAt = -Infinity
  #yieldUntil = -Infinity
  readonly #files: GroupCommitGuards['files']
  readonly #checkpointer: GroupCommitGuards['checkpointer']
  readonly #changeTracker: ChangeTracker
  readonly #database: Database
  readonly #options: GroupCommitOptions

  constructor(database: Database, guards: GroupCommitGuards, options: GroupCommitOptions) {
    this.#database = database
    this.#files = guards.files
    this.#checkpointer = guards.checkpointer
    this.#changeTracker = guards.changeTracker
    this.#options = options
    // SQLite would wait for a lock by sleeping, and all calls with it.
    database.pragma('busy_timeout = 0')
    this.#begin = database.prepare('BEGIN')
    this.#beginImmediate = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#rollback = database.prepare('ROLLBACK')
    this.#countChanges = database.prepare<[], number>('SELECT total_changes()').pluck()
    this.#version = this.#changeTracker.version
  }

  /**
   * `operation` is synchronous, touches nothing but the database, and may be run again after a rollback.
   * @throws Fault `unavailable`
   */
  run<T>(operation: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#queue.length === 0) {
        if (performance.now() < this.#yieldUntil) setTimeout(this.#flush, yieldMs)
        else setImmediate(this.#flush)
      }
      const context = this.#options.observer?.requestContext()
      this.#queue.push({ operation, resolve: resolve as (value: unknown) => void, reject, context })
    })
  }

  /** For what takes several turns: `finish` waits until it has run its last operation. */
  async runInTurns<T>(work: () => Promise<T>): Promise<T> {
    const running = work()
    this.#unfinished.add(running)
    try {
      return await running
    } finally {
      this.#unfinished.delete(running)
    }
  }

  /** Resolves when all that was begun is done. */
  async finish(): Promise<void> {
    await Promise.allSettled(this.#unfinished)
    // It comes after all others, whether or not the store can still be used.
    await Promise.allSettled([this.run(() => undefined)])
    while (this.#waiting.length > 0) await sleep(lockRetryMs)
  }

  readonly #flush = (): void => {
    clearTimeout(this.#retryTimer)
    const arrived = this.#queue
    this.#queue = []
    if (this.#lockForWaiters()) {
      this.#settle([...this.#waiting.splice(0), ...arrived])
    } else {
      const before = this.#waiting.length
      this.#settle(arrived)
      // Maybe nobody has the lock: what writes after it read what others have changed since is refused too.
      if (this.#waiting.length > before && this.#lockForWaiters()) this.#settle(this.#waiting.splice(0))
    }
    this.#giveUp()
    if (this.#waiting.length > 0) this.#retryTimer = setTimeout(this.#flush, lockRetryMs)
  }

  /** Begins to write, where anything waits to and no other process does. */
  #lockForWaiters(): boolean {
    if (this.#waiting.length === 0) return false
    try {
      this.#files.checkNowAndThen()
      this.#beginImmediate.run()
      return true
    } catch (error) {
      // What else is wrong the transaction meets again, and tells.
      return !isBusy(error)
    }
  }

  #giveUp(): void {
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
    batch.forEach((pending, i) => {
      const result = results[i] as Result
      if ('value' in result) pending.resolve(result.value)
      else if (isBusy(result.error)) {
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
      // The transaction itself failed, for all alike.
      if (!isOfOne && !isOfSomeStatements(error)) return batch.map(() => ({ error }))
      if (batch.length === 1) return [{ error: isOfOne ? error.cause : error }]
      // One operation failed, or those that write, and took the batch with them: each on its own, only those at fault fail.
      return batch.flatMap((pending) => this.#runTogether([pending]))
    }
  }

  #transaction(batch: readonly Pending[]): Result[] {
    if (!this.#database.inTransaction) this.#files.checkNowAndThen()
    const results = this.#attempt(batch)
    const changes = this.#countChanges.get() as number
    if (changes !== this.#changes) {
      this.#files.check()
      this.#afterCommit()
    }
    this.#changes = changes
    return results
  }

  /** What fails here does not make what is committed fail: it would be run again. What is wrong the next transaction meets, and tells. */
  #afterCommit(): void {
    try {
      this.#checkpointer.afterCommit()
      this.#yieldWriteLock()
    } catch {
      // Neither is owed to anybody.
    }
  }

  /** Without a pause, whoever writes without end would keep all others from it. */
  #yieldWriteLock(): void {
    const now = performance.now()
    const { version } = this.#changeTracker
    if (version !== this.#version) this.#lastForeignWriteAt = now
    else if (now - this.#lastForeignWriteAt < foreignWriteMs) this.#yieldUntil = now + yieldMs
    this.#version = version
  }

  #attempt(batch: readonly Pending[]): Result[] {
    try {
      if (!this.#database.inTransaction) this.#begin.run()
      // Before anything is read: with it the transaction begins to see the data as they are.
      this.#changeTracker.look()
      const results = batch.map(({ operation }) => runOperation(operation))
      this.#changeTracker.beforeCommit()
      this.#commit.run()
      return results
    } catch (error) {
      this.#undo()
      throw error
    }
  }

  /** Leaves no transaction open. What made it fail is what is told, whatever the rollback says. */
  #undo(): void {
    this.#changeTracker.afterRollback()
    try {
      if (this.#database.inTransaction) this.#rollback.run()
    } catch {
      // SQLite rolls back by itself on the errors after which it cannot be told to.
    }
  }
}

/** An operation failed, as against its transaction. */
class OperationError extends Error {
  override readonly name = 'OperationError'
}

function runOperation(operation: () => unknown): Result {
  try {
    return { value: operation() }
  } catch (error) {
    // Another process writes. Only the first change of a transaction meets that: nothing was changed yet.
    if (isBusy(error)) return { error }
    throw isOfTransaction(error) ? error : new OperationError('an operation failed', { cause: error })
  }
}

/** Whether a statement failed for a reason that any other of its transaction would have met too. */
function isOfTransaction(error: unknown): boolean {
  return error instanceof SqliteError && isUnavailable(error)
}
