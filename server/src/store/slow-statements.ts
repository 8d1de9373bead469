/** Longest reported text of a statement without a name, in characters. */
const maxLength = 120

/** Reports statements that take at least `thresholdMs`. A statement is reported by its name or its text, never with its values. */
export class SlowStatements {
  readonly #thresholdMs: number
  readonly #report: (statement: string, durationMs: number) => void

  constructor(thresholdMs: number, report: (statement: string, durationMs: number) => void) {
    this.#thresholdMs = thresholdMs
    this.#report = report
  }

  /** Starts a stopwatch. Each call of the returned function ends one statement and starts the next. */
  start(): (statement: string) => void {
    let startedAt = performance.now()
    return (statement) => {
      const now = performance.now()
      const durationMs = now - startedAt
      startedAt = now
      if (durationMs < this.#thresholdMs) return
      this.#report(statement.replaceAll(/\s+/g, ' ').trim().slice(0, maxLength), Math.round(durationMs))
    }
  }
}
