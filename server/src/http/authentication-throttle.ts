import type { IncomingMessage } from 'node:http'
import type { BlockList } from 'node:net'
import { Cache } from '../domain/util/cache.ts'
import type { Clock } from '../domain/util/clock.ts'
import { RepeatLimiter } from '../domain/util/repeat-limiter.ts'
import { clientAddressOf, networkOf } from './client-address.ts'

export interface AuthenticationThrottleOptions {
  /** Failed authentications of a client address allowed per minute; 0 for no limit. */
  readonly perMinute: number
  /** Proxies whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: BlockList
  readonly clock: Pick<Clock, 'monotonic'>
  readonly logger: { warn(fields: object, message: string): void }
}

/** A failed authentication beyond the limit. */
export interface ThrottledAuthentication {
  readonly limit: number
  /** Seconds until the next failed authentication gets a 401 again. */
  readonly retryIn: number
  /** Seconds until the whole limit is available again. */
  readonly fullIn: number
}

const minuteMs = 60_000
/** Maximum number of client addresses whose failures are known. */
const maxAddresses = 20_000
/** Maximum number of client addresses with a log line of their own per minute. The others share one. */
const maxLogged = 1000
/** A failed sign-in costs as much as this number of other failures: people make it, not programs. */
const signInCost = 10

/**
 * Limits the failed authentications of each client address with a token bucket. It is asked only once credentials have turned out
 * to be wrong: valid ones always work, also behind the same proxy (decision 0037).
 */
export class AuthenticationThrottle {
  readonly #options: AuthenticationThrottleOptions
  /** `usedUntil`: time on the monotonic clock until which the failures of an address occupy its rate. */
  readonly #buckets = new Cache<{ usedUntil: number }>(maxAddresses / 2)
  readonly #log = new RepeatLimiter(minuteMs)

  constructor(options: AuthenticationThrottleOptions) {
    this.#options = options
  }

  /** Proxies whose `X-Forwarded-For` is believed. */
  get trustedProxies(): BlockList {
    return this.#options.trustedProxies
  }

  /** Number of client addresses that exceeded the limit within about a minute. */
  get throttledAddresses(): number {
    return this.#log.activeKeys
  }

  /** Logs the failures that are not logged yet. */
  close(): void {
    this.#log.close()
  }

  /** Counts a failed authentication. Returns null within the limit. */
  countFailure(request: IncomingMessage, isSignIn: boolean): ThrottledAuthentication | null {
    const { perMinute, trustedProxies, clock, logger } = this.#options
    if (perMinute === 0) return null
    const limit = isSignIn ? Math.ceil(perMinute / signInCost) : perMinute
    const address = networkOf(clientAddressOf(request, trustedProxies))
    const bucket = this.#bucketOf(`${isSignIn ? 'sign-in' : 'request'} ${address}`)
    const now = clock.monotonic()
    const usedUntil = Math.max(bucket.usedUntil, now) + minuteMs / limit
    // The tolerance of a millisecond keeps rounding from refusing the last failure of a burst.
    const retryInMs = usedUntil - minuteMs - now
    if (retryInMs <= 1) {
      bucket.usedUntil = usedUntil
      return null
    }
    this.#log.write(this.#log.activeKeys < maxLogged ? address : 'others', (suppressed) => {
      const fields = { address, ...(suppressed > 0 && { suppressed }) }
      logger.warn(fields, 'too many failed authentications from an address: more of them get 429')
    })
    const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000))
    return { limit, retryIn: seconds(retryInMs), fullIn: seconds(bucket.usedUntil - now) }
  }

  #bucketOf(key: string): { usedUntil: number } {
    const known = this.#buckets.get(key)
    if (known !== undefined) return known
    const bucket = { usedUntil: -Infinity }
    this.#buckets.set(key, bucket)
    return bucket
  }
}
