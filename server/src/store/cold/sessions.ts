import type { SessionStore } from '../../domain/session/session-store.ts'
import { auditedChangeOf, describedLink, signIn } from '../audit-row.ts'
import { apiTokenOf, type ApiTokenRow } from './api-tokens.ts'
import { appendAuditEvent } from './audit-log.ts'
import { transaction, type Operations } from './operation.ts'
import { sql } from './sql.ts'

/** Maximum number of sessions of an API token. */
const maxSessions = 1000

/** Console sessions and sign-in links. */
export const sessions: Operations<SessionStore> = {
  *create(session) {
    const { hash, apiToken, now, replacedHashes = [], linkHash = null } = session
    const { isAmbiguous } = yield* transaction()
    const link = yield* sql`DELETE FROM sign_in_link WHERE link_hash = ${linkHash} RETURNING 1`
    const created =
      linkHash !== null && link.length === 0
        ? []
        : yield* sql`INSERT INTO console_session (session_hash, api_token_id, created_at, last_used_at)
            VALUES (${hash}, ${apiToken.id}, ${now}, ${now}) ON CONFLICT (session_hash) DO NOTHING RETURNING 1`
    // An earlier attempt may have created it.
    if (created.length === 0) return isAmbiguous && (yield* selectSession(hash)).length > 0
    for (const replaced of replacedHashes) yield* deleteSession(replaced)
    yield* sql`DELETE FROM console_session WHERE session_hash IN (
      SELECT session_hash FROM console_session WHERE api_token_id = ${apiToken.id}
      ORDER BY last_used_at DESC LIMIT ${maxSessions} OFFSET ${maxSessions}
    )`
    yield* appendAuditEvent('console_session.created', signIn(session))
    return true
  },

  *find(hash) {
    const [row] = yield* selectSession(hash)
    if (row === undefined) return null
    return {
      apiToken: apiTokenOf(row),
      createdAt: row.session_created_at,
      lastUsedAt: row.session_last_used_at,
    }
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
    if (created.length > 0) yield* appendAuditEvent('sign_in_link.created', change, describedLink(link))
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

const selectSession = (hash: Uint8Array) => sql<
  ApiTokenRow & { readonly session_created_at: number; readonly session_last_used_at: number }
>`SELECT api_token.*, console_session.created_at AS session_created_at,
         console_session.last_used_at AS session_last_used_at
  FROM console_session JOIN api_token USING (api_token_id) WHERE session_hash = ${hash}`

const deleteSession = (hash: Uint8Array) => sql`DELETE FROM console_session WHERE session_hash = ${hash}`
