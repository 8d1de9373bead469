import { keySetPathOf } from '../domain/viewer-session/signing-key.ts'
import type { AdminOperationId } from './admin/operations.ts'
import type { ApiToken, Scope } from '../domain/api-token/api-token.ts'

/** Scopes of the operations of the user API, one of which is enough. All other operations need `admin`. */
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
} as const satisfies Record<string, readonly Scope[]>

export type OAuthOperation = 'introspect' | 'revoke'

export type UserOperation = Exclude<keyof typeof userScopes, OAuthOperation | 'forwardAuth' | 'readEvents'>

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

/** A request whose API token is valid. */
export interface AuthorizedRequest {
  readonly apiToken: ApiToken
  readonly operation: Operation
}

/** Returns the scopes that permit an operation. */
export function scopesFor(operation: Operation): readonly Scope[] {
  return operation in userScopes ? userScopes[operation as keyof typeof userScopes] : ['admin']
}
