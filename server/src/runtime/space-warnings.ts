import type { Logger } from 'pino'
import { isLogLarge, type StoreSpace } from '../domain/store.ts'
import type { Clock } from '../domain/util/clock.ts'

const hourMs = 60 * 60 * 1000
export const mebibyte = 1024 * 1024

/** Warns when a disk is nearly full or a write-ahead log is large, and every hour while that lasts. */
export class SpaceWarnings {
  readonly #thresholdBytes: number
  readonly #logger: Pick<Logger, 'warn'>
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #warnedAt = new Map<string, number>()

  /** @param thresholdBytes free space below which the disk is nearly full */
  constructor(thresholdBytes: number, logger: Pick<Logger, 'warn'>, clock: Pick<Clock, 'monotonic'>) {
    this.#thresholdBytes = thresholdBytes
    this.#logger = logger
    this.#clock = clock
  }

  check({ size, log, free }: StoreSpace): void {
    this.#warnIf(
      free !== null && free < this.#thresholdBytes,
      { free_mb: megabytes(free), threshold_mb: megabytes(this.#thresholdBytes) },
      'the disk of the store is nearly full: free some space on it, or enlarge it',
    )
    this.#warnIf(
      log !== null && isLogLarge(log, size),
      { log_mb: megabytes(log), store_mb: megabytes(size) },
      'the write-ahead log of the store is large, because another program keeps a read transaction open: run `ugs doctor`',
    )
  }

  #warnIf(isTrue: boolean, figures: object, message: string): void {
    const now = this.#clock.monotonic()
    if (!isTrue) this.#warnedAt.delete(message)
    else if (now - (this.#warnedAt.get(message) ?? -Infinity) >= hourMs) {
      this.#warnedAt.set(message, now)
      this.#logger.warn(figures, message)
    }
  }
}

function megabytes(bytes: number | null): number {
  return Math.floor((bytes ?? 0) / mebibyte)
}
