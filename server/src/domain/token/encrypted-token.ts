import type { Sealed } from '../secret-key/keyring.ts'
import type { UserGroupKey } from '../user-group/user-group.ts'

/** Where user group tokens stand sealed: those of user groups, of deleted ones, and in the answers to repeated rotations. */
export const encryptedTokenPlaces = ['user_group', 'deleted_user_group', 'idempotency_key'] as const

export type EncryptedTokenPlace = (typeof encryptedTokenPlaces)[number]

/** A user group token as it stands in the store. */
export interface EncryptedToken {
  readonly place: EncryptedTokenPlace
  /** Tells it from the others of its place. */
  readonly rowKey: readonly (string | number | Uint8Array)[]
  readonly userGroup: UserGroupKey
  readonly token: Sealed
}

/** Where to go on among all sealed tokens; without `after`, at the start of the place. */
export interface EncryptedTokenCursor {
  readonly place: EncryptedTokenPlace
  readonly after: EncryptedToken['rowKey'] | null
}

export interface ListEncryptedTokens {
  readonly cursor: EncryptedTokenCursor
  /** How many at most. */
  readonly limit: number
}

export interface EncryptedTokenPage {
  readonly tokens: readonly EncryptedToken[]
  /** Null where there are no more. */
  readonly next: EncryptedTokenCursor | null
}

/** The same user group token, sealed anew. */
export interface ReencryptedToken {
  readonly replaced: EncryptedToken
  readonly token: Sealed
}
