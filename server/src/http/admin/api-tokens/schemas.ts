import { Type, type Static } from 'typebox'
import { environmentTag, response, success, text } from '../../../contract/user/schemas.ts'
import { defaultOverlapMs, maxOverlapMs, scopes } from '../../../domain/api-token/api-token.ts'
import { id, time, timeOrNull } from '../fields.ts'
import { textEnum } from '../../../contract/text-enum.ts'

export const ApiToken = response({
  id: id('Id of the API token.'),
  name: Type.String({ examples: ['backend'] }),
  api_environment_tag: environmentTag,
  scopes: Type.Array(textEnum(scopes), { examples: [['write']] }),
  created_at: time('Time of creation'),
  expires_at: timeOrNull('Time of expiry'),
  revoked_at: timeOrNull('Time of revocation'),
  last_used_at: timeOrNull('Time of the last use, to the minute'),
  replaced_by: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Id of the API token that a rotation replaced it with, or null.',
    examples: [null],
  }),
  rate_limit: Type.Unsafe<string | null>({
    type: ['string', 'null'],
    description:
      'Own rate limit: requests per second, a colon, and the burst. Null if the default of the service applies.',
    examples: ['500:2000'],
  }),
})
const apiToken = Type.Ref('#/components/schemas/ApiToken')
const token = Type.String({ description: 'Shown only once.', examples: ['uga_customer_…'] })

export const ApiTokenBody = Type.Object(
  {
    name: text('Name that describes its purpose.', 'backend'),
    scopes: Type.Array(textEnum(scopes), {
      description: 'Permissions.',
      minItems: 1,
      maxItems: scopes.length,
      uniqueItems: true,
      examples: [['write']],
    }),
    expires_in_seconds: Type.Optional(
      Type.Integer({
        description: 'Lifetime in seconds. If absent, the API token never expires.',
        minimum: 1,
        maximum: 315_360_000,
        examples: [7_776_000],
      }),
    ),
  },
  { additionalProperties: false },
)
export type ApiTokenBody = Static<typeof ApiTokenBody>

export const ApiTokenListResponse = response({ success, api_tokens: Type.Array(apiToken) })

export const ApiTokenRotationBody = Type.Object(
  {
    overlap_seconds: Type.Optional(
      Type.Integer({
        description: `Number of seconds for which the old API token keeps working: 0 to 2592000 (30 days). Default: ${defaultOverlapMs / 1000}.`,
        minimum: 0,
        maximum: maxOverlapMs / 1000,
        examples: [86_400],
      }),
    ),
  },
  { additionalProperties: false },
)
export type ApiTokenRotationBody = Static<typeof ApiTokenRotationBody>

export const NewApiTokenResponse = response({ success, api_token: apiToken, token })

export const ApiTokenRotationResponse = response({ success, api_token: apiToken, token, replaces: apiToken })

export const ApiTokenResponse = response({ success, api_token: apiToken })
