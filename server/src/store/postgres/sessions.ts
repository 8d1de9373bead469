import type {
  SessionStore,
  ConsoleSession,
  NewConsoleSession,
  NewSignInLink,
  SignInLink,
} from '../../domain/session/session-store.ts'
import { newEventId } from '../../domain/audit/audit-event.ts'
import { describedLink, signIn } from '../audit-row.ts'
import { apiTokenOf, type ApiTokenRow } from '../api-token-row.ts'
import type { Retry } from './retry.ts'

type Row = ApiTokenRow & { readonly session_created_at: number; readonly session_last_used_at: number }

export class Sessions implements SessionStore {
  readonly #retry: Retry

  constructor(retry: Retry) {
    this.#retry = retry
  }

  async create(session: NewConsoleSession): Promise<boolean> {
    const { hash, apiToken, now, replacedHashes = [], linkHash = null } = session
    const { workspaceId, environment, author, requestId } = signIn(session)
    const created = await this.#retry.change(
      `WITH link AS (
         DELETE FROM sign_in_link WHERE link_hash = $9 RETURNING 1
       ), created AS (
         INSERT INTO console_session (session_hash, api_token_id, created_at, last_used_at)
         SELECT $1::bytea, $2::bigint, $3::bigint, $3::bigint WHERE $9::bytea IS NULL OR EXISTS (SELECT 1 FROM link)
         ON CONFLICT (session_hash) DO NOTHING RETURNING 1
       ), replaced AS (
         DELETE FROM console_session WHERE session_hash = ANY($10::bytea[]) AND EXISTS (SELECT 1 FROM created)
       )
       INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author, request_id)
       SELECT $4::bigint, $5::text, 0, $6::uuid, 'console_session.created', $7, $8 FROM created
       ON CONFLICT DO NOTHING RETURNING 1`,
      [
        hash,
        apiToken.id,
        now,
        workspaceId,
        environment,
        newEventId(now),
        author,
        requestId,
        linkHash,
        replacedHashes,
      ],
    )
    // An earlier attempt with an ambiguous commit may have created it.
    return created.length > 0 || (await this.find(hash)) !== null
  }

  async find(hash: Uint8Array): Promise<ConsoleSession | null> {
    const [row] = await this.#retry.query<Row>(
      `SELECT api_token.*, console_session.created_at AS session_created_at,
              console_session.last_used_at AS session_last_used_at
       FROM console_session JOIN api_token USING (api_token_id) WHERE session_hash = $1`,
      [hash],
    )
    if (row === undefined) return null
    return {
      apiToken: apiTokenOf(row),
      createdAt: row.session_created_at,
      lastUsedAt: row.session_last_used_at,
    }
  }

  async touch(hash: Uint8Array, now: number): Promise<void> {
    await this.#retry.change('UPDATE console_session SET last_used_at = $2 WHERE session_hash = $1', [
      hash,
      now,
    ])
  }

  async delete(hash: Uint8Array): Promise<void> {
    await this.#retry.change('DELETE FROM console_session WHERE session_hash = $1', [hash])
  }

  async createLink(link: NewSignInLink): Promise<void> {
    const { hash, apiToken, expiresAt, author, requestId, now } = link
    await this.#retry.change(
      `WITH created AS (
         INSERT INTO sign_in_link (link_hash, api_token_id, expires_at) VALUES ($1, $2, $3)
         ON CONFLICT (link_hash) DO NOTHING RETURNING 1
       )
       INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author, request_id, details)
       SELECT $4::bigint, $5::text, 0, $6::uuid, 'sign_in_link.created', $7, $8, $9 FROM created
       ON CONFLICT DO NOTHING`,
      [
        hash,
        apiToken.id,
        expiresAt,
        apiToken.workspaceId,
        apiToken.environment,
        newEventId(now),
        author,
        requestId,
        JSON.stringify(describedLink(link)),
      ],
    )
  }

  async findLink(hash: Uint8Array): Promise<SignInLink | null> {
    const [row] = await this.#retry.query<ApiTokenRow & { readonly link_expires_at: number }>(
      `SELECT api_token.*, sign_in_link.expires_at AS link_expires_at
       FROM sign_in_link JOIN api_token USING (api_token_id) WHERE link_hash = $1`,
      [hash],
    )
    return row === undefined ? null : { apiToken: apiTokenOf(row), expiresAt: row.link_expires_at }
  }

  async deleteExpired(usedBefore: number, now: number): Promise<number> {
    const deleted = await this.#retry.change(
      `WITH links AS (DELETE FROM sign_in_link WHERE expires_at <= $2 RETURNING 1),
            sessions AS (DELETE FROM console_session WHERE last_used_at <= $1 RETURNING 1)
       SELECT 1 FROM links UNION ALL SELECT 1 FROM sessions`,
      [usedBefore, now],
    )
    return deleted.length
  }
}
