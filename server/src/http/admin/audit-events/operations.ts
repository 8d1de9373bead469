import { isEventId } from '../../../domain/audit/audit-event.ts'
import type { AuditFilter } from '../../../domain/audit/audit-log.ts'
import { timestampOf } from '../fields.ts'
import { type Operations, tagged } from '../operation.ts'
import { cursorOf, limitOf, positionOf } from '../pages.ts'
import { streamRows } from '../stream-rows.ts'
import { eventWriters, shownAuditEvent } from './responses.ts'
import { AuditEvent, AuditEventListResponse, AuditExport, AuditSearch } from './schemas.ts'

export const auditEventOperations = tagged('Audit log', {
  listAuditEvents: {
    method: 'GET',
    path: '/audit-events',
    scope: 'observe',
    summary: 'List changes and who made them',
    description:
      'Returns events that meet all conditions, the newest first. A page may have fewer entries than `limit`, or none, and still have a next page; continue with `next_cursor`.',
    query: AuditSearch,
    response: AuditEventListResponse,
    handle: async ({ caller, query }, { auditLog }) => {
      const { cursor, ...rest } = query as AuditSearch
      const { items, position } = await auditLog.list(caller, filterOf(rest), {
        position: positionOf(cursor, isEventId),
        limit: limitOf(rest),
      })
      return { body: { auditEvents: items.map(shownAuditEvent), nextCursor: cursorOf(position) } }
    },
  },
  exportAuditEvents: {
    method: 'GET',
    path: '/audit-events/export',
    scope: 'observe',
    summary: 'Export changes and who made them',
    description:
      'Returns all events that meet the conditions, the newest first. The export itself is an event, `audit_log.exported`, which the next export has. Columns of CSV: `occurred_at`, `event_id`, `action`, `author`, `request_id`, `client_address`, `user_agent`, `team_id`, `user_group_id`, and `details` as JSON. A text that a spreadsheet program would run as a formula has an apostrophe in front.',
    query: AuditExport,
    response: AuditEvent,
    returnsRows: ['ndjson', 'csv'],
    handle: async ({ caller, query }, { auditLog }) => {
      const { format = 'ndjson', ...conditions } = query as AuditExport
      const events = await auditLog.export(caller, filterOf(conditions), conditions)
      return streamRows(format, eventWriters[format], events)
    },
  },
} as const satisfies Operations)

/** @throws Fault `validation_failed` if a time does not exist */
function filterOf({
  since,
  until,
  team_id,
  user_group_id,
  action,
  author,
  request_id,
}: AuditSearch): AuditFilter {
  return {
    since: since === undefined ? undefined : timestampOf('since', since),
    until: until === undefined ? undefined : timestampOf('until', until),
    teamId: team_id === undefined ? undefined : Number(team_id),
    providedId: user_group_id,
    action,
    author,
    requestId: request_id,
  }
}
