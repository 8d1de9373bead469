import { Type, type Static } from 'typebox'
import { object, response, seconds, textEnum } from '../../../contract/schema.ts'
import { environmentTag, text } from '../../../contract/user/schemas.ts'
import { defaultOverlapMs, maxOverlapMs, scopes } from '../../../domain/api-token/api-token.ts'
import { id, numberOrNull, textOrNull, time, timeOrNull } from '../fields.ts'

export const Scope = textEnum(scopes, { description: 'A permission of an API token.' })

export const ApiToken = object(
  {
    id: id('Id of the API token.'),
    name: Type.String({ examples: ['backend'] }),
    api_environment_tag: environmentTag,
    scopes: Type.Array(Scope, { examples: [['write']] }),
    created_at: time('Time of creation'),
    expires_at: timeOrNull('Time of expiry', 'it never expires'),
    revoked_at: timeOrNull('Time of revocation', 'it is not revoked'),
    last_used_at: timeOrNull('Time of the last use, rounded down to the minute', 'it was never used'),
    replaced_by: numberOrNull('Id of the API token that replaced this one. Null if none did.', null),
    rate_limit: textOrNull(
      'Requests per second and burst, for example `500:2000`. Null if the limit of the service applies.',
      '500:2000',
    ),
  },
  'An API token without its secret, which is shown only once.',
)
const token = Type.String({
  description: 'The API token. It is shown only once, so store it.',
  examples: ['uga_customer_…'],
})

export const ApiTokenFields = object({
  name: text('Purpose of the API token: 1 to 255 characters, need not be unique.', 'backend'),
  scopes: Type.Array(Scope, {
    description: 'At least one scope.',
    minItems: 1,
    maxItems: scopes.length,
    uniqueItems: true,
    examples: [['write']],
  }),
  expires_in_seconds: seconds('Lifetime in seconds: 1 to 315360000, ten years. Default: it never expires.', {
    minimum: 1,
    maximum: 315_360_000,
    example: 7_776_000,
  }),
})
export type ApiTokenFields = Static<typeof ApiTokenFields>

export const ApiTokenListResponse = response({ api_tokens: Type.Array(ApiToken) })

export const ApiTokenRotation = object({
  overlap_seconds: seconds(
    `Time for which the old API token keeps working, in whole seconds: 0 to 2592000, 30 days. Default: ${defaultOverlapMs / 1000}, a day.`,
    { maximum: maxOverlapMs / 1000, example: 86_400 },
  ),
})
export type ApiTokenRotation = Static<typeof ApiTokenRotation>

export const NewApiTokenResponse = response({ api_token: ApiToken, token })

export const RotatedApiTokenResponse = response({ api_token: ApiToken, token, replaces: ApiToken })

export const ApiTokenResponse = response({ api_token: ApiToken })
