import type { Database, Statement } from 'better-sqlite3'
import { firstEventId, type AuditAction, type AuditEvent } from '../../domain/audit/audit-event.ts'
import type { UserGroupEvent } from '../../domain/user-group/decisions.ts'
import type { Environment } from '../../domain/environment.ts'
import type { ListAuditEvents, PruneAuditEvents } from '../../domain/audit/audit-store.ts'
import {
  auditCells,
  auditColumns,
  auditEventOf,
  creationRange,
  newestOf,
  maxBatchEvents,
  pruningDetails,
  type AuditRow,
  type Change,
} from '../audit-row.ts'

type Range = [since: string, before: string, limit: number]

/** The audit log. Events are appended, also for the feed, in the transaction of their change. */
export class AuditLog {
  readonly #insert: Statement
  readonly #setTokenOfEvent: Statement<[Uint8Array]>
  readonly #select: Statement<[number, Environment, ...Range], AuditRow>
  readonly #selectOfUserGroup: Statement<[number, number, Environment, ...Range], AuditRow>
  readonly #selectCreatedAt: Statement<[number, number, number, number], number>
  readonly #selectCreation: Statement<[number, Environment, string, string, number], AuditRow>
  readonly #selectEndOfBatch: Statement<[number, Environment, string, number], string>
  readonly #delete: Statement<[number, Environment, string]>

  constructor(database: Database) {
    this.#insert = database.prepare(
      `INSERT INTO audit_event (${auditColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#setTokenOfEvent = database.prepare(
      'UPDATE event SET token_hash = ? WHERE position = (SELECT max(position) FROM event)',
    )
    this.#select = database.prepare(
      `SELECT * FROM audit_event WHERE workspace_id = ? AND environment = ? AND event_id >= ? AND event_id < ?
       ORDER BY event_id DESC LIMIT ?`,
    )
    this.#selectOfUserGroup = database.prepare(
      `SELECT * FROM audit_event INDEXED BY audit_event_by_user_group
       WHERE workspace_id = ? AND team_id = ? AND environment = ? AND event_id >= ? AND event_id < ?
         AND action <> 'user_group.created'
       ORDER BY event_id DESC LIMIT ?`,
    )
    this.#selectCreatedAt = database
      .prepare<[number, number, number, number], number>(
        `SELECT created_at FROM user_group WHERE workspace_id = ? AND team_id = ?
         UNION ALL SELECT created_at FROM deleted_user_group WHERE workspace_id = ? AND team_id = ?`,
      )
      .pluck()
    this.#selectCreation = database.prepare(
      `SELECT * FROM audit_event
       WHERE workspace_id = ? AND environment = ? AND event_id >= ? AND event_id < ? AND team_id = ?
         AND action = 'user_group.created'`,
    )
    this.#selectEndOfBatch = database
      .prepare<[number, Environment, string, number], string>(
        `SELECT event_id FROM audit_event WHERE workspace_id = ? AND environment = ? AND event_id < ?
         ORDER BY event_id LIMIT 1 OFFSET ?`,
      )
      .pluck()
    this.#delete = database.prepare(
      'DELETE FROM audit_event WHERE workspace_id = ? AND environment = ? AND event_id < ?',
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

  list(query: ListAuditEvents): AuditEvent[] {
    const { workspaceId, environment, teamId, since, beforeEventId, limit } = query
    const range: Range = [firstEventId(since), beforeEventId, limit]
    if (teamId === undefined) return this.#select.all(workspaceId, environment, ...range).map(auditEventOf)
    const rows = this.#selectOfUserGroup.all(workspaceId, teamId, environment, ...range)
    const createdAt = this.#selectCreatedAt.get(workspaceId, teamId, workspaceId, teamId)
    const creation = createdAt === undefined ? null : creationRange(query, createdAt)
    const created = creation && this.#selectCreation.all(workspaceId, environment, ...creation, teamId)
    return newestOf([...rows, ...(created ?? [])], limit).map(auditEventOf)
  }

  /** Deletes a batch of events. */
  prune({ before, ...change }: PruneAuditEvents, isFirst: boolean): { count: number; isDone: boolean } {
    const { workspaceId, environment } = change
    const end = firstEventId(Math.min(before, change.now))
    const next = this.#selectEndOfBatch.get(workspaceId, environment, end, maxBatchEvents)
    const { changes } = this.#delete.run(workspaceId, environment, next ?? end)
    if (isFirst && changes > 0) this.append('audit_log.pruned', change, { details: pruningDetails(before) })
    return { count: changes, isDone: next === undefined }
  }
}
