import type { EventFeed } from '../../domain/event/event-feed.ts'
import type { FastPathRoute } from '../user/fast-path.ts'
import { oauthPaths } from '../operations.ts'
import type { Introspections } from './introspections.ts'
import type { OAuthClients } from './oauth-clients.ts'

export interface IntrospectionRouteDependencies {
  readonly clients: OAuthClients
  readonly introspections: Introspections
  readonly feed: Pick<EventFeed, 'currentPosition'>
}

/** Returns the route of token introspection (RFC 7662), which the renderer calls for every view of a dashboard. */
export function introspectionRoute({
  clients,
  introspections,
  feed,
}: IntrospectionRouteDependencies): FastPathRoute {
  return {
    methods: ['POST'],
    url: oauthPaths.introspect,
    challenge: (code, request) => clients.challenge('introspect', code, request),
    serve: (context) =>
      clients.handle(context, 'introspect', (apiToken, body) => {
        // Known before the store is read, so that the response includes all events up to it.
        const position = feed.currentPosition()
        if (position !== null) context.header('X-Event-Position', position)
        return introspections.respond(apiToken, body)
      }),
  }
}
