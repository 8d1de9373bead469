import { timeOfEvent, type AuditEvent } from '../../../domain/audit/audit-event.ts'

/** Returns the members of an `AuditEvent`. */
export const shownAuditEvent = (event: AuditEvent) => ({ ...event, occurredAt: timeOfEvent(event.eventId) })
