/** Source of the time. Tests replace it. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds from an arbitrary start. Unlike `now`, it never jumps when the system clock is set. */
  monotonic(): number
  /** Calls back once after `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void
}

export const systemClock: Clock = {
  now: Date.now,
  monotonic: () => performance.now(),
  after: (ms, callback) => {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

/** @throws `signal.reason` as soon as the signal is aborted */
export async function sleep(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  await new Promise<void>((resolve) => {
    const cancel = clock.after(ms, wake)
    signal.addEventListener('abort', wake, { once: true })
    function wake() {
      cancel()
      signal.removeEventListener('abort', wake)
      resolve()
    }
  })
  signal.throwIfAborted()
}
