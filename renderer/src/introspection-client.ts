import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { anySignal } from './any-signal.ts'
import { systemClock, type Clock } from './clock.ts'
import { badResponse, readIntrospection } from './introspection-response.ts'
import { poster } from './http.ts'
import type { Introspection, IntrospectionCache } from './introspection-cache.ts'
import { IntrospectionError } from './introspection-error.ts'
import { LeasedCache, type IntrospectionEvents, type LeasedCacheOptions } from './lease/leased-cache.ts'
import { UserGroupCache, type MaxAgeCacheOptions } from './user-group-cache.ts'
import { mayShow, type UserGroup } from './user-group.ts'
import { UsageReporter } from './usage-reporter.ts'
import { userAgent } from './version.ts'

const maxAttempts = 4
/** Pause before the second attempt. Doubles with each attempt. */
const initialDelayMs = 50
/** Far above a user group of the largest properties and mapping. */
const maxResponseBytes = 8 * 1024 * 1024
/** Longer strings cannot be tokens: the service issues sessions of at most 6 KiB. */
const maxTokenLength = 6 * 1024
/** Maximum delay of a Node.js timer. */
const maxTimeoutMs = 2_147_483_647

/** An introspection request that is about to be sent. Never holds a token. */
export interface OutgoingRequest {
  /** Number of the attempt, from 1. */
  readonly attempt: number
  /** Empty. Headers that are added here are sent, for example `traceparent`. They replace none of the client. */
  readonly headers: Record<string, string>
}

/** A cache with a lease, or one with a maximum age. */
export type CacheOptions = LeasedCacheOptions | MaxAgeCacheOptions

export interface IntrospectOptions {
  readonly signal?: AbortSignal
  /**
   * The resource to show, for example the name of a dashboard. The result is null if it is not one of the session's `resources`, or
   * not a string, or empty. Without it, the caller must refuse all resources that are not in the result's `resources`.
   */
  readonly resource?: string
}

export interface IntrospectionClientOptions {
  /** URL of the service's introspection endpoint, for example `https://user-groups.example.com/oauth2/introspect`. */
  readonly url: string
  /** An API token with the scope `introspect`, of the workspace and environment of the tokens. */
  readonly apiToken: string
  /** Maximum duration of a call in milliseconds, including retries and pauses. Default: 2000. */
  readonly deadlineMs?: number
  /** Default: no cache. Every call asks the service, so a rotated token is inactive in the next call. */
  readonly cache?: CacheOptions
  /** URL of the service's event feed, for a cache with a lease. Default: `/events` next to `/oauth2/introspect`. */
  readonly eventsUrl?: string
  /**
   * URL at which a client with a cache reports who looks, which the service does not see otherwise. Default: `/usage` next to
   * `/oauth2/introspect`; no reports if `url` has another path.
   */
  readonly usageUrl?: string
  /** Called before each attempt of an introspection. If it throws, the call fails with that error. */
  readonly beforeRequest?: (request: OutgoingRequest) => void
  readonly clock?: Clock
}

type Form = Readonly<Record<string, string>>

/** A client for token introspection (RFC 7662). One instance serves any number of concurrent calls. */
export class IntrospectionClient {
  readonly #url: URL
  readonly #apiToken: string
  readonly #deadlineMs: number
  #cache: IntrospectionCache | undefined
  readonly #leasedCache: LeasedCache | undefined
  readonly #usage: UsageReporter | undefined
  readonly #post: ReturnType<typeof poster>
  readonly #beforeRequest: ((request: OutgoingRequest) => void) | undefined
  readonly #clock: Clock

