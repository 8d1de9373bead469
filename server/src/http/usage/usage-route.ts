import type { FastifyInstance } from 'fastify'
import { readUsageBody } from '../../contract/usage/bodies.ts'
import type { RateLimiter } from '../../domain/api-token/rate-limiter.ts'
import type { PostedMarks } from '../../domain/usage/posted-marks.ts'
import { Authentication, type AuthenticationDependencies } from '../authentication.ts'
import { authorize, callerOf } from '../authorization.ts'
import { checkBodyHeaders, withBody } from '../request-body.ts'
import { contextOf } from '../request-context.ts'
import { sendJson } from '../response.ts'

export interface UsageRouteDependencies {
  readonly authentication: AuthenticationDependencies
  readonly rateLimiter: RateLimiter
  readonly postedMarks: PostedMarks
}

/** Adds `POST /usage`, by which renderers report the looks that they answer from a cache. */
export function addUsageRoute(app: FastifyInstance, dependencies: UsageRouteDependencies): void {
  const { rateLimiter, postedMarks } = dependencies
  const authentication = new Authentication(['Token'], dependencies.authentication)
  app.route({
    method: 'POST',
    url: '/usage',
    config: { challenge: authentication.challenge },
    onRequest: async (request, reply) => {
      const context = contextOf(request.raw)
      const { authorization } = request.raw.headers
      const principal = await context.permit.during(() => authentication.authenticate(authorization))
      authorize(context, reply, { principal, operation: 'recordUsage' }, rateLimiter)
      checkBodyHeaders(request.raw, 'application/json', request.routeOptions.bodyLimit)
    },
    handler: async (request, reply) => {
      const context = contextOf(request.raw)
      const { bodyLimit } = request.routeOptions
      const recorded = await withBody(context, bodyLimit, (body) => {
        const { workspaceId, environment } = callerOf(context)
        return postedMarks.take({ workspaceId, environment }, readUsageBody(body))
      })
      return sendJson(reply, 200, JSON.stringify({ success: 1, ...recorded }))
    },
  })
}
