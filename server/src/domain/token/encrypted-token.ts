import type { Sealed } from '../secret-key/keyring.ts'
import type { UserGroupKey } from '../user-group/user-group.ts'

/** The tables that hold encrypted user group tokens. `idempotency_key` holds those of responses to retried rotations. */
export const encryptedTokenTables = ['user_group', 'deleted_user_group', 'idempotency_key'] as const

export type EncryptedTokenTable = (typeof encryptedTokenTables)[number]

/** A user group token as the store keeps it. */
export interface EncryptedToken {
  readonly table: EncryptedTokenTable
  /** The primary key of its row. */
  readonly rowKey: readonly (string | number | Uint8Array)[]
  readonly userGroup: UserGroupKey
  readonly token: Sealed
}

/** A position in the list of all encrypted tokens. `after` is null at the start of a table. */
export interface EncryptedTokenCursor {
  readonly table: EncryptedTokenTable
  readonly after: EncryptedToken['rowKey'] | null
}

export interface ListEncryptedTokens {
  readonly cursor: EncryptedTokenCursor
  readonly limit: number
}

export interface EncryptedTokenPage {
  readonly tokens: readonly EncryptedToken[]
  /** Null on the last page. */
  readonly next: EncryptedTokenCursor | null
}

/** A user group token, encrypted again with the current secret key. */
export interface ReencryptedToken {
  readonly replaced: EncryptedToken
  readonly token: Sealed
}
