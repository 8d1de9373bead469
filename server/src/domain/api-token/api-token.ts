import type { Environment } from '../environment.ts'
import type { RateLimit } from './rate-limit.ts'

/**
 * What an API token may do: `read`, a GET of `/api/user` that changes nothing; `write`, all of `/api/user`;
 * `introspect` and `admin`, their own interfaces. No scope includes another but `write`, which includes `read`.
 */
export const scopes = ['read', 'write', 'introspect', 'admin'] as const

export type Scope = (typeof scopes)[number]

export function isScope(text: string): text is Scope {
  return (scopes as readonly string[]).includes(text)
}

/** An API token as it is kept: never the token itself. All times are milliseconds since the Unix epoch. */
export interface ApiToken {
  readonly id: number
  readonly workspaceId: number
  readonly environment: Environment
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** To the minute; null where it was not used yet. */
  readonly lastUsedAt: number | null
  /** The id of the one that took its place; null where none did. */
  readonly replacedBy: number | null
  /** Null where the service's own is its limit. */
  readonly rateLimit: RateLimit | null
}

/** How long the old API token may work on beside the one that takes its place, and does so unless that is said, in milliseconds. */
export const maxOverlapMs = 30 * 24 * 60 * 60 * 1000
export const defaultOverlapMs = 24 * 60 * 60 * 1000

/** Until when one that replaces this one is valid: for as long as this one was made to be. */
export function renewedExpiry({ createdAt, expiresAt }: ApiToken, now: number): number | null {
  return expiresAt === null ? null : now + (expiresAt - createdAt)
}

export function isUsable(token: ApiToken, now: number): boolean {
  return token.revokedAt === null && (token.expiresAt === null || now < token.expiresAt)
}
