import type { Clock } from '../util/clock.ts'

const minuteMs = 60_000
/** More than these are not held: they are written before the minute is over. */
const maxHeld = 50_000
/** Of so many ids in a row it is known whether they were noted in this minute. */
const places = 2 ** 18
/** How many go to the store at a time: others wait for it no longer than for a creation or two. */
const batchSize = 200

/** That something was used: a user group's token, an API token. */
export interface Use<Thing> {
  readonly of: Thing
  /** To the minute, in milliseconds since the Unix epoch. */
  readonly usedAt: number
}

/** What is told of each use. */
export type LastUsedRecorder<Thing> = Pick<LastUsedTracker<Thing>, 'note'>

/** When each of many things was last used, to the minute: noted in memory, and written when there is time. */
// What is held of a thing is small: there may be many.
export class LastUsedTracker<Thing> {
  readonly #clock: Pick<Clock, 'now'>
  readonly #idOf: (thing: Thing) => number
  readonly #record: (uses: readonly Use<Thing>[]) => Promise<void>
  readonly #onLoss: (error: unknown) => void
  /** What was noted lately, by the remainder of its id: of two that have the same, the last. */
  readonly #lastIds = new Float64Array(places)
  readonly #lastTimes = new Float64Array(places)
  #noted = new Map<number, Use<Thing>>()

  /** `onLoss` is told why what was noted could not be written. */
  constructor(parts: {
    clock: Pick<Clock, 'now'>
    idOf: (thing: Thing) => number
    record: (uses: readonly Use<Thing>[]) => Promise<void>
    onLoss: (error: unknown) => void
  }) {
    this.#clock = parts.clock
    this.#idOf = parts.idOf
    this.#record = parts.record
    this.#onLoss = parts.onLoss
  }

  note(thing: Thing): void {
    const now = this.#clock.now()
    const usedAt = now - (now % minuteMs)
    const id = this.#idOf(thing)
    const place = id % places
    if (this.#lastIds[place] === id && this.#lastTimes[place] === usedAt) return
    this.#lastIds[place] = id
    this.#lastTimes[place] = usedAt
    this.#noted.set(id, { of: thing, usedAt })
    if (this.#noted.size >= maxHeld) void this.write()
  }

  /** Writes what was noted. What cannot be written is lost, until the next use tells it anew. */
  async write(): Promise<void> {
    const noted = [...this.#noted.values()]
    this.#noted = new Map()
    try {
      for (let i = 0; i < noted.length; i += batchSize) await this.#record(noted.slice(i, i + batchSize))
    } catch (error) {
      this.#lastIds.fill(0)
      this.#onLoss(error)
    }
  }
}
