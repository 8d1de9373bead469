import { Type, type Static } from 'typebox'
import { limits } from '../../../contract/limits.ts'
import { wholeNumber } from '../../../contract/patterns.ts'
import {
  environmentTag,
  identity,
  Mapping,
  name,
  Properties,
  properties,
  tokenExample,
  userGroupId,
} from '../../../contract/user/schemas.ts'
import { sortFields } from '../../../domain/user-group/user-group-search-store.ts'
import { retained } from '../../../domain/user-group/user-group-erasure.ts'
import { object, orNull, response, seconds, textEnum } from '../../../contract/schema.ts'
import { viewerToEnd } from '../../../contract/viewer-session/schemas.ts'
import {
  author,
  count,
  DataSource,
  Difference,
  differences,
  nextCursor,
  page,
  pageParameters,
  revision,
  textOrNull,
  time,
  timeOrNull,
  Total,
} from '../fields.ts'
import { criteria } from './criteria.ts'

export { DataSource, Difference }

const mapping = Type.Unsafe<Record<string, string> | null>({
  type: ['object', 'null'],
  description:
    'The mapping as it was sent: schema to data source, each by id or by provided id. Null if there is none.',
  additionalProperties: { type: 'string' },
  examples: [{ '40': '213' }],
})
const content = { name: identity.name, mapping, properties }
const updated_at = time('Time of the last change of name, mapping or properties')
const teamId = Type.Integer({
  description: 'Identifies the user group in the management API.',
  minimum: 1,
  examples: [1],
})
const lastIntrospectedAt = timeOrNull(
  'Time of the last introspection, rounded down to the minute',
  'no renderer has introspected a token of the user group yet',
)

const managed = {
  team_id: teamId,
  provided_id: identity.provided_id,
  api_environment_tag: environmentTag,
  ...content,
  revision,
  created_at: time('Time of creation'),
  updated_at,
  updated_by: author,
  token_issued_at: time('Issue time of the current token'),
  suspended_at: timeOrNull(
    'Start of the suspension, during which tokens are inactive for the renderer',
    'it is not suspended',
  ),
}

export const AdminUserGroup = object(
  managed,
  'A user group as the management API shows it: everything except the token.',
)

export const ListedUserGroup = object(
  {
    ...managed,
    health: object({
      mapping_entries: count('Number of mapping entries.', 2),
      unresolved_entries: count(
        'Number of mapping entries that name no registered data source; 0 if no schema is registered.',
        1,
      ),
      last_introspected_at: lastIntrospectedAt,
    }),
  },
  'A user group as a search returns it.',
)

export const UserGroupListResponse = response({
  user_groups: Type.Array(ListedUserGroup),
  next_cursor: nextCursor,
  total: Type.Optional(Total),
})

export const UserGroupResponse = response({ user_group: AdminUserGroup })

export const UserGroupSearch = object(
  {
    ...criteria,
    sort: Type.Optional(
      textEnum(sortFields, {
        description:
          'Order. Names are ordered by code point, without the case of ASCII letters. With search criteria, a page examines a limited number of user groups and may have few matches, or none.',
      }),
    ),
    order: Type.Optional(
      textEnum(['asc', 'desc'], { description: 'Direction of `sort`, which it requires. Default: `asc`.' }),
    ),
    total: Type.Optional(
      textEnum(['true', 'false'], { description: 'If true, `total` is the number of matches.' }),
    ),
    ...pageParameters,
  },
  'Search criteria. A user group must match all that are given. Strings have 1 to 255 characters.',
)
export type UserGroupSearch = Static<typeof UserGroupSearch>

export const UserGroupChange = object(
  { name: Type.Optional(name), mapping: Type.Optional(Mapping), properties: Type.Optional(Properties) },
  'Fields to change. Omitted fields keep their values.',
)

export const NewUserGroupFields = object({
  user_group_id: userGroupId,
  name,
  mapping: Type.Optional(Mapping),
  properties: Type.Optional(Properties),
})
export type NewUserGroupFields = Static<typeof NewUserGroupFields>

