import { setTimeout as sleep } from 'node:timers/promises'
import { systemClock, type Clock } from './clock.ts'
import { badAnswer, readAnswer } from './introspection-answer.ts'
import { IntrospectionError } from './introspection-error.ts'
import { UserGroupCache, type CacheOptions } from './user-group-cache.ts'
import type { UserGroup } from './user-group.ts'

const maxTries = 4
/** Before the second try; it doubles with each. */
const firstPauseMs = 50
/** A user group of the largest properties and mapping is well below. */
const maxAnswerBytes = 8 * 1024 * 1024
/** What is longer is no token: the service's have 80 characters at most. */
const maxTokenLength = 1000
/** The longest that a timer waits. */
const longestTimeoutMs = 2_147_483_647

export interface IntrospectionClientOptions {
  /** The service's `/oauth2/introspect`: `https://user-groups.example.com/oauth2/introspect`. */
  readonly url: string
  /** An API token with the scope `introspect`, of the workspace and environment whose tokens are asked about. */
  readonly apiToken: string
  /** How long one call may take, in milliseconds, all tries and pauses included. Default: 2000. */
  readonly deadlineMs?: number
  /** Off by default: every call asks the service, and a token that was rotated is inactive in the very next call. */
  readonly cache?: CacheOptions
  readonly clock?: Clock
}

/** Asks the User Group Service whose token it is (RFC 7662). One serves any number of calls at once. */
export class IntrospectionClient {
  readonly #url: URL
  readonly #apiToken: string
  readonly #deadlineMs: number
  readonly #cache: UserGroupCache | undefined
  readonly #clock: Clock

  constructor({ url, apiToken, deadlineMs = 2000, cache, clock = systemClock }: IntrospectionClientOptions) {
    this.#url = readUrl(url)
    // From an environment variable, each may well be missing or a text.
    if (typeof apiToken !== 'string' || !/^[\x21-\x7e]+$/.test(apiToken)) {
      throw new TypeError('apiToken must be the API token alone: visible ASCII characters, no white space')
    }
    this.#apiToken = apiToken
    if (typeof deadlineMs !== 'number' || !(deadlineMs >= 1 && deadlineMs <= longestTimeoutMs)) {
      throw new RangeError('deadlineMs must be a number, 1 or more')
    }
    this.#deadlineMs = deadlineMs
    this.#cache = cache && new UserGroupCache(cache, clock)
    this.#clock = clock
  }

  /**
   * Whose token this is, or null for one that is not active: unknown, replaced, expired, of another workspace or
   * environment, or none at all.
   *
   * It tries again, up to three times within the deadline, where there is no answer, and after 429, 502, 503 and 504, not
   * before the time that `Retry-After` names. Asking changes nothing, so that a repeat is safe.
   * @throws IntrospectionError where the service does not say; `signal.reason` where the signal is aborted
   */
  async introspect(
    token: string | undefined,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<UserGroup | null> {
    signal?.throwIfAborted()
    if (typeof token !== 'string' || token === '' || token.length > maxTokenLength) return null
    // Calls for one token do not share a request: one that starts after a rotation must not get an answer from before.
    const askedAt = this.#clock.monotonic()
    const kept = this.#cache?.get(token)
    if (kept !== undefined) return kept
    // One of its own for this call: many may share the caller's.
    const userGroup = await this.#ask(token, signal && AbortSignal.any([signal]))
    if (userGroup !== null) this.#cache?.set(token, userGroup, askedAt)
    return userGroup
  }

  async #ask(token: string, signal: AbortSignal | undefined): Promise<UserGroup | null> {
    const deadline = performance.now() + this.#deadlineMs
    let isLastTry = false
    for (let tries = 1; ; tries++) {
      const left = deadline - performance.now()
      try {
        // Half of what is left, so that one answer that never comes leaves time for another try.
        return await this.#try(token, isLastTry ? left : left / 2, signal)
      } catch (error) {
        if (!(error instanceof IntrospectionError) || !isWorthARetry(error) || isLastTry) throw error
        // A service that is slow is not asked again and again.
        isLastTry = tries === maxTries - 1 || error.code === 'timed_out'
        const jitter = firstPauseMs * 2 ** (tries - 1) * (0.5 + Math.random() / 2)
        const pause = Math.max(jitter, error.retryAfterMs ?? 0)
        if (performance.now() + pause >= deadline) throw error
        await sleepUnlessAborted(pause, signal)
        // A process that is busy wakes late.
        if (performance.now() >= deadline) throw error
      }
    }
  }

