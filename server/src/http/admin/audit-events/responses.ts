import { json, object, time } from '../../../contract/json/json-builder.ts'
import { timeOfEvent, type AuditEvent } from '../../../domain/audit/audit-event.ts'

export function auditEventJson(event: AuditEvent): string {
  const { userGroup } = event
  return object({
    event_id: json(event.eventId),
    occurred_at: time(timeOfEvent(event.eventId)),
    action: json(event.action),
    author: json(event.author),
    request_id: json(event.requestId),
    user_group: json(userGroup && { team_id: userGroup.teamId, provided_id: userGroup.providedId }),
    details: event.details ?? 'null',
  })
}
