/** The limit on an API token's requests: `perSecond` continuously, and `burst` at once after a pause. */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

const maxPerSecond = 1_000_000
const maxBurst = 10_000_000

/**
 * Parses `500` or, with a burst, `500:2000`. The default burst is twice the rate.
 * @throws RangeError with a message that continues the name of the setting
 */
export function parseRateLimit(text: string): RateLimit {
  const [, rate, burstText] = /^([1-9]\d{0,7})(?::([1-9]\d{0,7}))?$/.exec(text) ?? []
  const perSecond = Number(rate)
  const burst = burstText === undefined ? 2 * perSecond : Number(burstText)
  if (rate === undefined || perSecond > maxPerSecond || burst < perSecond || burst > maxBurst) {
    throw new RangeError(
      `must be requests per second (1 to ${maxPerSecond}), optionally followed by a colon and the burst (at least as many, at most ${maxBurst}), as in 500:2000`,
    )
  }
  return { perSecond, burst }
}

export function rateLimitText({ perSecond, burst }: RateLimit): string {
  return `${perSecond}:${burst}`
}
