import type { Logger } from 'pino'
import type { Clock } from '../domain/util/clock.ts'

const hourMs = 60 * 60 * 1000
export const mebibyte = 1024 * 1024

/** Warns when the free space of a disk falls below a threshold, and every hour while it stays there. */
export class DiskWarning {
  readonly #thresholdBytes: number
  readonly #logger: Pick<Logger, 'warn'>
  readonly #clock: Pick<Clock, 'monotonic'>
  #warnedAt = -Infinity

  constructor(thresholdBytes: number, logger: Pick<Logger, 'warn'>, clock: Pick<Clock, 'monotonic'>) {
    this.#thresholdBytes = thresholdBytes
    this.#logger = logger
    this.#clock = clock
  }

  check(freeBytes: number): void {
    const now = this.#clock.monotonic()
    if (freeBytes >= this.#thresholdBytes) this.#warnedAt = -Infinity
    else if (now - this.#warnedAt >= hourMs) {
      this.#warnedAt = now
      this.#logger.warn(
        { free_mb: Math.floor(freeBytes / mebibyte), threshold_mb: this.#thresholdBytes / mebibyte },
        'the disk of the store is nearly full: free some space on it, or enlarge it',
      )
    }
  }
}
