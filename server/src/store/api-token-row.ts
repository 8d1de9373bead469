import { isScope, type ApiToken } from '../domain/api-token/api-token.ts'
import type { RateLimit } from '../domain/api-token/rate-limit.ts'
import type { Environment } from '../domain/environment.ts'

export interface ApiTokenRow {
  readonly api_token_id: number
  readonly workspace_id: number
  readonly environment: Environment
  readonly name: string
  readonly scopes: string
  readonly created_at: number
  readonly expires_at: number | null
  readonly revoked_at: number | null
  readonly last_used_at: number | null
  readonly replaced_by: number | null
  readonly calls_per_second: number | null
  readonly calls_at_once: number | null
}

export function apiTokenOf(row: ApiTokenRow): ApiToken {
  return {
    id: row.api_token_id,
    workspaceId: row.workspace_id,
    environment: row.environment,
    name: row.name,
    scopes: row.scopes.split(' ').filter(isScope),
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    replacedBy: row.replaced_by,
    rateLimit: rateLimitOf(row),
  }
}

/** Returns the cells of an API token's own limit, in column order. */
export function limitCells({
  rateLimit,
}: Partial<Pick<ApiToken, 'rateLimit'>>): [number | null, number | null] {
  return [rateLimit?.perSecond ?? null, rateLimit?.burst ?? null]
}

export function rateLimitOf({
  calls_per_second: perSecond,
  calls_at_once: burst,
}: Pick<ApiTokenRow, 'calls_per_second' | 'calls_at_once'>): RateLimit | null {
  return perSecond === null || burst === null ? null : { perSecond, burst }
}

/**
 * Maximum plausible lead of the shared usage, in milliseconds: a full burst of sixteen processes, and a margin. A larger lead
 * was measured by another clock (the machine restarted, or the clock was set back) and counts as one full burst.
 */
export function maxAheadMs(fullMs: number): number {
  return 16 * fullMs + 5000
}
