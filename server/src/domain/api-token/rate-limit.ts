import type { ApiToken } from './api-token.ts'
import type { Clock } from '../util/clock.ts'

/** How many calls an API token may make: `perSecond` for as long as it likes, and `burst` at once after a pause. */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

const maxPerSecond = 1_000_000
const maxBurst = 10_000_000

/**
 * Reads `500`, or `500:2000` with the burst, which else is twice as many.
 * @throws RangeError whose message follows the name of what was read
 */
export function parseRateLimit(text: string): RateLimit {
  const [, rate, more] = /^([1-9]\d{0,7})(?::([1-9]\d{0,7}))?$/.exec(text) ?? []
  const perSecond = Number(rate)
  const burst = more === undefined ? 2 * perSecond : Number(more)
  if (rate === undefined || perSecond > maxPerSecond || burst < perSecond || burst > maxBurst) {
    throw new RangeError(
      `must be calls a second (1 to ${maxPerSecond}), and after a colon how many at once (no fewer, to ${maxBurst}), as in 500:2000`,
    )
  }
  return { perSecond, burst }
}

export function rateLimitText({ perSecond, burst }: RateLimit): string {
  return `${perSecond}:${burst}`
}

/** What a call was answered by the limit. */
export interface Allowance {
  readonly limit: RateLimit
  readonly isAllowed: boolean
  /** How many more calls may be made at once. */
  readonly remaining: number
  /** Milliseconds until the whole burst may be made at once again. */
  readonly fullInMs: number
  /** Milliseconds until one more call may be made; 0 where it may now. */
  readonly retryInMs: number
}

/**
 * The calls of an API token that its other processes do not know of yet. As the calls are counted, each takes up its
 * share of a second, one after another: so many milliseconds in all, and until `aheadMs` from now if they were the only
 * ones (negative where that is over).
 */
export interface UsageReport {
  readonly apiTokenId: number
  readonly costMs: number
  readonly aheadMs: number
  /** How far ahead a whole burst goes. */
  readonly fullMs: number
}

/** Until how long from now the calls of all processes take up an API token's rate. */
export type SharedUsage = Pick<UsageReport, 'apiTokenId' | 'aheadMs'>

/** How often processes tell each other, in milliseconds. */
export const sharingIntervalMs = 1000
/** What is less than this share of a second's calls is told later, so that little use costs no writing. */
const reportFrom = 1 / 64
/** Nothing is left of calls so long ago. */
const evictAfterMs = 60_000

/** How much of the rate so many calls take up, in milliseconds. */
function timeOf(calls: number, { perSecond }: RateLimit): number {
  return (calls * 1000) / perSecond
}

interface Bucket {
  limit: RateLimit
  /** Until when the calls that are known of take up the rate, by the monotonic clock: the bucket is empty `burst` calls ahead. */
  usedUntil: number
  /** Of the calls that were not told yet: until when they would, if they were alone, and how many they are. */
  unreportedUntil: number
  unreported: number
}

/**
 * A token bucket for each API token, as the generic cell rate algorithm keeps it: one time, to which each call adds its
 * share of a second. Each process decides by itself, at once; what it let through it tells the others within a second, by
 * the store. So all N processes together let through, in any t seconds, no more than
 * `perSecond * t + burst + (N - 1) * (burst + perSecond * d)` calls, where d is how long telling takes, about a second;
 * what was too much is taken from what comes next (decision 0020).
 */
export class RateLimiter {
  readonly #limit: RateLimit | null
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #buckets = new Map<number, Bucket>()
  #isSharing = false

  /** `limit` is that of the API tokens that have none of their own; null where those have none. */
  constructor(limit: RateLimit | null, clock: Pick<Clock, 'monotonic'>) {
    this.#limit = limit
    this.#clock = clock
  }

