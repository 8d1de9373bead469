import { introspectionResponse } from '../../contract/user/responses.ts'
import { validationFailed } from '../../domain/fault.ts'
import type { RateLimiter } from '../../domain/api-token/rate-limiter.ts'
import type { ChangeStamp, TokenOwner } from '../../domain/user-group/user-group-store.ts'
import type { LastUsedRecorder } from '../../domain/api-token/last-used-tracker.ts'
import type { TokenlessUserGroup } from '../../domain/user-group/user-group.ts'
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
  readonly introspections: LastUsedRecorder<Pick<TokenlessUserGroup, 'workspaceId' | 'teamId'>>
  /** Maximum size of a body, in bytes. */
  readonly bodyLimit: number
}

/** Whose token a dashboard was opened with (RFC 7662): what the renderer asks of every view. */
export function introspectionRoute({
  authentication: parts,
  rateLimiter,
  userGroups,
  responses,
  introspections,
  bodyLimit,
}: IntrospectionRouteDependencies): FastPathRoute {
  // Resource servers and gateways send what they were made to send: a bearer token, or a client id and its secret.
  const authentication = new Authentication(['Token', 'Bearer', 'Basic'], parts)
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
      const { json, teamId } = await withBody(context, bodyLimit, (body) =>
        responses.get('introspect', apiToken, body, async () => {
          const owner = await userGroups.introspect(apiToken, tokenOf(body))
          return {
            json: introspectionResponse(owner),
            teamId: owner?.userGroup.teamId ?? null,
            stamp: stampOf(owner),
          }
        }),
      )
      if (teamId !== null) introspections.note({ workspaceId: apiToken.workspaceId, teamId })
      return json
    },
  }
}

/** A grace period ends without a change. */
function stampOf(owner: TokenOwner | null): ChangeStamp | undefined {
  return owner?.validUntil === null ? owner.stamp : undefined
}

/**
 * Parameters that are not known are ignored, one without a value is none, and none may be given twice (RFC 6749, section
 * 3.2, as RFC 7662 has it).
 * @throws Fault `validation_failed`
 */
function tokenOf(body: Buffer): string {
  // A "?" at the start would be taken for that of a URL.
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
