import { Fault } from '../domain/fault.ts'
import type { RateLimiter } from '../domain/api-token/rate-limiter.ts'
import { authorOf, isPerson, scopesOf, type Principal } from '../domain/principal.ts'
import type { Caller } from '../domain/caller.ts'
import { listOfScopes, scopesFor, type AuthorizedRequest } from './operations.ts'
import type { RequestContext, ResponseHeaders } from './request-context.ts'

/** Returns the tenant scope and actor of an authenticated request. */
export function callerOf({ auditedId: requestId, authorized }: RequestContext): Caller {
  const { principal } = authorized as AuthorizedRequest
  const { workspaceId, environment } = principal
  return { workspaceId, environment, author: authorOf(principal), requestId }
}

/**
 * Counts an authenticated request against its rate limit, and checks that its API token or role permits the operation.
 * @throws Fault `rate_limited`, `forbidden`, `unavailable`
 */
export function authorize(
  context: RequestContext,
  response: ResponseHeaders,
  authorized: AuthorizedRequest,
  rateLimiter: RateLimiter,
): void {
  context.authorized = authorized
  const { principal, operation } = authorized
  context.permit.assign(principal.workspaceId)
  countRequest(response, principal, rateLimiter)
  const scopes = scopesFor(operation)
  if (!scopes.some((scope) => scopesOf(principal).includes(scope))) {
    const lacking = isPerson(principal) ? `Your role "${principal.role}"` : 'This API token'
    throw new Fault('forbidden', `${lacking} lacks the scope ${listOfScopes(scopes)}`)
  }
}

/** Sets the headers of draft-ietf-httpapi-ratelimit-headers-10: the quota per window in seconds, and the rest of it. */
function countRequest(response: ResponseHeaders, principal: Principal, rateLimiter: RateLimiter): void {
  const counted = isPerson(principal) ? { id: authorOf(principal), rateLimit: null } : principal
  const allowance = rateLimiter.take(counted)
  if (allowance === null) return
  const { limit, isAllowed, remaining, fullInMs, retryInMs } = allowance
  const policy = isPerson(principal) ? '"person"' : '"api-token"'
  response.header(
    'RateLimit-Policy',
    `${policy};q=${limit.burst};w=${Math.ceil(limit.burst / limit.perSecond)}`,
  )
  response.header('RateLimit', `${policy};r=${remaining};t=${Math.ceil(fullInMs / 1000)}`)
  if (isAllowed) return
  const seconds = Math.max(1, Math.ceil(retryInMs / 1000))
  response.header('Retry-After', String(seconds))
  throw new Fault(
    'rate_limited',
    `${isPerson(principal) ? 'A person' : 'This API token'} is allowed ${limit.perSecond} requests per second, in bursts of up to ${limit.burst}. Retry in ${seconds} s`,
  )
}
