import type { Clock } from '../../src/clock.ts'

interface Timer {
  readonly ms: number
  /** Advances the clock by `ms` and fires the timer. */
  fire(): void
}

/**
 * A clock that advances only when a test fires a timer. Each call alternates timers: attempt, pause, attempt, pause.
 */
export class TestClock implements Clock {
  #passedMs = 0
  readonly #set: Timer[] = []
  #wake: () => void = () => undefined

  now(): number {
    return Date.UTC(2030, 0, 1) + this.#passedMs
  }

  monotonic(): number {
    return this.#passedMs
  }

  after(ms: number, callback: () => void): () => void {
    let isOff = false
    this.#set.push({
      ms,
      fire: () => {
        this.#passedMs += ms
        if (!isOff) callback()
      },
    })
    this.#wake()
    return () => {
      isOff = true
    }
  }

  /** Returns the next timer as soon as it is set. */
  async timer(): Promise<Timer> {
    for (;;) {
      const timer = this.#set.shift()
      if (timer !== undefined) return timer
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Lets this many pauses pass between failing attempts. Returns their lengths. */
  async passPauses(count: number): Promise<number[]> {
    const pauses: number[] = []
    while (pauses.length < count) {
      await this.timer()
      const pause = await this.timer()
      pauses.push(pause.ms)
      pause.fire()
    }
    return pauses
  }
}
