import { firstEventId, type AuditAction, type AuditEvent } from '../../domain/audit/audit-event.ts'
import type { AuditStore, ListAuditEvents, PruneAuditEvents } from '../../domain/audit/audit-store.ts'
import { isEventType } from '../../domain/event/event.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { bucketOf } from '../../domain/user-group/location.ts'
import { auditCells, auditColumns, type Change } from '../audit-row.ts'
import { inBatches, transaction, type Operation, type Operations } from './operation.ts'
import { either, postgres, raw, sql } from './sql.ts'

type AuditRow = Omit<AuditEvent, 'userGroup'> & {
  readonly teamId: number | null
  readonly providedId: string | null
}

const rowColumns =
  raw(`workspace_id AS "workspaceId", environment, event_id AS "eventId", action, author, request_id AS "requestId",
  team_id AS "teamId", provided_id AS "providedId", details`)

/** Maximum number of events that one transaction prunes. */
const maxBatchEvents = 1000

/** The audit log. Events are appended, also for the feed, in the transaction of their change. */
export const auditLog: Operations<AuditStore> = {
  *list(query) {
    const { teamId, limit } = query
    if (teamId === undefined) return (yield* selectEvents(query)).map(auditEventOf)
    const rows = yield* selectEventsOfUserGroup(query, teamId)
    const [created] = yield* selectCreatedAt(query.workspaceId, teamId)
    const range = created === undefined ? null : creationRange(query, created.created_at)
    const creation = range === null ? [] : yield* selectCreation(query, teamId, range)
    return newestOf([...rows, ...creation], limit).map(auditEventOf)
  },

  *recordExport({ conditions, ...change }) {
    yield* transaction()
    yield* appendAuditEvent('audit_log.exported', change, conditions)
  },

  prune: inBatches(({ before, ...change }: PruneAuditEvents) => {
    // One event for all batches, also if a batch with an ambiguous commit is repeated.
    const event = auditCells(change, 'audit_log.pruned', {
      details: { before: timeText(before) },
    })
    const end = firstEventId(Math.min(before, change.now))
    return function* () {
      yield* transaction()
      const [next] = yield* selectEndOfBatch(change, end, maxBatchEvents)
      const { length } = yield* deleteEvents(change, next?.event_id ?? end)
      if (length > 0) yield* insertEvent(event)
      return { count: length, isDone: next === undefined }
    }
  }),
}

/** Appends the event of a change within its transaction. */
export function* appendAuditEvent(
  action: AuditAction,
  change: Change,
  details?: object,
  userGroup: AuditEvent['userGroup'] = null,
): Operation<void> {
  const cells = auditCells(change, action, { details: details ?? null, userGroup })
  yield* insertEvent(cells, userGroup === null ? 0 : bucketOf({ ...change, ...userGroup }))
  const [workspaceId, environment, eventId] = cells
  // On SQLite, a trigger does it.
  if (isEventType(action))
    yield* postgres`INSERT INTO event (workspace_id, environment, event_id, type)
      VALUES (${workspaceId}, ${environment}, ${eventId}, ${action})`
}

/**
 * On PostgreSQL, events that concern no user group are in bucket 0. On Citus, with `SELECT` in place of `VALUES`, the transaction commits
 * in two phases. Otherwise the node of the event would commit before the coordinator does, and a failure of the coordinator in between
 * would leave the event of a change that was never made. With `ON CONFLICT`, Citus reports the error code of the node.
 */
function insertEvent(cells: readonly unknown[], bucket = 0) {
  const [workspaceId, environment, eventId, action, author, requestId, teamId, providedId, details] = cells
  return either({
    sqlite: sql`INSERT INTO audit_event (${raw(auditColumns)})
      VALUES (${workspaceId}, ${environment}, ${eventId}, ${action}, ${author}, ${requestId}, ${teamId}, ${providedId}, ${details})
      ON CONFLICT DO NOTHING`,
    postgres: sql`INSERT INTO audit_event (${raw(auditColumns)}, bucket)
      SELECT ${workspaceId}::bigint, ${environment}, ${eventId}::uuid, ${action}, ${author}, ${requestId}, ${teamId}::bigint,
             ${providedId}, ${details}, ${bucket}::smallint FROM generate_series(1, 1)
      ON CONFLICT DO NOTHING`,
  })
}

