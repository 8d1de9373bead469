import { readRequestId, timeOfEvent, type AuditEvent } from '../../../domain/audit/audit-event.ts'
import { rowWritersOf } from '../stream-rows.ts'
import { AuditEvent as AuditEventSchema } from './schemas.ts'

/** Returns the members of an `AuditEvent`. */
export const shownAuditEvent = (event: AuditEvent) => ({
  ...event,
  ...readRequestId(event),
  occurredAt: timeOfEvent(event.eventId),
})

export const eventWriters = rowWritersOf(AuditEventSchema, shownAuditEvent, {
  occurred_at: ({ occurredAt }) => new Date(occurredAt).toISOString(),
  event_id: ({ eventId }) => eventId,
  action: ({ action }) => action,
  author: ({ author }) => author,
  request_id: ({ requestId }) => requestId,
  client_address: ({ clientAddress }) => clientAddress,
  user_agent: ({ userAgent }) => userAgent,
  team_id: ({ userGroup }) => userGroup?.teamId,
  user_group_id: ({ userGroup }) => userGroup?.providedId,
  details: ({ details }) => details,
})
