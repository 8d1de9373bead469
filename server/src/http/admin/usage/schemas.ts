import { Type, type Static } from 'typebox'
import { month as monthPattern, wholeNumber, wholeNumbers, withoutNul } from '../../../contract/patterns.ts'
import { limits } from '../../../contract/limits.ts'
import { object, response, textEnum } from '../../../contract/schema.ts'
import { count, exportFormat, id, nextCursor, pageParameters, textOrNull, time } from '../fields.ts'

const grouping = textEnum(['user_group', 'viewer', 'resource', 'day'], {
  description: 'What an entry is about.',
  default: 'user_group',
})

const month = Type.String({
  description: 'A month in UTC. Default: the current one.',
  pattern: monthPattern,
  examples: ['2026-11'],
})

export const UsageSearch = object({
  month: Type.Optional(month),
  by: Type.Optional(grouping),
  team_id: Type.Optional(
    Type.String({
      description: 'Only these user groups: up to 200 team ids, separated by commas.',
      pattern: wholeNumbers,
      examples: ['7,12'],
    }),
  ),
  ...pageParameters,
})
export type UsageSearch = Static<typeof UsageSearch>

const purged = 'Null if the user group was deleted for good.'
const userGroup = {
  team_id: id('Team id of the user group.'),
  provided_id: textOrNull(`The user_group_id. ${purged}`, 'customer-42'),
  name: textOrNull(`Name of the user group. ${purged}`, 'Example customer'),
}
const viewers = count('Number of known viewers.', 14)
const activeDays = count('Number of days on which anyone looked.', 21)
const viewerDays = count('Number of pairs of a known viewer and a day on which that viewer looked.', 188)
const lastSeenAt = time(
  'Time of the last look. Of a user group to the minute; of a viewer or resource, a later look of the same day may be missing',
)

/** Members by grouping: each entry has those of its own. */
export const Usage = object(
  {
    team_id: Type.Optional(userGroup.team_id),
    provided_id: Type.Optional(userGroup.provided_id),
    name: Type.Optional(userGroup.name),
    viewer_id: Type.Optional(Type.String({ description: 'Of a viewer.', examples: ['u-7'] })),
    resource: Type.Optional(
      Type.String({
        description: 'Of a resource. Empty for looks that named none.',
        examples: ['sales-overview'],
      }),
    ),
    day: Type.Optional(Type.String({ description: 'Of a day, in UTC.', examples: ['2026-11-28'] })),
    user_groups: Type.Optional(count('Number of user groups that looked. Of a resource or day.', 12)),
    viewers: Type.Optional(viewers),
    active_days: Type.Optional(activeDays),
    viewer_days: Type.Optional(viewerDays),
    last_seen_at: Type.Optional(lastSeenAt),
    truncated: Type.Optional(
      Type.Boolean({
        description: 'True if some viewers are counted as one. Otherwise absent.',
        examples: [true],
      }),
    ),
  },
  'Who looked. A user group has `team_id`, `provided_id`, `name`, `viewers`, `active_days`, `viewer_days` and `last_seen_at`; a viewer has `viewer_id` instead of `viewers` and `viewer_days`; a resource has `resource`, `user_groups`, `viewers`, `active_days`, `viewer_days` and `last_seen_at`; a day has `day`, `user_groups` and `viewers`.',
)

export const UsageResponse = response({
  usage: Type.Array(Usage),
  total: Type.Optional(
    object(
      { user_groups: count('Number of user groups that looked.', 42), viewers },
      'Of the whole month. Only by day.',
    ),
  ),
  next_cursor: nextCursor,
})

export const UsageExport = object({
  month: Type.Optional(month),
  format: exportFormat,
})
export type UsageExport = Static<typeof UsageExport>

export const UsageRow = object({
  ...userGroup,
  viewers,
  active_days: activeDays,
  viewer_days: viewerDays,
  last_seen_at: lastSeenAt,
})

export const ErasureOfViewer = object({
  viewer_id: Type.String({
    description: 'The viewer.',
    minLength: 1,
    maxLength: limits.textLength,
    pattern: withoutNul,
    examples: ['u-7'],
  }),
  team_id: Type.Optional(
    Type.String({
      description: 'Only in this user group. Viewer ids may repeat in others.',
      pattern: wholeNumber,
      examples: ['7'],
    }),
  ),
})
export type ErasureOfViewer = Static<typeof ErasureOfViewer>

export const ErasureResponse = response({
  deleted: count('Number of deleted rows: one for each user group, month and resource.', 31),
})
