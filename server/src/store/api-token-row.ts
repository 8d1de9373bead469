import type { ApiToken } from '../domain/api-token/api-token.ts'
import type { RateLimit } from '../domain/api-token/rate-limit.ts'

/** Returns the cells of an API token's own limit, in column order. */
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
 * Maximum plausible lead of the shared usage, in milliseconds: a full burst of sixteen processes, and a margin. A larger lead
 * was measured by another clock (the machine restarted, or the clock was set back) and counts as one full burst.
 */
export function maxAheadMs(fullMs: number): number {
  return 16 * fullMs + 5000
}
