import type { Environment } from '../environment.ts'
import type { RateLimit } from './rate-limit.ts'

/** Permissions for the management API. Each includes the ones before it. */
export const managementScopes = ['observe', 'support', 'admin'] as const

export type ManagementScope = (typeof managementScopes)[number]

/**
 * The permissions of API tokens. `read`: GET requests to `/api/user` that change nothing. `write`: all of `/api/user`, including
 * `read`. `introspect`: introspection. `observe`: the management API without changes and without tokens. `support`: that, and everything
 * about user groups and their sessions, without tokens. `admin`: all of the management API.
 */
export const scopes = ['read', 'write', 'introspect', ...managementScopes] as const

export type Scope = (typeof scopes)[number]

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}

/** An API token as stored, without its plaintext. All times are milliseconds since the Unix epoch. */
export interface ApiToken {
  readonly id: number
  readonly workspaceId: number
  readonly environment: Environment
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** Rounded down to the minute; null if never used. */
  readonly lastUsedAt: number | null
  /** The id of the API token that replaced it; null if none did. */
  readonly replacedBy: number | null
  /** Null if the service's default limit applies. */
  readonly rateLimit: RateLimit | null
}

/** An API token with the SHA-256 of its plaintext, which proves nothing to anyone. */
export interface HashedApiToken extends ApiToken {
  readonly tokenHash: Uint8Array
}

/** Maximum time for which a rotated API token stays valid, in milliseconds. */
export const maxOverlapMs = 30 * 24 * 60 * 60 * 1000
export const defaultOverlapMs = 24 * 60 * 60 * 1000

/** The decision about a rotation: the API token that replaces the old one, and when the old one expires. */
export type ApiTokenRotation =
  | { readonly outcome: 'rotated'; readonly replacement: ReplacementToken; readonly oldExpiresAt: number }
  | { readonly outcome: 'superseded'; readonly replacedBy: number }
  /** The API token is revoked or expired. */
  | { readonly outcome: 'unusable' }

interface Rotation {
  readonly oldTokenValidUntil: number
  readonly now: number
  readonly changes?: ApiTokenChanges
}

/** Fields that a replacement has instead of what the old API token had. */
export type ApiTokenChanges = Pick<ApiToken, 'scopes' | 'rateLimit' | 'expiresAt'>

type ReplacementToken = Pick<
  ApiToken,
  'workspaceId' | 'environment' | 'name' | 'scopes' | 'rateLimit' | 'createdAt' | 'expiresAt'
>

/** Decides a rotation. The replacement has the same name, and by default the same scopes, lifetime and limit. */
export function decideRotation(
  old: ApiToken,
  { oldTokenValidUntil, now, changes }: Rotation,
): ApiTokenRotation {
  if (old.replacedBy !== null) return { outcome: 'superseded', replacedBy: old.replacedBy }
  if (!isUsable(old, now)) return { outcome: 'unusable' }
  const { workspaceId, environment, name, scopes, rateLimit } = old
  const expiresAt = renewedExpiry(old, now)
  return {
    outcome: 'rotated',
    replacement: { workspaceId, environment, name, scopes, rateLimit, createdAt: now, expiresAt, ...changes },
    oldExpiresAt: Math.min(old.expiresAt ?? Infinity, oldTokenValidUntil),
  }
}

/** Returns the expiry of a token's replacement, which gets the same lifetime. Null if the token never expires. */
function renewedExpiry({ createdAt, expiresAt }: ApiToken, now: number): number | null {
  return expiresAt === null ? null : now + (expiresAt - createdAt)
}

export function isManagementScope(scope: Scope): scope is ManagementScope {
  return managementScopes.some((known) => known === scope)
}

export function hasManagementScope({ scopes }: Pick<ApiToken, 'scopes'>): boolean {
  return scopes.some(isManagementScope)
}

export function isUsable(token: ApiToken, now: number): boolean {
  return token.revokedAt === null && (token.expiresAt === null || now < token.expiresAt)
}
