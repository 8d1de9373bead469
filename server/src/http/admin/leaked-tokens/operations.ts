import { type Operations, tagged } from '../operation.ts'
import { shownLeakedToken } from './responses.ts'
import { LeakedTokenFields, LeakedTokenResponse } from './schemas.ts'

export const leakedTokenOperations = tagged('User group management', {
  reportLeakedToken: {
    method: 'POST',
    path: '/leaked-tokens',
    scope: 'support',
    summary: 'Return the owner of a leaked token and whether it works',
    description:
      'With `rotate`, stops it at once. A repeated request does nothing more to a token that an earlier one stopped, and reports the current state: `works` and `rotated` may be false although the earlier request stopped the token.',
    // It may have revoked the API token of the request.
    retry: { unauthenticated: 'unknown' },
    body: LeakedTokenFields,
    response: LeakedTokenResponse,
    handle: async ({ caller, body }, { management, viewerSessions }) => {
      const { token, rotate = false } = body.value as LeakedTokenFields
      const leaked =
        (await viewerSessions.findLeaked(caller, token, rotate)) ??
        (await management.findLeaked(caller, token, rotate))
      return { body: shownLeakedToken(leaked) }
    },
  },
} as const satisfies Operations)
