import type { Actor } from '../audit/audit-event.ts'
import type { ApiToken, ApiTokenChanges, ApiTokenRotation, HashedApiToken } from './api-token.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { SharedUsage, UsageReport } from './rate-limiter.ts'

/** API tokens, found by the SHA-256 of the token. */
export interface ApiTokenStore {
  create(token: NewApiToken): Promise<ApiToken>

  /**
   * Creates an API token unless another usable one of its workspace and environment has the name, or any the hash. Of simultaneous calls
   * with one name, exactly one creates it.
   */
  createNamed(token: NewApiToken): Promise<ApiToken | 'name_taken' | 'hash_taken'>

  /**
   * Creates the API tokens if the store has neither API tokens nor user groups, and returns whether it created them. If
   * several calls run at once, exactly one creates its tokens.
   */
  createFirst(tokens: readonly NewApiToken[]): Promise<boolean>

  /** Returns the API token, even if it is expired or revoked. */
  find(tokenHash: Uint8Array): Promise<ApiToken | null>

  /** Returns all API tokens, or those of an environment, in order of id. */
  list(tenantScope?: TenantScope): Promise<HashedApiToken[]>

  /**
   * Revokes an API token permanently and returns it. Another revocation keeps the first time. Returns null if there is no
   * such API token.
   */
  revoke(command: RevokeApiToken): Promise<ApiToken | null>

  /**
   * Replaces an API token by a new one with the same name, and by default the same scopes, lifetime and limit. If several calls replace
   * the same token at once, exactly one succeeds and the others return `superseded`.
   */
  rotate(command: RotateApiToken): Promise<RotateApiTokenOutcome>

  /** Sets the rate limit. Writes nothing if it is unchanged. Returns null if there is no such API token. */
  limit(command: LimitApiToken): Promise<ApiToken | null>

  /**
   * Adds the usage of this process to that of all processes and returns the total. If the connection breaks, a report may
   * count twice.
   */
  reportUsage(usageReports: readonly UsageReport[]): Promise<readonly SharedUsage[]>

  /** Stores the latest time of use of each API token. */
  recordUses(uses: readonly ApiTokenUse[]): Promise<void>
}

export type NewApiToken = Omit<ApiToken, 'id' | 'revokedAt' | 'lastUsedAt' | 'replacedBy' | 'rateLimit'> &
  Partial<Pick<ApiToken, 'rateLimit'>> &
  Actor & { readonly tokenHash: Uint8Array }

interface RevokeApiToken extends Actor {
  readonly id: number
  readonly now: number
}

/** Sets an API token's own rate limit. Null restores the default of the service. */
interface LimitApiToken extends Actor, Pick<ApiToken, 'id' | 'rateLimit'> {
  readonly now: number
}

export interface RotateApiToken extends Actor {
  readonly id: number
  readonly tokenHash: Uint8Array
  /** End of the old API token's validity, unless it expires earlier. */
  readonly oldTokenValidUntil: number
  readonly now: number
  readonly changes?: ApiTokenChanges
}

type RotateApiTokenOutcome =
  | { readonly outcome: 'rotated'; readonly apiToken: ApiToken; readonly oldApiToken: ApiToken }
  | Exclude<ApiTokenRotation, { readonly outcome: 'rotated' }>
  | { readonly outcome: 'not_found' | 'hash_taken' }

/** Last use of an API token. */
interface ApiTokenUse {
  readonly id: number
  readonly usedAt: number
}
