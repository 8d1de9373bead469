/** Number of places of a pool, and of those that are taken. */
interface Places {
  readonly size: number
  taken: number
}

/** The places of one workspace in a pool. */
export class FairShare {
  readonly #places: Places
  #held = 0

  constructor(places: Places) {
    this.#places = places
  }

  /** Number of places that the workspace holds. */
  get held(): number {
    return this.#held
  }

  /** Returns whether the workspace may take `count` more places: afterwards it holds at most one more than are free. */
  fits(count = 1): boolean {
    const free = this.#places.size - this.#places.taken - count
    return free >= 0 && this.#held + count <= free + 1
  }

  /** Takes places. Returns false if the workspace may not take as many. */
  take(count = 1): boolean {
    if (!this.fits(count)) return false
    this.#held += count
    this.#places.taken += count
    return true
  }

  release(count = 1): void {
    this.#held -= count
    this.#places.taken -= count
  }
}

/**
 * A pool that workspaces share. A workspace gets another place while it holds fewer than are free: at most half of the pool alone, at
 * most a third next to a second one that wants as many. One without a place gets one while any is free.
 */
export class FairPool {
  readonly #places: Places
  /** By workspace. They stay when they are empty, so that a request usually allocates none. */
  readonly #shares = new Map<number | null, FairShare>()

  constructor(size: number) {
    this.#places = { size, taken: 0 }
  }

  get taken(): number {
    return this.#places.taken
  }

  get isFull(): boolean {
    return this.#places.taken >= this.#places.size
  }

  /** @param workspaceId null for all clients that are not authenticated */
  shareOf(workspaceId: number | null): FairShare {
    let share = this.#shares.get(workspaceId)
    if (share === undefined) {
      share = new FairShare(this.#places)
      this.#shares.set(workspaceId, share)
    }
    return share
  }
}
