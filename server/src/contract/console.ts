import { Type, type Static } from 'typebox'
import { object } from './schema.ts'
import { managementScopes } from '../domain/api-token/api-token.ts'
import { isPerson, scopesOf, type Principal } from '../domain/principal.ts'
import { sessionIdleMs, type OpenSession } from '../domain/console-session/console-sessions.ts'
import type { SignInLink } from '../domain/console-session/console-session-store.ts'
import type { Workspace } from '../domain/workspace/workspace.ts'

// The wire format of `/console/session`, between the console and its service.

export const SignInBody = object({ api_token: Type.String() })
export type SignInBody = Static<typeof SignInBody>

export const UseLinkBody = object({
  secret: Type.String(),
  /** Required if somebody is signed in. Without it, the response describes the link and their sessions. */
  confirmed: Type.Optional(Type.Literal(true)),
})
export type UseLinkBody = Static<typeof UseLinkBody>

/** Returns a sign-in link. Browsers do not send the fragment, so no proxy and no log sees the secret. */
export function signInLinkUrl(origin: string, secret: string): string {
  return `${origin}/console#sign-in=${secret}`
}

export function sessionJson({ principal, csrfToken, expiresAt }: OpenSession, workspace: Workspace): object {
  return {
    ...identityOf(principal, workspace),
    idle_seconds: sessionIdleMs / 1000,
    expires_at: new Date(expiresAt).toISOString(),
    csrf_token: csrfToken,
  }
}

export function signInLinkJson({ apiToken, expiresAt }: SignInLink, workspace: Workspace): object {
  return { ...identityOf(apiToken, workspace), expires_at: new Date(expiresAt).toISOString() }
}

function identityOf(principal: Principal, workspace: Workspace): object {
  return {
    workspace: { id: workspace.id, name: workspace.name },
    api_environment_tag: principal.environment,
    ...(isPerson(principal)
      ? { api_token: null, person: { id: principal.sub, name: principal.name, email: principal.email } }
      : { api_token: { id: principal.id, name: principal.name } }),
    // The strongest management scope includes the others.
    role: managementScopes.findLast((scope) => scopesOf(principal).includes(scope)),
  }
}
