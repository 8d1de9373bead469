import { Fault } from '../domain/fault.ts'
import type { ApiToken } from '../domain/api-token/api-token.ts'
import type { RateLimiter } from '../domain/api-token/rate-limiter.ts'
import type { Caller } from '../domain/caller.ts'
import { scopesFor, type AuthorizedRequest } from './operations.ts'
import type { RequestContext, ResponseHeaders } from './request-context.ts'

/** Returns the tenant scope and actor of an authenticated request. */
export function callerOf({ id: requestId, authorized }: RequestContext): Caller {
  const { id, workspaceId, environment } = (authorized as AuthorizedRequest).apiToken
  return { workspaceId, environment, author: `api_token:${id}`, requestId }
}

/**
 * Counts an authenticated request against its rate limit, and checks that its API token permits the operation.
 * @throws Fault `rate_limited`, `forbidden`, `unavailable`
 */
export function authorize(
  context: RequestContext,
  response: ResponseHeaders,
  authorized: AuthorizedRequest,
  rateLimiter: RateLimiter,
): void {
  context.authorized = authorized
  const { apiToken, operation } = authorized
  context.permit.assign(apiToken.workspaceId)
  countRequest(response, apiToken, rateLimiter)
  const scopes = scopesFor(operation)
  if (!scopes.some((scope) => apiToken.scopes.includes(scope))) {
    throw new Fault('forbidden', `This API token lacks the scope "${scopes.join('" or "')}"`)
  }
}

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers-10: the quota per window in seconds, and the rest of it. */
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
    `This API token allows ${limit.perSecond} requests per second, in bursts of up to ${limit.burst}. Retry in ${seconds} s`,
  )
}
