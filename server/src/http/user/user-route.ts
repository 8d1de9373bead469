import type { IncomingMessage } from 'node:http'
import { getOrCreateResponse, rotationResponse, updateResponse } from '../../contract/user/responses.ts'
import { readRotationBody, readUserGroupBody } from '../../contract/user/bodies.ts'
import { readCreateSessionBody, readEndSessionsBody } from '../../contract/viewer-session/bodies.ts'
import { createSessionResponse, endSessionsResponse } from '../../contract/viewer-session/responses.ts'
import { limits } from '../../contract/limits.ts'
import type { ApiToken } from '../../domain/api-token/api-token.ts'
import { Fault } from '../../domain/fault.ts'
import type { RateLimiter } from '../../domain/api-token/rate-limiter.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import type { ViewerSessions } from '../../domain/viewer-session/viewer-sessions.ts'
import { Authentication, type AuthenticationDependencies } from '../authentication.ts'
import { checkBodyHeaders, withBody } from '../request-body.ts'
import { authorize, callerOf } from '../authorization.ts'
import { operationPaths, type UserOperation } from '../operations.ts'
import type { RequestContext } from '../request-context.ts'
import type { FastPathRoute } from './fast-path.ts'
import type { ResponseCache } from './response-cache.ts'

export interface UserRouteDependencies {
  readonly authentication: AuthenticationDependencies
  readonly rateLimiter: RateLimiter
  readonly userGroups: UserGroupService
  readonly viewerSessions: ViewerSessions
  readonly responses: ResponseCache
  /** Maximum size of a body, in bytes. */
  readonly bodyLimit: number
}

/** Handles a request of one operation, and resolves with the JSON of the response. */
type Handler = (context: RequestContext, apiToken: ApiToken, body: Buffer) => Promise<string>

/** Returns the route of `/api/user` and those of its operations. */
export function userRoutes(dependencies: UserRouteDependencies): FastPathRoute[] {
  const { rateLimiter, bodyLimit } = dependencies
  const authentication = new Authentication(['Token'], dependencies.authentication)
  const handlers = handlersOf(dependencies)
  const route = (
    url: string,
    methods: readonly string[],
    operationOf: (request: IncomingMessage) => UserOperation,
  ): FastPathRoute => ({
    methods,
    url,
    challenge: (code) => (code === 'unauthenticated' ? authentication.challenge : undefined),
    // Checks everything that the headers decide, then reads the body.
    serve: async (context) => {
      const { raw } = context
      const apiToken = await context.permit.during(() =>
        authentication.authenticate(raw.headers.authorization),
      )
      const operation = operationOf(raw)
      authorize(context, context, { principal: apiToken, operation }, rateLimiter)
      checkBodyHeaders(raw, 'application/json', bodyLimit)
      return withBody(context, bodyLimit, (body) => handlers[operation](context, apiToken, body))
    },
  })
  return [
    route('/api/user', ['GET', 'POST', 'PUT'], operationOf),
    ...(Object.entries(operationPaths) as [UserOperation, string][]).map(([operation, path]) =>
      route(path, ['POST'], () => operation),
    ),
  ]
}

function handlersOf({
  userGroups,
  viewerSessions,
  responses,
}: UserRouteDependencies): Record<UserOperation, Handler> {
  return {
    getOrCreate: async (context, apiToken, body) => {
      const { json } = await responses.get('getOrCreate', apiToken, body, async () => {
        const { providedId, change } = readUserGroupBody(body)
        const mayWrite = apiToken.scopes.includes('write')
        const { created, userGroup, state } = await userGroups.getOrCreate(
          callerOf(context),
          providedId,
          change,
          mayWrite,
        )
        return { json: getOrCreateResponse(created, userGroup), state, cacheUntil: Infinity }
      })
      return json
    },
    update: async (context, _apiToken, body) => {
      const { providedId, change } = readUserGroupBody(body)
      return updateResponse(await userGroups.update(callerOf(context), providedId, change))
    },
    rotate: async (context, _apiToken, body) => {
      const key = idempotencyKeyOf(context.raw)
      const { fingerprint, ...rotation } = readRotationBody(body)
      return rotationResponse(
        await userGroups.rotate(callerOf(context), {
          ...rotation,
          ...(key !== undefined && { idempotency: { key, fingerprint } }),
        }),
      )
    },
    createSession: async (context, _apiToken, body) => {
      const request = readCreateSessionBody(body)
      return createSessionResponse(
        await viewerSessions.create(callerOf(context), request),
        request.expiresInSeconds,
      )
    },
    endSessions: async (context, _apiToken, body) => {
      const { user_group_id, viewer_id: viewerId } = readEndSessionsBody(body)
      const subject = viewerId === undefined ? 'all' : { viewerId }
      await viewerSessions.end(callerOf(context), user_group_id, subject)
      return endSessionsResponse
    },
  }
}

/** @throws Fault `invalid_method_override` */
function operationOf({ method, headers }: IncomingMessage): UserOperation {
  if (method === 'GET') return 'getOrCreate'
  if (method === 'PUT') return 'update'
  switch (headers['x-http-method-override']) {
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
function idempotencyKeyOf({ headers }: IncomingMessage): string | undefined {
  const key = headers['idempotency-key']
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
