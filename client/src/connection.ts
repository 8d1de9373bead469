import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { readJson } from './answers.ts'
import { sleep } from './clock.ts'
import { ServiceError, TransportError, type ErrorCode } from './errors.ts'
import { exchange, type Request } from './exchange.ts'
import { readDeadline, type CallOptions, type ConnectionSettings } from './options.ts'

/** Before the second try; it doubles with each, up to the longest. */
const firstPauseMs = 100
const longestPauseMs = 2000

/** A connection that was idle for longer is not used again: what is on the way may have forgotten it, and tells nobody. */
const longestIdleMs = 30_000

/** An answer about one user group of the largest properties and mapping is well below. */
const maxAnswerBytes = 8 * 1024 * 1024

const passingStatuses: readonly (number | undefined)[] = [408, 429, 502, 503, 504]

/**
 * Methods that a proxy may refuse, by the statuses with which some do. Where an operation says so, the service understands
 * it as a POST with `X-HTTP-Method-Override`, which is the same call, so that nothing can go wrong by trying.
 */
const refusals: Readonly<Record<string, readonly (number | undefined)[]>> = {
  GET: [400, 403, 405, 411, 413, 501],
  PUT: [403, 405, 501],
}

/** What was in the way of an answer, or of a good one. */
type Failure = ServiceError | TransportError

export interface Operation<Result> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** What stands behind the question mark. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Whether `X-HTTP-Method-Override` works for it. */
  readonly hasOverride?: true
  /** Of an answer that says that the call succeeded. Default: 200. */
  readonly status?: 201
  /** Default: 8 MiB. */
  readonly maxAnswerBytes?: number
  /** Whether the answer is a JSON value a line, which `read` gets as an array. */
  readonly answersLines?: true
  /** What an answer with this status says. */
  readonly read: (json: unknown) => Result
  /** A second time would have a second effect: it is not repeated after a try that may have taken effect. */
  readonly isOnce?: true
  /**
   * By the code with which a repeat is refused where a try before it, whose answer was lost, has taken effect: what came of
   * that. `doubt` is how that try failed: what is to be thrown where it cannot be known.
   */
  readonly afterDoubt?: Partial<
    Record<ErrorCode, (doubt: Failure, refusal: ServiceError) => Result | Promise<Result>>
  >
}

export interface Limits {
  readonly signal: AbortSignal | undefined
  /** By the monotonic clock. */
  readonly deadline: number
}

/** One service, as one holder of an API token reaches it. */
export class Connection {
  readonly #settings: ConnectionSettings
  readonly #agent: HttpAgent
  /**
   * For what cannot be repeated: a connection that was kept may have been closed, which shows only once something is sent
   * on it.
   */
  readonly #newConnections: HttpAgent
  /** The methods that do not get through, and are sent as a POST from then on. */
  readonly #overridden: Set<string>

  constructor(settings: ConnectionSettings, methodOverride = false) {
    this.#settings = settings
    const Agent = settings.origin.protocol === 'https:' ? HttpsAgent : HttpAgent
    this.#agent = settings.agent ?? new Agent({ keepAlive: true, timeout: longestIdleMs })
    this.#newConnections = settings.agent ?? new Agent()
    this.#overridden = new Set(methodOverride ? Object.keys(refusals) : [])
  }

