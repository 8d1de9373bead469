import { Type, type Static } from 'typebox'
import { defaultOverlapMs, maxOverlapMs, scopes } from '../../domain/api-token/api-token.ts'
import { auditActions } from '../../domain/audit/audit-event.ts'
import { author, id, nextCursor, revision, time, timeOrNull } from './admin-fields.ts'
import { limits } from '../limits.ts'
import {
  response,
  environmentTag,
  identity,
  Mapping,
  name,
  Properties,
  properties,
  success,
  text,
  tokenExample,
  withoutNul,
} from '../user/schemas.ts'

// What goes over the wire of `/admin/v1`.

export { ExportRow, ImportLine, ImportRow } from '../import/import-schemas.ts'

const mapping = Type.Unsafe<Record<string, string> | null>({
  type: ['object', 'null'],
  description: 'Schema to data source, as it was sent; null where there is none.',
  additionalProperties: { type: 'string' },
  examples: [{ '40': '213' }],
})
const content = { name: identity.name, mapping, properties }

export const ManagedUserGroup = response({
  team_id: identity.team_id,
  provided_id: identity.provided_id,
  api_environment_tag: environmentTag,
  ...content,
  revision,
  created_at: time('When it was created'),
  updated_at: time('When name, mapping or properties were set last'),
  updated_by: author,
  token_issued_at: time('When its token was made'),
  suspended_at: timeOrNull('Since when its token is inactive for the renderer'),
})

const userGroup = Type.Ref('#/components/schemas/ManagedUserGroup')

export const UserGroupListResponse = response({
  success,
  user_groups: Type.Array(userGroup),
  next_cursor: nextCursor,
})

export const UserGroupResponse = response({ success, user_group: userGroup })

export const UserGroupPatch = Type.Object(
  { name: Type.Optional(name), mapping: Type.Optional(Mapping), properties: Type.Optional(Properties) },
  { additionalProperties: false },
)
export type UserGroupPatch = Static<typeof UserGroupPatch>

export const TokenResponse = response({ success, token: identity.token })

export const RotateBody = Type.Object(
  {
    grace_period_seconds: Type.Optional(
      Type.Integer({
        description: 'For how long the old token stays valid for viewing.',
        minimum: 0,
        maximum: limits.gracePeriodSeconds,
        default: 0,
        examples: [3600],
      }),
    ),
  },
  { additionalProperties: false },
)
export type RotateBody = Static<typeof RotateBody>

export const DeletedResponse = response({ success, deleted: Type.Literal(true) })

const dataSource = response({
  id: id('Its id.'),
  provided_id: Type.String({ examples: ['warehouse-eu'] }),
  name: Type.String({ examples: ['Warehouse EU'] }),
})

const Version = response({
  revision: Type.Integer({
    description: 'The last revision at which the user group was so.',
    minimum: 1,
    examples: [3],
  }),
  ...content,
  updated_at: time('When it was made so'),
  updated_by: author,
})

export const VersionListResponse = response({ success, versions: Type.Array(Version) })

const differences = Type.Array(
  response({
    path: Type.String({ description: 'A JSON Pointer (RFC 6901).', examples: ['/properties/plan'] }),
    before: Type.Optional(
      Type.Unknown({ description: 'Left out where there was nothing.', examples: ['gold'] }),
    ),
    after: Type.Optional(
      Type.Unknown({ description: 'Left out where there is nothing.', examples: ['silver'] }),
    ),
  }),
)

export const DiffResponse = response({
  success,
  differences,
})

export const ViewResponse = response({
  success,
  user_group: userGroup,
  variables: Type.Object(
    { provided_id: identity.provided_id, name: identity.name, properties },
    {
      additionalProperties: false,
      description: 'What dashboards and SQL have as `user_group.…`, as the renderer gets it.',
    },
  ),
  data_sources: Type.Array(
    response({
      schema: Type.String({ description: 'The key of the mapping.', examples: ['40'] }),
      data_source: Type.String({ description: 'Its value.', examples: ['213'] }),
      has_schema: Type.Boolean({ description: 'Whether the key names a registered schema.' }),
      registered: Type.Union([dataSource, Type.Null()], {
        description: 'The data source that the entry names; null where it names none that is registered.',
      }),
    }),
  ),
  token: response({
    active: Type.Boolean({ description: 'Whether the renderer takes the current token.' }),
    issued_at: time('When it was made'),
  }),
  last_introspected_at: timeOrNull('When a renderer last asked about it, to the minute'),
  versions: Type.Array(Version, { description: 'What it was before its last changes, the newest first.' }),
})

