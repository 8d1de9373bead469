import type { Clock } from '../util/clock.ts'
import type { RateLimit } from './rate-limit.ts'

/** The limiter's decision about one request. */
export interface Allowance {
  readonly limit: RateLimit
  readonly isAllowed: boolean
  /** Number of further requests allowed immediately. */
  readonly remaining: number
  /** Milliseconds until the whole burst is available again. */
  readonly fullInMs: number
  /** Milliseconds until the next request is allowed; 0 if this one was. */
  readonly retryInMs: number
}

/**
 * The requests of an API token that other processes do not know of yet. Each request occupies its share of a second, one after
 * another: `costMs` in total. If there were no other requests, they would occupy the rate until `aheadMs` from now, which is
 * negative if that time has passed.
 */
export interface UsageReport {
  readonly apiTokenId: number
  readonly costMs: number
  readonly aheadMs: number
  /** The cost of a whole burst, in milliseconds. */
  readonly fullMs: number
}

/** The time from now for which the requests of all processes occupy an API token's rate. */
export type SharedUsage = Pick<UsageReport, 'apiTokenId' | 'aheadMs'>

/**
 * Maximum plausible lead of the shared usage, in milliseconds: a full burst of sixteen processes, and a margin. A larger lead
 * was measured by another clock (the machine restarted, or the clock was set back) and counts as one full burst.
 */
const maxAheadMs = (fullMs: number) => 16 * fullMs + 5000

/** Returns the time until which the requests of all processes occupy an API token's rate. Null if there were none. Times are in milliseconds. */
export function usedUntil(
  before: number | null,
  { costMs, aheadMs, fullMs }: UsageReport,
  now: number,
): number {
  const known = before ?? -Infinity
  return Math.max((known > now + maxAheadMs(fullMs) ? now + fullMs : known) + costMs, now + aheadMs)
}

/** Interval of usage reports between processes, in milliseconds. */
export const sharingIntervalMs = 1000
/** Minimum share of a second's requests for a report. Smaller counts wait, so that light use writes nothing. */
const minReportedShare = 1 / 64
/** A bucket unused for this long is full again and can be deleted. */
const evictAfterMs = 60_000

/** Returns the cost of a number of requests, in milliseconds of the rate. */
function costOf(requests: number, { perSecond }: RateLimit): number {
  return (requests * 1000) / perSecond
}

interface TokenBucket {
  limit: RateLimit
  /** Time on the monotonic clock until which all known requests occupy the rate. The bucket is empty `burst` requests ahead. */
  usedUntil: number
  /** Time until which the unreported requests alone would occupy the rate. */
  unreportedUntil: number
  unreported: number
}

/** An API token, or a person under a name. */
interface Counted {
  readonly id: number | string
  readonly rateLimit: RateLimit | null
}

/**
 * A token bucket for each API token, implemented with the generic cell rate algorithm: one time, to which each request adds its
 * share of a second. Each process decides alone and immediately, and reports its requests to the others through the store within
 * a second. In any t seconds, N processes together therefore allow at most
 * `perSecond * t + burst + (N - 1) * (burst + perSecond * d)` requests, where d is the reporting delay of about a second. Requests
 * above the limit count against later ones (decision 0020). The requests of people, who are known by names, are not reported.
 */
export class RateLimiter {
  readonly #limit: RateLimit | null
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #buckets = new Map<Counted['id'], TokenBucket>()
  #isSharing = false

  /** @param limit the default limit of API tokens; null for none */
  constructor(limit: RateLimit | null, clock: Pick<Clock, 'monotonic'>) {
    this.#limit = limit
    this.#clock = clock
  }

