import { Type, type Static } from 'typebox'
import { wholeNumber } from '../../../contract/patterns.ts'
import { auditActions, isEventId } from '../../../domain/audit/audit-event.ts'
import type { AuditFilter } from '../../../domain/audit/audit-log.ts'
import { cursor, limit, searchText, timeParameter, timestampOf } from '../fields.ts'
import type { AdminOperation } from '../operation.ts'
import { cursorOf, limitOf, listResponse, positionOf } from '../pages.ts'
import { auditEventJson } from './responses.ts'
import { AuditEventListResponse } from './schemas.ts'
import { textEnum } from '../../../contract/text-enum.ts'

const auditQuery = Type.Object(
  {
    since: Type.Optional(timeParameter('Events at or after this time')),
    until: Type.Optional(timeParameter('Events before this time')),
    team_id: Type.Optional(Type.String({ description: 'Team id of a user group.', pattern: wholeNumber })),
    user_group_id: searchText(
      'Id of a user group. If no user group has this id any more, events of those that had it.',
    ),
    action: Type.Optional(textEnum(auditActions)),
    author: searchText('Author, such as `api_token:3` or `cli:root`.'),
    request_id: searchText('`X-Request-Id` of a request.'),
    limit: Type.Optional(limit),
    cursor: Type.Optional(cursor),
  },
  { additionalProperties: false },
)
type AuditQuery = Static<typeof auditQuery>

export const auditEventOperations = {
  listAuditEvents: {
    tag: 'Audit log',
    method: 'GET',
    path: '/audit-events',
    summary: 'List changes and who made them',
    description:
      'Returns events that meet all conditions, the newest first. A page may have fewer entries than `limit`, or none, and still have a next page; continue with `next_cursor`.',
    query: auditQuery,
    response: AuditEventListResponse,
    handle: async ({ caller, query }, { auditLog }) => {
      const { cursor, ...rest } = query as AuditQuery
      const { items, position } = await auditLog.list(caller, filterOf(rest), {
        position: positionOf(cursor, isEventId),
        limit: limitOf(rest),
      })
      return { json: listResponse('audit_events', items, auditEventJson, cursorOf(position)) }
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
}: AuditQuery): AuditFilter {
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
