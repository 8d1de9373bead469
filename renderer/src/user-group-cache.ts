import { createHash } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { Introspection, IntrospectionCache } from './introspection-cache.ts'
import type { UserGroup } from './user-group.ts'

export interface MaxAgeCacheOptions {
  /** Maximum age of a cached result, in milliseconds. A rotated token or an ended session may keep working for this long. */
  readonly maxAgeMs: number
  /** Maximum number of cached results. The least recently used ones are dropped. */
  readonly maxEntries: number
  readonly lease?: false
}

interface Entry {
  readonly userGroup: UserGroup
  /** By the monotonic clock. */
  readonly until: number
}

/** Active introspection results by the SHA-256 of their token, so that no token stays in memory. */
export class UserGroupCache implements IntrospectionCache {
  readonly #options: MaxAgeCacheOptions
  readonly #clock: Clock
  /** Ordered by use, most recent last. */
  readonly #entries = new Map<string, Entry>()
  /** Time of the last `invalidate`, by the monotonic clock. */
  #invalidatedAt = -Infinity

  constructor({ maxAgeMs, maxEntries }: MaxAgeCacheOptions, clock: Clock) {
    // A missing or misspelled option must not make entries last forever.
    for (const [name, value] of Object.entries({ maxAgeMs, maxEntries })) {
      if (!Number.isSafeInteger(value) || value < 1) {
        throw new RangeError(`cache.${name} must be an integer, 1 or more`)
      }
    }
    this.#options = { maxAgeMs, maxEntries }
    this.#clock = clock
  }

  get(token: string): UserGroup | undefined {
    const key = keyOf(token)
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    const { until, userGroup } = entry
    // A session or a grace period ends at a date. The age uses the monotonic clock, so that setting the clock back does not extend
    // it.
    if (this.#clock.monotonic() >= until) return undefined
    if (this.#clock.now() >= (userGroup.token.expiresAt ?? Infinity)) return undefined
    this.#entries.set(key, entry)
    return userGroup
  }

  beginRequest(token: string): (introspection: Introspection) => void {
    const requestedAt = this.#clock.monotonic()
    return ({ userGroup }) => {
      // The request may have been for an invalidated token.
      if (userGroup !== null && requestedAt > this.#invalidatedAt) this.set(token, userGroup, requestedAt)
    }
  }

  invalidate(token: string): void {
    this.#entries.delete(keyOf(token))
    this.#invalidatedAt = this.#clock.monotonic()
  }

  close(): void {
    this.#entries.clear()
  }

  /**
   * Adds a result. `requestedAt` is the time of the request by the monotonic clock: the token may have been rotated
   * since.
   */
  set(token: string, userGroup: UserGroup, requestedAt: number): void {
    const { maxAgeMs, maxEntries } = this.#options
    this.#entries.set(keyOf(token), { userGroup, until: requestedAt + maxAgeMs })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries) break
      this.#entries.delete(oldest)
    }
  }
}

function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