  /**
   * Of one call, from now on.
   * @throws RangeError
   */
  limitsOf({ signal, deadlineMs }: CallOptions): Limits {
    const ms = deadlineMs === undefined ? this.#settings.deadlineMs : readDeadline(deadlineMs)
    return { signal, deadline: this.#settings.clock.monotonic() + ms }
  }

  /**
   * Makes a call, and repeats it within the deadline while what went wrong may pass.
   * @throws ServiceError, TransportError
   * @throws `signal.reason` where the signal is aborted
   */
  async call<Result>(operation: Operation<Result>, { signal: given, deadline }: Limits): Promise<Result> {
    const { clock, maxTries } = this.#settings
    const { afterDoubt = {} } = operation
    given?.throwIfAborted()
    // One of its own for this call: many may share the caller's.
    const signal = given && AbortSignal.any([given])
    let isLastTry = maxTries === 1
    let doubt: Failure | undefined
    for (let tries = 1; ; tries++) {
      const now = clock.monotonic()
      const isWhole = isLastTry || operation.isOnce
      // Half of what is left, so that one answer that never comes leaves time for another try.
      const attempt = new Attempt(isWhole ? deadline : (now + deadline) / 2, signal)
      try {
        return await this.#try(operation, attempt)
      } catch (error) {
        if (!isFailure(error)) throw error
        if (doubt !== undefined && error instanceof ServiceError) {
          // Own ones: a code is whatever the service says.
          const settle = Object.hasOwn(afterDoubt, error.code) ? afterDoubt[error.code] : undefined
          if (settle !== undefined) return await settle(doubt, error)
        }
        const isInDoubt = attempt.mayHaveTakenEffect(error)
        if (isInDoubt) doubt = error
        if (isLastTry || !mayPass(error) || (isInDoubt && operation.isOnce)) throw error
        // A service that is slow is not asked again and again.
        isLastTry = tries === maxTries - 1 || error.code === 'timed_out'
        const pause = pauseMs(tries) + (error.retryAfterMs ?? 0)
        if (clock.monotonic() + pause >= deadline) throw error
        await sleep(clock, pause, signal)
        // A process that is busy wakes late.
        if (clock.monotonic() >= deadline) throw error
      }
    }
  }

  /** Where the method does not get through, once more with the override. */
  async #try<Result>(operation: Operation<Result>, attempt: Attempt): Promise<Result> {
    const { method, hasOverride } = operation
    if (!hasOverride) return this.#send(operation, attempt)
    if (this.#overridden.has(method)) return this.#send(overridden(operation), attempt)
    try {
      return await this.#send(operation, attempt)
    } catch (error) {
      if (!isForOverride(method, error)) throw error
    }
    try {
      const result = await this.#send(overridden(operation), attempt)
      this.#overridden.add(method)
      return result
    } catch (error) {
      // It has reached the service, whatever that says.
      if (error instanceof ServiceError) this.#overridden.add(method)
      throw error
    }
  }

  async #send<Result>(operation: Operation<Result>, attempt: Attempt): Promise<Result> {
    const { origin, apiToken, clock } = this.#settings
    const { method, body, status = 200, isOnce } = operation
    const { until, signal } = attempt
    const url = new URL(origin)
    url.pathname = url.pathname.replace(/\/*$/, operation.path)
    url.search = operation.query ?? ''
    const request: Request = {
      method,
      url,
      headers: { authorization: `Token ${apiToken}`, accept: 'application/json', ...operation.headers },
      body: body === undefined ? undefined : Buffer.from(body),
      maxAnswerBytes: operation.maxAnswerBytes ?? maxAnswerBytes,
      onSent: () => (attempt.isSent = true),
    }
    const abortion = new AbortController()
    const abort = () => abortion.abort()
    signal?.addEventListener('abort', abort, { once: true })
    const callOff = clock.after(until - clock.monotonic(), abort)
    try {
      const answer = await exchange(request, isOnce ? this.#newConnections : this.#agent, abortion.signal)
      return operation.read(
        readJson(answer, { method, status, now: clock.now(), isLines: operation.answersLines === true }),
      )
    } catch (error) {
      signal?.throwIfAborted()
      throw abortion.signal.aborted ? timedOut(url) : error
    } finally {
      callOff()
      signal?.removeEventListener('abort', abort)
    }
  }
}

/** One of the tries of a call. */
class Attempt {
  /** By the monotonic clock. */
  readonly until: number
  readonly signal: AbortSignal | undefined
  /** Whether something of it may have arrived. */
  isSent = false

  constructor(until: number, signal: AbortSignal | undefined) {
    this.until = until
    this.signal = signal
  }

  mayHaveTakenEffect(failure: Failure): boolean {
    // The service says 503 too where it has lost its store in the middle of a change.
    if (failure instanceof ServiceError) return failure.status >= 500
    return this.isSent && failure.status !== 429
  }
}

/** In milliseconds; less than the whole, by chance, so that many callers do not come back at once. */
export function pauseMs(tries: number): number {
  return Math.min(firstPauseMs * 2 ** (tries - 1), longestPauseMs) * (0.5 + Math.random() / 2)
}

function overridden<Result>(operation: Operation<Result>): Operation<Result> {
  const headers = { ...operation.headers, 'x-http-method-override': operation.method }
  return { ...operation, method: 'POST', headers }
}

function isFailure(error: unknown): error is Failure {
  return error instanceof ServiceError || error instanceof TransportError
}

function mayPass(failure: Failure): boolean {
  const { code, status } = failure
  if (failure instanceof ServiceError)
    return passingStatuses.includes(status) || code === 'idempotency_key_in_use'
  return (
    code === 'unreachable' || code === 'timed_out' || (code === 'refused' && passingStatuses.includes(status))
  )
}

/** Whether it is the method, or the body with it, that did not get through to the service. */
function isForOverride(method: string, error: unknown): boolean {
  const statuses = refusals[method]
  if (statuses === undefined) return false
  if (error instanceof ServiceError) return error.code === 'body_required'
  return error instanceof TransportError && error.code === 'refused' && statuses.includes(error.status)
}

function timedOut({ origin }: URL): TransportError {
  return new TransportError(
    'timed_out',
    `The User Group Service at ${origin} did not answer in time: check that it is well, or allow more with deadlineMs`,
  )
}
