import type { Sealed } from '../secret-key/keyring.ts'
import type { TenantScope } from '../tenant-scope.ts'
import { encryptionContext, type UserGroupKey } from '../user-group/user-group.ts'
import { secretContext } from '../webhook/webhook-endpoint.ts'
import { signingKeyContext, type SigningKeyName } from '../viewer-session/signing-key.ts'

/**
 * The tables that hold encrypted tokens. `idempotency_key` holds those of responses to retried rotations, `webhook_secret` the
 * secrets of webhook endpoints, `signing_key` the private keys of viewer sessions.
 */
export const encryptedTokenTables = [
  'user_group',
  'deleted_user_group',
  'idempotency_key',
  'webhook_secret',
  'signing_key',
] as const

export type EncryptedTokenTable = (typeof encryptedTokenTables)[number]

/** A user group token, the secret of a webhook endpoint, or a private key, as the store keeps it. */
export interface EncryptedToken {
  readonly table: EncryptedTokenTable
  /** The primary key of its row. */
  readonly rowKey: readonly (string | number | Uint8Array)[]
  readonly owner: TokenOwner
  readonly token: Sealed
}

export type TokenOwner = UserGroupKey | WebhookEndpointKey | SigningKeyName

interface WebhookEndpointKey extends TenantScope {
  readonly webhookEndpointId: number
}

/** Returns the associated data of the encryption. */
export function contextOf(owner: TokenOwner): string {
  if ('providedId' in owner) return encryptionContext(owner)
  return 'signingKeyId' in owner ? signingKeyContext(owner) : secretContext(owner, owner.webhookEndpointId)
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

/** A token, encrypted again with the current secret key. */
export interface ReencryptedToken {
  readonly replaced: EncryptedToken
  readonly token: Sealed
}
