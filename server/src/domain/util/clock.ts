/** The source of time. Tests inject their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds since a fixed point, unaffected by changes of the system clock. */
  monotonic(): number
}

/** Maximum backward step of the system clock that is ignored, in milliseconds. */
const maxIgnoredStepMs = 2 * 60 * 60 * 1000

/**
 * Returns a clock that ignores backward steps of `clock` of up to two hours, so that expired tokens and sessions do not become
 * valid again. It follows larger steps, because they correct a clock that was wrong.
 */
export function steady(clock: Clock): Clock {
  let latest = -Infinity
  let latestAt = 0
  return {
    now: () => {
      const now = clock.now()
      const at = clock.monotonic()
      // Round down as the system clock does, so that rounding alone never looks like a backward step.
      const expected = Math.floor(latest + at - latestAt)
      if (now < expected && expected - now <= maxIgnoredStepMs) return expected
      latest = now
      latestAt = at
      return now
    },
    monotonic: () => clock.monotonic(),
  }
}

export const systemClock: Clock = steady({ now: Date.now, monotonic: () => performance.now() })
