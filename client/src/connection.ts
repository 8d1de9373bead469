import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { readJson } from './answers.ts'
import { sleep, type Clock } from './clock.ts'
import { ServiceError, TransportError } from './errors.ts'
import { exchange, type Request } from './exchange.ts'

/** Before the second try; it doubles with each, up to the longest. */
const firstPauseMs = 100
const longestPauseMs = 2000

/** A connection that was idle for longer is not used again: what is on the way may have forgotten it, and tells nobody. */
const longestIdleMs = 30_000

const passingStatuses: readonly (number | undefined)[] = [408, 429, 502, 503, 504]

/**
 * Methods that a proxy may refuse, by the statuses with which some do. The service understands each as a POST with
 * `X-HTTP-Method-Override`, which is the same call, so that nothing can go wrong by trying.
 */
const refusals: Readonly<Record<string, readonly (number | undefined)[]>> = {
  GET: [400, 403, 405, 411, 413, 501],
  PUT: [403, 405, 501],
}

export interface Operation<Result> {
  readonly method: 'GET' | 'POST' | 'PUT'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What an answer of status 200 says. */
  readonly read: (json: unknown) => Result
}

export interface ConnectionSettings {
  readonly origin: URL
  readonly apiToken: string
  readonly deadlineMs: number
  readonly maxTries: number
  readonly methodOverride: boolean
  readonly agent: HttpAgent | undefined
  readonly clock: Clock
}

export interface Limits {
  readonly signal: AbortSignal | undefined
  readonly deadlineMs: number | undefined
}

/** One service, as one holder of an API token reaches it. All its operations are safe to repeat. */
export class Connection {
  readonly #settings: ConnectionSettings
  readonly #agent: HttpAgent
  /** The methods that do not get through, and are sent as a POST from then on. */
  readonly #overridden: Set<string>

  constructor(settings: ConnectionSettings) {
    this.#settings = settings
    const Agent = settings.origin.protocol === 'https:' ? HttpsAgent : HttpAgent
    this.#agent = settings.agent ?? new Agent({ keepAlive: true, timeout: longestIdleMs })
    this.#overridden = new Set(settings.methodOverride ? Object.keys(refusals) : [])
  }

  /**
   * Makes a call, and repeats it within the deadline while what went wrong may pass.
   * @throws ServiceError, TransportError
   * @throws `signal.reason` where the signal is aborted
   */
  async call<Result>(operation: Operation<Result>, limits: Limits): Promise<Result> {
    const { clock, maxTries, deadlineMs } = this.#settings
    limits.signal?.throwIfAborted()
    // One of its own for this call: many may share the caller's.
    const signal = limits.signal && AbortSignal.any([limits.signal])
    const deadline = clock.monotonic() + (limits.deadlineMs ?? deadlineMs)
    let isLastTry = maxTries === 1
    for (let tries = 1; ; tries++) {
      const now = clock.monotonic()
      try {
        // Half of what is left, so that one answer that never comes leaves time for another try.
        return await this.#try(operation, isLastTry ? deadline : (now + deadline) / 2, signal)
      } catch (error) {
        if (isLastTry || !mayPass(error)) throw error
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
  async #try<Result>(
    operation: Operation<Result>,
    until: number,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const { method } = operation
    if (this.#overridden.has(method)) return this.#send(overridden(operation), until, signal)
    try {
      return await this.#send(operation, until, signal)
    } catch (error) {
      if (!isForOverride(method, error)) throw error
    }
    try {
      const result = await this.#send(overridden(operation), until, signal)
      this.#overridden.add(method)
      return result
    } catch (error) {
      // It has reached the service, whatever that says.
      if (error instanceof ServiceError) this.#overridden.add(method)
      throw error
    }
  }

  async #send<Result>(
    { method, path, headers, body, read }: Operation<Result>,
    until: number,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    const { origin, apiToken, clock } = this.#settings
    const url = new URL(origin)
    url.pathname = url.pathname.replace(/\/*$/, path)
    const request: Request = {
      method,
      url,
      headers: { authorization: `Token ${apiToken}`, accept: 'application/json', ...headers },
      body: Buffer.from(body),
    }
    const abortion = new AbortController()
    const abort = () => abortion.abort()
    signal?.addEventListener('abort', abort, { once: true })
    const callOff = clock.after(until - clock.monotonic(), abort)
    try {
      return read(readJson(await exchange(request, this.#agent, abortion.signal), clock.now()))
    } catch (error) {
      signal?.throwIfAborted()
      throw abortion.signal.aborted ? timedOut(url) : error
    } finally {
      callOff()
      signal?.removeEventListener('abort', abort)
    }
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

function mayPass(error: unknown): error is ServiceError | TransportError {
  if (error instanceof TransportError) {
    const { code, status } = error
    return (
      code === 'unreachable' ||
      code === 'timed_out' ||
      (code === 'refused' && passingStatuses.includes(status))
    )
  }
  return (
    error instanceof ServiceError &&
    (passingStatuses.includes(error.status) || error.code === 'idempotency_key_in_use')
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
