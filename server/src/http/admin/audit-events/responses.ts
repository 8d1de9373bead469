import { cellOf, csvRecord } from '../../../contract/import/csv-record.ts'
import { writeJson } from '../../../contract/json/json-writer.ts'
import { readRequestId, timeOfEvent, type AuditEvent } from '../../../domain/audit/audit-event.ts'
import { AuditEvent as AuditEventSchema } from './schemas.ts'

/** Returns the members of an `AuditEvent`. */
export const shownAuditEvent = (event: AuditEvent) => ({
  ...event,
  ...readRequestId(event),
  occurredAt: timeOfEvent(event.eventId),
})

/** Writers of the rows of an export, by format. */
export const eventWriters = {
  ndjson: {
    head: '',
    row: (event: AuditEvent) => `${writeJson(AuditEventSchema, shownAuditEvent(event))}\n`,
  },
  csv: {
    head: 'occurred_at,event_id,action,author,request_id,client_address,user_agent,team_id,user_group_id,details\r\n',
    row: (event: AuditEvent) => {
      const { eventId, action, author, userGroup, details } = event
      const { requestId, clientAddress, userAgent } = readRequestId(event)
      return csvRecord([
        new Date(timeOfEvent(eventId)).toISOString(),
        eventId,
        action,
        cellOf(author),
        cellOf(requestId),
        cellOf(clientAddress),
        cellOf(userAgent),
        String(userGroup?.teamId ?? ''),
        cellOf(userGroup?.providedId),
        details ?? '',
      ])
    },
  },
}
