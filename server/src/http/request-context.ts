import type { AdminOperationId } from '../contract/admin/admin-operations.ts'
import type { ApiToken, Scope } from '../domain/api-token/api-token.ts'
import { Fault, type FaultCode } from '../domain/fault.ts'
import type { RateLimiter } from '../domain/api-token/rate-limit.ts'
import type { Caller } from '../domain/user-group/user-group-service.ts'
import type { TraceIds } from './server/request-tracing.ts'

/** What is known of a request while it is served, by whatever route. */
export interface RequestContext {
  /** The request id. */
  readonly id: string
  /** Set on a call that needs an API token once it is authenticated. */
  call: AuthorizedRequest | undefined
  /** Set on a call that was answered with an error. */
  faultCode: FaultCode | undefined
  /** Set on a call that is followed. */
  traceIds: TraceIds | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    call: RequestContext['call']
    faultCode: RequestContext['faultCode']
    traceIds: RequestContext['traceIds']
  }
}

/** An answer to which headers can be added. */
export interface ResponseHeaders {
  header(name: string, value: string): unknown
}

export interface AuthorizedRequest {
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
export function callerOf(request: RequestContext): Caller {
  const { id, workspaceId, environment } = (request.call as AuthorizedRequest).apiToken
  return { workspaceId, environment, author: `api_token:${id}`, requestId: request.id }
}

/**
 * Begins a call that is authenticated, and tells how many more its API token may make.
 * @throws Fault `rate_limited`, `forbidden`
 */
export function authorize(
  request: RequestContext,
  response: ResponseHeaders,
  { apiToken, operation }: AuthorizedRequest,
  rateLimiter: RateLimiter,
): void {
  request.call = { apiToken, operation }
  countRequest(response, apiToken, rateLimiter)
  const scopes: readonly Scope[] =
    operation in scopesOf ? scopesOf[operation as keyof typeof scopesOf] : ['admin']
  if (!scopes.some((scope) => apiToken.scopes.includes(scope))) {
    throw new Fault('forbidden', `This API token lacks the scope "${scopes.join('" or "')}"`)
  }
}

/** The headers are those of draft-ietf-httpapi-ratelimit-headers-10: a quota for each window, in seconds, and what is left of it. */
function countRequest(response: ResponseHeaders, apiToken: ApiToken, rateLimiter: RateLimiter): void {
  const allowance = rateLimiter.take(apiToken)
  if (allowance === null) return
  const { limit, isAllowed, remaining, fullInMs, retryInMs } = allowance
  response.header(
    'RateLimit-Policy',
    `"api-token";q=${limit.burst};w=${Math.ceil(limit.burst / limit.perSecond)}`,
  )
  response.header('RateLimit', `"api-token";r=${remaining};t=${Math.ceil(fullInMs / 1000)}`)
  if (isAllowed) return
  const seconds = Math.max(1, Math.ceil(retryInMs / 1000))
  response.header('Retry-After', String(seconds))
  throw new Fault(
    'rate_limited',
    `Too many calls with this API token: ${limit.perSecond} a second, ${limit.burst} at once; try again in ${seconds} s`,
  )
}
