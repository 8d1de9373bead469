import type { Principal } from '../domain/principal.ts'
import { keySetPathOf } from '../domain/viewer-session/signing-key.ts'
import type { AdminOperation } from './admin/operation.ts'
import { adminOperations, type AdminOperationId } from './admin/operations.ts'
import { managementScopes, type Scope } from '../domain/api-token/api-token.ts'

/** Scopes of the operations outside the management API, one of which is enough. */
const userScopes = {
  getOrCreate: ['read', 'write'],
  rotate: ['write'],
  update: ['write'],
  createSession: ['read', 'write'],
  endSessions: ['write'],
  introspect: ['introspect'],
  revoke: ['write'],
  forwardAuth: ['introspect'],
  readEvents: ['introspect', 'admin'],
  recordUsage: ['introspect'],
} as const satisfies Record<string, readonly Scope[]>

export type OAuthOperation = 'introspect' | 'revoke'

export type UserOperation = Exclude<
  keyof typeof userScopes,
  OAuthOperation | 'forwardAuth' | 'readEvents' | 'recordUsage'
>

export const oauthPaths = {
  introspect: '/oauth2/introspect',
  revoke: '/oauth2/revoke',
  keySet: `${keySetPathOf('{workspace_id}', '{environment}')}.json`,
  metadata: '/.well-known/oauth-authorization-server',
} as const

/**
 * Paths that are one operation each, with POST. OpenAPI generators ignore the body of a GET, and `/api/user` has another one for each
 * method.
 */
export const operationPaths = {
  getOrCreate: '/api/user/get-or-create',
  update: '/api/user/update',
  rotate: '/api/user/rotate-token',
  createSession: '/api/user/create-session',
  endSessions: '/api/user/end-sessions',
} as const satisfies Record<UserOperation, string>

export type Operation = keyof typeof userScopes | AdminOperationId

/** A request of a valid API token, or of a person in the console. */
export interface AuthorizedRequest {
  readonly principal: Principal
  readonly operation: Operation
}

/** Returns the scopes that permit an operation, one of which is enough. */
export function scopesFor(operation: Operation): readonly Scope[] {
  if (operation in userScopes) return userScopes[operation as keyof typeof userScopes]
  return scopesForManagement(operation, adminOperations[operation as AdminOperationId])
}

/** Returns the scopes that permit an operation of the management API: its own and the stronger ones. */
export function scopesForManagement(id: string, { scope }: Pick<AdminOperation, 'scope'>): readonly Scope[] {
  const weakest = managementScopes.indexOf(scope)
  if (weakest === -1)
    throw new Error(
      `The operation "${id}" does not declare who may call it. Add \`scope\` to its entry in http/admin: one of ${managementScopes.join(', ')} (see \`AdminOperation\`).`,
    )
  return managementScopes.slice(weakest)
}

/** Returns a list for a message, such as `"support" or "admin"`. */
export function listOfScopes(scopes: readonly Scope[], quote = '"'): string {
  const quoted = scopes.map((scope) => `${quote}${scope}${quote}`)
  return [quoted.slice(0, -1).join(', '), ...quoted.slice(-1)].filter((part) => part !== '').join(' or ')
}
