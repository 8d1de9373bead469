import { introspectionResponse } from '../../contract/user/responses.ts'
import type { LastUsedRecorder } from '../../domain/api-token/last-used-tracker.ts'
import type { IntrospectedUserGroup } from '../../domain/user-group/introspection-store.ts'
import type { EventFeed } from '../../domain/event/event-feed.ts'
import type { UserGroupService } from '../../domain/user-group/user-group-service.ts'
import type { FastPathRoute } from '../user/fast-path.ts'
import type { ResponseCache } from '../user/response-cache.ts'
import { oauthPaths } from '../operations.ts'
import { tokenIn, type OAuthClients } from './oauth-clients.ts'

export interface IntrospectionRouteDependencies {
  readonly clients: OAuthClients
  readonly userGroups: UserGroupService
  readonly responses: ResponseCache
  readonly introspections: LastUsedRecorder<IntrospectedUserGroup>
  readonly feed: Pick<EventFeed, 'currentPosition'>
}

/** Returns the route of token introspection (RFC 7662), which the renderer calls for every view of a dashboard. */
export function introspectionRoute({
  clients,
  userGroups,
  responses,
  introspections,
  feed,
}: IntrospectionRouteDependencies): FastPathRoute {
  return {
    methods: ['POST'],
    url: oauthPaths.introspect,
    challenge: (code, request) => clients.challenge('introspect', code, request),
    serve: (context) =>
      clients.handle(context, 'introspect', async (apiToken, body) => {
        // Known before the store is read, so that the response includes all events up to it.
        const position = feed.currentPosition()
        if (position !== null) context.header('X-Event-Position', position)
        const { json, state } = await responses.get('introspect', apiToken, body, async () => {
          const owner = await userGroups.introspect(apiToken, tokenIn(body))
          return {
            json: introspectionResponse(owner),
            state: owner?.state ?? null,
            // A grace period ends without a change of the user group.
            mayCache: owner?.validUntil === null,
          }
        })
        if (state !== null) {
          const { bucket, teamId } = state.location
          introspections.note({ workspaceId: apiToken.workspaceId, bucket, teamId })
        }
        return json
      }),
  }
}
