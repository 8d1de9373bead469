import { anySignal } from './any-signal.ts'
import { sleep } from './clock.ts'
import { ServiceError, TransportError, UserGroupServiceError, type ErrorCode } from './errors.ts'
import { readJson } from './json-response.ts'
import { checkDeadline, type ConnectionSettings, type RequestEvent, type RequestOptions } from './options.ts'
import { version } from './version.ts'
import type { CreateTransport, HttpRequest, Transport } from './transport.ts'

/** Pause before the second attempt. Doubles with each attempt, up to `maxDelayMs`. */
const initialDelayMs = 100
const maxDelayMs = 2000

/** Far above a response with one user group of the largest properties and mapping. */
const maxResponseBytes = 8 * 1024 * 1024

const retryableStatuses: readonly (number | undefined)[] = [408, 429, 500, 502, 503, 504]

const overrideHeader = 'x-http-method-override'

/**
 * Methods that a proxy may refuse, with the statuses that proxies use for it. If an operation has `hasOverride`, the service
 * accepts it as a POST with `X-HTTP-Method-Override` too. Both forms are the same operation, so sending the second is safe.
 */
const refusals: Readonly<Record<string, readonly (number | undefined)[]>> = {
  GET: [400, 403, 405, 411, 413, 501],
  PUT: [403, 405, 501],
}

type Failure = ServiceError | TransportError

export interface Operation<Result> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  /** Query string, without the question mark. */
  readonly query?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Set if the service accepts `X-HTTP-Method-Override` for the operation. */
  readonly hasOverride?: true
  /** Status of a successful response. Default: 200. */
  readonly status?: 201
  /** Default: 8 MiB. */
  readonly maxResponseBytes?: number
  /** Set if the response is NDJSON. `read` then gets the array of its lines. */
  readonly isNdjson?: true
  /** Converts the JSON of a successful response. */
  readonly read: (json: unknown) => Result
  /** Set if a second execution has a second effect. Such an operation is not retried once an attempt may have taken effect. */
  readonly isNonIdempotent?: true
  /**
   * Handlers for error codes of a retry that follows an attempt with an unknown outcome. The error may mean that the earlier
   * attempt took effect. `ambiguous` is the failure of that attempt; a handler rethrows it if the outcome stays unknown.
   */
  readonly afterAmbiguousFailure?: Partial<
    Record<ErrorCode, (ambiguous: Failure, refusal: ServiceError) => Result | Promise<Result>>
  >
}

export interface Limits {
  readonly signal: AbortSignal
  /** By the monotonic clock. */
  readonly deadline: number
}

/** Sends operations to one service with one API token. */
export class Connection {
  readonly #settings: ConnectionSettings
  readonly #transport: Transport
  /** Methods that did not reach the service. They are sent as POST with the override header. */
  readonly #overridden: Set<string>

  constructor(settings: ConnectionSettings, createTransport: CreateTransport, methodOverride = false) {
    this.#settings = settings
    this.#transport = createTransport(settings)
    this.#overridden = new Set(methodOverride ? Object.keys(refusals) : [])
  }

  /**
   * Returns the limits of an operation that starts now.
   * @throws RangeError
   */
  limitsFor({ signal, deadlineMs }: RequestOptions): Limits {
    const ms = deadlineMs === undefined ? this.#settings.deadlineMs : checkDeadline(deadlineMs)
    // A derived signal keeps the listeners off the caller's, which many operations may share.
    return { signal: anySignal(...(signal ? [signal] : [])), deadline: this.#settings.clock.monotonic() + ms }
  }

  /**
   * Executes an operation. Retries it within the deadline while the failure may be temporary.
   * @throws ServiceError, TransportError
   * @throws `signal.reason` if the signal is aborted
   */
  async execute<Result>(operation: Operation<Result>, { signal, deadline }: Limits): Promise<Result> {
    const { clock, maxTries } = this.#settings
    const { afterAmbiguousFailure = {} } = operation
    signal.throwIfAborted()
    let isLastAttempt = maxTries === 1
    let ambiguous: Failure | undefined
    for (let attempts = 1; ; attempts++) {
      const now = clock.monotonic()
      const usesWholeDeadline = isLastAttempt || operation.isNonIdempotent
      // Half of the remaining time, so that one missing response leaves time for another attempt.
      const until = usesWholeDeadline ? deadline : (now + deadline) / 2
      const attempt: Attempt = { number: attempts, until, signal, isSent: false }
      try {
        return await this.#attempt(operation, attempt)
      } catch (error) {
        if (!isFailure(error)) throw error
        if (ambiguous !== undefined && error instanceof ServiceError) {
          // Own properties only: the service chooses the code.
          const handle = Object.hasOwn(afterAmbiguousFailure, error.code)
            ? afterAmbiguousFailure[error.code]
            : undefined
          if (handle !== undefined) return await handle(ambiguous, error)
        }
        const isAmbiguous = mayHaveTakenEffect(attempt, error)
        if (isAmbiguous) ambiguous = error
        if (isLastAttempt || !isRetryable(error) || (isAmbiguous && operation.isNonIdempotent)) throw error
        // A slow service gets only one more attempt.
        isLastAttempt = attempts === maxTries - 1 || error.code === 'timed_out'
        const delay = retryDelayMs(attempts) + (error.retryAfterMs ?? 0)
        if (clock.monotonic() + delay >= deadline) throw error
        await sleep(clock, delay, signal)
        // Timers of a busy process fire late.
        if (clock.monotonic() >= deadline) throw error
      }
    }
  }

  /** Sends the operation; if a proxy does not pass the method, sends it again with the override header. */
  async #attempt<Result>(operation: Operation<Result>, attempt: Attempt): Promise<Result> {
    const { method, hasOverride } = operation
    if (!hasOverride) return this.#send(operation, attempt)
    if (this.#overridden.has(method)) return this.#send(overridden(operation), attempt)
    try {
      return await this.#send(operation, attempt)
    } catch (error) {
      if (!needsOverride(method, error)) throw error
    }
    try {
      const result = await this.#send(overridden(operation), attempt)
      this.#overridden.add(method)
      return result
    } catch (error) {
      // An error of the service proves that the request got through.
      if (error instanceof ServiceError) this.#overridden.add(method)
      throw error
    }
  }

  /** Sends one HTTP request and reports it to `onRequest`. */
  async #send<Result>(operation: Operation<Result>, attempt: Attempt): Promise<Result> {
    const { clock, onRequest } = this.#settings
    const startedAt = clock.monotonic()
    const report = (
      status?: RequestEvent['status'],
      errorCode?: RequestEvent['errorCode'],
      requestId?: RequestEvent['requestId'],
    ) => {
      const method = methodOf(operation)
      const durationMs = clock.monotonic() - startedAt
      try {
        onRequest?.({
          method,
          path: operation.path,
          attempt: attempt.number,
          durationMs,
          status,
          errorCode,
          requestId,
        })
      } catch {
        // The operation may have taken effect, so its result counts.
      }
    }
    try {
      const result = await this.#exchange(operation, attempt)
      report(operation.status ?? 200)
      return result
    } catch (error) {
      if (isFailure(error))
        report(error.status, error.code, error instanceof ServiceError ? error.requestId : undefined)
      else if (attempt.signal.aborted) report(undefined, 'aborted')
      throw error
    }
  }

