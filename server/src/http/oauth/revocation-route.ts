import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import { mayBeJwt } from '../../domain/viewer-session/jwt.ts'
import type { ViewerSessions } from '../../domain/viewer-session/viewer-sessions.ts'
import { callerOf } from '../authorization.ts'
import { oauthPaths } from '../operations.ts'
import type { FastPathRoute } from '../user/fast-path.ts'
import { readIntrospectionForm, type OAuthClients } from './oauth-clients.ts'

export interface RevocationRouteDependencies {
  readonly clients: OAuthClients
  readonly userGroups: UserGroupService
  readonly viewerSessions: ViewerSessions
}

/** Returns the route of token revocation (RFC 7009). Clients ignore the body of the response. */
export function revocationRoute({
  clients,
  userGroups,
  viewerSessions,
}: RevocationRouteDependencies): FastPathRoute {
  return {
    methods: ['POST'],
    url: oauthPaths.revoke,
    challenge: (code, request) => clients.challenge('revoke', code, request),
    serve: (context) =>
      clients.handle(context, 'revoke', async (_apiToken, body) => {
        const { token } = readIntrospectionForm(body)
        await (mayBeJwt(token) ? viewerSessions : userGroups).revoke(callerOf(context), token)
        return '{}'
      }),
  }
}
