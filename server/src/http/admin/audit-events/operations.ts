import { isEventId } from '../../../domain/audit/audit-event.ts'
import type { AuditFilter } from '../../../domain/audit/audit-log.ts'
import { timestampOf } from '../fields.ts'
import type { AdminOperation } from '../operation.ts'
import { cursorOf, limitOf, positionOf } from '../pages.ts'
import { shownAuditEvent } from './responses.ts'
import { AuditEventListResponse, AuditSearch } from './schemas.ts'

export const auditEventOperations = {
  listAuditEvents: {
    tag: 'Audit log',
    method: 'GET',
    path: '/audit-events',
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
} as const satisfies Record<string, AdminOperation>

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
