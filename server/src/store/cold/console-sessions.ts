import { managementScopes, type ManagementScope } from '../../domain/api-token/api-token.ts'
import type {
  ConsoleSession,
  ConsoleSessionStore,
  NewConsoleSession,
} from '../../domain/console-session/console-session-store.ts'
import type { Environment } from '../../domain/environment.ts'
import { authorOf, isPerson, type Principal } from '../../domain/principal.ts'
import { auditedChangeOf } from '../audit-row.ts'
import { apiTokenOf, type ApiTokenRow } from './api-tokens.ts'
import { appendAuditEvent, timeText } from './audit-log.ts'
import { transaction, type Operations } from './operation.ts'
import { raw, sql } from './sql.ts'

/** Maximum number of sessions of an API token or a person. */
const maxSessions = 1000

/** Console sessions and sign-in links. */
export const consoleSessions: Operations<ConsoleSessionStore> = {
  *create(session) {
    const { hash, principal, requestId, now, replacedHashes = [], linkHash = null } = session
    const { isAmbiguous } = yield* transaction()
    const link = yield* sql`DELETE FROM sign_in_link WHERE link_hash = ${linkHash} RETURNING 1`
    const created = linkHash !== null && link.length === 0 ? [] : yield* insertSession(session)
    // An earlier attempt may have created it.
    if (created.length === 0) return isAmbiguous && (yield* selectSession(hash)).length > 0
    for (const replaced of replacedHashes) yield* deleteSession(replaced)
    const ofPrincipal =
      'sub' in principal ? sql`person = ${principal.sub}` : sql`api_token_id = ${principal.id}`
    yield* sql`DELETE FROM console_session WHERE session_hash IN (
      SELECT session_hash FROM console_session WHERE ${ofPrincipal}
      ORDER BY last_used_at DESC LIMIT ${maxSessions} OFFSET ${maxSessions}
    )`
    const { workspaceId, environment } = principal
    const change = { workspaceId, environment, author: authorOf(principal), requestId, now }
    yield* appendAuditEvent('console_session.created', change, described(session))
    return true
  },

  *find(hash) {
    const [row] = yield* selectSession(hash)
    return row === undefined ? null : sessionOf(row)
  },

  *list({ workspaceId, environment }) {
    const rows = yield* sql<SessionRow>`${selectSessions}
      WHERE console_session.workspace_id = ${workspaceId} AND console_session.environment = ${environment}
      ORDER BY console_session.created_at DESC`
    return rows.map(sessionOf)
  },

  *end({ hash, ...change }) {
    yield* transaction()
    const [row] = yield* selectSession(hash)
    const ended = yield* sql`DELETE FROM console_session WHERE session_hash = ${hash} RETURNING 1`
    if (row === undefined || ended.length === 0) return false
    const { principal } = sessionOf(row)
    const details = isPerson(principal)
      ? { person: principal.sub, name: principal.name }
      : { api_token_id: principal.id, name: principal.name }
    yield* appendAuditEvent('console_session.ended', change, details)
    return true
  },

  *touch(hash, now) {
    yield* sql`UPDATE console_session SET last_used_at = ${now} WHERE session_hash = ${hash}`
  },

  *delete(hash) {
    yield* deleteSession(hash)
  },

  *createLink(link) {
    yield* transaction()
    const created = yield* sql`INSERT INTO sign_in_link (link_hash, api_token_id, expires_at)
      VALUES (${link.hash}, ${link.apiToken.id}, ${link.expiresAt}) ON CONFLICT (link_hash) DO NOTHING RETURNING 1`
    const change = auditedChangeOf({ ...link, key: link.apiToken })
    const { id, name } = link.apiToken
    const details = { api_token_id: id, name, expires_at: timeText(link.expiresAt) }
    if (created.length > 0) yield* appendAuditEvent('sign_in_link.created', change, details)
  },

  *findLink(hash) {
    const [row] = yield* sql<ApiTokenRow & { readonly link_expires_at: number }>`
      SELECT api_token.*, sign_in_link.expires_at AS link_expires_at
      FROM sign_in_link JOIN api_token USING (api_token_id) WHERE link_hash = ${hash}`
    return row === undefined ? null : { apiToken: apiTokenOf(row), expiresAt: row.link_expires_at }
  },

  *deleteExpired(usedBefore, now) {
    yield* transaction()
    const links = yield* sql`DELETE FROM sign_in_link WHERE expires_at <= ${now} RETURNING 1`
    const old = yield* sql`DELETE FROM console_session WHERE last_used_at <= ${usedBefore} RETURNING 1`
    return links.length + old.length
  },
}

/** Details of the audit event of a sign-in, for a person only. */
function described({ principal, rule }: NewConsoleSession): object | undefined {
  if (!('sub' in principal)) return undefined
  const { name, email, role } = principal
  return { name, email, role, rule }
}

function insertSession({ hash, principal, now }: NewConsoleSession) {
  const { workspaceId, environment } = principal
  const person = 'sub' in principal ? principal : null
  const apiTokenId = 'sub' in principal ? null : principal.id
  return sql`INSERT INTO console_session (session_hash, workspace_id, environment, api_token_id, person, person_name,
      person_email, role, created_at, last_used_at)
    VALUES (${hash}, ${workspaceId}, ${environment}, ${apiTokenId}, ${person?.sub ?? null}, ${person?.name ?? null},
      ${person?.email ?? null}, ${person?.role ?? null}, ${now}, ${now})
    ON CONFLICT (session_hash) DO NOTHING RETURNING 1`
}

/** Cells of `api_token` are null for a person. */
type SessionRow = ApiTokenRow & {
  readonly session_hash: Uint8Array
  readonly session_workspace_id: number
  readonly session_environment: Environment
  readonly session_created_at: number
  readonly session_last_used_at: number
  readonly person: string | null
  readonly person_name: string | null
  readonly person_email: string | null
  readonly role: ManagementScope | null
}

const selectSessions =
  raw(`SELECT api_token.*, console_session.session_hash, console_session.workspace_id AS session_workspace_id,
    console_session.environment AS session_environment, console_session.created_at AS session_created_at,
    console_session.last_used_at AS session_last_used_at, person, person_name, person_email, role
  FROM console_session LEFT JOIN api_token ON api_token.api_token_id = console_session.api_token_id`)

const selectSession = (hash: Uint8Array) =>
  sql<SessionRow>`${selectSessions} WHERE console_session.session_hash = ${hash}`

function sessionOf(row: SessionRow): ConsoleSession {
  const { session_hash: hash, session_created_at: createdAt, session_last_used_at: lastUsedAt } = row
  return { hash, principal: principalOf(row), createdAt, lastUsedAt }
}

function principalOf(row: SessionRow): Principal {
  if (row.person === null) return apiTokenOf(row)
  return {
    workspaceId: row.session_workspace_id,
    environment: row.session_environment,
    sub: row.person,
    name: row.person_name ?? row.person,
    email: row.person_email,
    role: row.role ?? managementScopes[0],
  }
}

const deleteSession = (hash: Uint8Array) => sql`DELETE FROM console_session WHERE session_hash = ${hash}`
