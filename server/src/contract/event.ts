import { Type } from 'typebox'
import { eventTypes, type Event } from '../domain/event/event.ts'
import { timeOfEvent } from '../domain/audit/audit-event.ts'
import { textEnum } from './schema.ts'

const EventType = textEnum(eventTypes)

/** An event, as the feed sends it (contract, "Events"). */
export const EventBody = Type.Object({
  type: EventType,
  timestamp: Type.String({ format: 'date-time' }),
  data: Type.Object({
    team_id: Type.Optional(
      Type.Integer({ description: 'The user group. Absent if the whole environment is concerned.' }),
    ),
    provided_id: Type.Optional(Type.String()),
    revision: Type.Optional(Type.Integer({ description: 'Revision of the user group after the change.' })),
    token_sha256: Type.Optional(
      Type.Array(Type.String({ pattern: '^[0-9a-f]{64}$' }), {
        description:
          'SHA-256 of the tokens whose meaning changed. Absent if all tokens of the user group are concerned.',
      }),
    ),
  }),
})

/** Returns the JSON of an event. */
export function eventJson({ eventId, type, userGroup, revision, tokenHash }: Event): string {
  return JSON.stringify({
    type,
    timestamp: new Date(timeOfEvent(eventId)).toISOString(),
    data: {
      ...(userGroup && { team_id: userGroup.teamId, provided_id: userGroup.providedId }),
      ...(revision !== null && { revision }),
      ...(tokenHash && { token_sha256: [Buffer.from(tokenHash).toString('hex')] }),
    },
  })
}
