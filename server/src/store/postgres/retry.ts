import { setTimeout as sleep } from 'node:timers/promises'
import { faultOf, PostgresFailure, unavailable } from './postgres-fault.ts'

const firstPauseMs = 20
const maxPauseMs = 250

/** One operation, from its first try to its answer. */
export class Attempt {
  /** Why the last try failed. */
  reason = 'ETIMEDOUT'
  /** Whether the operation was answered already, at its deadline: what is not yet under way is not to be begun. */
  isOver = false
  #isAmbiguous = false

  /** Whether a change of this operation may have taken effect without its being known. */
  get isAmbiguous(): boolean {
    return this.#isAmbiguous
  }

  /**
   * Makes a change. From when `statement` calls `sent` until it is answered, and for good where the connection is lost
   * before, it is in doubt.
   */
  async change<T>(statement: (sent: () => void) => Promise<T>): Promise<T> {
    const wasInDoubt = this.#isAmbiguous
    try {
      const result = await statement(() => (this.#isAmbiguous = true))
      this.#isAmbiguous = wasInDoubt
      return result
    } catch (error) {
      this.#isAmbiguous = wasInDoubt || (error instanceof PostgresFailure && error.isAmbiguous)
      throw error
    }
  }
}

/**
 * Repeats what fails for a passing reason (a lost connection, a failover, a deadlock) until it succeeds or the deadline
 * is over. An operation makes its changes by `Attempt.change`, and while one is in doubt it finds out from the store
 * what came of it before it goes on.
 */
export class Retry {
  readonly #deadlineMs: number
  #running = 0
  #whenIdle: (() => void) | undefined

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs
  }

  /** @throws Fault `unavailable`, at the deadline at the latest */
  run<T>(operation: (attempt: Attempt) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const attempt = new Attempt()
      const timer = setTimeout(() => {
        attempt.isOver = true
        reject(unavailable(attempt.reason, attempt.isAmbiguous))
      }, this.#deadlineMs)
      this.#running++
      // Not by `finally`, which on the path of every call takes as long as four more promises.
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
        return await operation(attempt)
      } catch (error) {
        if (attempt.isOver || !(error instanceof PostgresFailure) || !error.isRetryable) throw faultOf(error)
        attempt.reason = error.code
      }
      // Not all at once: what was cut off together would come back together.
      await sleep(pause * (0.5 + Math.random() / 2))
    }
  }
}
