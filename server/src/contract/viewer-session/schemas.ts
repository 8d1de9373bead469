import { Type, type Static } from 'typebox'
import { object, response, seconds } from '../schema.ts'
import { text, userGroupId } from '../user/schemas.ts'
import { limits } from '../limits.ts'
import { withoutNul } from '../patterns.ts'

/** Has no valid signature. */
const sessionExample =
  'eyJhbGciOiJFUzI1NiIsInR5cCI6InVncy1zZXNzaW9uK2p3dCIsImtpZCI6IjFjLTdmM2EyYjlkIn0.eyJzdWIiOiJjdXN0b21lci00MiJ9.c2lnbmF0dXJl'

export const viewerExample = {
  id: 'u-7',
  name: 'Ada',
  properties: { role: 'manager' },
  time_zone: 'Europe/Berlin',
  locale: 'de-DE',
}

const Viewer = object(
  {
    id: text('Your own id of the person who looks. Compared exactly.', 'u-7'),
    name: Type.Optional(text('Name of the viewer.', 'Ada')),
    properties: Type.Optional(
      Type.Unsafe<Record<string, unknown>>({
        type: 'object',
        description:
          'Available as variables. At most 2 KiB as compact JSON in UTF-8 and 8 levels deep, without U+0000.',
        additionalProperties: true,
        examples: [viewerExample.properties],
      }),
    ),
    time_zone: Type.Optional(
      Type.String({ description: 'A name of the IANA time zone database.', examples: ['Europe/Berlin'] }),
    ),
    locale: Type.Optional(Type.String({ description: 'A language tag (BCP 47).', examples: ['de-DE'] })),
  },
  'The person who looks.',
)

const key = Type.String({ minLength: 1, maxLength: limits.textLength, pattern: withoutNul })

const Narrow = object(
  {
    properties: Type.Optional(
      Type.Unsafe<Record<string, unknown[]>>({
        type: 'object',
        description:
          'The values that stay of properties which are lists of texts, numbers, booleans or nulls, or one of those. Each must be a value of the property now. A value that the property has lost by the time of an introspection is missing there.',
        additionalProperties: { type: 'array', items: { type: ['string', 'number', 'boolean', 'null'] } },
        examples: [{ regions: ['EU'] }],
      }),
    ),
    schemas: Type.Optional(
      Type.Array(key, {
        description: 'The keys of the mapping that stay.',
        maxItems: limits.mappingEntries,
        examples: [['sales']],
      }),
    ),
  },
  'What the session leaves of the user group. All of it by default.',
)

export const CreateSessionBody = object({
  user_group_id: userGroupId,
  viewer: Viewer,
  narrow: Type.Optional(Narrow),
  resources: Type.Optional(
    Type.Array(key, {
      description: 'The dashboards that the session is for, by your own names. Default: all.',
      minItems: 1,
      maxItems: 100,
      examples: [['sales-overview']],
    }),
  ),
  expires_in_seconds: seconds('Lifetime in seconds. At most 3600 with `include` or `claims`. Default: 900.', {
    minimum: 60,
    maximum: 86_400,
    example: 900,
  }),
  audience: Type.Optional(
    Type.String({
      description: 'The engine that verifies the token itself, as its claim `aud`.',
      minLength: 1,
      maxLength: limits.textLength,
      examples: ['cube'],
    }),
  ),
  include: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: limits.textLength }), {
      description:
        'What the token itself carries of the user group, for engines that verify it themselves: `name`, or `properties.` and the name of a property.',
      maxItems: 100,
      examples: [['name', 'properties.regions']],
    }),
  ),
  claims: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'Other claims of the token, for engines that verify it themselves. At most 2 KiB.',
      additionalProperties: true,
      examples: [{ role: 'dashboard' }],
    }),
  ),
})
export type CreateSessionBody = Static<typeof CreateSessionBody>

const sessionId = Type.String({
  description: 'The id of the session, the claim `jti`.',
  examples: ['4kTq9cZ1Xw2b'],
})

export const CreateSessionResponse = response({
  session: object({
    token: Type.String({
      description:
        'The token of the session, a JSON Web Token. Give it to the page that shows the dashboard.',
      examples: [sessionExample],
    }),
    session_id: sessionId,
    expires_at: Type.String({ format: 'date-time', examples: ['2026-11-28T10:15:00Z'] }),
    expires_in_seconds: Type.Integer({ examples: [900] }),
  }),
})

export const viewerToEnd = Type.Optional(text('The viewer whose sessions end. Default: all viewers.', 'u-7'))

export const EndSessionsBody = object({ user_group_id: userGroupId, viewer_id: viewerToEnd })
export type EndSessionsBody = Static<typeof EndSessionsBody>

export const EndSessionsResponse = response({})
