import type { Clock } from '../clock.ts'

/**
 * A time by both clocks. A span is over as soon as it is over by one of them: the monotonic clock does not jump, and the
 * wall clock also counts the time that the machine was suspended.
 */
export interface Instant {
  readonly monotonic: number
  readonly wall: number
}

export const never: Instant = { monotonic: -Infinity, wall: -Infinity }

export function instantOf(clock: Clock): Instant {
  return { monotonic: clock.monotonic(), wall: clock.now() }
}

export function later({ monotonic, wall }: Instant, ms: number): Instant {
  return { monotonic: monotonic + ms, wall: wall + ms }
}

export function earliest(a: Instant, b: Instant): Instant {
  return { monotonic: Math.min(a.monotonic, b.monotonic), wall: Math.min(a.wall, b.wall) }
}
