import type { Environment } from '../environment.ts'
import type { RateLimit } from './rate-limit.ts'

/**
 * The permissions of API tokens. `read`: GET requests to `/api/user` that change nothing. `write`: all of `/api/user`, including
 * `read`. `introspect`: introspection. `admin`: the management API.
 */
export const scopes = ['read', 'write', 'introspect', 'admin'] as const

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

/** Maximum time for which a rotated API token stays valid, in milliseconds. */
export const maxOverlapMs = 30 * 24 * 60 * 60 * 1000
export const defaultOverlapMs = 24 * 60 * 60 * 1000

/** Returns the expiry of a token's replacement, which gets the same lifetime. Null if the token never expires. */
export function renewedExpiry({ createdAt, expiresAt }: ApiToken, now: number): number | null {
  return expiresAt === null ? null : now + (expiresAt - createdAt)
}

export function isUsable(token: ApiToken, now: number): boolean {
  return token.revokedAt === null && (token.expiresAt === null || now < token.expiresAt)
}
