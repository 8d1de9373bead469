import { createHash } from 'node:crypto'
import type { Clock } from './clock.ts'
import type { UserGroup } from './user-group.ts'

export interface CacheOptions {
  /** How long an answer may be used again, in milliseconds: for so long a token that was rotated may go on working. */
  readonly maxAgeMs: number
  /** How many answers are kept; those that were not asked for the longest are dropped. */
  readonly maxEntries: number
}

interface Entry {
  readonly userGroup: UserGroup
  /** By the monotonic clock. */
  readonly until: number
}

/** Active answers, by the SHA-256 of their token: no token is kept. */
export class UserGroupCache {
  readonly #options: CacheOptions
  readonly #clock: Clock
  /** The latest used is the last. */
  readonly #entries = new Map<string, Entry>()

  constructor({ maxAgeMs, maxEntries }: CacheOptions, clock: Clock) {
    // An option that is missing or misspelt must not make answers last for ever.
    for (const [name, value] of Object.entries({ maxAgeMs, maxEntries })) {
      if (!Number.isSafeInteger(value) || value < 1) {
        throw new RangeError(`cache.${name} must be a whole number, 1 or more`)
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
    // The end of a grace period is a date; an age is none, and a clock that is set back must not make it smaller.
    if (this.#clock.monotonic() >= until) return undefined
    if (this.#clock.now() >= (userGroup.token.expiresAt ?? Infinity)) return undefined
    this.#entries.set(key, entry)
    return userGroup
  }

  /** `askedAt` is when the question was sent, by the monotonic clock: the token may have been rotated since. */
  set(token: string, userGroup: UserGroup, askedAt: number): void {
    const { maxAgeMs, maxEntries } = this.#options
    this.#entries.set(keyOf(token), { userGroup, until: askedAt + maxAgeMs })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries) break
      this.#entries.delete(oldest)
    }
  }
}

function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
