import type { Clock } from '../util/clock.ts'

const minuteMs = 60_000
/** Maximum number of uses in memory. Reaching it triggers a write. */
const maxPending = 50_000
/** Slots of the table of recent uses. */
const slots = 2 ** 18
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
  readonly #onLoss: (error: unknown) => void
  /** The recent uses, by id modulo `slots`. If two ids share a slot, the later use replaces the earlier one. */
  readonly #lastIds = new Float64Array(slots)
  readonly #lastTimes = new Float64Array(slots)
  #pending = new Map<number, Use<Thing>>()

  /** @param parts.onLoss called with the error if uses could not be written */
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
    const slot = id % slots
    if (this.#lastIds[slot] === id && this.#lastTimes[slot] === usedAt) return
    this.#lastIds[slot] = id
    this.#lastTimes[slot] = usedAt
    this.#pending.set(id, { of: thing, usedAt })
    if (this.#pending.size >= maxPending) void this.write()
  }

  /** Writes the pending uses. If that fails, they are lost until the next use. */
  async write(): Promise<void> {
    const uses = [...this.#pending.values()]
    this.#pending = new Map()
    try {
      for (let i = 0; i < uses.length; i += batchSize) await this.#record(uses.slice(i, i + batchSize))
    } catch (error) {
      this.#lastIds.fill(0)
      this.#onLoss(error)
    }
  }
}