  /** Counts a request if the limit allows it. Returns null if there is no limit. */
  take({ id, rateLimit }: Counted): Allowance | null {
    const limit = rateLimit ?? this.#limit
    if (limit === null) return null
    const now = this.#clock.monotonic()
    const bucket = this.#bucketOf(id, limit)
    const requestMs = costOf(1, limit)
    const fullMs = costOf(limit.burst, limit)
    const usedUntil = Math.max(bucket.usedUntil, now) + requestMs
    // Times are fractions. The tolerance keeps rounding from refusing the last request of a burst.
    const isAllowed = usedUntil - now <= fullMs + requestMs / 1000
    if (isAllowed) {
      bucket.usedUntil = usedUntil
      bucket.unreportedUntil = Math.max(bucket.unreportedUntil, now) + requestMs
      bucket.unreported++
    }
    const aheadMs = Math.max(0, bucket.usedUntil - now)
    return {
      limit,
      isAllowed,
      remaining: Math.max(0, Math.floor((fullMs - aheadMs) / requestMs + 0.001)),
      fullInMs: aheadMs,
      retryInMs: isAllowed ? 0 : usedUntil - fullMs - now,
    }
  }

  /**
   * Reports this process's requests to the others and adds theirs to the buckets. Does nothing while another report is in flight.
   * @throws the error of `reportUsage`; the requests are reported the next time
   */
  async share(
    reportUsage: (usageReports: readonly UsageReport[]) => Promise<readonly SharedUsage[]>,
  ): Promise<void> {
    if (this.#isSharing) return
    this.#isSharing = true
    const now = this.#clock.monotonic()
    const reports = [...this.#buckets].flatMap(([apiTokenId, bucket]) => {
      const { limit, unreported, unreportedUntil, usedUntil } = bucket
      if (typeof apiTokenId === 'string' || unreported < Math.max(limit.perSecond * minReportedShare, 1)) {
        if (usedUntil < now - evictAfterMs) this.#buckets.delete(apiTokenId)
        return []
      }
      bucket.unreported = 0
      bucket.unreportedUntil = -Infinity
      const fullMs = costOf(limit.burst, limit)
      // After a long outage of the store, report at most one burst and two intervals: older requests no longer count.
      const costMs = Math.min(costOf(unreported, limit), fullMs + 2 * sharingIntervalMs)
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
      const sharedUsage =
        reports.length === 0 ? [] : await reportUsage(reports.map(({ usageReport }) => usageReport))
      const shared = new Map(sharedUsage.map(({ apiTokenId, aheadMs }) => [apiTokenId, aheadMs]))
      for (const { bucket, usageReport } of reports) {
        const aheadMs = shared.get(usageReport.apiTokenId)
        if (aheadMs !== undefined) this.#applySharedUsage(bucket, now + aheadMs)
      }
    } catch (error) {
      for (const { bucket, unreported, unreportedUntil } of reports) {
        const newerCostMs = costOf(bucket.unreported, bucket.limit)
        bucket.unreportedUntil = Math.max(bucket.unreportedUntil, unreportedUntil + newerCostMs)
        bucket.unreported += unreported
      }
      throw error
    } finally {
      this.#isSharing = false
    }
  }

  /** Applies the shared usage, and adds the requests that arrived since the report. */
  #applySharedUsage(bucket: TokenBucket, usedUntil: number): void {
    bucket.usedUntil = Math.max(usedUntil + costOf(bucket.unreported, bucket.limit), bucket.unreportedUntil)
  }

  /** Changes the limit. Usage counted at the old rate delays requests by at most one burst of the new rate. */
  #changeLimit(bucket: TokenBucket, limit: RateLimit): void {
    const full = this.#clock.monotonic() + costOf(limit.burst, limit)
    bucket.limit = limit
    bucket.usedUntil = Math.min(bucket.usedUntil, full)
    bucket.unreportedUntil = Math.min(bucket.unreportedUntil, full)
  }

  #bucketOf(id: Counted['id'], limit: RateLimit): TokenBucket {
    const known = this.#buckets.get(id)
    if (known !== undefined) {
      if (known.limit.perSecond !== limit.perSecond || known.limit.burst !== limit.burst)
        this.#changeLimit(known, limit)
      return known
    }
    const bucket = { limit, usedUntil: -Infinity, unreportedUntil: -Infinity, unreported: 0 }
    this.#buckets.set(id, bucket)
    return bucket
  }
}
