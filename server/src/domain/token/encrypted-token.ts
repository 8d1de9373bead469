import type { Sealed } from '../secret-key/keyring.ts'
import type { UserGroupKey } from '../user-group/user-group.ts'

/** Where user group tokens stand sealed: those of user groups, of deleted ones, and in the answers to repeated rotations. */
export const sealedTokenPlaces = ['user_group', 'deleted_user_group', 'idempotency_key'] as const

export type SealedTokenPlace = (typeof sealedTokenPlaces)[number]

/** A user group token as it stands in the store. */
export interface SealedToken {
  readonly place: SealedTokenPlace
  /** Tells it from the others of its place. */
  readonly rowKey: readonly (string | number | Uint8Array)[]
  readonly userGroup: UserGroupKey
  readonly token: Sealed
}

/** Where to go on among all sealed tokens; without `after`, at the start of the place. */
export interface SealedTokenCursor {
  readonly place: SealedTokenPlace
  readonly after: SealedToken['rowKey'] | null
}

export interface ListSealedTokens {
  readonly cursor: SealedTokenCursor
  /** How many at most. */
  readonly limit: number
}

export interface SealedTokenPage {
  readonly tokens: readonly SealedToken[]
  /** Null where there are no more. */
  readonly next: SealedTokenCursor | null
}

/** The same user group token, sealed anew. */
export interface ResealedToken {
  readonly replaced: SealedToken
  readonly token: Sealed
}
