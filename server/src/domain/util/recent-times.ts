const slots = 2 ** 18

/** The latest time of each of many ids, in fixed memory. If two ids share a slot, the later one replaces the earlier one. */
export class RecentTimes {
  readonly #ids = new Float64Array(slots)
  readonly #times = new Float64Array(slots)

  has(id: number, time: number): boolean {
    const slot = id % slots
    return this.#ids[slot] === id && this.#times[slot] === time
  }

  set(id: number, time: number): void {
    const slot = id % slots
    this.#ids[slot] = id
    this.#times[slot] = time
  }

  clear(): void {
    this.#ids.fill(0)
  }
}
