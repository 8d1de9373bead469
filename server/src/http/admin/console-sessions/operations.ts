import { isManagementScope } from '../../../domain/api-token/api-token.ts'
import type { ListedSession } from '../../../domain/console-session/console-session-management.ts'
import { isPerson, scopesOf } from '../../../domain/principal.ts'
import { type Operations, tagged } from '../operation.ts'
import { ConsoleSessionListResponse, EndedResponse } from './schemas.ts'

export const consoleSessionOperations = tagged('API tokens and workspaces', {
  listConsoleSessions: {
    method: 'GET',
    path: '/console-sessions',
    scope: 'admin',
    summary: 'List who is signed in to the console',
    description: 'The newest first.',
    response: ConsoleSessionListResponse,
    handle: async ({ caller }, { consoleSessionManagement }) => ({
      body: { consoleSessions: (await consoleSessionManagement.list(caller)).map(shownSession) },
    }),
  },
  endConsoleSession: {
    method: 'POST',
    path: '/console-sessions/{id}/end',
    scope: 'admin',
    summary: 'End a console session',
    description: 'The browser is signed out with its next request. The person may sign in again.',
    retry: { not_found: 'succeeded' },
    response: EndedResponse,
    faults: ['not_found'],
    handle: async ({ caller, params }, { consoleSessionManagement }) => {
      await consoleSessionManagement.end(caller, params.id as number)
      return { body: { ended: true } }
    },
  },
} as const satisfies Operations)

function shownSession({ principal, ...session }: ListedSession) {
  const { id, createdAt, lastUsedAt, expiresAt } = session
  const [apiTokenId, person, email] = isPerson(principal)
    ? [null, principal.sub, principal.email]
    : [principal.id, null, null]
  const scopes = scopesOf(principal).filter(isManagementScope)
  return { id, apiTokenId, person, name: principal.name, email, scopes, createdAt, lastUsedAt, expiresAt }
}
