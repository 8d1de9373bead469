import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import { callerOf } from '../authorization.ts'
import { oauthPaths } from '../operations.ts'
import type { FastPathRoute } from '../user/fast-path.ts'
import { tokenIn, type OAuthClients } from './oauth-clients.ts'

export interface RevocationRouteDependencies {
  readonly clients: OAuthClients
  readonly userGroups: UserGroupService
}

/** Returns the route of token revocation (RFC 7009). Clients ignore the body of the response. */
export function revocationRoute({ clients, userGroups }: RevocationRouteDependencies): FastPathRoute {
  return {
    methods: ['POST'],
    url: oauthPaths.revoke,
    challenge: (code, request) => clients.challenge('revoke', code, request),
    serve: (context) =>
      clients.handle(context, 'revoke', async (_apiToken, body) => {
        await userGroups.revoke(callerOf(context), tokenIn(body))
        return '{}'
      }),
  }
}
