import type { Database, Statement } from 'better-sqlite3'
import type {
  ConsoleSession,
  NewConsoleSession,
  NewSignInLink,
  SignInLink,
} from '../../domain/session/session-store.ts'
import { auditedChangeOf, describedLink, signIn } from '../audit-row.ts'
import { apiTokenOf, type ApiTokenRow } from '../api-token-row.ts'
import type { AuditLog } from './audit-log.ts'

type Row = ApiTokenRow & { session_created_at: number; session_last_used_at: number }

export class Sessions {
  readonly #audit: AuditLog
  readonly #insert: Statement<[Uint8Array, number, number, number]>
  readonly #select: Statement<[Uint8Array], Row>
  readonly #touch: Statement<[number, Uint8Array]>
  readonly #delete: Statement<[Uint8Array]>
  readonly #deleteUnused: Statement<[number]>
  readonly #insertLink: Statement<[Uint8Array, number, number]>
  readonly #selectLink: Statement<[Uint8Array], ApiTokenRow & { link_expires_at: number }>
  readonly #deleteLink: Statement<[Uint8Array]>
  readonly #deleteExpiredLinks: Statement<[number]>

  constructor(database: Database, audit: AuditLog) {
    this.#audit = audit
    this.#insert = database.prepare(
      'INSERT INTO console_session (session_hash, api_token_id, created_at, last_used_at) VALUES (?, ?, ?, ?)',
    )
    this.#select = database.prepare(
      `SELECT api_token.*, console_session.created_at AS session_created_at,
                console_session.last_used_at AS session_last_used_at
       FROM console_session JOIN api_token USING (api_token_id) WHERE session_hash = ?`,
    )
    this.#touch = database.prepare('UPDATE console_session SET last_used_at = ? WHERE session_hash = ?')
    this.#delete = database.prepare('DELETE FROM console_session WHERE session_hash = ?')
    this.#deleteUnused = database.prepare('DELETE FROM console_session WHERE last_used_at <= ?')
    this.#insertLink = database.prepare(
      'INSERT INTO sign_in_link (link_hash, api_token_id, expires_at) VALUES (?, ?, ?)',
    )
    this.#selectLink = database.prepare(
      `SELECT api_token.*, sign_in_link.expires_at AS link_expires_at
       FROM sign_in_link JOIN api_token USING (api_token_id) WHERE link_hash = ?`,
    )
    this.#deleteLink = database.prepare('DELETE FROM sign_in_link WHERE link_hash = ?')
    this.#deleteExpiredLinks = database.prepare('DELETE FROM sign_in_link WHERE expires_at <= ?')
  }

  create(session: NewConsoleSession): boolean {
    const { hash, apiToken, now, replacedHashes = [], linkHash } = session
    if (linkHash !== undefined && this.#deleteLink.run(linkHash).changes === 0) return false
    for (const replaced of replacedHashes) this.#delete.run(replaced)
    this.#insert.run(hash, apiToken.id, now, now)
    this.#audit.append('console_session.created', signIn(session))
    return true
  }

  find(hash: Uint8Array): ConsoleSession | null {
    const row = this.#select.get(hash)
    if (row === undefined) return null
    return {
      apiToken: apiTokenOf(row),
      createdAt: row.session_created_at,
      lastUsedAt: row.session_last_used_at,
    }
  }

  touch(hash: Uint8Array, now: number): void {
    this.#touch.run(now, hash)
  }

  delete(hash: Uint8Array): void {
    this.#delete.run(hash)
  }

  createLink(link: NewSignInLink): void {
    this.#insertLink.run(link.hash, link.apiToken.id, link.expiresAt)
    const change = auditedChangeOf({ ...link, key: link.apiToken })
    this.#audit.append('sign_in_link.created', change, { details: describedLink(link) })
  }

  findLink(hash: Uint8Array): SignInLink | null {
    const row = this.#selectLink.get(hash)
    return row === undefined ? null : { apiToken: apiTokenOf(row), expiresAt: row.link_expires_at }
  }

  deleteExpired(usedBefore: number, now: number): number {
    return this.#deleteUnused.run(usedBefore).changes + this.#deleteExpiredLinks.run(now).changes
  }
}
