import type { Database, Statement } from 'better-sqlite3'
import type { AuditAction } from '../../domain/audit/audit-event.ts'
import type { UserGroupEvent } from '../../domain/user-group/decisions.ts'
import { auditCells, auditColumns, type Change } from '../audit-row.ts'

/** Appends events of user groups, also for the feed, in the transaction of their change. */
export class AuditLog {
  readonly #insert: Statement
  readonly #setTokenOfEvent: Statement<[Uint8Array]>

  constructor(database: Database) {
    this.#insert = database.prepare(
      `INSERT INTO audit_event (${auditColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#setTokenOfEvent = database.prepare(
      'UPDATE event SET token_hash = ? WHERE position = (SELECT max(position) FROM event)',
    )
  }

  append(
    action: AuditAction,
    change: Change,
    more: Parameters<typeof auditCells>[2] & Partial<Pick<UserGroupEvent, 'tokenHash'>> = {},
  ): void {
    this.#insert.run(auditCells(change, action, more))
    // A trigger has inserted the event for the feed.
    if (more.tokenHash) this.#setTokenOfEvent.run(more.tokenHash)
  }
}
