import { Type, type Static } from 'typebox'
import { sessionIdleMs, type OpenSession } from '../domain/session/console-sessions.ts'
import type { Workspace } from '../domain/workspace/workspace.ts'

// The wire format of `/console/session`, between the console and its service.

export const SignInBody = Type.Object({ api_token: Type.String() }, { additionalProperties: false })
export type SignInBody = Static<typeof SignInBody>

export const UseLinkBody = Type.Object({ secret: Type.String() }, { additionalProperties: false })
export type UseLinkBody = Static<typeof UseLinkBody>

/** Returns a sign-in link. Browsers do not send the fragment, so no proxy and no log sees the secret. */
export function signInLinkUrl(origin: string, secret: string): string {
  return `${origin}/console#sign-in=${secret}`
}

export function sessionJson(
  { apiToken, csrfToken, expiresAt }: OpenSession,
  { id, name }: Workspace,
): string {
  return JSON.stringify({
    workspace: { id, name },
    api_environment_tag: apiToken.environment,
    api_token: { id: apiToken.id, name: apiToken.name },
    idle_seconds: sessionIdleMs / 1000,
    expires_at: new Date(expiresAt).toISOString(),
    csrf_token: csrfToken,
  })
}