  async #exchange<Result>(operation: Operation<Result>, attempt: Attempt): Promise<Result> {
    const { origin, apiToken, clock, beforeRequest } = this.#settings
    const { method, body, status = 200, isNonIdempotent = false, isNdjson = false } = operation
    const { until, signal } = attempt
    const url = new URL(origin)
    url.pathname = url.pathname.replace(/\/*$/, operation.path)
    url.search = operation.query ?? ''
    const headers: Record<string, string> = {}
    beforeRequest?.({ method: methodOf(operation), path: operation.path, attempt: attempt.number, headers })
    const request: HttpRequest = {
      method,
      url,
      headers: {
        'user-agent': `user-group-service-client/${version}`,
        // In lower case, as below: `fetch` would join two spellings of a name.
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        authorization: `Token ${apiToken}`,
        accept: 'application/json',
        ...operation.headers,
      },
      body: body === undefined ? undefined : new TextEncoder().encode(body),
      maxResponseBytes: operation.maxResponseBytes ?? maxResponseBytes,
      isNonIdempotent,
      onSent: () => (attempt.isSent = true),
    }
    const timeout = new AbortController()
    const cancel = clock.after(until - clock.monotonic(), () => timeout.abort())
    try {
      const response = await this.#transport(request, anySignal(signal, timeout.signal))
      return operation.read(readJson(response, { method, status, now: clock.now(), isNdjson }))
    } catch (error) {
      signal.throwIfAborted()
      throw timeout.signal.aborted ? timedOut(url) : error
    } finally {
      cancel()
    }
  }
}

interface Attempt {
  /** From 1. */
  readonly number: number
  /** By the monotonic clock. */
  readonly until: number
  readonly signal: AbortSignal
  /** True once a part of the request may have arrived. */
  isSent: boolean
}

function mayHaveTakenEffect({ isSent }: Attempt, failure: Failure): boolean {
  // The service also responds with 503 if it loses its store in the middle of a change.
  if (failure instanceof ServiceError) return failure.status >= 500
  return isSent && failure.status !== 429
}

/** Returns the pause after this many attempts. Random, between half and all of it, so that clients do not retry in step. */
export function retryDelayMs(attempts: number): number {
  return Math.min(initialDelayMs * 2 ** (attempts - 1), maxDelayMs) * (0.5 + Math.random() / 2)
}

function overridden<Result>(operation: Operation<Result>): Operation<Result> {
  const headers = { ...operation.headers, [overrideHeader]: operation.method }
  return { ...operation, method: 'POST', headers }
}

/** Returns the method of an operation, also if it is sent as a POST with the override header. */
function methodOf<Result>({ method, headers }: Operation<Result>): string {
  return headers?.[overrideHeader] ?? method
}

function isFailure(error: unknown): error is Failure {
  return error instanceof UserGroupServiceError
}

function isRetryable(failure: Failure): boolean {
  const { code, status } = failure
  if (failure instanceof ServiceError)
    return retryableStatuses.includes(status) || code === 'idempotency_key_in_use'
  return (
    code === 'unreachable' ||
    code === 'timed_out' ||
    (code === 'refused' && retryableStatuses.includes(status))
  )
}

/** Returns true if a proxy probably refused the method, or dropped the body because of it. */
function needsOverride(method: string, error: unknown): boolean {
  const statuses = refusals[method]
  if (statuses === undefined) return false
  if (error instanceof ServiceError) return error.code === 'body_required'
  return error instanceof TransportError && error.code === 'refused' && statuses.includes(error.status)
}

function timedOut({ origin }: URL): TransportError {
  return new TransportError(
    'timed_out',
    `No response from the User Group Service at ${origin} in time. Check the service, or raise deadlineMs.`,
  )
}
