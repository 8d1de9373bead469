export type { Clock } from './clock.ts'
export {
  IntrospectionClient,
  type CacheOptions,
  type IntrospectOptions,
  type IntrospectionClientOptions,
  type OutgoingRequest,
} from './introspection-client.ts'
export { IntrospectionError, type IntrospectionErrorCode } from './introspection-error.ts'
export type { Disconnection } from './lease/event-feed.ts'
export type { DisconnectionReason } from './lease/feed-connection.ts'
export type { FeedEvent } from './lease/feed-event.ts'
export type { IntrospectionEvents, LeasedCacheOptions, TokenChange } from './lease/leased-cache.ts'
export * from './templates.ts'
export type { MaxAgeCacheOptions } from './user-group-cache.ts'
export { withUserGroup, type PostgresConnection, type RowOwner } from './with-user-group.ts'
