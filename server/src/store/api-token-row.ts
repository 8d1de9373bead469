import type { ApiToken } from '../domain/api-token/api-token.ts'
import type { RateLimit } from '../domain/api-token/rate-limit.ts'

/** The cells of an API token's own limit, in the order of their columns. */
export function limitCells({
  rateLimit,
}: Partial<Pick<ApiToken, 'rateLimit'>>): [number | null, number | null] {
  return [rateLimit?.perSecond ?? null, rateLimit?.burst ?? null]
}

export function rateLimitOf(row: {
  readonly calls_per_second: number | null
  readonly calls_at_once: number | null
}): RateLimit | null {
  const { calls_per_second: perSecond, calls_at_once: burst } = row
  return perSecond === null || burst === null ? null : { perSecond, burst }
}

/**
 * How far ahead the calls of several processes may be booked, in milliseconds: a whole burst of each of sixteen, and a margin.
 * What is further ahead is by another clock than now's, that of a machine before it was started anew, or one that was set
 * back, and counts as one whole burst.
 */
export function maxAheadMs(fullMs: number): number {
  return 16 * fullMs + 5000
}