  async #try(token: string, timeoutMs: number, signal: AbortSignal | undefined): Promise<UserGroup | null> {
    const abortion = new AbortController()
    const abort = () => abortion.abort()
    signal?.addEventListener('abort', abort, { once: true })
    const timer = setTimeout(abort, timeoutMs)
    let text: string
    try {
      text = await this.#exchange(token, abortion.signal)
    } catch (error) {
      signal?.throwIfAborted()
      if (error instanceof IntrospectionError) throw error
      throw abortion.signal.aborted ? this.#timedOut() : this.#unreachable(error)
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      // Lets go of an answer that was not read to its end.
      abort()
    }
    return readAnswer(text)
  }

  async #exchange(token: string, signal: AbortSignal): Promise<string> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        authorization: `Token ${this.#apiToken}`,
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'application/json',
      },
      body: new URLSearchParams({ token, token_type_hint: 'user_group' }).toString(),
      // Tokens go to the URL that was configured and nowhere else. Following is refused by the status of the answer:
      // with 'error' it would look like a connection that failed.
      redirect: 'manual',
      signal,
    })
    if (response.status !== 200) throw this.#failure(response)
    if (!/^application\/json *(;|$)/i.test(response.headers.get('content-type') ?? '')) {
      throw badAnswer('its Content-Type is not application/json')
    }
    return decode(await readBounded(response))
  }

  #failure({ status, headers }: Response): IntrospectionError {
    const details = { status, retryAfterMs: this.#retryAfterMs(headers.get('retry-after')) }
    switch (status) {
      case 401:
        return new IntrospectionError(
          'unauthenticated',
          'The User Group Service does not accept apiToken: it is wrong, revoked or expired',
          details,
        )
      case 403:
        return new IntrospectionError(
          'forbidden',
          'apiToken lacks the scope introspect: take one that has it',
          details,
        )
      case 429:
        return new IntrospectionError(
          'rate_limited',
          'The User Group Service gets too many calls with apiToken: ask less often, or use the cache',
          details,
        )
      case 502:
      case 503:
      case 504:
        return new IntrospectionError(
          'unavailable',
          `The User Group Service is unavailable for the moment (status ${status}): try again later`,
          details,
        )
    }
    if (status < 400) return badAnswer(`its status is ${status}`)
    return new IntrospectionError(
      'refused',
      `The User Group Service refuses the call with status ${status}: check url; its log has the reason`,
      details,
    )
  }

  /** `Retry-After` is a number of seconds, or a date. */
  #retryAfterMs(header: string | null): number | undefined {
    if (header === null) return undefined
    if (/^\d+$/.test(header)) return Math.min(Number(header) * 1000, longestTimeoutMs)
    const date = Date.parse(header)
    return Number.isNaN(date) ? undefined : Math.max(0, date - this.#clock.now())
  }

  #timedOut(): IntrospectionError {
    return new IntrospectionError(
      'timed_out',
      `The User Group Service at ${this.#url.origin} did not answer in time: ` +
        'check that it is well, or allow more with deadlineMs',
    )
  }

  #unreachable(error: unknown): IntrospectionError {
    const { cause } = error as { cause?: { code?: unknown } }
    const code = typeof cause?.code === 'string' ? ` (${cause.code})` : ''
    return new IntrospectionError(
      'unreachable',
      `The User Group Service cannot be reached at ${this.#url.origin}${code}: check url, and that it runs`,
    )
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') {
    throw new TypeError('url must be the http or https URL of /oauth2/introspect, without user and password')
  }
  return url
}

function isWorthARetry({ code }: IntrospectionError): boolean {
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

async function readBounded(response: Response): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxAnswerBytes) throw badAnswer(`it is longer than ${maxAnswerBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw badAnswer('it is not UTF-8')
  }
}
