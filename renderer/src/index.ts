export type { Clock } from './clock.ts'
export {
  IntrospectionClient,
  type CacheOptions,
  type IntrospectionClientOptions,
} from './introspection-client.ts'
export { IntrospectionError, type IntrospectionErrorCode } from './introspection-error.ts'
export type { Disconnection } from './lease/event-feed.ts'
export type { DisconnectionReason } from './lease/feed-connection.ts'
export type { FeedEvent } from './lease/feed-event.ts'
export type { IntrospectionEvents, LeasedCacheOptions, TokenChange } from './lease/leased-cache.ts'
export { checkTemplate, type CheckOptions } from './sql/check.ts'
export { compileSql, type CompileOptions } from './sql/compile.ts'
export type { SqlDialect, SqlValue } from './sql/dialects.ts'
export type { TemplateOptions } from './sql/options.ts'
export type { CompiledSql } from './sql/writer.ts'
export { TemplateError, type TemplateErrorCode } from './template-error.ts'
export { renderText, type TextFormat, type TextOptions } from './text.ts'
export type { MaxAgeCacheOptions } from './user-group-cache.ts'
export type { DataSource, Json, JsonObject, UserGroup, VariableSource } from './user-group.ts'
export { variablesOf, type TemplateVariable } from './variables-of.ts'
