import { Type, type Static } from 'typebox'
import { limits } from '../../../contract/limits.ts'
import { withoutNul } from '../../../contract/patterns.ts'
import { object, response, textEnum } from '../../../contract/schema.ts'
import { identity } from '../../../contract/user/schemas.ts'
import {
  count,
  differences,
  numberOrNull,
  page,
  pageParameters,
  searchText,
  textOrNull,
  time,
  timeOrNull,
} from '../fields.ts'

export const CandidateSearch = object({
  name: searchText('Part of the name. Case and accents are ignored.'),
  ...pageParameters,
})
export type CandidateSearch = Static<typeof CandidateSearch>

const unresolved = count(
  'Number of mapping entries that name no registered data source of `Customer`; 0 if it has no schema. With `UGS_MAPPING=registered`, the user group is refused, otherwise its dashboards find no data.',
  0,
)

export const PromotionCandidate = object(
  {
    team_id: identity.team_id,
    provided_id: identity.provided_id,
    name: identity.name,
    updated_at: time('Time of the last change of name, mapping or properties'),
    suspended_at: timeOrNull(
      'Time of suspension in `Testing`, which a promotion does not copy',
      'it is not suspended',
    ),
    unresolved_entries: unresolved,
  },
  'A user group of `Testing` that can be promoted.',
)

export const CandidateListResponse = page({
  user_groups: Type.Array(PromotionCandidate),
})

export const PromotionFields = object({
  user_group_ids: Type.Array(
    Type.String({ minLength: 1, maxLength: limits.textLength, pattern: withoutNul }),
    {
      description: 'Ids in `Testing`: 1 to 200, without duplicates.',
      minItems: 1,
      maxItems: 200,
      uniqueItems: true,
      examples: [['customer-42']],
    },
  ),
  dry_run: Type.Optional(
    Type.Boolean({
      description: 'Changes nothing and returns the differences. Default: false.',
      examples: [true],
    }),
  ),
})
export type PromotionFields = Static<typeof PromotionFields>

export const PromotionResult = object(
  {
    provided_id: identity.provided_id,
    outcome: textEnum(['created', 'updated', 'unchanged', 'not_found', 'refused'], {
      description:
        '`created`, `updated` or `unchanged` in `Customer`; `not_found` in `Testing`; `refused` if the mapping names something that is not registered in `Customer`.',
    }),
    differences,
    team_id: numberOrNull('Team id in `Customer`. Null if the user group does not exist there.', 7),
    message: textOrNull('Reason for `refused`. Null otherwise.', null),
    suspended: object(
      { in_testing: Type.Boolean(), in_customer: Type.Boolean() },
      'Where the user group is suspended. A promotion changes neither: a new user group is active.',
    ),
    unresolved_entries: unresolved,
  },
  'Result of promoting one user group, or of a dry run.',
)

export const PromotionResponse = response({ results: Type.Array(PromotionResult) })
