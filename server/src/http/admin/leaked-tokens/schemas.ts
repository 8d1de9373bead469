import { Type, type Static } from 'typebox'
import { limits } from '../../../contract/limits.ts'
import { response, success, tokenExample } from '../../../contract/user/schemas.ts'
import { timeOrNull } from '../fields.ts'
import { textEnum } from '../../../contract/text-enum.ts'

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
          'If true, stops the token at once: rotates a current user group token, ends the grace period of a superseded one, or revokes an API token. Default: false.',
      }),
    ),
  },
  { additionalProperties: false },
)
export type LeakedTokenBody = Static<typeof LeakedTokenBody>

export const LeakedTokenResponse = response({
  success,
  kind: textEnum(['user_group_token', 'api_token', 'unknown'], {
    description: '`unknown`: not a token of this workspace and environment.',
  }),
  works: Type.Boolean({ description: 'Whether the token was valid when the request arrived.' }),
  user_group: Type.Optional(Type.Ref('#/components/schemas/ManagedUserGroup')),
  valid_until: Type.Optional(timeOrNull('End of the grace period of a superseded token')),
  rotated: Type.Optional(
    Type.Boolean({ description: 'Whether this request issued a new user group token.' }),
  ),
  api_token: Type.Optional(Type.Ref('#/components/schemas/ApiToken')),
})
