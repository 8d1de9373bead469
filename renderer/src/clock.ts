/** Where the time comes from; tests bring their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds from any moment on. Unlike `now`, it neither leaps nor goes back when the computer's clock is set. */
  monotonic(): number
}

export const systemClock: Clock = { now: Date.now, monotonic: () => performance.now() }
