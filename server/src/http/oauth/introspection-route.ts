import { introspectionResponse, sessionIntrospectionResponse } from '../../contract/user/responses.ts'
import type { LastUsedRecorder } from '../../domain/api-token/last-used-tracker.ts'
import type { IntrospectedUserGroup } from '../../domain/user-group/introspection-store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { EventFeed } from '../../domain/event/event-feed.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import { mayBeJwt } from '../../domain/viewer-session/jwt.ts'
import type { ViewerSessions } from '../../domain/viewer-session/viewer-sessions.ts'
import type { FastPathRoute } from '../user/fast-path.ts'
import type { CacheableResponse, ResponseCache } from '../user/response-cache.ts'
import { oauthPaths } from '../operations.ts'
import { readIntrospectionForm, type OAuthClients } from './oauth-clients.ts'

export interface IntrospectionRouteDependencies {
  readonly clients: OAuthClients
  readonly userGroups: UserGroupService
  readonly viewerSessions: ViewerSessions
  readonly responses: ResponseCache
  readonly introspections: LastUsedRecorder<IntrospectedUserGroup>
  readonly feed: Pick<EventFeed, 'currentPosition'>
}

/** Returns the route of token introspection (RFC 7662), which the renderer calls for every view of a dashboard. */
export function introspectionRoute({
  clients,
  userGroups,
  viewerSessions,
  responses,
  introspections,
  feed,
}: IntrospectionRouteDependencies): FastPathRoute {
  const respond = async (scope: TenantScope, body: Buffer): Promise<CacheableResponse> => {
    const { token, resource } = readIntrospectionForm(body)
    if (mayBeJwt(token)) {
      const session = await viewerSessions.introspect(scope, token, resource)
      const cacheUntil = session === null ? 0 : session.claims.exp * 1000
      return { json: sessionIntrospectionResponse(session), state: session?.state ?? null, cacheUntil }
    }
    const owner = await userGroups.introspect(scope, token)
    // A grace period ends without a change of the user group.
    const cacheUntil = owner?.validUntil === null ? Infinity : 0
    return { json: introspectionResponse(owner), state: owner?.state ?? null, cacheUntil }
  }
  return {
    methods: ['POST'],
    url: oauthPaths.introspect,
    challenge: (code, request) => clients.challenge('introspect', code, request),
    serve: (context) =>
      clients.handle(context, 'introspect', async (apiToken, body) => {
        // Known before the store is read, so that the response includes all events up to it.
        const position = feed.currentPosition()
        if (position !== null) context.header('X-Event-Position', position)
        const { json, state } = await responses.get('introspect', apiToken, body, () =>
          respond(apiToken, body),
        )
        if (state !== null) {
          const { bucket, teamId } = state.location
          introspections.note({ workspaceId: apiToken.workspaceId, bucket, teamId })
        }
        return json
      }),
  }
}
