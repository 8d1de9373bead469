import { Type, type Static } from 'typebox'
import { wholeNumber } from '../../../contract/patterns.ts'
import { object, orNull, textEnum } from '../../../contract/schema.ts'
import { identity } from '../../../contract/user/schemas.ts'
import { auditActions } from '../../../domain/audit/audit-event.ts'
import { maxAuthorLength } from '../../../domain/principal.ts'
import {
  authorForms,
  exportFormat,
  id,
  page,
  pageParameters,
  searchText,
  textOrNull,
  time,
  timeParameter,
} from '../fields.ts'

export const AuditAction = textEnum(auditActions, {
  description: 'Kind of a change. Newer services may send others.',
})

export const AuditEvent = object(
  {
    event_id: Type.String({
      description: 'A UUID version 7, so ids sort by time.',
      pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
      examples: ['019ab1c2-5f28-7000-9b1d-2f6a1c0e7d45'],
    }),
    occurred_at: time('Time of the change'),
    action: AuditAction,
    author: Type.String({
      description: authorForms,
      examples: ['api_token:3'],
    }),
    request_id: textOrNull('`X-Request-Id` of the response. Null if there was no request.', 'k3Jf81Qz-2s'),
    client_address: textOrNull(
      'Address of the client, behind the proxies of `UGS_TRUSTED_PROXIES`. Null if there was no request.',
      '192.0.2.1',
    ),
    user_agent: textOrNull(
      '`User-Agent` of the request, at most 255 characters. Null if there was none.',
      'curl/8.5.0',
    ),
    user_group: orNull(
      object({ team_id: id('Team id of the user group.'), provided_id: identity.provided_id }),
      'The changed user group. Null if the change did not concern one.',
    ),
    details: Type.Unsafe<Record<string, unknown> | null>({
      type: ['object', 'null'],
      description:
        'Depends on the action, for example `changed_fields` or `api_token_id`. Never contains a secret.',
      additionalProperties: true,
      examples: [{ changed_fields: ['mapping'] }],
    }),
  },
  'The record of one change.',
)

const conditions = {
  since: Type.Optional(timeParameter('Events at or after this time')),
  until: Type.Optional(timeParameter('Events before this time')),
  team_id: Type.Optional(Type.String({ description: 'Team id of a user group.', pattern: wholeNumber })),
  user_group_id: searchText(
    'Events of the user group with this id. If it was deleted, of all user groups that had the id.',
  ),
  action: Type.Optional(AuditAction),
  author: searchText(
    `Author of the changes: ${authorForms} \`cli:\` alone finds those of all operators at the command line.`,
    maxAuthorLength,
  ),
  request_id: searchText('`X-Request-Id` of a request.'),
}

export const AuditSearch = object(
  {
    ...conditions,
    ...pageParameters,
  },
  'Search criteria. An event must match all that are given.',
)
export type AuditSearch = Static<typeof AuditSearch>

export const AuditEventListResponse = page({
  audit_events: Type.Array(AuditEvent),
})

export const AuditExport = object({
  format: exportFormat,
  ...conditions,
})
export type AuditExport = Static<typeof AuditExport>