  /** Counts a call, unless it is one too many. Null where nothing limits the API token. */
  take({ id, rateLimit }: Pick<ApiToken, 'id' | 'rateLimit'>): Allowance | null {
    const limit = rateLimit ?? this.#limit
    if (limit === null) return null
    const now = this.#clock.monotonic()
    const bucket = this.#bucketOf(id, limit)
    const callMs = timeOf(1, limit)
    const fullMs = timeOf(limit.burst, limit)
    const usedUntil = Math.max(bucket.usedUntil, now) + callMs
    // Times are fractions: a burst must not lose its last call to rounding.
    const isAllowed = usedUntil - now <= fullMs + callMs / 1000
    if (isAllowed) {
      bucket.usedUntil = usedUntil
      bucket.unreportedUntil = Math.max(bucket.unreportedUntil, now) + callMs
      bucket.unreported++
    }
    const aheadMs = Math.max(0, bucket.usedUntil - now)
    return {
      limit,
      isAllowed,
      remaining: Math.max(0, Math.floor((fullMs - aheadMs) / callMs + 0.001)),
      fullInMs: aheadMs,
      retryInMs: isAllowed ? 0 : usedUntil - fullMs - now,
    }
  }

  /**
   * Tells the other processes what this one let through, and takes over what they did; nothing while it is being done already.
   * @throws what `book` throws: then it is told the next time
   */
  async share(
    reportUsage: (usageReports: readonly UsageReport[]) => Promise<readonly SharedUsage[]>,
  ): Promise<void> {
    if (this.#isSharing) return
    this.#isSharing = true
    const now = this.#clock.monotonic()
    const reports = [...this.#buckets].flatMap(([apiTokenId, bucket]) => {
      const { limit, unreported, unreportedUntil, usedUntil } = bucket
      if (unreported < Math.max(limit.perSecond * reportFrom, 1)) {
        if (usedUntil < now - evictAfterMs) this.#buckets.delete(apiTokenId)
        return []
      }
      bucket.unreported = 0
      bucket.unreportedUntil = -Infinity
      const fullMs = timeOf(limit.burst, limit)
      // What could not be told for long is over, but for what one bucket and the time between would take.
      const costMs = Math.min(timeOf(unreported, limit), fullMs + 2 * sharingIntervalMs)
      return [
        {
          bucket,
          unreported,
          unreportedUntil,
          usageReport: { apiTokenId, costMs, aheadMs: unreportedUntil - now, fullMs },
        },
      ]
    })
    try {
      const booked =
        reports.length === 0 ? [] : await reportUsage(reports.map(({ usageReport }) => usageReport))
      const shared = new Map(booked.map(({ apiTokenId, aheadMs }) => [apiTokenId, aheadMs]))
      for (const { bucket, usageReport } of reports) {
        const aheadMs = shared.get(usageReport.apiTokenId)
        if (aheadMs !== undefined) this.#takeOver(bucket, now + aheadMs)
      }
    } catch (error) {
      for (const { bucket, unreported, unreportedUntil } of reports) {
        const since = timeOf(bucket.unreported, bucket.limit)
        bucket.unreportedUntil = Math.max(bucket.unreportedUntil, unreportedUntil + since)
        bucket.unreported += unreported
      }
      throw error
    } finally {
      this.#isSharing = false
    }
  }

  /** What came in while it was told stands after it. */
  #takeOver(bucket: Bucket, usedUntil: number): void {
    bucket.usedUntil = Math.max(usedUntil + timeOf(bucket.unreported, bucket.limit), bucket.unreportedUntil)
  }

  /** What was booked at the old rate keeps nobody waiting for longer than a whole burst of the new one. */
  #change(bucket: Bucket, limit: RateLimit): void {
    const full = this.#clock.monotonic() + timeOf(limit.burst, limit)
    bucket.limit = limit
    bucket.usedUntil = Math.min(bucket.usedUntil, full)
    bucket.unreportedUntil = Math.min(bucket.unreportedUntil, full)
  }

  #bucketOf(id: number, limit: RateLimit): Bucket {
    const known = this.#buckets.get(id)
    if (known !== undefined) {
      if (known.limit.perSecond !== limit.perSecond || known.limit.burst !== limit.burst)
        this.#change(known, limit)
      return known
    }
    const bucket = { limit, usedUntil: -Infinity, unreportedUntil: -Infinity, unreported: 0 }
    this.#buckets.set(id, bucket)
    return bucket
  }
}
