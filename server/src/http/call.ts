import type { FastifyRequest } from 'fastify'
import type { AdminOperationId } from '../contract/admin-operations.ts'
import type { ApiToken, Scope } from '../domain/api-token.ts'
import { Fault, type FaultCode } from '../domain/fault.ts'
import type { Caller } from '../domain/user-group-service.ts'
import type { TraceIds } from './call-tracer.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on a call that needs an API token once it is authenticated. */
    call: Call | undefined
    /** Set on a call that was answered with an error. */
    faultCode: FaultCode | undefined
    /** Set on a call that is followed. */
    traceIds: TraceIds | undefined
  }
}

export interface Call {
  readonly apiToken: ApiToken
  readonly operation: Operation
}

/** The operations that need an API token, by the scopes of which each needs one (contract, "Who may call"); all others need `admin`. */
const scopesOf = {
  getOrCreate: ['read', 'write'],
  rotate: ['write'],
  update: ['write'],
  introspect: ['introspect'],
} as const satisfies Record<string, readonly Scope[]>

export type UserOperation = Exclude<keyof typeof scopesOf, 'introspect'>

export type Operation = keyof typeof scopesOf | AdminOperationId

/** Who makes an authenticated request. */
export function callerOf(request: FastifyRequest): Caller {
  const { id, workspaceId, environment } = (request.call as Call).apiToken
  return { workspaceId, environment, author: `api_token:${id}`, requestId: request.id }
}

/** @throws Fault `forbidden` */
export function beginCall(request: FastifyRequest, apiToken: ApiToken, operation: Operation): void {
  request.call = { apiToken, operation }
  const scopes: readonly Scope[] =
    operation in scopesOf ? scopesOf[operation as keyof typeof scopesOf] : ['admin']
  if (!scopes.some((scope) => apiToken.scopes.includes(scope))) {
    throw new Fault('forbidden', `This API token lacks the scope "${scopes.join('" or "')}"`)
  }
}
