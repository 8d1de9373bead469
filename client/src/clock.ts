/** Where the time comes from; tests bring their own. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number
  /** Milliseconds from any moment on. Unlike `now`, it neither leaps nor goes back when the computer's clock is set. */
  monotonic(): number
  /** Calls back once, after so many milliseconds; returns what calls that off. */
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
export async function sleep(clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const callOff = clock.after(ms, wake)
    signal?.addEventListener('abort', wake, { once: true })
    function wake() {
      callOff()
      signal?.removeEventListener('abort', wake)
      resolve()
    }
  })
  signal?.throwIfAborted()
}