const range = ({ since, beforeEventId, limit }: ListAuditEvents) => sql`
  event_id >= ${firstEventId(since)} AND event_id < ${beforeEventId} ORDER BY event_id DESC LIMIT ${limit}`

export const selectEvents = (query: ListAuditEvents) =>
  sql<AuditRow>`SELECT ${rowColumns} FROM audit_event
    WHERE workspace_id = ${query.workspaceId} AND environment = ${query.environment} AND ${range(query)}`
    .prepared('audit_event_select')
    .inBucket(null)

// Without statistics of the table, PostgreSQL would read all events of a workspace; `|| ''` prevents that.
export const selectEventsOfUserGroup = (query: ListAuditEvents, teamId: number) =>
  sql<AuditRow>`SELECT ${rowColumns} FROM audit_event
    WHERE workspace_id = ${query.workspaceId} AND environment || '' = ${query.environment} AND team_id = ${teamId}
      AND action <> 'user_group.created' AND ${range(query)}`
    .prepared('audit_event_select_of_user_group')
    .inBucket(null)

export const selectCreatedAt = (workspaceId: number, teamId: number) =>
  sql<{ created_at: number }>`
    SELECT created_at FROM user_group WHERE workspace_id = ${workspaceId} AND team_id = ${teamId}
    UNION ALL
    SELECT created_at FROM deleted_user_group WHERE workspace_id = ${workspaceId} AND team_id = ${teamId}`
    .prepared('user_group_select_created_at')
    .inBucket(null)

/** `+ 0` lets the range of ids select the index. */
export const selectCreation = (
  { workspaceId, environment }: TenantScope,
  teamId: number,
  [first, before]: readonly [string, string],
) =>
  sql<AuditRow>`SELECT ${rowColumns} FROM audit_event
    WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND event_id >= ${first} AND event_id < ${before}
      AND team_id + 0 = ${teamId} AND action = 'user_group.created'`
    .prepared('audit_event_select_creation')
    .inBucket(null)

/** Finds the first event after a batch. */
export const selectEndOfBatch = ({ workspaceId, environment }: TenantScope, end: string, size: number) =>
  sql<{ event_id: string }>`SELECT event_id FROM audit_event
    WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND event_id < ${end}
    ORDER BY event_id LIMIT 1 OFFSET ${size}`.prepared('audit_event_select_end_of_batch')

export const deleteEvents = ({ workspaceId, environment }: TenantScope, end: string) =>
  sql`DELETE FROM audit_event
    WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND event_id < ${end}
    RETURNING 1`.prepared('audit_event_delete')

/** Returns the newest rows, newest first. */
function newestOf(rows: readonly AuditRow[], limit: number): AuditRow[] {
  return [...rows].sort((a, b) => (a.eventId < b.eventId ? 1 : -1)).slice(0, limit)
}

/** Returns the range of ids for the creation event of a user group; null if the query excludes it. */
function creationRange(
  { since, beforeEventId }: Pick<ListAuditEvents, 'since' | 'beforeEventId'>,
  createdAt: number,
): [first: string, before: string] | null {
  const end = firstEventId(createdAt + 1)
  return createdAt < since ? null : [firstEventId(createdAt), end < beforeEventId ? end : beforeEventId]
}

function auditEventOf({ teamId, providedId, ...row }: AuditRow): AuditEvent {
  return { ...row, userGroup: teamId === null ? null : { teamId, providedId: providedId as string } }
}

/** Writes a time for the details of an audit event. */
export function timeText(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString()
}
