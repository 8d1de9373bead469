import type { FastifyRequest } from 'fastify'
import type { ApiToken, Scope } from '../domain/api-token.ts'
import { Fault } from '../domain/fault.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on a call that needs an API token once it is authenticated. */
    call: Call | undefined
  }
}

export interface Call {
  readonly apiToken: ApiToken
  readonly operation: Operation
}

/** The operations that need an API token, by the scopes of which each needs one (contract, "Who may call"). */
const scopesOf = {
  getOrCreate: ['read', 'write'],
  rotate: ['write'],
  update: ['write'],
  introspect: ['introspect'],
} as const satisfies Record<string, readonly Scope[]>

export type Operation = keyof typeof scopesOf

/** @throws Fault `forbidden` */
export function beginCall(request: FastifyRequest, apiToken: ApiToken, operation: Operation): void {
  const scopes: readonly Scope[] = scopesOf[operation]
  if (!scopes.some((scope) => apiToken.scopes.includes(scope))) {
    throw new Fault('forbidden', `This API token lacks the scope "${scopes.join('" or "')}"`)
  }
  request.call = { apiToken, operation }
}
