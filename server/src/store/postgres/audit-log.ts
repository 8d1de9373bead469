import { firstEventId, type AuditAction, type AuditEvent } from '../../domain/audit/audit-event.ts'
import { isEventType } from '../../domain/event/event.ts'
import type { AuditStore, ListAuditEvents, PruneAuditEvents } from '../../domain/audit/audit-store.ts'
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
import { prepared, type PrimaryPool, type Query, type Statement } from './primary-pool.ts'
import type { Retry } from './retry.ts'

/**
 * Events that concern no user group are in bucket 0. On Citus, with `SELECT` in place of `VALUES`, the transaction commits in two
 * phases. Otherwise the node of the event would commit before the coordinator does, and a failure of the coordinator in between would
 * leave the event of a change that was never made. With `ON CONFLICT`, Citus reports the error code of the node.
 */
const insertAuditEvent = `
  INSERT INTO audit_event (${auditColumns}, bucket)
  SELECT $1::bigint, $2, $3::uuid, $4, $5, $6, $7::bigint, $8, $9, 0 FROM generate_series(1, 1)
  ON CONFLICT DO NOTHING`

/** For the feed. */
const insertEvent = `
  INSERT INTO event (workspace_id, environment, event_id, type) VALUES ($1, $2, $3, $4)`

/** Appends the event of a change, also for the feed, within its transaction. */
export async function appendAuditEvent(
  query: Query,
  action: AuditAction,
  change: Change,
  details: object,
): Promise<void> {
  const cells = auditCells(change, action, { details })
  await query(insertAuditEvent, cells)
  if (isEventType(action)) await query(insertEvent, cells.slice(0, 4))
}

const range = 'event_id >= $3 AND event_id < $4 ORDER BY event_id DESC LIMIT $5'

export const selectAuditEvents: Statement<AuditRow> = prepared(
  'audit_event_select',
  `SELECT * FROM audit_event WHERE workspace_id = $1 AND environment = $2 AND ${range}`,
)

// Without statistics of the table, PostgreSQL would read all events of a workspace; the condition prevents that.
export const selectAuditEventsOfUserGroup: Statement<AuditRow> = prepared(
  'audit_event_select_of_user_group',
  `SELECT * FROM audit_event
   WHERE workspace_id = $1 AND environment || '' = $2 AND team_id = $6 AND action <> 'user_group.created' AND ${range}`,
)

export const selectCreatedAt: Statement<{ readonly created_at: number }> = prepared(
  'user_group_select_created_at',
  `SELECT created_at FROM user_group WHERE workspace_id = $1 AND team_id = $2
   UNION ALL SELECT created_at FROM deleted_user_group WHERE workspace_id = $1 AND team_id = $2`,
)

export const selectCreation: Statement<AuditRow> = prepared(
  'audit_event_select_creation',
  `SELECT * FROM audit_event
   WHERE workspace_id = $1 AND environment = $2 AND event_id >= $3 AND event_id < $4 AND team_id + 0 = $5
     AND action = 'user_group.created'`,
)

export const deleteAuditEvents: Statement<unknown> = prepared(
  'audit_event_delete',
  'DELETE FROM audit_event WHERE workspace_id = $1 AND environment = $2 AND event_id < $3 RETURNING 1',
)

/** Finds the first event after a batch. */
export const selectEndOfBatch: Statement<{ readonly event_id: string }> = prepared(
  'audit_event_select_end_of_batch',
  `SELECT event_id FROM audit_event WHERE workspace_id = $1 AND environment = $2 AND event_id < $3
   ORDER BY event_id OFFSET $4 LIMIT 1`,
)

/** The audit log. Events are appended by the statement, or in the transaction, of their change. */
export class AuditLog implements AuditStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry

  constructor(primary: PrimaryPool, retry: Retry) {
    this.#primary = primary
    this.#retry = retry
  }

  async list(query: ListAuditEvents): Promise<AuditEvent[]> {
    const { workspaceId, environment, teamId, since, beforeEventId, limit } = query
    const values = [workspaceId, environment, firstEventId(since), beforeEventId, limit]
    if (teamId === undefined)
      return (await this.#retry.query(selectAuditEvents, values, null)).map(auditEventOf)
    const rows = await this.#retry.query(selectAuditEventsOfUserGroup, [...values, teamId], null)
    return newestOf([...rows, ...(await this.#creation(query, teamId))], limit).map(auditEventOf)
  }

  async #creation(query: ListAuditEvents, teamId: number): Promise<AuditRow[]> {
    const { workspaceId, environment } = query
    const [row] = await this.#retry.query(selectCreatedAt, [workspaceId, teamId], null)
    const range = row === undefined ? null : creationRange(query, row.created_at)
    if (range === null) return []
    return this.#retry.query(selectCreation, [workspaceId, environment, ...range, teamId], null)
  }

  async prune({ before, ...change }: PruneAuditEvents): Promise<number> {
    const tenantScope = [change.workspaceId, change.environment]
    const end = firstEventId(Math.min(before, change.now))
    // One event for all batches, also if a batch with an ambiguous commit is repeated.
    const event = auditCells(change, 'audit_log.pruned', { details: pruningDetails(before) })
    for (let total = 0; ;) {
      const { pruned, isLast } = await this.#retry.run((attempt) =>
        attempt.transaction(this.#primary, async (query) => {
          const [next] = await query(selectEndOfBatch, [...tenantScope, end, maxBatchEvents])
          const { length } = await query(deleteAuditEvents, [...tenantScope, next?.event_id ?? end])
          if (length > 0) await query(insertAuditEvent, event)
          return { pruned: length, isLast: next === undefined }
        }),
      )
      total += pruned
      if (isLast) return total
    }
  }
}
