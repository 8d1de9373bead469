import { createHash } from 'node:crypto'
import type { UserGroup } from './user-group.ts'

export interface CacheOptions {
  /** How long an answer may be used again, in milliseconds: for so long a token that was rotated may go on working. */
  readonly maxAgeMs: number
  /** How many answers are kept; those that were not asked for the longest are dropped. */
  readonly maxEntries: number
}

interface Entry {
  readonly userGroup: UserGroup
  readonly askedAt: number
  readonly until: number
}

/** Active answers, by the SHA-256 of their token: no token is kept. Times are milliseconds since the Unix epoch. */
export class UserGroupCache {
  readonly #options: CacheOptions
  /** The latest used is the last. */
  readonly #entries = new Map<string, Entry>()

  constructor({ maxAgeMs, maxEntries }: CacheOptions) {
    // An option that is missing or misspelt must not make answers last for ever.
    for (const [name, value] of Object.entries({ maxAgeMs, maxEntries })) {
      if (!Number.isSafeInteger(value) || value < 1) {
        throw new RangeError(`cache.${name} must be a whole number, 1 or more`)
      }
    }
    this.#options = { maxAgeMs, maxEntries }
  }

  get(token: string, now: number): UserGroup | undefined {
    const key = keyOf(token)
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(key)
    // A clock that was set back must not make an answer last.
    if (now < entry.askedAt || now >= entry.until) return undefined
    this.#entries.set(key, entry)
    return entry.userGroup
  }

  /** `askedAt` is when the question was sent: the token may have been rotated since. */
  set(token: string, userGroup: UserGroup, askedAt: number): void {
    const { maxAgeMs, maxEntries } = this.#options
    const until = Math.min(askedAt + maxAgeMs, userGroup.token.expiresAt ?? Infinity)
    this.#entries.set(keyOf(token), { userGroup, askedAt, until })
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries) break
      this.#entries.delete(oldest)
    }
  }
}

function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