export const ProvidedIdQuery = object({ user_group_id: userGroupId })
export type ProvidedIdQuery = Static<typeof ProvidedIdQuery>

export const TokenResponse = response({ token: identity.token })

export const RotatedTokenResponse = response({
  token: textOrNull('The new token. Null without the scope `admin`.', tokenExample),
})

export const TokenRotation = object({
  grace_period_seconds: seconds(
    'Time for which the old token stays valid for viewing, in whole seconds: 0 to 604800. Default: 0.',
    { maximum: limits.gracePeriodSeconds, example: 3600 },
  ),
})
export type TokenRotation = Static<typeof TokenRotation>

export const SessionsToEnd = object({ viewer_id: viewerToEnd })
export type SessionsToEnd = Static<typeof SessionsToEnd>

export const ViewAsResponse = response({
  url: Type.String({
    description: 'Shows dashboards as the user group. Open it once; do not pass it on.',
    examples: ['https://app.example.com/dashboards#session=…'],
  }),
  expires_at: time('End of the session'),
})

export const UserGroupVersion = object(
  {
    revision: Type.Integer({ description: 'The last revision with this state.', minimum: 1, examples: [3] }),
    ...content,
    updated_at,
    updated_by: author,
  },
  'An earlier state of a user group, before a change of its name, mapping or properties.',
)

export const VersionListResponse = response({ versions: Type.Array(UserGroupVersion) })

export const VersionQuery = object({
  to: Type.Optional(
    Type.String({
      description: 'Revision of another version. Default is the current state.',
      pattern: wholeNumber,
    }),
  ),
})

export const DiffResponse = response({ differences })

export const UserGroupViewResponse = response(
  {
    user_group: AdminUserGroup,
    variables: object(
      { provided_id: identity.provided_id, name: identity.name, properties },
      'The variables `user_group.…` of dashboards and SQL, as the renderer gets them.',
    ),
    data_sources: Type.Array(
      object({
        schema: Type.String({ description: 'The key of the mapping entry.', examples: ['40'] }),
        data_source: Type.String({ description: 'The value of the mapping entry.', examples: ['213'] }),
        has_schema: Type.Boolean({ description: 'True if the key names a registered schema.' }),
        registered: orNull(
          DataSource,
          'The data source that the entry names. Null if it is not registered: dashboards that use it are empty.',
        ),
      }),
      { description: 'One entry for each mapping entry.' },
    ),
    token: object({
      active: Type.Boolean({ description: 'True if the current token is active for the renderer.' }),
      issued_at: time('Time at which it was issued'),
      grace_periods: Type.Array(
        object({
          superseded_at: time('Time of the rotation'),
          valid_until: time('Time at which the old token stops'),
        }),
        { description: 'Running grace periods of old tokens, the last to end first, at most 100.' },
      ),
    }),
    last_introspected_at: lastIntrospectedAt,
    versions: Type.Array(UserGroupVersion, {
      description: 'The ten most recent versions, the newest first.',
    }),
  },
  'Diagnosis of one user group: variables, data sources, token and recent versions.',
)

export const DeletedUserGroup = object(
  {
    team_id: teamId,
    provided_id: identity.provided_id,
    name: identity.name,
    deleted_at: time('Time of the deletion'),
    deleted_by: author,
  },
  'A user group that was deleted within the last 30 days.',
)

export const DeletedUserGroupListResponse = page({
  user_groups: Type.Array(DeletedUserGroup),
})

export const UserGroupErasureResponse = response({
  team_id: teamId,
  erased: object(
    {
      versions: count('Number of earlier versions.', 3),
      usage_rows: count('Number of rows of usage: one for each month, viewer and dashboard.', 40),
      audit_events: count('Number of audit events that lost the id and the details.', 12),
    },
    'What was erased, besides the user group itself.',
  ),
  retained: Type.Array(
    object({
      place: textEnum(
        retained.map(({ place }) => place),
        { description: 'Place that still has the id.' },
      ),
      message: Type.String({ description: 'What it has, and until when.', examples: [retained[0].message] }),
    }),
    { description: 'What retention still holds.' },
  ),
})
