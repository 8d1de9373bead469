import type { RequestOptions } from './options.ts'
import type { AuditAction, EventType, Scope, WebhookDelivery } from './admin-types.ts'
import type { JsonInterface, JsonObject, Mapping, UserGroupFields } from './user-group.ts'

// Parameters of the management API.

/** Options of an operation that changes one user group. */
export interface ChangeOptions extends RequestOptions {
  /**
   * The expected `revision`. If the user group has another one, the operation changes nothing and fails with
   * `revision_mismatch`. Without it, the last change wins.
   */
  readonly ifRevision?: number | undefined
}

/** Search criteria. A user group must match all that are given. Strings have 1 to 255 characters. */
export interface UserGroupSearch {
  /** Prefix of the `userGroupId`, case-sensitive. */
  readonly userGroupIdPrefix?: string | undefined
  /** Substring of the name. Case and accents are ignored. */
  readonly name?: string | undefined
  /**
   * JSON Pointer (RFC 6901) into the properties, such as `/plan`. Cannot point into arrays. At most 1,000 characters.
   * Requires `propertyValue`.
   */
  readonly property?: string | undefined
  /** Value at `property`. The string `5` also finds the number, and `true` the boolean. At most 1,000 characters. */
  readonly propertyValue?: string | number | boolean | undefined
  /** Key of a mapping entry. Requires `dataSource`. */
  readonly schema?: string | undefined
  /** Value of that mapping entry. Also finds user groups that name the same registered data source by its other id. */
  readonly dataSource?: string | undefined
  readonly suspended?: boolean | undefined
  /** A problem: no mapping, a mapping entry that names no registered data source, or no introspection so far. */
  readonly health?: 'no_mapping' | 'unresolved' | 'never_viewed' | undefined
  /** Maximum number of items per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

export interface PageLimit {
  /** Maximum number of items per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

export interface DataSourceSearch extends PageLimit {
  /** Only data sources of this schema. Default: all. */
  readonly schemaId?: number | undefined
}

/** Search criteria. An event must match all that are given. */
export interface AuditSearch extends PageLimit {
  /** Events at or after this time, in milliseconds since the Unix epoch. */
  readonly since?: number | undefined
  /** Events before this time. */
  readonly until?: number | undefined
  readonly teamId?: number | undefined
  /** Events of the user group with this id. If it was deleted, of all user groups that had the id. */
  readonly userGroupId?: string | undefined
  readonly action?: AuditAction | undefined
  /** For example `api_token:3` or `cli:root`. */
  readonly author?: string | undefined
  readonly requestId?: string | undefined
}

export interface NewUserGroupFields extends UserGroupFields {
  readonly name: string
}

/** Fields to change. Omitted and undefined fields keep their values. */
export interface UserGroupChange {
  /** 1 to 255 characters. */
  readonly name?: string | undefined
  /** At most 1,000 entries. Replaces the whole mapping; null or `{}` clears it. */
  readonly mapping?: Mapping | null | undefined
  /** At most 64 KiB as JSON and 32 levels deep. Replaces all properties; null clears them. */
  readonly properties?: JsonObject | JsonInterface | null | undefined
}

export interface TokenRotation {
  /** Time for which the old token stays valid for viewing, in whole seconds: 0 to 604800. Default: 0. */
  readonly gracePeriodSeconds?: number | undefined
}

export interface VersionRange {
  /** Revision of the version to compare. */
  readonly from: number
  /** Revision of the other version. Default: the current state. */
  readonly to?: number | undefined
}

export interface PromotionFields {
  /** Ids in `Testing`: 1 to 200, without duplicates. */
  readonly userGroupIds: readonly string[]
  /** Changes nothing and returns the differences. Default: false. */
  readonly dryRun?: boolean | undefined
}

export interface CandidateSearch extends PageLimit {
  /** Substring of the name. Case and accents are ignored. */
  readonly name?: string | undefined
}

export interface LeakedTokenFields {
  /** The leaked user group token or API token: 1 to 255 characters. */
  readonly token: string
  /**
   * Stops the token at once. A current user group token is rotated, the grace period of a superseded one ends, an API
   * token is revoked. Default: false, which only looks the token up.
   */
  readonly rotate?: boolean | undefined
}

export interface ApiTokenFields {
  /** Purpose of the API token: 1 to 255 characters, need not be unique. */
  readonly name: string
  /** At least one scope. */
  readonly scopes: readonly Scope[]
  /** Lifetime in seconds: 1 to 315360000, ten years. Default: it never expires. */
  readonly expiresInSeconds?: number | undefined
}

export interface ApiTokenRotation {
  /** Time for which the old API token keeps working, in whole seconds: 0 to 2592000, 30 days. Default: 86400, a day. */
  readonly overlapSeconds?: number | undefined
}

export interface WorkspaceFields {
  /** 1 to 255 characters, unique among workspaces. */
  readonly name: string
}

export interface SchemaFields {
  /** Your id for it: 1 to 255 characters. */
  readonly providedId: string
  /** 1 to 255 characters. */
  readonly name: string
}

export interface DataSourceFields extends SchemaFields {
  /** Id of its schema. */
  readonly schemaId: number
}

export interface WebhookEndpointFields {
  /** 1 to 255 characters, need not be unique. */
  readonly name: string
  /** An https URL at a public address, at most 2,000 characters. Settings of the service may allow others. */
  readonly url: string
  /** Default: all types. */
  readonly eventTypes?: readonly EventType[] | undefined
}

/** Fields to change. Omitted and undefined fields keep their values. */
export interface WebhookEndpointChange {
  readonly name?: string | undefined
  readonly url?: string | undefined
  /** An empty array selects all types. */
  readonly eventTypes?: readonly EventType[] | undefined
  /** While paused, events wait, at most for the retention of events and 3 days. */
  readonly state?: 'active' | 'paused' | undefined
}

export interface WebhookSecretRotation {
  /** Time for which the old secret signs too, in whole seconds: 0 to 2592000, 30 days. Default: 86400, a day. */
  readonly overlapSeconds?: number | undefined
}

export interface WebhookDeliverySearch extends PageLimit {
  /** Only deliveries in this state. Default: all. */
  readonly state?: WebhookDelivery['state'] | undefined
}

export interface WebhookRedelivery {
  /** Events at or after this time, in milliseconds since the Unix epoch. */
  readonly since: number
  /** Events before this time. Default: all. */
  readonly until?: number | undefined
}
