import { rateLimitText } from '../../../domain/api-token/rate-limit.ts'
import type { ApiToken } from '../../../domain/api-token/api-token.ts'

/** Returns the members of an `ApiToken`. */
export const shownApiToken = (token: ApiToken) => ({
  ...token,
  rateLimit: token.rateLimit && rateLimitText(token.rateLimit),
})
