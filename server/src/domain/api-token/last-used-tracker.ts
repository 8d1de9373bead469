import type { Clock } from '../util/clock.ts'
import { RecentTimes } from '../util/recent-times.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs
/** Maximum number of uses in memory. Reaching it triggers a write. */
const maxPending = 50_000
/** Uses written in one transaction: few enough that other writers wait only about as long as for one or two creations. */
const batchSize = 200

/** One use of a user group token or an API token. */
export interface Use<Thing> {
  readonly of: Thing
  /** Rounded down to the minute, in milliseconds since the Unix epoch. */
  readonly usedAt: number
}

/** The part of a tracker that records uses. */
export type LastUsedRecorder<Thing> = Pick<LastUsedTracker<Thing>, 'note'>

/** Tracks to the minute when each of many things was last used. Collects uses in memory and writes them in batches. */
export class LastUsedTracker<Thing> {
  readonly #clock: Pick<Clock, 'now'>
  readonly #idOf: (thing: Thing) => number
  readonly #record: (uses: readonly Use<Thing>[]) => Promise<void>
  readonly #onFailure: (error: unknown) => void
  readonly #recent = new RecentTimes()
  /** Uses of the latest day. */
  #pending = new Map<number, Use<Thing>>()
  /** Uses that could not be written, and are written with the next ones. */
  #unwritten: Use<Thing>[] = []
  #writing = Promise.resolve()
  #day = 0

  /** @param parts.onFailure called with the error if uses could not be written */
  constructor(parts: {
    clock: Pick<Clock, 'now'>
    idOf: (thing: Thing) => number
    record: (uses: readonly Use<Thing>[]) => Promise<void>
    onFailure: (error: unknown) => void
  }) {
    this.#clock = parts.clock
    this.#idOf = parts.idOf
    this.#record = parts.record
    this.#onFailure = parts.onFailure
  }

  note(thing: Thing): void {
    const now = this.#clock.now()
    const usedAt = now - (now % minuteMs)
    const id = this.#idOf(thing)
    if (this.#recent.has(id, usedAt)) return
    this.#recent.set(id, usedAt)
    const day = Math.floor(usedAt / dayMs)
    if (day !== this.#day) {
      this.#day = day
      // A later use replaces an earlier one, but not the last one of a day.
      void this.write()
    }
    this.#pending.set(id, { of: thing, usedAt })
    if (this.#pending.size >= maxPending) void this.write()
  }

  /**
   * Writes the pending uses, after those of earlier calls. If that fails, keeps them for the next time, the latest ones if there are too
   * many.
   */
  write(): Promise<void> {
    const uses = [...this.#unwritten, ...this.#pending.values()]
    this.#unwritten = []
    this.#pending = new Map()
    this.#writing = this.#writing.then(() => this.#writeAll(uses))
    return this.#writing
  }

  async #writeAll(uses: readonly Use<Thing>[]): Promise<void> {
    let written = 0
    try {
      for (; written < uses.length; written += batchSize)
        await this.#record(uses.slice(written, written + batchSize))
    } catch (error) {
      this.#unwritten = [...this.#unwritten, ...uses.slice(written)].slice(-maxPending)
      this.#onFailure(error)
    }
  }
}
