import { Type, type Static } from 'typebox'
import { environments } from '../../domain/environment.ts'
import { limits } from '../limits.ts'
import { visible, withoutControlCharacters, withoutNul } from '../patterns.ts'
import { object, response, seconds, textEnum } from '../schema.ts'

// Schemas of the wire format. They validate requests, provide the types, and are part of the OpenAPI document.

export const text = (description: string, example: string) =>
  Type.String({
    description: `${description} At least one character must be visible.`,
    minLength: 1,
    maxLength: limits.textLength,
    pattern: withoutControlCharacters,
    format: visible,
    examples: [example],
  })

const mappingText = { minLength: 1, maxLength: limits.textLength, pattern: withoutNul }

export const userGroupId = text(
  'Your own id of this user group. Unique within a workspace and an environment; compared exactly.',
  'customer-42',
)
export const name = text('Name of the user group. Unchanged if omitted.', 'Example customer')

export const Mapping = Type.Unsafe<Record<string, string> | null>({
  type: ['object', 'null'],
  description:
    'Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; null or {} clears it; unchanged if omitted.',
  maxProperties: limits.mappingEntries,
  propertyNames: mappingText,
  additionalProperties: Type.String(mappingText),
  examples: [{ '40': '213' }],
})

const propertiesExample = { region: 'EU', plan: 'gold' }

export const Properties = Type.Unsafe<Record<string, unknown> | null>({
  type: ['object', 'null'],
  description:
    'Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels deep, without U+0000. Replaced as a whole; null clears it; unchanged if omitted.',
  additionalProperties: true,
  examples: [propertiesExample],
})

export const UserGroupBody = object({
  user_group_id: userGroupId,
  name: Type.Optional(name),
  mapping: Type.Optional(Mapping),
  properties: Type.Optional(Properties),
})
export type UserGroupBody = Static<typeof UserGroupBody>

/** Has a wrong checksum, so that secret scanners do not report it. */
export const tokenExample = 'ugt_customer_7Fb7YEfVMHyEMPMxMFSy6vBoWokC2MjuGpkteoedYYY51LaXwY'

export const RotationBody = object({
  current_token: Type.String({
    description: 'The current token of the user group.',
    examples: [tokenExample],
  }),
  grace_period_seconds: seconds(
    'Time for which the old token stays valid for viewing, in seconds. It cannot be rotated again. Default: 0.',
    { maximum: limits.gracePeriodSeconds, example: 3600 },
  ),
})
export type RotationBody = Static<typeof RotationBody>

const newUserGroup = (description: string, example: boolean) =>
  Type.Boolean({ description, examples: [example] })

export const identity = {
  team_id: Type.Integer({
    description: 'Internal id of the user group. You do not need to store it.',
    minimum: 1,
    examples: [1],
  }),
  token: Type.String({
    description: 'The user group token. Store it and use it to render embedded dashboards.',
    pattern: '^ugt_(customer|testing)_([0-9A-Za-z]{38}|[0-9A-Za-z]{50})$',
    examples: [tokenExample],
  }),
  name: Type.String({ description: 'Name of the user group.', examples: ['Example customer'] }),
  provided_id: Type.String({ description: 'The user_group_id that was sent.', examples: ['customer-42'] }),
}

export const properties = Type.Unsafe<Record<string, unknown> | null>({
  type: ['object', 'null'],
  description: 'The properties as sent; null if there are none.',
  additionalProperties: true,
  examples: [propertiesExample],
})

export const environmentTag = textEnum(environments, {
  description: 'The environment of the user group, which is that of the API token that created it.',
  examples: ['Customer'],
})

export const GetOrCreateResponse = response({
  new_user_group: newUserGroup('True if this request created the user group.', true),
  user_group: object({ ...identity, properties }),
})

export const UpdateResponse = response({
  new_user_group: newUserGroup('Always false: this operation never creates.', false),
  user_group: object({ ...identity, properties, api_environment_tag: environmentTag }),
})

export const RotationResponse = response({
  user_group: object({ ...identity, api_environment_tag: environmentTag }),
})

/** RFC 7662, section 2.1, as form fields. */
export const IntrospectionBody = Type.Object({
  token: Type.String({
    description: 'The token that a dashboard was opened with: a viewer session or a user group token.',
    examples: [tokenExample],
  }),
  resource: Type.Optional(
    Type.String({
      description: 'The dashboard that is opened. A session for others is inactive.',
      examples: ['sales-overview'],
    }),
  ),
  token_type_hint: Type.Optional(Type.String({ description: 'Ignored.', examples: ['user_group'] })),
  client_id: Type.Optional(Type.String({ description: 'Ignored.', examples: ['renderer'] })),
  client_secret: Type.Optional(
    Type.String({ description: 'The API token, if the request has no Authorization header.' }),
  ),
})

const epochSeconds = (description: string, example: number) =>
  Type.Integer({ description: `${description}, in seconds since the Unix epoch.`, examples: [example] })

const RegisteredDataSource = object({
  id: Type.Integer({ minimum: 1 }),
  provided_id: Type.String(),
  name: Type.String(),
  schema: object({ id: Type.Integer({ minimum: 1 }), provided_id: Type.String() }),
})

const issuedTo = {
  sub: Type.String({ description: 'The user_group_id.', examples: ['customer-42'] }),
  iat: epochSeconds('Time when the token was issued', 1_790_000_000),
}

const shownUserGroup = {
  team_id: identity.team_id,
  name: identity.name,
  api_environment_tag: environmentTag,
  mapping: Mapping,
  // Not Type.Record: OpenAPI generators do not know patternProperties.
  data_sources: Type.Unsafe<Record<string, Static<typeof RegisteredDataSource>>>({
    type: 'object',
    description:
      'The registered data sources by mapping key, each with its schema, because a key may be the id or the provided id of a schema. Entries that name no registered schema and data source are missing.',
    additionalProperties: RegisteredDataSource,
    examples: [
      {
        '40': {
          id: 213,
          provided_id: 'warehouse-eu',
          name: 'Warehouse EU',
          schema: { id: 12, provided_id: '40' },
        },
      },
    ],
  }),
  properties,
}

/** RFC 7662, section 2.2. */
export const IntrospectionResponse = Type.Union([
  object({
    active: Type.Literal(true),
    token_type: Type.Literal('user_group'),
    ...issuedTo,
    exp: Type.Optional(epochSeconds('End of the grace period; only for a superseded token', 1_790_000_600)),
    ...shownUserGroup,
  }),
  object({
    active: Type.Literal(true),
    token_type: Type.Literal('viewer_session'),
    ...issuedTo,
    exp: epochSeconds('End of the session', 1_790_000_900),
    jti: Type.String({ description: 'The id of the session.', examples: ['4kTq9cZ1Xw2b'] }),
    ...shownUserGroup,
    viewer: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'The viewer with its id, as the session was created for.',
      additionalProperties: true,
      examples: [{ id: 'u-7', name: 'Ada' }],
    }),
    resources: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'The dashboards that the session is for. The renderer must refuse others. Absent for all.',
        examples: [['sales-overview']],
      }),
    ),
  }),
  object({
    active: Type.Literal(false, { description: 'The token is not valid for viewing, for any reason.' }),
  }),
])
