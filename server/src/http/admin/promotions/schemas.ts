import { Type, type Static } from 'typebox'
import { limits } from '../../../contract/limits.ts'
import { withoutNul } from '../../../contract/patterns.ts'
import { identity, response, success } from '../../../contract/user/schemas.ts'
import { differences, nextCursor, time } from '../fields.ts'
import { textEnum } from '../../../contract/text-enum.ts'

export const CandidateListResponse = response({
  success,
  user_groups: Type.Array(
    response({
      provided_id: identity.provided_id,
      name: identity.name,
      updated_at: time('Time of the last change of name, mapping or properties'),
    }),
  ),
  next_cursor: nextCursor,
})

export const PromotionBody = Type.Object(
  {
    user_group_ids: Type.Array(
      Type.String({ minLength: 1, maxLength: limits.textLength, pattern: withoutNul }),
      {
        description: 'Ids of the user groups to promote.',
        minItems: 1,
        maxItems: 200,
        uniqueItems: true,
        examples: [['customer-42']],
      },
    ),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'If true, nothing is changed. Default: false.', examples: [true] }),
    ),
  },
  { additionalProperties: false },
)
export type PromotionBody = Static<typeof PromotionBody>

export const PromotionResponse = response({
  success,
  results: Type.Array(
    response({
      provided_id: identity.provided_id,
      outcome: textEnum(['created', 'updated', 'unchanged', 'not_found', 'refused'], {
        description: 'The result of the promotion, or in a dry run the expected result.',
      }),
      differences,
      team_id: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'Team id of the user group in `Customer`; null if there is none (yet).',
        examples: [7],
      }),
      message: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'Reason of a refusal, otherwise null.',
        examples: [null],
      }),
    }),
  ),
})
