import type { FeedEvent } from './feed-event.ts'
import type { Position } from './position.ts'

export interface Invalidation {
  /** Order of receipt. */
  readonly sequence: number
  /** Undefined if there is no position to compare with. */
  readonly position: Position | undefined
}

/**
 * The newest invalidation of each token and user group, so that an introspection response that is older is not stored. The
 * number of records is limited: of the removed ones, only the newest remains and counts for all tokens.
 */
export class InvalidationLog {
  readonly #maxRecords: number
  /** By token or user group. Ordered by receipt, most recent last. */
  readonly #records = new Map<string, Invalidation>()
  /** Concerns all tokens. */
  #common: Invalidation = { sequence: 0, position: undefined }
  #sequence = 0

  constructor(maxRecords = 10_000) {
    this.#maxRecords = maxRecords
  }

  /** Number of invalidations so far. */
  get sequence(): number {
    return this.#sequence
  }

  add(
    { teamId, tokenSha256 }: Pick<FeedEvent, 'teamId' | 'tokenSha256'>,
    position: Position | undefined,
  ): void {
    const invalidation = { sequence: ++this.#sequence, position }
    const keys = tokenSha256 ?? (teamId === null ? null : [teamKey(teamId)])
    if (keys === null) {
      this.#common = invalidation
      this.#records.clear()
      return
    }
    for (const key of keys) {
      this.#records.delete(key)
      this.#records.set(key, invalidation)
    }
    for (const [key, oldest] of this.#records) {
      if (this.#records.size <= this.#maxRecords) break
      this.#records.delete(key)
      this.#common = oldest
    }
  }

  /** Returns the newest invalidation that concerns a token. */
  newest(tokenSha256: string, teamId: number): Invalidation {
    const ofToken = this.#records.get(tokenSha256) ?? this.#common
    const ofTeam = this.#records.get(teamKey(teamId)) ?? this.#common
    return ofToken.sequence > ofTeam.sequence ? ofToken : ofTeam
  }
}

function teamKey(teamId: number): string {
  return `team ${teamId}`
}
