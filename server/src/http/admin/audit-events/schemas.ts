import { Type } from 'typebox'
import { identity, response, success } from '../../../contract/user/schemas.ts'
import { auditActions } from '../../../domain/audit/audit-event.ts'
import { id, nextCursor, time } from '../fields.ts'
import { textEnum } from '../../../contract/text-enum.ts'

const AuditEvent = response({
  event_id: Type.String({
    description: 'A UUID version 7: ids sort by time.',
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    examples: ['019ab1c2-5f28-7000-9b1d-2f6a1c0e7d45'],
  }),
  occurred_at: time('Time of the change'),
  action: textEnum(auditActions, { description: 'Kind of change.' }),
  author: Type.String({
    description:
      'Who made the change: `api_token:` and the id of an API token, `cli:` and the name of an operator, or `service`.',
    examples: ['api_token:3'],
  }),
  request_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: '`X-Request-Id` of the response; null for changes by the command line.',
    examples: ['k3Jf81Qz-2s'],
  }),
  user_group: Type.Unsafe<{ team_id: number; provided_id: string } | null>({
    type: ['object', 'null'],
    description: 'The changed user group, or null.',
    properties: { team_id: id('Team id of the user group.'), provided_id: identity.provided_id },
    required: ['team_id', 'provided_id'],
    additionalProperties: false,
  }),
  details: Type.Unsafe<Record<string, unknown> | null>({
    type: ['object', 'null'],
    description:
      'Depends on the action: `changed_fields`, `grace_period_seconds`, the id of an API token, a schema or a data source, and so on. Never contains a secret.',
    examples: [{ changed_fields: ['mapping'] }],
  }),
})

export const AuditEventListResponse = response({
  success,
  audit_events: Type.Array(AuditEvent),
  next_cursor: nextCursor,
})
