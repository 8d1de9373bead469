/** Where the time comes from; tests bring their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds since some time that stays: it goes on evenly where the other is set anew. */
  monotonic(): number
}

/** How far back the system's clock may be set without being followed, in milliseconds. */
const heldMs = 2 * 60 * 60 * 1000

/**
 * A clock that goes on evenly where the other is set back by up to two hours: what is over does not begin again. Where it is set
 * back by more, it had been wrong by as much, and is followed.
 */
export function steady(clock: Clock): Clock {
  let latest = -Infinity
  let latestAt = 0
  return {
    now: () => {
      const now = clock.now()
      const at = clock.monotonic()
      // Both count whole milliseconds from below, so that rounding alone never holds it.
      const expected = Math.floor(latest + at - latestAt)
      if (now < expected && expected - now <= heldMs) return expected
      latest = now
      latestAt = at
      return now
    },
    monotonic: () => clock.monotonic(),
  }
}

export const systemClock: Clock = steady({ now: Date.now, monotonic: () => performance.now() })
