import { Type, type Static } from 'typebox'
import { identity } from '../user/schemas.ts'
import { object, response } from '../schema.ts'
import { limits } from '../limits.ts'
import { date, withoutNul } from '../patterns.ts'

/** Maximum number of marks in a request. */
const maxMarks = 1000

const name = (description: string, example: string) =>
  Type.Optional(
    Type.String({
      description: `${description} Recorded as \`(more)\` if it has more than 255 characters.`,
      pattern: withoutNul,
      examples: [example],
    }),
  )

const UsageMark = object({
  team_id: Type.Integer({ ...identity.team_id, maximum: limits.id }),
  viewer_id: name('The viewer. Empty or absent if it is unknown.', 'u-7'),
  resource: name(
    'What was shown, for example a dashboard. Empty or absent if it is unknown.',
    'sales-overview',
  ),
  day: Type.String({ description: 'The day in UTC.', pattern: date, examples: ['2026-11-28'] }),
})

export const UsageBody = object({ marks: Type.Array(UsageMark, { minItems: 0, maxItems: maxMarks }) })
export type UsageBody = Static<typeof UsageBody>

export const RecordedUsageResponse = response({
  accepted: Type.Integer({ description: 'Number of marks that are recorded.', minimum: 0, examples: [1] }),
  ignored: Type.Integer({
    description:
      'Number of other marks: of an unknown user group, of a day more than 2 days past or 1 ahead, or all if usage is not recorded.',
    minimum: 0,
    examples: [0],
  }),
})
