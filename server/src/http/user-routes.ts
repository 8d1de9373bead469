import type { FastifyInstance, FastifyRequest } from 'fastify'
import { getOrCreateAnswer, rotationAnswer, updateAnswer } from '../contract/answers.ts'
import { readRotationBody, readUserGroupBody } from '../contract/bodies.ts'
import { limits } from '../contract/limits.ts'
import type { ApiToken } from '../domain/api-token.ts'
import { Fault } from '../domain/fault.ts'
import type { RateLimiter } from '../domain/rate-limit.ts'
import type { UserGroupService } from '../domain/user-group-service.ts'
import { sendJson } from './answer.ts'
import { Authentication, type AuthenticationParts } from './authentication.ts'
import { checkBodyHeaders, withBody } from './body.ts'
import { beginCall, callerOf, type Call, type UserOperation } from './call.ts'

export interface UserRoutesParts {
  readonly authentication: AuthenticationParts
  readonly rateLimiter: RateLimiter
  readonly userGroups: UserGroupService
}

/** What answers a call, given its body. */
type Handler = (request: FastifyRequest, apiToken: ApiToken, body: Buffer) => Promise<string>

export function addUserRoutes(
  app: FastifyInstance,
  { authentication: parts, rateLimiter, userGroups }: UserRoutesParts,
): void {
  const authentication = new Authentication(['Token'], parts)
  const handlers: Record<UserOperation, Handler> = {
    getOrCreate: async (request, apiToken, body) => {
      const { providedId, change } = readUserGroupBody(body)
      const mayWrite = apiToken.scopes.includes('write')
      const { created, userGroup } = await userGroups.getOrCreate(
        callerOf(request),
        providedId,
        change,
        mayWrite,
      )
      return getOrCreateAnswer(created, userGroup)
    },
    update: async (request, _apiToken, body) => {
      const { providedId, change } = readUserGroupBody(body)
      return updateAnswer(await userGroups.update(callerOf(request), providedId, change))
    },
    rotate: async (request, _apiToken, body) => {
      const key = idempotencyKeyOf(request)
      const { fingerprint, ...rotation } = readRotationBody(body)
      return rotationAnswer(
        await userGroups.rotate(callerOf(request), {
          ...rotation,
          ...(key !== undefined && { idempotency: { key, fingerprint } }),
        }),
      )
    },
  }

  app.route({
    method: ['GET', 'POST', 'PUT'],
    url: '/api/user',
    config: { challenge: authentication.challenge },
    // Who calls, what for, and whether it may: all of it is judged before the body is read.
    onRequest: async (request, reply) => {
      const apiToken = await authentication.authenticate(request.raw.headers.authorization)
      const operation = operationOf(request)
      beginCall(request, reply, { apiToken, operation }, rateLimiter)
      checkBodyHeaders(request, 'application/json')
    },
    handler: async (request, reply) => {
      const { apiToken, operation } = request.call as Call & { operation: UserOperation }
      const json = await withBody(request, (body) => handlers[operation](request, apiToken, body))
      return sendJson(reply, 200, json)
    },
  })
}

/** @throws Fault `invalid_method_override` */
function operationOf(request: FastifyRequest): UserOperation {
  if (request.method === 'GET') return 'getOrCreate'
  if (request.method === 'PUT') return 'update'
  switch (request.raw.headers['x-http-method-override']) {
    case undefined:
      return 'rotate'
    case 'GET':
      return 'getOrCreate'
    case 'PUT':
      return 'update'
    default:
      throw new Fault('invalid_method_override', 'X-HTTP-Method-Override: must be GET or PUT')
  }
}

/** @throws Fault `invalid_idempotency_key` */
function idempotencyKeyOf(request: FastifyRequest): string | undefined {
  const key = request.raw.headers['idempotency-key']
  if (key === undefined) return undefined
  // Several such headers arrive joined by a comma and a space, and so are refused too.
  if (typeof key === 'string' && /^[\x21-\x7e]+$/.test(key) && key.length <= limits.idempotencyKeyLength) {
    return key
  }
  throw new Fault(
    'invalid_idempotency_key',
    `Idempotency-Key: must be 1 to ${limits.idempotencyKeyLength} visible ASCII characters`,
  )
}
