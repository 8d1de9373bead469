import type { ApiToken } from '../domain/api-token/api-token.ts'
import {
  firstEventId,
  newEventId,
  type AuditAction,
  type AuditEvent,
  type Author,
  type Actor,
} from '../domain/audit/audit-event.ts'
import type { Environment } from '../domain/environment.ts'
import type { JsonText } from '../domain/json/json-text.ts'
import { rateLimitText } from '../domain/api-token/rate-limit.ts'
import type { ListAuditEvents } from '../domain/audit/audit-store.ts'
import type { NewConsoleSession, NewSignInLink } from '../domain/console-session/console-session-store.ts'
import type { TenantScope } from '../domain/tenant-scope.ts'

export interface AuditRow {
  readonly workspace_id: number
  readonly environment: Environment
  readonly event_id: string
  readonly action: AuditAction
  readonly author: Author
  readonly request_id: string | null
  readonly team_id: number | null
  readonly provided_id: string | null
  readonly details: JsonText | null
}

export const auditColumns =
  'workspace_id, environment, event_id, action, author, request_id, team_id, provided_id, details'

/** Context of a change: scope, actor and time. */
export interface Change extends TenantScope, Actor {
  readonly now: number
}

/** Copies field by field: V8 would give each object that is spread a hidden class. */
export function auditedChangeOf({
  key,
  author,
  requestId,
  now,
}: Actor & { readonly key: TenantScope; readonly now: number }): Change {
  const { workspaceId, environment } = key
  return { workspaceId, environment, author, requestId, now }
}

/** Returns the cells of a new event, in the order of `auditColumns`. */
export function auditCells(
  { workspaceId, environment, author, requestId, now }: Change,
  action: AuditAction,
  { userGroup = null, details = null }: Partial<Pick<AuditEvent, 'userGroup'>> & { details?: object | null },
): (string | number | null)[] {
  const ofUserGroup = [userGroup?.teamId ?? null, userGroup?.providedId ?? null]
  const text = details && JSON.stringify(details)
  return [workspaceId, environment, newEventId(now), action, author, requestId, ...ofUserGroup, text]
}

export function auditEventOf(row: AuditRow): AuditEvent {
  return {
    eventId: row.event_id,
    workspaceId: row.workspace_id,
    environment: row.environment,
    action: row.action,
    author: row.author,
    requestId: row.request_id,
    userGroup: row.team_id === null ? null : { teamId: row.team_id, providedId: row.provided_id as string },
    details: row.details,
  }
}

/** Maximum number of events that one transaction prunes. */
export const maxBatchEvents = 1000

/** Details of the creation of an API token. */
export function describedToken({ id, name, scopes, expiresAt, rateLimit }: ApiToken): object {
  const limit = rateLimit && { rate_limit: rateLimitText(rateLimit) }
  return { api_token_id: id, name, scopes, expires_at: timeText(expiresAt), ...limit }
}

/** Details of a new rate limit. */
export function describedLimit({ id, name, rateLimit }: Pick<ApiToken, 'id' | 'name' | 'rateLimit'>): object {
  return { api_token_id: id, name, rate_limit: rateLimit && rateLimitText(rateLimit) }
}

/** Details of the rotation of an API token. */
export function describedRotation(old: ApiToken, { id, name, expiresAt }: ApiToken): object {
  const until = { valid_until: timeText(old.expiresAt), expires_at: timeText(expiresAt) }
  return { api_token_id: old.id, new_api_token_id: id, name, ...until }
}

function timeText(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}

/** Returns the context of a sign-in. The actor is the API token or the person. */
export function signIn({ principal, requestId, now }: NewConsoleSession): Change {
  const { workspaceId, environment } = principal
  const author: Author = 'sub' in principal ? `person:${principal.sub}` : `api_token:${principal.id}`
  return { workspaceId, environment, author, requestId, now }
}

/** Details of a sign-in by a person. */
export function describedSession({ principal, rule }: NewConsoleSession): object | undefined {
  if (!('sub' in principal)) return undefined
  const { name, email, role } = principal
  return { name, email, role, rule }
}

/** Details of the creation of a sign-in link. */
export function describedLink({ apiToken, expiresAt }: NewSignInLink): object {
  return { api_token_id: apiToken.id, name: apiToken.name, expires_at: timeText(expiresAt) }
}

export function pruningDetails(before: number): object {
  return { before: new Date(before).toISOString() }
}

/** Returns the newest rows, newest first. */
export function newestOf(rows: readonly AuditRow[], limit: number): AuditRow[] {
  return [...rows].sort((a, b) => (a.event_id < b.event_id ? 1 : -1)).slice(0, limit)
}

/** Returns the range of ids for the creation event of a user group; null if the query excludes it. */
export function creationRange(
  { since, beforeEventId }: Pick<ListAuditEvents, 'since' | 'beforeEventId'>,
  createdAt: number,
): [first: string, before: string] | null {
  const end = firstEventId(createdAt + 1)
  return createdAt < since ? null : [firstEventId(createdAt), end < beforeEventId ? end : beforeEventId]
}
