import type { AdminOperation } from '../operation.ts'
import { shownLeakedToken } from './responses.ts'
import { LeakedTokenFields, LeakedTokenResponse } from './schemas.ts'

export const leakedTokenOperations = {
  reportLeakedToken: {
    tag: 'User group management',
    method: 'POST',
    path: '/leaked-tokens',
    summary: 'Identify a leaked token and stop it',
    description:
      'Returns the owner of a token and whether it is valid. With `rotate`, the token stops at once: a current user group token is rotated, the grace period of a superseded one ends, an API token is revoked.',
    body: LeakedTokenFields,
    response: LeakedTokenResponse,
    handle: async ({ caller, body }, { management }) => {
      const { token, rotate = false } = body.value as LeakedTokenFields
      return { body: shownLeakedToken(await management.findLeaked(caller, token, rotate)) }
    },
  },
} as const satisfies Record<string, AdminOperation>