export const DeletedUserGroupListResponse = response({
  success,
  user_groups: Type.Array(
    response({
      team_id: identity.team_id,
      provided_id: identity.provided_id,
      name: identity.name,
      deleted_at: time('When it was deleted'),
      deleted_by: author,
    }),
  ),
  next_cursor: nextCursor,
})

export const IsolationResponse = response({
  success,
  findings: Type.Array(
    response({
      kind: Type.Enum(['shared', 'unresolved'], {
        description:
          '`shared`: several user groups see the same data. `unresolved`: their mappings name nothing that is registered.',
      }),
      schema: Type.String({ examples: ['40'] }),
      data_source: Type.String({ examples: ['213'] }),
      registered: Type.Union([dataSource, Type.Null()]),
      user_groups: Type.Array(
        response({
          team_id: identity.team_id,
          provided_id: identity.provided_id,
          name: identity.name,
        }),
        { description: 'The first ten of them.' },
      ),
    }),
  ),
  next_cursor: nextCursor,
})

export const PromotionBody = Type.Object(
  {
    user_group_ids: Type.Array(
      Type.String({ minLength: 1, maxLength: limits.textLength, pattern: withoutNul }),
      {
        description: 'The ids of the user groups to promote.',
        minItems: 1,
        maxItems: 200,
        uniqueItems: true,
        examples: [['customer-42']],
      },
    ),
    dry_run: Type.Optional(
      Type.Boolean({ description: 'Changes nothing.', default: false, examples: [true] }),
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
      outcome: Type.Enum(['created', 'updated', 'unchanged', 'not_found', 'refused'], {
        description: 'What became of it, or in a dry run would.',
      }),
      differences,
      team_id: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'Of the user group in `Customer`; null where there is none, or none yet.',
        examples: [7],
      }),
      message: Type.Unsafe<string | null>({
        type: ['string', 'null'],
        description: 'Why it was refused.',
        examples: [null],
      }),
    }),
  ),
})

export const LeakedTokenBody = Type.Object(
  {
    token: Type.String({
      description: 'A user group token or an API token.',
      minLength: 1,
      maxLength: limits.textLength,
      examples: [tokenExample],
    }),
    rotate: Type.Optional(
      Type.Boolean({
        description:
          'Has it stop at once: the user group gets another token, or where this one was replaced before, its grace period ends; an API token is revoked.',
        default: false,
      }),
    ),
  },
  { additionalProperties: false },
)
export type LeakedTokenBody = Static<typeof LeakedTokenBody>

export const ApiToken = response({
  id: id('Its id.'),
  name: Type.String({ examples: ['backend'] }),
  api_environment_tag: environmentTag,
  scopes: Type.Array(Type.Enum([...scopes]), { examples: [['write']] }),
  created_at: time('When it was made'),
  expires_at: timeOrNull('When it stops'),
  revoked_at: timeOrNull('When it was revoked'),
  last_used_at: timeOrNull('When it was last used, to the minute'),
  replaced_by: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'The id of the API token that took its place; null where none did.',
    examples: [null],
  }),
  rate_limit: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description:
      'How many calls it may make: a second, and after the colon at once. Null where that is what the service is set to.',
    examples: ['500:2000'],
  }),
})

export const LeakedTokenResponse = response({
  success,
  kind: Type.Enum(['user_group_token', 'api_token', 'unknown'], {
    description: '`unknown`: no token of this workspace and environment.',
  }),
  works: Type.Boolean({ description: 'Whether it worked when it was asked about.' }),
  user_group: Type.Optional(userGroup),
  valid_until: Type.Optional(timeOrNull('Until when it is valid, or was, where it was replaced')),
  rotated: Type.Optional(Type.Boolean({ description: 'Whether this call made a new user group token.' })),
  api_token: Type.Optional(Type.Ref('#/components/schemas/ApiToken')),
})

export const ApiTokenBody = Type.Object(
  {
    name: text('What it is for.', 'backend'),
    scopes: Type.Array(Type.Enum([...scopes]), {
      description: 'What it may do.',
      minItems: 1,
      maxItems: scopes.length,
      uniqueItems: true,
      examples: [['write']],
    }),
    expires_in_seconds: Type.Optional(
      Type.Integer({
        description: 'For how long it is valid; for good where it is left out.',
        minimum: 1,
        maximum: 315_360_000,
        examples: [7_776_000],
      }),
    ),
  },
  { additionalProperties: false },
)
export type ApiTokenBody = Static<typeof ApiTokenBody>

