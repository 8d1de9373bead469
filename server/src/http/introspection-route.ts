import { introspectionAnswer } from '../contract/answers.ts'
import { validationFailed } from '../domain/fault.ts'
import type { RateLimiter } from '../domain/rate-limit.ts'
import type { Uses } from '../domain/use-log.ts'
import type { TokenlessUserGroup } from '../domain/user-group.ts'
import type { UserGroupService } from '../domain/user-group-service.ts'
import { Authentication, type AuthenticationParts } from './authentication.ts'
import { checkBodyHeaders, withBody, type BodyReading } from './body.ts'
import { beginCall } from './call.ts'
import type { DirectRoute } from './direct-routes.ts'

const formType = 'application/x-www-form-urlencoded'

export interface IntrospectionRouteParts {
  readonly authentication: AuthenticationParts
  readonly rateLimiter: RateLimiter
  readonly userGroups: UserGroupService
  readonly introspections: Uses<Pick<TokenlessUserGroup, 'workspaceId' | 'teamId'>>
  readonly bodies: BodyReading
}

/** Whose token a dashboard was opened with (RFC 7662): what the renderer asks of every view. */
export function introspectionRoute({
  authentication: parts,
  rateLimiter,
  userGroups,
  introspections,
  bodies,
}: IntrospectionRouteParts): DirectRoute {
  // Resource servers and gateways send what they were made to send: a bearer token, or a client id and its secret.
  const authentication = new Authentication(['Token', 'Bearer', 'Basic'], parts)
  return {
    methods: ['POST'],
    url: '/oauth2/introspect',
    challenge: authentication.challenge,
    serve: async (exchange) => {
      const { raw } = exchange
      const apiToken = await bodies.admission.during(() =>
        authentication.authenticate(raw.headers.authorization),
      )
      beginCall(exchange, exchange, { apiToken, operation: 'introspect' }, rateLimiter)
      checkBodyHeaders(raw, formType, bodies)
      const owner = await withBody(raw, bodies, (body) => userGroups.introspect(apiToken, tokenOf(body)))
      if (owner !== null) {
        const { workspaceId, teamId } = owner.userGroup
        introspections.note({ workspaceId, teamId })
      }
      return introspectionAnswer(owner)
    },
  }
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
