import type { LeakedToken } from '../../../domain/user-group/user-group-management.ts'
import type { LeakedSession } from '../../../domain/viewer-session/viewer-sessions.ts'
import { shownApiToken } from '../api-tokens/responses.ts'

/** Returns the members of a `LeakedTokenResponse`. */
export const shownLeakedToken = (leaked: LeakedToken | LeakedSession) =>
  leaked.kind === 'api_token'
    ? { ...leaked, apiToken: shownApiToken(leaked.apiToken) }
    : { works: false, ...leaked }
