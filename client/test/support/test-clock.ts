import type { Clock } from '../../src/clock.ts'

interface Timer {
  readonly ms: number
  /** Lets its time pass. */
  fire(): void
}

/** A clock that goes on only when a test lets one of its timers fire. A call sets them in turn: try, pause, try, pause. */
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

  /** The next one that is set, as soon as it is. */
  async timer(): Promise<Timer> {
    for (;;) {
      const timer = this.#set.shift()
      if (timer !== undefined) return timer
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** Lets so many pauses pass, whose tries end by themselves; returns how long they were. */
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
