import { isUsable, scopes, type ApiToken, type Scope } from '../api-token/api-token.ts'
import { eventTypes, type EventType } from '../event/event.ts'
import type { JsonDifference } from '../json/json-diff.ts'

/** The configuration of a workspace and environment. An absent list is not managed, and stays as it is. */
export interface Configuration {
  readonly schemas?: readonly ConfiguredSchema[]
  readonly webhookEndpoints?: readonly ConfiguredEndpoint[]
  readonly apiTokens?: readonly ConfiguredApiToken[]
}

export interface ConfiguredSchema {
  readonly providedId: string
  readonly name: string
  readonly dataSources?: readonly ConfiguredDataSource[]
}

export interface ConfiguredDataSource {
  readonly providedId: string
  readonly name: string
}

export interface ConfiguredEndpoint {
  readonly name: string
  readonly url: string
  readonly eventTypes: readonly EventType[]
}

export interface ConfiguredApiToken extends Pick<ApiToken, 'name' | 'scopes' | 'rateLimit' | 'expiresAt'> {
  /** Hash of the token, in lower-case hex. */
  readonly tokenSha256: string
  /** Time for which the previous token of this name keeps working when the hash changes, in seconds. Default is 0. */
  readonly overlapSeconds?: number
}

export const configuredKinds = ['schema', 'data_source', 'webhook_endpoint', 'api_token'] as const
export const configurationOutcomes = ['created', 'updated', 'unchanged', 'deleted', 'refused'] as const

export type ConfigurationOutcome = (typeof configurationOutcomes)[number]

/** The change of one object, made or intended. */
export interface ConfigurationResult {
  readonly kind: (typeof configuredKinds)[number]
  /** Provided id of a schema, those of schema and data source with a slash between them, or a name. */
  readonly key: string
  readonly outcome: ConfigurationOutcome
  /** For `updated` and refused changes, with the names of the document. */
  readonly differences: readonly JsonDifference[]
  /** Reason of a refusal, or what is left to do. */
  readonly message: string | null
}

/** Returns scopes in their fixed order, without duplicates. */
export function orderedScopes(some: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => some.includes(scope))
}

/** Returns event types in their fixed order, without duplicates. */
export function orderedEventTypes(some: readonly EventType[]): EventType[] {
  return eventTypes.filter((type) => some.includes(type))
}

/** Returns true for an API token of the console, which is no configuration. */
export function isOfConsole({ name }: Pick<ApiToken, 'name'>): boolean {
  return name.startsWith('console (')
}

/** Returns true for an API token that a configuration describes: it works, was not replaced, and is not of the console. */
export function isConfigured(apiToken: ApiToken, now: number): boolean {
  return isUsable(apiToken, now) && apiToken.replacedBy === null && !isOfConsole(apiToken)
}
