import type { SessionStore, ConsoleSession, NewConsoleSession } from '../../domain/session/session-store.ts'
import { newEventId } from '../../domain/audit/audit-event.ts'
import { signIn } from '../audit-row.ts'
import { apiTokenOf, type ApiTokenRow } from '../api-token-row.ts'
import type { Retry } from './retry.ts'

type Row = ApiTokenRow & { readonly session_created_at: number; readonly session_last_used_at: number }

export class Sessions implements SessionStore {
  readonly #retry: Retry

  constructor(retry: Retry) {
    this.#retry = retry
  }

  async create(session: NewConsoleSession): Promise<void> {
    const { hash, apiToken, now } = session
    const { workspaceId, environment, author, requestId } = signIn(session)
    await this.#retry.change(
      `WITH created AS (
         INSERT INTO console_session (session_hash, api_token_id, created_at, last_used_at) VALUES ($1, $2, $3, $3)
         ON CONFLICT (session_hash) DO NOTHING RETURNING 1
       )
       INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author, request_id)
       SELECT $4::bigint, $5::text, 0, $6::uuid, 'console_session.created', $7, $8 FROM created
       ON CONFLICT DO NOTHING`,
      [hash, apiToken.id, now, workspaceId, environment, newEventId(now), author, requestId],
    )
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

  async deleteUnused(usedBefore: number): Promise<number> {
    const deleted = await this.#retry.change(
      'DELETE FROM console_session WHERE last_used_at <= $1 RETURNING session_hash',
      [usedBefore],
    )
    return deleted.length
  }
}
