import { introspectionResponse } from '../../contract/user/responses.ts'
import { validationFailed } from '../../domain/fault.ts'
import type { RateLimiter } from '../../domain/api-token/rate-limiter.ts'
import type { LastUsedRecorder } from '../../domain/api-token/last-used-tracker.ts'
import type { IntrospectedUserGroup } from '../../domain/user-group/introspection-store.ts'
import type { EventFeed } from '../../domain/event/event-feed.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import { Authentication, type AuthenticationDependencies } from '../authentication.ts'
import { checkBodyHeaders, withBody } from '../request-body.ts'
import { authorize } from '../authorization.ts'
import type { FastPathRoute } from './fast-path.ts'
import type { ResponseCache } from './response-cache.ts'

const formType = 'application/x-www-form-urlencoded'

export interface IntrospectionRouteDependencies {
  readonly authentication: AuthenticationDependencies
  readonly rateLimiter: RateLimiter
  readonly userGroups: UserGroupService
  readonly responses: ResponseCache
  readonly introspections: LastUsedRecorder<IntrospectedUserGroup>
  readonly feed: Pick<EventFeed, 'currentPosition'>
  /** Maximum size of a body, in bytes. */
  readonly bodyLimit: number
}

/** Returns the route of token introspection (RFC 7662), which the renderer calls for every view of a dashboard. */
export function introspectionRoute({
  authentication: dependencies,
  rateLimiter,
  userGroups,
  responses,
  introspections,
  feed,
  bodyLimit,
}: IntrospectionRouteDependencies): FastPathRoute {
  // OAuth resource servers and gateways send a bearer token, or a client id and secret.
  const authentication = new Authentication(['Token', 'Bearer', 'Basic'], dependencies)
  return {
    methods: ['POST'],
    url: '/oauth2/introspect',
    challenge: authentication.challenge,
    serve: async (context) => {
      const { raw } = context
      const apiToken = await context.permit.during(() =>
        authentication.authenticate(raw.headers.authorization),
      )
      authorize(context, context, { apiToken, operation: 'introspect' }, rateLimiter)
      checkBodyHeaders(raw, formType, bodyLimit)
      // Known before the store is read, so that the response includes all events up to it.
      const position = feed.currentPosition()
      if (position !== null) context.header('X-Event-Position', position)
      const { json, state } = await withBody(context, bodyLimit, (body) =>
        responses.get('introspect', apiToken, body, async () => {
          const owner = await userGroups.introspect(apiToken, tokenOf(body))
          return {
            json: introspectionResponse(owner),
            state: owner?.state ?? null,
            // A grace period ends without a change of the user group.
            mayCache: owner?.validUntil === null,
          }
        }),
      )
      if (state !== null) {
        const { bucket, teamId } = state.location
        introspections.note({ workspaceId: apiToken.workspaceId, bucket, teamId })
      }
      return json
    },
  }
}

/**
 * Reads the token. Unknown parameters are ignored, empty ones count as absent, and none may occur twice (RFC 6749, section 3.2,
 * to which RFC 7662 refers).
 * @throws Fault `validation_failed`
 */
function tokenOf(body: Buffer): string {
  // URLSearchParams drops a "?" at the start.
  const form = new URLSearchParams(`&${body.toString('latin1')}`)
  for (const name of ['token', 'token_type_hint']) {
    if (form.getAll(name).length > 1) {
      throw validationFailed([{ path: `/${name}`, message: 'is given more than once' }])
    }
  }
  const token = form.get('token')
  if (!token) throw validationFailed([{ path: '/token', message: 'is required' }])
  return token
}
