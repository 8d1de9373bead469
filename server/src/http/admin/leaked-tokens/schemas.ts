import { Type, type Static } from 'typebox'
import { object, response } from '../../../contract/schema.ts'
import { tokenExample } from '../../../contract/user/schemas.ts'
import { ApiToken } from '../api-tokens/schemas.ts'
import { maxTokenBytes } from '../../../domain/viewer-session/viewer-session.ts'
import { time, timeOrNull } from '../fields.ts'
import { AdminUserGroup } from '../user-groups/schemas.ts'

export const LeakedTokenFields = object({
  token: Type.String({
    description: `The leaked user group token, viewer session or API token: 1 to ${maxTokenBytes} characters.`,
    minLength: 1,
    maxLength: maxTokenBytes,
    examples: [tokenExample],
  }),
  rotate: Type.Optional(
    Type.Boolean({
      description:
        'If true, stops the token at once: rotates a current user group token, ends the grace period of a superseded one, ends all sessions of the viewer of a session, or revokes an API token. Default: false, which only looks the token up.',
    }),
  ),
})
export type LeakedTokenFields = Static<typeof LeakedTokenFields>

const works = Type.Boolean({ description: 'True if the token was valid when the request arrived.' })

export const LeakedTokenResponse = Type.Union(
  [
    response({
      kind: Type.Literal('user_group_token'),
      works,
      user_group: AdminUserGroup,
      valid_until: timeOrNull('End of the grace period of a superseded token', 'it was the current token'),
      rotated: Type.Boolean({ description: 'True if this request rotated the token.' }),
    }),
    response({
      kind: Type.Literal('viewer_session'),
      works,
      user_group: AdminUserGroup,
      viewer_id: Type.String({ examples: ['u-7'] }),
      session_id: Type.String({ examples: ['4kTq9cZ1Xw2b'] }),
      expires_at: time('End of the session'),
      ended: Type.Boolean({ description: 'True if this request ended the sessions of the viewer.' }),
    }),
    response({ kind: Type.Literal('api_token'), works, api_token: ApiToken }),
    response({
      kind: Type.Literal('unknown', { description: 'Not a token of this workspace and environment.' }),
      works,
    }),
  ],
  { description: 'The owner of a leaked token, in its state after the report.' },
)
