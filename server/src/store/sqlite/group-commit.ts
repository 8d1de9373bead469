import BetterSqlite3, { type Database, type Statement } from 'better-sqlite3'
import type { BatchObserver } from '../batch-observer.ts'
import { faultOf, isOfSomeStatements, isUnavailable } from './sqlite-fault.ts'
import type { Checkpointer } from './checkpointer.ts'
import type { StoreFiles } from './store-files.ts'

const { SqliteError } = BetterSqlite3

interface Pending {
  readonly operation: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  /** Of the observer. */
  readonly context: unknown
}

type Result = { readonly value: unknown } | { readonly error: unknown }

/**
 * Runs what arrives within one turn of the event loop, reads and writes alike, in one transaction, and settles all of
 * it after the commit: one fsync serves a whole turn, and nobody is told of what is not yet on the disk.
 */
export class GroupCommit {
  #queue: Pending[] = []
  readonly #unfinished = new Set<Promise<unknown>>()
  readonly #begin: Statement
  readonly #beginImmediate: Statement
  readonly #commit: Statement
  readonly #rollback: Statement
  readonly #countChanges: Statement<[], number>
  /** As it was counted last. */
  #changes = 0
  readonly #files: StoreFiles
  readonly #checkpointer: Checkpointer
  readonly #database: Database
  readonly #observer: BatchObserver | undefined

  constructor(
    database: Database,
    guards: { readonly files: StoreFiles; readonly checkpointer: Checkpointer },
    observer: BatchObserver | undefined,
  ) {
    this.#database = database
    this.#files = guards.files
    this.#checkpointer = guards.checkpointer
    this.#observer = observer
    this.#begin = database.prepare('BEGIN')
    this.#beginImmediate = database.prepare('BEGIN IMMEDIATE')
    this.#commit = database.prepare('COMMIT')
    this.#rollback = database.prepare('ROLLBACK')
    this.#countChanges = database.prepare<[], number>('SELECT total_changes()').pluck()
  }

  /**
   * `operation` is synchronous, touches nothing but the database, and may be run again after a rollback.
   * @throws Fault `unavailable`
   */
  run<T>(operation: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#queue.length === 0) setImmediate(this.#flush)
      const context = this.#observer?.callContext()
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
  }

  readonly #flush = (): void => {
    const batch = this.#queue
    this.#queue = []
    const results = this.#runTogether(batch)
    batch.forEach(({ resolve, reject }, i) => {
      const result = results[i] as Result
      if ('value' in result) resolve(result.value)
      else reject(faultOf(result.error))
    })
  }

  #runTogether(batch: readonly Pending[]): Result[] {
    const end = this.#observer?.begin(
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
      // The transaction itself failed, for all alike: trying each alone would only wait for the lock again and again.
      if (!isOfOne && !isOfSomeStatements(error)) return batch.map(() => ({ error }))
      if (batch.length === 1) return [{ error: isOfOne ? error.cause : error }]
      // One operation failed, or those that write, and took the batch with them: each on its own, only those at fault fail.
      return batch.flatMap((pending) => this.#runTogether([pending]))
    }
  }

  #transaction(batch: readonly Pending[]): Result[] {
    this.#files.checkNowAndThen()
    const results = this.#attemptTwice(batch)
    const changes = this.#countChanges.get() as number
    if (changes !== this.#changes) {
      this.#files.check()
      this.#checkpointer.afterCommit()
    }
    this.#changes = changes
    return results
  }

  #attemptTwice(batch: readonly Pending[]): Result[] {
    try {
      return this.#attempt(this.#begin, batch)
    } catch (error) {
      // A turn of reads alone takes no lock. One that writes finds out here that another process was writing: it
      // starts over, waiting for the lock first.
      if (!isBusy(error)) throw error
      return this.#attempt(this.#beginImmediate, batch)
    }
  }

  #attempt(begin: Statement, batch: readonly Pending[]): Result[] {
    begin.run()
    try {
      const results = batch.map(({ operation }) => ({ value: runOperation(operation) }))
      this.#commit.run()
      return results
    } catch (error) {
      this.#undo()
      throw error
    }
  }

  /** Leaves no transaction open. What made it fail is what is told, whatever the rollback says. */
  #undo(): void {
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

function runOperation(operation: () => unknown): unknown {
  try {
    return operation()
  } catch (error) {
    throw isOfTransaction(error) ? error : new OperationError('an operation failed', { cause: error })
  }
}

/** Whether a statement failed for a reason that any other of its transaction would have met too. */
function isOfTransaction(error: unknown): boolean {
  return error instanceof SqliteError && isUnavailable(error)
}

function isBusy(error: unknown): boolean {
  return error instanceof SqliteError && error.code.startsWith('SQLITE_BUSY')
}
