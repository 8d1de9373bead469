import { Type, type Static } from 'typebox'
import { limits } from '../../../contract/limits.ts'
import {
  environmentTag,
  identity,
  Mapping,
  name,
  Properties,
  properties,
  response,
  success,
  userGroupId,
} from '../../../contract/user/schemas.ts'
import { author, dataSource, differences, nextCursor, revision, time, timeOrNull } from '../fields.ts'

const mapping = Type.Unsafe<Record<string, string> | null>({
  type: ['object', 'null'],
  description: 'Schema keys and data source keys, as they were sent; null if there are none.',
  additionalProperties: { type: 'string' },
  examples: [{ '40': '213' }],
})
const content = { name: identity.name, mapping, properties }

const managed = {
  team_id: identity.team_id,
  provided_id: identity.provided_id,
  api_environment_tag: environmentTag,
  ...content,
  revision,
  created_at: time('Time of creation'),
  updated_at: time('Time of the last change of name, mapping or properties'),
  updated_by: author,
  token_issued_at: time('Time at which its token was issued'),
  suspended_at: timeOrNull('Time since which its token is inactive for the renderer'),
}

export const ManagedUserGroup = response(managed)

export const ListedUserGroup = response({
  ...managed,
  health: response({
    mapping_entries: Type.Integer({ description: 'Number of mapping entries.', minimum: 0, examples: [2] }),
    unresolved_entries: Type.Integer({
      description:
        'Number of mapping entries that name no registered data source; 0 if no schema is registered.',
      minimum: 0,
      examples: [1],
    }),
    last_introspected_at: timeOrNull('Time of the last introspection, to the minute'),
  }),
})

const userGroup = Type.Ref('#/components/schemas/ManagedUserGroup')

export const UserGroupListResponse = response({
  success,
  user_groups: Type.Array(Type.Ref('#/components/schemas/ListedUserGroup')),
  next_cursor: nextCursor,
})

export const UserGroupResponse = response({ success, user_group: userGroup })

export const UserGroupPatch = Type.Object(
  { name: Type.Optional(name), mapping: Type.Optional(Mapping), properties: Type.Optional(Properties) },
  { additionalProperties: false },
)

export const NewUserGroup = Type.Object(
  {
    user_group_id: userGroupId,
    name,
    mapping: Type.Optional(Mapping),
    properties: Type.Optional(Properties),
  },
  { additionalProperties: false },
)
export type NewUserGroup = Static<typeof NewUserGroup>

export const TokenResponse = response({ success, token: identity.token })

export const RotateBody = Type.Object(
  {
    grace_period_seconds: Type.Optional(
      Type.Integer({
        description: 'Number of seconds for which the old token stays valid for viewing. Default: 0.',
        minimum: 0,
        maximum: limits.gracePeriodSeconds,
        examples: [3600],
      }),
    ),
  },
  { additionalProperties: false },
)
export type RotateBody = Static<typeof RotateBody>

const Version = response({
  revision: Type.Integer({
    description: 'The last revision at which the user group had this state.',
    minimum: 1,
    examples: [3],
  }),
  ...content,
  updated_at: time('Time of the change that led to this state'),
  updated_by: author,
})

export const VersionListResponse = response({ success, versions: Type.Array(Version) })

export const DiffResponse = response({ success, differences })

export const ViewResponse = response({
  success,
  user_group: userGroup,
  variables: Type.Object(
    { provided_id: identity.provided_id, name: identity.name, properties },
    {
      additionalProperties: false,
      description: 'The variables `user_group.…` of dashboards and SQL, as the renderer gets them.',
    },
  ),
  data_sources: Type.Array(
    response({
      schema: Type.String({ description: 'Key of the mapping entry.', examples: ['40'] }),
      data_source: Type.String({ description: 'Value of the mapping entry.', examples: ['213'] }),
      has_schema: Type.Boolean({ description: 'Whether the key names a registered schema.' }),
      registered: Type.Union([dataSource, Type.Null()], {
        description: 'The registered data source that the entry names; null if there is none.',
      }),
    }),
  ),
  token: response({
    active: Type.Boolean({ description: 'Whether the renderer accepts the current token.' }),
    issued_at: time('Time at which it was issued'),
  }),
  last_introspected_at: timeOrNull('Time of the last introspection, to the minute'),
  versions: Type.Array(Version, { description: 'Earlier states, the newest first.' }),
})

export const DeletedUserGroupListResponse = response({
  success,
  user_groups: Type.Array(
    response({
      team_id: identity.team_id,
      provided_id: identity.provided_id,
      name: identity.name,
      deleted_at: time('Time of the deletion'),
      deleted_by: author,
    }),
  ),
  next_cursor: nextCursor,
})