  constructor({
    url,
    apiToken,
    deadlineMs = 2000,
    cache,
    eventsUrl,
    usageUrl,
    beforeRequest,
    clock = systemClock,
  }: IntrospectionClientOptions) {
    this.#url = parseUrl('url', '/oauth2/introspect', url)
    // Values from environment variables may be missing or strings.
    if (typeof apiToken !== 'string' || !/^[\x21-\x7e]+$/.test(apiToken)) {
      throw new TypeError('apiToken must be only the API token: visible ASCII characters without white space')
    }
    this.#apiToken = apiToken
    if (typeof deadlineMs !== 'number' || !(deadlineMs >= 1 && deadlineMs <= maxTimeoutMs)) {
      throw new RangeError('deadlineMs must be a number, 1 or more')
    }
    this.#deadlineMs = deadlineMs
    this.#post = poster(this.#url.protocol)
    this.#beforeRequest = beforeRequest
    this.#clock = clock
    if (cache) this.#usage = this.#reporterAt(usageUrl)
    if (!cache?.lease) {
      this.#cache = cache && new UserGroupCache(cache, clock)
      return
    }
    const { lease, maxAgeMs } = cache as { lease: unknown; maxAgeMs?: unknown }
    if (lease !== true) throw new TypeError('cache.lease must be true or absent')
    if (maxAgeMs !== undefined) {
      throw new TypeError('cache.lease and cache.maxAgeMs exclude each other. Use one of them.')
    }
    this.#leasedCache = new LeasedCache(cache, {
      eventsUrl: eventsUrlOf(this.#url, eventsUrl),
      apiToken,
      clock,
    })
    this.#cache = this.#leasedCache
  }

  /** True while cached results are in use. False without a leased cache, and while the event feed is interrupted. */
  get hasLease(): boolean {
    return this.#leasedCache?.hasLease ?? false
  }

  /**
   * Returns the user group of a user group token or viewer session, or null for an inactive token: unknown, superseded, expired,
   * ended, not for the resource, or of another workspace or environment.
   *
   * Retries up to three times within the deadline: after a missing response and after status 429, 500, 502, 503 and 504. It
   * waits at least as long as `Retry-After` requests.
   * @throws IntrospectionError if the result is unknown; `signal.reason` if the signal is aborted
   */
  async introspect(token: string | undefined, options: IntrospectOptions = {}): Promise<UserGroup | null> {
    const { signal, resource } = options
    signal?.throwIfAborted()
    if (typeof token !== 'string' || token === '' || token.length > maxTokenLength) return null
    // From a URL it may be missing. Without this check, the session would be valid for no resource in particular.
    if ('resource' in options && (typeof resource !== 'string' || resource === '')) return null
    // Concurrent calls for one token do not share a request: a call that starts after a rotation must not get an
    // earlier response.
    const cached = this.#cache?.get(token)
    if (cached !== undefined) {
      if (!mayShow(cached, resource)) return null
      this.#usage?.note(cached, resource)
      return cached
    }
    const onResponse = this.#cache?.beginRequest(token, resource)
    // A derived signal for each call keeps the listeners off the caller's signal, which many calls may share.
    const form = { token, ...(resource !== undefined && { resource }) }
    const introspection = await this.#request(form, signal && anySignal(signal))
    onResponse?.(introspection)
    const { userGroup } = introspection
    return userGroup !== null && mayShow(userGroup, resource) ? userGroup : null
  }

  /** Drops a token from the cache. A response to a request that is already under way is not stored. */
  invalidate(token: string): void {
    this.#cache?.invalidate(token)
  }

  /** Adds a listener. Listeners need a cache with a lease, and are called from the first `introspect` on. */
  on<Name extends keyof IntrospectionEvents>(
    name: Name,
    listener: (...args: IntrospectionEvents[Name]) => void,
  ): this {
    this.#emitter().on(name, listener as never)
    return this
  }

  /** Removes a listener. */
  off<Name extends keyof IntrospectionEvents>(
    name: Name,
    listener: (...args: IntrospectionEvents[Name]) => void,
  ): this {
    this.#emitter().off(name, listener as never)
    return this
  }

  /**
   * Ends the connection to the event feed and empties the cache. Later calls ask the service directly. Resolves when the service was told
   * who has looked, or cannot be reached.
   */
  async close(): Promise<void> {
    this.#cache?.close()
    this.#cache = undefined
    await this.#usage?.close()
  }

  #emitter() {
    if (this.#leasedCache) return this.#leasedCache.events
    throw new TypeError('Listeners need a client with cache: { lease: true }')
  }

  async #request(form: Form, signal: AbortSignal | undefined): Promise<Introspection> {
    const deadline = performance.now() + this.#deadlineMs
    let isLastAttempt = false
    for (let attempts = 1; ; attempts++) {
      const left = deadline - performance.now()
      try {
        // Half of the remaining time, so that one missing response leaves time for another attempt.
        return await this.#attempt(form, attempts, isLastAttempt ? left : left / 2, signal)
      } catch (error) {
        if (!(error instanceof IntrospectionError) || !isRetryable(error) || isLastAttempt) throw error
        // A slow service gets only one more attempt.
        isLastAttempt = attempts === maxAttempts - 1 || error.code === 'timed_out'
        const jitter = initialDelayMs * 2 ** (attempts - 1) * (0.5 + Math.random() / 2)
        const pause = Math.max(jitter, error.retryAfterMs ?? 0)
        if (performance.now() + pause >= deadline) throw error
        await sleepUnlessAborted(pause, signal)
        // Timers of a busy process fire late.
        if (performance.now() >= deadline) throw error
      }
    }
  }

  async #attempt(
    form: Form,
    attempt: number,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Introspection> {
    const headers: Record<string, string> = {}
    this.#beforeRequest?.({ attempt, headers })
    const abortion = new AbortController()
    const abort = () => abortion.abort()
    signal?.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(abort, timeoutMs)
    let response: { text: string; headers: IncomingHttpHeaders }
    try {
      response = await this.#send(form, headers, abortion.signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof IntrospectionError) throw error
      throw abortion.signal.aborted ? this.#timedOut() : this.#unreachable(error)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      // Releases a response that was not read to its end.
      abort()
    }
    const { date = '', 'x-event-position': position } = response.headers
    const servedAt = Date.parse(date)
    return {
      userGroup: readIntrospection(response.text),
      position: typeof position === 'string' ? position : null,
      servedAt: Number.isNaN(servedAt) ? null : servedAt,
    }
  }

  get #ownHeaders() {
    return { authorization: `Token ${this.#apiToken}`, accept: 'application/json' }
  }

  async #send(
    form: Form,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<{ text: string; headers: IncomingHttpHeaders }> {
    const response = await this.#post({
      url: this.#url,
      headers: { 'user-agent': userAgent, ...headers, ...this.#ownHeaders },
      contentType: 'application/x-www-form-urlencoded',
      body: new URLSearchParams(form).toString(),
      signal,
    })
    if (response.statusCode !== 200) throw this.#failure(response)
    if (!/^application\/json *(;|$)/i.test(response.headers['content-type'] ?? '')) {
      throw badResponse('its Content-Type is not application/json')
    }
    return { text: decode(await readBounded(response)), headers: response.headers }
  }

  /** Without a URL, there are no reports. */
  #reporterAt(usageUrl: string | undefined): UsageReporter | undefined {
    const url =
      usageUrl === undefined ? neighborOf(this.#url, '/usage') : parseUrl('usageUrl', '/usage', usageUrl)
    if (url === undefined) return undefined
    return new UsageReporter({
      url,
      headers: { 'user-agent': userAgent, ...this.#ownHeaders },
      post: this.#post,
      clock: this.#clock,
    })
  }

  #failure({ statusCode: status = 0, headers }: IncomingMessage): IntrospectionError {
    const details = { status, retryAfterMs: this.#retryAfterMs(headers['retry-after']) }
    switch (status) {
      case 401:
        return new IntrospectionError(
          'unauthenticated',
          'The User Group Service refused apiToken: it is wrong, revoked or expired.',
          details,
        )
      case 403:
        // Other endpoints of the service refuse the scope, too, but not in OAuth's form.
        if (!/\berror="?insufficient_scope\b/.test(headers['www-authenticate'] ?? '')) break
        return new IntrospectionError(
          'forbidden',
          'apiToken lacks the scope "introspect". Use one that has it.',
          details,
        )
      case 429:
        return new IntrospectionError(
          'rate_limited',
          'Too many requests with apiToken. Introspect less often, or use the cache.',
          details,
        )
      case 500:
      case 502:
      case 503:
      case 504:
        return new IntrospectionError(
          'unavailable',
          `The User Group Service is temporarily unavailable (status ${status}). Try again later.`,
          details,
        )
    }
    if (status < 400) return badResponse(`its status is ${status}`)
    return new IntrospectionError(
      'refused',
      `The User Group Service refused the request with status ${status}. Check that url is that of /oauth2/introspect; ` +
        'the log of the service has the reason.',
      details,
    )
  }

  /** Returns the wait in milliseconds. `Retry-After` is a number of seconds or a date. */
  #retryAfterMs(header: string | undefined): number | undefined {
    if (header === undefined) return undefined
    if (/^\d+$/.test(header)) return Math.min(Number(header) * 1000, maxTimeoutMs)
    const date = Date.parse(header)
    return Number.isNaN(date) ? undefined : Math.max(0, date - this.#clock.now())
  }

  #timedOut(): IntrospectionError {
    return new IntrospectionError(
      'timed_out',
      `No response from the User Group Service at ${this.#url.origin} in time. ` +
        'Check the service, or raise deadlineMs.',
    )
  }

  #unreachable(error: unknown): IntrospectionError {
    const { code } = error as { code?: unknown }
    const shown = typeof code === 'string' ? ` (${code})` : ''
    return new IntrospectionError(
      'unreachable',
      `Cannot reach the User Group Service at ${this.#url.origin}${shown}. Check url, and that the service is running.`,
    )
  }
}

function parseUrl(option: string, path: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError(`${option} must be the http or https URL of ${path}, without user or password`)
  }
  return url
}

function eventsUrlOf(introspectionUrl: URL, eventsUrl: string | undefined): URL {
  if (eventsUrl !== undefined) return parseUrl('eventsUrl', '/events', eventsUrl)
  const url = neighborOf(introspectionUrl, '/events')
  if (url) return url
  throw new TypeError('eventsUrl must be set, because url does not end with /oauth2/introspect')
}

/** Returns the URL of another endpoint next to the introspection endpoint. */
function neighborOf(introspectionUrl: URL, neighbor: string): URL | undefined {
  const path = '/oauth2/introspect'
  if (!introspectionUrl.pathname.endsWith(path)) return undefined
  return new URL(`${introspectionUrl.pathname.slice(0, -path.length)}${neighbor}`, introspectionUrl)
}

function isRetryable({ code }: IntrospectionError): boolean {
  return ['unreachable', 'timed_out', 'rate_limited', 'unavailable'].includes(code)
}

async function sleepUnlessAborted(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}

async function readBounded(response: IncomingMessage): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxResponseBytes) throw badResponse(`it is longer than ${maxResponseBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badResponse('it is not UTF-8')
  }
}
