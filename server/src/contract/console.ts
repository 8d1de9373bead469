import { Type, type Static } from 'typebox'
import { sessionIdleMs, type OpenSession } from '../domain/session/console-sessions.ts'
import type { Workspace } from '../domain/workspace/workspace.ts'

// The wire format of `/console/session`, between the console and its service.

export const SignInBody = Type.Object({ api_token: Type.String() }, { additionalProperties: false })
export type SignInBody = Static<typeof SignInBody>

export function sessionResponse(
  { apiToken, csrfToken, expiresAt }: OpenSession,
  { id, name }: Workspace,
): string {
  return JSON.stringify({
    success: 1,
    session: {
      workspace: { id, name },
      api_environment_tag: apiToken.environment,
      api_token: { id: apiToken.id, name: apiToken.name },
      idle_seconds: sessionIdleMs / 1000,
      expires_at: new Date(expiresAt).toISOString(),
      csrf_token: csrfToken,
    },
  })
}
