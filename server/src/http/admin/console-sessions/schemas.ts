import { Type } from 'typebox'
import { object, response, textEnum } from '../../../contract/schema.ts'
import { managementScopes } from '../../../domain/api-token/api-token.ts'
import { id, numberOrNull, textOrNull, time } from '../fields.ts'

export const ConsoleSession = object({
  id: id('Id of the console session.'),
  api_token_id: numberOrNull('Id of the API token. Null for a person.', null),
  person: textOrNull('Id of the person at the identity provider. Null for an API token.', 'a1b2c3'),
  name: Type.String({ description: 'Name of the person or of the API token.', examples: ['Ada'] }),
  email: textOrNull('Null if the identity provider sent none that is verified.', 'ada@example.com'),
  scopes: Type.Array(textEnum(managementScopes), { examples: [['support']] }),
  created_at: time('Time of the sign-in'),
  last_used_at: time('Time of the last request, up to a minute late'),
  expires_at: time('Latest end'),
})

export const ConsoleSessionListResponse = response({ console_sessions: Type.Array(ConsoleSession) })

export const EndedResponse = response({ ended: Type.Literal(true) })
