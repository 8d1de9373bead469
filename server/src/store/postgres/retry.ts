import { setTimeout as sleep } from 'node:timers/promises'
import { faultOf, PostgresFailure, unavailable } from './postgres-fault.ts'
import type { Distribution } from './citus/distribution.ts'
import type { PrimaryPool, Query, Statement } from './primary-pool.ts'

const firstPauseMs = 20
const maxPauseMs = 250

/** State of one operation over all its attempts. */
export class Attempt {
  /** Error code of the last attempt. */
  reason = 'ETIMEDOUT'
  /** True after the deadline, when the caller has its error: statements not yet sent must not be sent. */
  isOver = false
  #isAmbiguous = false

  /** True if a change may have taken effect although its outcome is unknown (ambiguous commit). */
  get isAmbiguous(): boolean {
    return this.#isAmbiguous
  }

  /**
   * Runs a statement that changes data. Its commit is ambiguous from the call of `sent` until the response, and stays
   * ambiguous if the connection breaks before. `sent` throws after the deadline, which may pass while the statement waits for a
   * connection.
   */
  async change<T>(statement: (sent: () => void) => Promise<T>): Promise<T> {
    const wasAmbiguous = this.#isAmbiguous
    const sent = () => {
      if (this.isOver) throw new PostgresFailure(this.reason, 'connecting')
      this.#isAmbiguous = true
    }
    try {
      const result = await statement(sent)
      this.#isAmbiguous = wasAmbiguous
      return result
    } catch (error) {
      this.#isAmbiguous = wasAmbiguous || (error instanceof PostgresFailure && error.isAmbiguous)
      throw error
    }
  }

  /** Runs `work` as one transaction that changes data. */
  transaction<T>(primary: PrimaryPool, work: (query: Query) => Promise<T>): Promise<T> {
    return this.change((sent) =>
      primary.transaction((query) => {
        sent()
        return work(query)
      }),
    )
  }
}

/**
 * Retries operations that fail for a transient reason (a lost connection, a failover, a deadlock) until they succeed or the deadline
 * passes. An operation changes data only through `Attempt.change`. While a commit is ambiguous, it reads its outcome from the store
 * before it continues.
 */
export class Retry {
  readonly #primary: PrimaryPool
  readonly #deadlineMs: number
  readonly #distribution: Distribution | undefined
  #running = 0
  #succeeded = 0
  #whenIdle: (() => void) | undefined

  constructor(primary: PrimaryPool, deadlineMs: number, distribution?: Distribution) {
    this.#primary = primary
    this.#deadlineMs = deadlineMs
    this.#distribution = distribution
  }

  /** Number of operations that have succeeded. */
  get succeeded(): number {
    return this.#succeeded
  }

  /**
   * Runs one statement that only reads, or that may run twice.
   * @param bucket of the rows of user groups, or null for all buckets. Undefined for other tables
   * @throws Fault `unavailable`, no later than the deadline
   */
  query<Row>(
    statement: Statement<Row> | string,
    values?: readonly unknown[],
    bucket?: number | null,
  ): Promise<Row[]> {
    const query = () => this.#primary.query(statement, values)
    return this.run(() =>
      bucket === undefined || this.#distribution === undefined
        ? query()
        : this.#distribution.onNodeOf(bucket, query),
    )
  }

  /** Runs one statement that changes data and that may run twice. @throws Fault `unavailable`, no later than the deadline */
  change<Row>(statement: Statement<Row> | string, values: readonly unknown[]): Promise<Row[]> {
    return this.run((attempt) => attempt.change((sent) => this.#primary.query(statement, values, sent)))
  }

  /** @throws Fault `unavailable`, no later than the deadline */
  run<T>(operation: (attempt: Attempt) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const attempt = new Attempt()
      const timer = setTimeout(() => {
        attempt.isOver = true
        reject(unavailable(attempt.reason, attempt.isAmbiguous))
      }, this.#deadlineMs)
      this.#running++
      // `finally` would cost every operation as much as four more promises.
      const finishing =
        <Value>(settle: (value: Value) => void) =>
        (value: Value) => {
          clearTimeout(timer)
          if (--this.#running === 0) this.#whenIdle?.()
          settle(value)
        }
      this.#retry(operation, attempt).then(finishing(resolve), finishing(reject))
    })
  }

  /** Resolves once no operation is running. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#running === 0) resolve()
      else this.#whenIdle = resolve
    })
  }

  async #retry<T>(operation: (attempt: Attempt) => Promise<T>, attempt: Attempt): Promise<T> {
    for (let pause = firstPauseMs; ; pause = Math.min(2 * pause, maxPauseMs)) {
      try {
        const result = await operation(attempt)
        this.#succeeded++
        return result
      } catch (error) {
        if (attempt.isOver || !(error instanceof PostgresFailure)) throw faultOf(error)
        const mayRetry = await this.#distribution?.noticeFailure(error.code).catch(() => false)
        if (!error.isRetryable && mayRetry !== true) throw faultOf(error, attempt.isAmbiguous)
        attempt.reason = error.code
        await waitForRetry(attempt, pause, error)
      }
    }
  }
}

/** @throws the fault of the last attempt if the deadline passes meanwhile */
async function waitForRetry(attempt: Attempt, pause: number, lastError: PostgresFailure): Promise<void> {
  // Jitter, so that operations that failed together do not retry together.
  await sleep(pause * (0.5 + Math.random() / 2))
  if (attempt.isOver) throw faultOf(lastError)
}

/** Repeats an operation until it returns an outcome. It returns null if another change came first. */
export async function untilApplied<Outcome>(operate: () => Promise<Outcome | null>): Promise<Outcome> {
  for (;;) {
    const outcome = await operate()
    if (outcome !== null) return outcome
  }
}