export const ApiTokenListResponse = response({
  success,
  api_tokens: Type.Array(Type.Ref('#/components/schemas/ApiToken')),
})

export const ApiTokenRotationBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        description: 'For how long the old one works on: 0 to 2592000, 30 days.',
        minimum: 0,
        maximum: maxOverlapMs / 1000,
        default: defaultOverlapMs / 1000,
        examples: [86_400],
      }),
    ),
  },
  { additionalProperties: false },
)
export type ApiTokenRotationBody = Static<typeof ApiTokenRotationBody>

export const NewApiTokenResponse = response({
  success,
  api_token: Type.Ref('#/components/schemas/ApiToken'),
  token: Type.String({ description: 'Is shown this once.', examples: ['uga_customer_…'] }),
})

export const ApiTokenRotationResponse = response({
  success,
  api_token: Type.Ref('#/components/schemas/ApiToken'),
  token: Type.String({ description: 'Is shown this once.', examples: ['uga_customer_…'] }),
  replaces: Type.Ref('#/components/schemas/ApiToken'),
})

export const ApiTokenResponse = response({ success, api_token: Type.Ref('#/components/schemas/ApiToken') })

const Workspace = response({
  id: id('Its id.'),
  name: Type.String({ examples: ['default'] }),
  created_at: time('When it was made'),
})

export const WorkspaceListResponse = response({ success, workspaces: Type.Array(Workspace) })

export const WorkspaceBody = Type.Object(
  { name: text('Its name.', 'second-product') },
  { additionalProperties: false },
)
export type WorkspaceBody = Static<typeof WorkspaceBody>

export const NewWorkspaceResponse = response({
  success,
  workspace: Workspace,
  api_token: Type.Ref('#/components/schemas/ApiToken'),
  token: Type.String({
    description: 'An API token with the scope `admin` in the new workspace; it is shown this once.',
    examples: ['uga_customer_…'],
  }),
})

const registered = {
  id: id('Its id.'),
  provided_id: Type.String({ description: 'Your id of it.', examples: ['sales'] }),
  name: Type.String({ examples: ['Sales'] }),
  created_at: time('When it was registered'),
}
const Schema = response(registered)
const DataSource = response({ ...registered, schema_id: id('The schema that it is for.') })
const newRegistered = {
  provided_id: text('Your id of it.', 'sales'),
  name: text('Its name.', 'Sales'),
}

export const SchemaBody = Type.Object(newRegistered, { additionalProperties: false })
export type SchemaBody = Static<typeof SchemaBody>
export const SchemaListResponse = response({ success, schemas: Type.Array(Schema) })
export const SchemaResponse = response({ success, schema: Schema })

export const DataSourceBody = Type.Object(
  {
    schema_id: Type.Integer({ ...id('The schema that it is for.'), maximum: 999_999_999_999_999 }),
    ...newRegistered,
  },
  { additionalProperties: false },
)
export type DataSourceBody = Static<typeof DataSourceBody>
export const DataSourceListResponse = response({
  success,
  data_sources: Type.Array(DataSource),
  next_cursor: nextCursor,
})
export const DataSourceResponse = response({ success, data_source: DataSource })

const AuditEvent = response({
  event_id: Type.String({
    description: 'A UUID of version 7: ids are in the order of time.',
    pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$',
    examples: ['019ab1c2-5f28-7000-9b1d-2f6a1c0e7d45'],
  }),
  occurred_at: time('When it was changed'),
  action: Type.Enum([...auditActions], { description: 'What was changed, and how.' }),
  author: Type.String({
    description: '`api_token:` and the id of the API token, or `cli:` and the name of the operator.',
    examples: ['api_token:3'],
  }),
  request_id: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description: 'The `X-Request-Id` of the answer; null where there was no request.',
    examples: ['k3Jf81Qz-2s'],
  }),
  user_group: Type.Unsafe<{ team_id: number; provided_id: string } | null>({
    type: ['object', 'null'],
    description: 'The user group that was changed; null where it was none.',
    properties: { team_id: id('Its id.'), provided_id: identity.provided_id },
    required: ['team_id', 'provided_id'],
    additionalProperties: false,
  }),
  details: Type.Unsafe<Record<string, unknown> | null>({
    type: ['object', 'null'],
    description:
      'By the action: `changed_fields`, `grace_period_seconds`, the id of an API token, a schema or a data source, and the like. Never a secret.',
    examples: [{ changed_fields: ['mapping'] }],
  }),
})
export const AuditEventListResponse = response({
  success,
  audit_events: Type.Array(AuditEvent),
  next_cursor: nextCursor,
})
