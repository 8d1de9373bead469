import type { FastifyInstance, FastifyRequest } from 'fastify'
import { getOrCreateAnswer, rotationAnswer, updateAnswer } from '../contract/answers.ts'
import { readRotationBody, readUserGroupBody } from '../contract/bodies.ts'
import { limits } from '../contract/limits.ts'
import type { ApiToken, Scope } from '../domain/api-token.ts'
import { Fault } from '../domain/fault.ts'
import type { UserGroupService } from '../domain/user-group-service.ts'
import { sendJson } from './answer.ts'
import type { Authentication } from './authentication.ts'
import { bodyOf, checkBodyHeaders } from './body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on a call of `/api/user` once it is authenticated. */
    userCall: UserCall | undefined
  }
}

interface UserCall {
  readonly apiToken: ApiToken
  readonly operation: Operation
}

/** The operations of `/api/user` (specification 4), by the API token scopes of which each needs one. */
const scopesOf = {
  getOrCreate: ['read', 'write'],
  rotate: ['write'],
  update: ['write'],
} as const satisfies Record<string, readonly Scope[]>

type Operation = keyof typeof scopesOf

export interface UserRoutesParts {
  readonly authentication: Authentication
  readonly userGroups: UserGroupService
}

type Handler = (request: FastifyRequest, apiToken: ApiToken) => Promise<string>

export function addUserRoutes(app: FastifyInstance, { authentication, userGroups }: UserRoutesParts): void {
  const handlers: Record<Operation, Handler> = {
    getOrCreate: async (request, apiToken) => {
      const { providedId, change } = readUserGroupBody(bodyOf(request))
      const mayWrite = apiToken.scopes.includes('write')
      const { created, userGroup } = await userGroups.getOrCreate(apiToken, providedId, change, mayWrite)
      return getOrCreateAnswer(created, userGroup)
    },
    update: async (request, apiToken) => {
      const { providedId, change } = readUserGroupBody(bodyOf(request))
      return updateAnswer(await userGroups.update(apiToken, providedId, change))
    },
    rotate: async (request, apiToken) => {
      const key = idempotencyKeyOf(request)
      const { fingerprint, ...rotation } = readRotationBody(bodyOf(request))
      return rotationAnswer(
        await userGroups.rotate(apiToken, {
          ...rotation,
          ...(key !== undefined && { idempotency: { key, fingerprint } }),
        }),
      )
    },
  }

  app.decorateRequest('userCall', undefined)
  app.route({
    method: ['GET', 'POST', 'PUT'],
    url: '/api/user',
    // Who calls, what for, and whether it may: all of it is judged before the body is read.
    onRequest: async (request) => {
      const apiToken = await authentication.authenticate(request.raw.headers.authorization)
      const operation = operationOf(request)
      if (!scopesOf[operation].some((scope) => apiToken.scopes.includes(scope))) {
        throw new Fault('forbidden', `This API token lacks the scope "${scopesOf[operation].join('" or "')}"`)
      }
      request.userCall = { apiToken, operation }
      checkBodyHeaders(request)
    },
    handler: async (request, reply) => {
      const { apiToken, operation } = request.userCall as UserCall
      return sendJson(reply, 200, await handlers[operation](request, apiToken))
    },
  })
}

/** @throws Fault `invalid_method_override` */
function operationOf(request: FastifyRequest): Operation {
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
