import { Type, type Static } from 'typebox'
import { limits } from '../../../contract/limits.ts'
import { withoutNul } from '../../../contract/patterns.ts'
import { object, orNull, response, textEnum } from '../../../contract/schema.ts'
import { identity, text } from '../../../contract/user/schemas.ts'
import { findingKinds, findingStatuses } from '../../../domain/user-group/isolation-finding.ts'
import { DataSource, exportFormat, page, pageParameters, time, timeParameter, Total } from '../fields.ts'

const kind = textEnum(findingKinds, {
  description:
    '`shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data source. `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with another one.',
})
const status = textEnum(findingStatuses, {
  description:
    '`accepted` as long as the same user groups are affected, or more than 200 as when it was accepted. Otherwise `open`.',
})
const version = 'Changes if other user groups are affected. Send it to accept the finding.'
const reason = 'A demo for all customers'

export const FindingAcceptance = object(
  {
    reason: Type.String({ examples: [reason] }),
    accepted_at: time('Time of the acceptance'),
    accepted_by: Type.String({ examples: ['cli:root'] }),
  },
  'The last acceptance of a finding.',
)

export const IsolationFinding = object(
  {
    kind,
    schema: Type.String({
      description: 'Search for `schema` and `data_source` to find all affected user groups.',
      examples: ['40'],
    }),
    data_source: Type.String({ examples: ['213'] }),
    registered: orNull(DataSource, 'Null if it is not registered.'),
    user_groups: Type.Array(
      object({
        team_id: identity.team_id,
        provided_id: identity.provided_id,
        name: identity.name,
      }),
      { description: 'The first ten affected user groups.' },
    ),
    affected: Total,
    changed_at: time('Time at which name, mapping or properties of one of the first 200 last changed'),
    status,
    acceptance: orNull(
      FindingAcceptance,
      'Null if nobody accepted it. An open finding with an acceptance has changed since.',
    ),
    version: Type.String({ description: version, examples: ['Yl3pAm0nT1x7uC5dVbQe2w'] }),
  },
  'A finding of the isolation check. `affected` counts the user groups, up to 200.',
)

export const IsolationResponse = page({
  findings: Type.Array(IsolationFinding),
})

const conditions = {
  kind: Type.Optional(kind),
  status: Type.Optional(status),
  since: Type.Optional(timeParameter('Findings with a `changed_at` at or after this time')),
  until: Type.Optional(timeParameter('Findings with a `changed_at` before this time')),
}

export const FindingSearch = object(
  { ...conditions, ...pageParameters },
  'Search criteria. A finding must match all that are given.',
)
export type FindingSearch = Static<typeof FindingSearch>

export const FindingExport = object({
  format: exportFormat,
  ...conditions,
})
export type FindingExport = Static<typeof FindingExport>

const entryKey = (description: string) =>
  Type.String({ description, minLength: 1, maxLength: limits.textLength, pattern: withoutNul })

const key = {
  kind,
  schema: entryKey('`schema` of the finding.'),
  data_source: entryKey('`data_source` of the finding.'),
}

export const AcceptanceFields = object({
  ...key,
  version: Type.String({ description: version, maxLength: 40 }),
  reason: text('Why the finding is intended: 1 to 255 characters.', reason),
})
export type AcceptanceFields = Static<typeof AcceptanceFields>

export const FindingName = object(key)
export type FindingName = Static<typeof FindingName>

export const FindingResponse = response({ finding: IsolationFinding })
export const ReopenedResponse = response({ reopened: Type.Literal(true) })
