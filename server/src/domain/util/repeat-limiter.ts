interface Window {
  suppressed: number
  last: ((suppressed: number) => void) | undefined
  readonly end: NodeJS.Timeout
}

/**
 * Limits repeated log lines to one per window for each key, by default a second. The first is written at once. If more arrive within
 * the window, the last of them is written at its end, with the number of the lines before it that were suppressed.
 */
export class RepeatLimiter {
  readonly #windowMs: number
  readonly #windows = new Map<string, Window>()

  constructor(windowMs = 1000) {
    this.#windowMs = windowMs
  }

  /** Number of keys with a line in the current or previous window. */
  get activeKeys(): number {
    return this.#windows.size
  }

  write(key: string, line: (suppressed: number) => void): void {
    const window = this.#windows.get(key)
    if (window === undefined) {
      line(0)
      this.#open(key)
    } else {
      if (window.last !== undefined) window.suppressed++
      window.last = line
    }
  }

  /** Ends all windows, and writes the lines that wait for it. */
  close(): void {
    for (const { end, last, suppressed } of this.#windows.values()) {
      clearTimeout(end)
      last?.(suppressed)
    }
    this.#windows.clear()
  }

  #open(key: string): void {
    const end = setTimeout(() => {
      this.#windows.delete(key)
      if (window.last === undefined) return
      window.last(window.suppressed)
      this.#open(key)
    }, this.#windowMs).unref()
    const window: Window = { suppressed: 0, last: undefined, end }
    this.#windows.set(key, window)
  }
}
