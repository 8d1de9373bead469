// Generated from the operations of the service by client/scripts/generate-types.js. Do not edit.

import type { RequestOptions } from './options.ts'
import type { Paged } from './paged.ts'
import type { DataSource, Environment, Json, JsonInterface, JsonObject, Mapping } from './user-group.ts'

// All times are in milliseconds since the Unix epoch, as `new Date(…)` takes them.

/** Options of an operation that changes one user group. */
export interface ChangeOptions extends RequestOptions {
  /**
   * The expected `revision`. If the user group has another one, the operation changes nothing and fails with
   * `revision_mismatch`. Without it, the last change wins.
   */
  readonly ifRevision?: number | undefined
}

export interface AcceptanceFields {
  /**
   * `shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data source.
   * `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with another one.
   */
  readonly kind: 'shared' | 'unresolved' | 'mapped_twice'
  /** `schema` of the finding. */
  readonly schema: string
  /** `dataSource` of the finding. */
  readonly dataSource: string
  /** Changes if other user groups are affected. Send it to accept the finding. */
  readonly version: string
  /** Why the finding is intended: 1 to 255 characters. At least one character must be visible. */
  readonly reason: string
}

/** A user group as the management API shows it: everything except the token. */
export interface AdminUserGroup {
  /** Identifies the user group in the management API. */
  readonly teamId: number
  /** The user_group_id that was sent. */
  readonly providedId: string
  /** The environment of the user group, which is that of the API token that created it. */
  readonly environment: Environment
  /** Name of the user group. */
  readonly name: string
  /** The mapping as it was sent: schema to data source, each by id or by provided id. Null if there is none. */
  readonly mapping: Mapping | null
  /** The properties as sent; null if there are none. */
  readonly properties: JsonObject | null
  /** Increases with every change, including token rotations and suspensions. Part of the ETag. */
  readonly revision: number
  /** Time of creation. */
  readonly createdAt: number
  /** Time of the last change of name, mapping or properties. */
  readonly updatedAt: number
  /**
   * Author of the change: `api_token:` and the id of the API token, `person:` and the id of the person at the identity
   * provider, `cli:` and the name of the operator, or `service`. Null if it was not recorded.
   */
  readonly updatedBy: string | null
  /** Issue time of the current token. */
  readonly tokenIssuedAt: number
  /** Start of the suspension, during which tokens are inactive for the renderer. Null if it is not suspended. */
  readonly suspendedAt: number | null
}

/** An API token without its secret, which is shown only once. */
export interface ApiToken {
  /** Id of the API token. */
  readonly id: number
  readonly name: string
  /** The environment of the user group, which is that of the API token that created it. */
  readonly environment: Environment
  readonly scopes: readonly Scope[]
  /** Time of creation. */
  readonly createdAt: number
  /** Time of expiry. Null if it never expires. */
  readonly expiresAt: number | null
  /** Time of revocation. Null if it is not revoked. */
  readonly revokedAt: number | null
  /** Time of the last use, rounded down to the minute. Null if it was never used. */
  readonly lastUsedAt: number | null
  /** Id of the API token that replaced this one. Null if none did. */
  readonly replacedBy: number | null
  /** Requests per second and burst, for example `500:2000`. Null if the limit of the service applies. */
  readonly rateLimit: string | null
}

export interface ApiTokenFields {
  /** Purpose of the API token: 1 to 255 characters, need not be unique. At least one character must be visible. */
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

/** Kind of a change. Newer services may send others. */
export type AuditAction =
  | 'user_group.created'
  | 'user_group.updated'
  | 'user_group.token_rotated'
  | 'user_group.grace_period_ended'
  | 'user_group.suspended'
  | 'user_group.resumed'
  | 'user_group.deleted'
  | 'user_group.restored'
  | 'user_group.erased'
  | 'user_group.sessions_ended'
  | 'user_group.viewed_as'
  | 'api_token.created'
  | 'api_token.rotated'
  | 'api_token.limited'
  | 'api_token.revoked'
  | 'isolation_finding.accepted'
  | 'isolation_finding.reopened'
  | 'signing_key.created'
  | 'signing_key.rotated'
  | 'signing_key.retired'
  | 'workspace.created'
  | 'schema.created'
  | 'schema.updated'
  | 'schema.deleted'
  | 'data_source.created'
  | 'data_source.updated'
  | 'data_source.deleted'
  | 'webhook_endpoint.created'
  | 'webhook_endpoint.updated'
  | 'webhook_endpoint.secret_rotated'
  | 'webhook_endpoint.disabled'
  | 'webhook_endpoint.deleted'
  | 'job.created'
  | 'job.canceled'
  | 'console_session.created'
  | 'console_session.ended'
  | 'sign_in_link.created'
  | 'usage.erased'
  | 'audit_log.exported'
  | 'audit_log.pruned'

/** The record of one change. */
export interface AuditEvent {
  /** A UUID version 7, so ids sort by time. */
  readonly eventId: string
  /** Time of the change. */
  readonly occurredAt: number
  readonly action: AuditAction
  /**
   * `api_token:` and the id of the API token, `person:` and the id of the person at the identity provider, `cli:` and
   * the name of the operator, or `service`.
   */
  readonly author: string
  /** `X-Request-Id` of the response. Null if there was no request. */
  readonly requestId: string | null
  /** Address of the client, behind the proxies of `UGS_TRUSTED_PROXIES`. Null if there was no request. */
  readonly clientAddress: string | null
  /** `User-Agent` of the request, at most 255 characters. Null if there was none. */
  readonly userAgent: string | null
  /** The changed user group. Null if the change did not concern one. */
  readonly userGroup: {
    /** Team id of the user group. */
    readonly teamId: number
    /** The user_group_id that was sent. */
    readonly providedId: string
  } | null
  /** Depends on the action, for example `changed_fields` or `apiTokenId`. Never contains a secret. */
  readonly details: JsonObject | null
}

/** Search criteria. An event must match all that are given. */
export interface AuditSearch {
  /** Events at or after this time. */
  readonly since?: number | undefined
  /** Events before this time. */
  readonly until?: number | undefined
  /** Team id of a user group. */
  readonly teamId?: number | undefined
  /** Events of the user group with this id. If it was deleted, of all user groups that had the id. */
  readonly userGroupId?: string | undefined
  /** Kind of a change. Newer services may send others. */
  readonly action?: AuditAction | undefined
  /**
   * Author of the changes: `api_token:` and the id of the API token, `person:` and the id of the person at the
   * identity provider, `cli:` and the name of the operator, or `service`. `cli:` alone finds those of all operators
   * at the command line.
   */
  readonly author?: string | undefined
  /** `X-Request-Id` of a request. */
  readonly requestId?: string | undefined
  /** Maximum number of entries per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

export interface CandidateSearch {
  /** Part of the name. Case and accents are ignored. */
  readonly name?: string | undefined
  /** Maximum number of entries per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

export interface ConsoleSession {
  /** Id of the console session. */
  readonly id: number
  /** Id of the API token. Null for a person. */
  readonly apiTokenId: number | null
  /** Id of the person at the identity provider. Null for an API token. */
  readonly person: string | null
  /** Name of the person or of the API token. */
  readonly name: string
  /** Null if the identity provider sent none that is verified. */
  readonly email: string | null
  readonly scopes: readonly ('observe' | 'support' | 'admin')[]
  /** Time of the sign-in. */
  readonly createdAt: number
  /** Time of the last request, up to a minute late. */
  readonly lastUsedAt: number
  /** Latest end. */
  readonly expiresAt: number
}

export interface DataSourceFields {
  /** Id of its schema. */
  readonly schemaId: number
  /** Your id for it: 1 to 255 characters. At least one character must be visible. */
  readonly providedId: string
  /** 1 to 255 characters. At least one character must be visible. */
  readonly name: string
}

export interface DataSourceSearch {
  /** Only data sources of this schema. Default: all. */
  readonly schemaId?: number | undefined
  /** Maximum number of entries per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

/** A user group that was deleted within the last 30 days. */
export interface DeletedUserGroup {
  /** Identifies the user group in the management API. */
  readonly teamId: number
  /** The user_group_id that was sent. */
  readonly providedId: string
  /** Name of the user group. */
  readonly name: string
  /** Time of the deletion. */
  readonly deletedAt: number
  /**
   * Author of the change: `api_token:` and the id of the API token, `person:` and the id of the person at the identity
   * provider, `cli:` and the name of the operator, or `service`. Null if it was not recorded.
   */
  readonly deletedBy: string | null
}

/** A difference between two states. `before` is absent if the value was added, `after` if it was removed. */
export interface Difference {
  /** A JSON Pointer (RFC 6901), such as `/properties/plan`. */
  readonly path: string
  readonly before?: Json
  readonly after?: Json
}

export interface ErasureOfViewer {
  /** The viewer. */
  readonly viewerId: string
  /** Only in this user group. Viewer ids may repeat in others. */
  readonly teamId?: number | undefined
}

/** For example `user_group.suspended`. Newer services may send others. */
export type EventType =
  | 'user_group.created'
  | 'user_group.updated'
  | 'user_group.token_rotated'
  | 'user_group.grace_period_ended'
  | 'user_group.suspended'
  | 'user_group.resumed'
  | 'user_group.deleted'
  | 'user_group.restored'
  | 'user_group.sessions_ended'
  | 'schema.created'
  | 'schema.updated'
  | 'schema.deleted'
  | 'data_source.created'
  | 'data_source.updated'
  | 'data_source.deleted'
  | 'api_token.revoked'
  | 'signing_key.retired'

/** The last acceptance of a finding. */
export interface FindingAcceptance {
  readonly reason: string
  /** Time of the acceptance. */
  readonly acceptedAt: number
  readonly acceptedBy: string
}

export interface FindingName {
  /**
   * `shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data source.
   * `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with another one.
   */
  readonly kind: 'shared' | 'unresolved' | 'mapped_twice'
  /** `schema` of the finding. */
  readonly schema: string
  /** `dataSource` of the finding. */
  readonly dataSource: string
}

/** Search criteria. A finding must match all that are given. */
export interface FindingSearch {
  /**
   * `shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data source.
   * `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with another one.
   */
  readonly kind?: 'shared' | 'unresolved' | 'mapped_twice' | undefined
  /**
   * `accepted` as long as the same user groups are affected, or more than 200 as when it was accepted. Otherwise
   * `open`.
   */
  readonly status?: 'open' | 'accepted' | undefined
  /** Findings with a `changedAt` at or after this time. */
  readonly since?: number | undefined
  /** Findings with a `changedAt` before this time. */
  readonly until?: number | undefined
  /** Maximum number of entries per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

/** A finding of the isolation check. `affected` counts the user groups, up to 200. */
export interface IsolationFinding {
  /**
   * `shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data source.
   * `mapped_twice`: a mapping names a schema by its id with this entry, and by its provided id with another one.
   */
  readonly kind: 'shared' | 'unresolved' | 'mapped_twice'
  /** Search for `schema` and `dataSource` to find all affected user groups. */
  readonly schema: string
  readonly dataSource: string
  /** Null if it is not registered. */
  readonly registered: DataSource | null
  /** The first ten affected user groups. */
  readonly userGroups: readonly {
    /** Internal id of the user group. You do not need to store it. */
    readonly teamId: number
    /** The user_group_id that was sent. */
    readonly providedId: string
    /** Name of the user group. */
    readonly name: string
  }[]
  readonly affected: Total
  /** Time at which name, mapping or properties of one of the first 200 last changed. */
  readonly changedAt: number
  /**
   * `accepted` as long as the same user groups are affected, or more than 200 as when it was accepted. Otherwise
   * `open`.
   */
  readonly status: 'open' | 'accepted'
  /** Null if nobody accepted it. An open finding with an acceptance has changed since. */
  readonly acceptance: FindingAcceptance | null
  /** Changes if other user groups are affected. Send it to accept the finding. */
  readonly version: string
}

/** A change of many user groups, which goes on after the response, also after a restart of the service. */
export interface Job {
  /** Id of the job. */
  readonly id: number
  readonly action: JobAction
  /** For `rotate`. Null otherwise. */
  readonly gracePeriodSeconds: number | null
  /** Null if the job has team ids. */
  readonly filter: JobFilter | null
  /**
   * `queued` while an earlier job of the workspace is unfinished. `canceling` until the user groups that are in flight
   * are recorded.
   */
  readonly state: 'queued' | 'running' | 'canceling' | 'canceled' | 'finished'
  /** Author of the changes, as in the audit log. */
  readonly author: string
  /** `requestId` of the audit events of the changes. */
  readonly requestId: string
  /** Time of creation. */
  readonly createdAt: number
  /** Time of the start. Null if it is queued. */
  readonly startedAt: number | null
  /** Time of the end. Null if it is unfinished. */
  readonly finishedAt: number | null
  readonly total: Total
  /** Number of user groups with a result. */
  readonly processed: number
  /** Number of user groups that were changed. */
  readonly done: number
  /** Number of user groups that already were as wanted. */
  readonly unchanged: number
  /** Number of user groups that could not be changed. */
  readonly failed: number
}

/** The change that the job makes to each user group. */
export type JobAction = 'suspend' | 'resume' | 'rotate' | 'delete' | 'promote'

/** The selection is one of: `teamIds`, `all`, or search criteria, all of which a user group must match. */
export interface JobFields {
  readonly action: JobAction
  /** For `rotate`: time for which the old tokens stay valid for viewing, in whole seconds: 0 to 604800. Default: 0. */
  readonly gracePeriodSeconds?: number | undefined
  /** Team ids: 1 to 1000, without duplicates. For `promote`, those of `Testing`. */
  readonly teamIds?: readonly number[] | undefined
  /** Selects every user group. */
  readonly all?: true | undefined
  /** Part of the user group id or of the name. Case and accents are ignored. */
  readonly text?: string | undefined
  /** Prefix of the user group id, case-sensitive. */
  readonly userGroupIdPrefix?: string | undefined
  /** Part of the name. Case and accents are ignored. */
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
  /** Only user groups that are, or are not, suspended. */
  readonly suspended?: boolean | undefined
  /**
   * A problem: no mapping, a mapping entry that names no registered data source, or no introspection so far. No index
   * has it, so a page examines a limited number of user groups and may have few matches, or none.
   */
  readonly health?: 'no_mapping' | 'unresolved' | 'never_viewed' | undefined
}

/** Search criteria. Empty for every user group. */
export interface JobFilter {
  /** Part of the user group id or of the name. Case and accents are ignored. */
  readonly text?: string
  /** Prefix of the user group id, case-sensitive. */
  readonly userGroupIdPrefix?: string
  /** Part of the name. Case and accents are ignored. */
  readonly name?: string
  /**
   * JSON Pointer (RFC 6901) into the properties, such as `/plan`. Cannot point into arrays. At most 1,000 characters.
   * Requires `propertyValue`.
   */
  readonly property?: string
  /** Value at `property`. The string `5` also finds the number, and `true` the boolean. At most 1,000 characters. */
  readonly propertyValue?: string | number | boolean
  /** Key of a mapping entry. Requires `dataSource`. */
  readonly schema?: string
  /** Value of that mapping entry. Also finds user groups that name the same registered data source by its other id. */
  readonly dataSource?: string
  /** Only user groups that are, or are not, suspended. */
  readonly suspended?: boolean
  /**
   * A problem: no mapping, a mapping entry that names no registered data source, or no introspection so far. No index
   * has it, so a page examines a limited number of user groups and may have few matches, or none.
   */
  readonly health?: 'no_mapping' | 'unresolved' | 'never_viewed'
}

/** What a job did to one user group. */
export interface JobResult {
  /** Place among the results, from 1. */
  readonly number: number
  /** Internal id of the user group. You do not need to store it. */
  readonly teamId: number
  /** Null if no user group had the team id. */
  readonly providedId: string | null
  /** `unchanged` if the user group already was as wanted. */
  readonly outcome: 'done' | 'unchanged' | 'failed'
  /** The reason of `failed`. Null otherwise. */
  readonly error: {
    /** Error code of the operation. */
    readonly code: string
    readonly message: string
  } | null
}

export interface JobResultSearch {
  /** Only results with this outcome. Default: all. */
  readonly outcome?: 'done' | 'unchanged' | 'failed' | undefined
  /** Maximum number of entries per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

export interface LeakedTokenFields {
  /** The leaked user group token, viewer session or API token: 1 to 6144 characters. */
  readonly token: string
  /**
   * If true, stops the token at once: rotates a current user group token, ends the grace period of a superseded one,
   * ends all sessions of the viewer of a session, or revokes an API token. Default: false, which only looks the token
   * up.
   */
  readonly rotate?: boolean | undefined
}

/** The owner of a leaked token, in its state after the report. */
export type LeakedToken =
  | {
      readonly kind: 'user_group_token'
      /** True if the token was valid when the request arrived. */
      readonly works: boolean
      readonly userGroup: AdminUserGroup
      /** End of the grace period of a superseded token. Null if it was the current token. */
      readonly validUntil: number | null
      /** True if this request rotated the token. */
      readonly rotated: boolean
    }
  | {
      readonly kind: 'viewer_session'
      /** True if the token was valid when the request arrived. */
      readonly works: boolean
      readonly userGroup: AdminUserGroup
      readonly viewerId: string
      readonly sessionId: string
      /** End of the session. */
      readonly expiresAt: number
      /** True if this request ended the sessions of the viewer. */
      readonly ended: boolean
    }
  | {
      readonly kind: 'api_token'
      /** True if the token was valid when the request arrived. */
      readonly works: boolean
      readonly apiToken: ApiToken
    }
  | {
      /** Not a token of this workspace and environment. */
      readonly kind: 'unknown'
      /** True if the token was valid when the request arrived. */
      readonly works: boolean
    }

/** A user group as a search returns it. */
export interface ListedUserGroup {
  /** Identifies the user group in the management API. */
  readonly teamId: number
  /** The user_group_id that was sent. */
  readonly providedId: string
  /** The environment of the user group, which is that of the API token that created it. */
  readonly environment: Environment
  /** Name of the user group. */
  readonly name: string
  /** The mapping as it was sent: schema to data source, each by id or by provided id. Null if there is none. */
  readonly mapping: Mapping | null
  /** The properties as sent; null if there are none. */
  readonly properties: JsonObject | null
  /** Increases with every change, including token rotations and suspensions. Part of the ETag. */
  readonly revision: number
  /** Time of creation. */
  readonly createdAt: number
  /** Time of the last change of name, mapping or properties. */
  readonly updatedAt: number
  /**
   * Author of the change: `api_token:` and the id of the API token, `person:` and the id of the person at the identity
   * provider, `cli:` and the name of the operator, or `service`. Null if it was not recorded.
   */
  readonly updatedBy: string | null
  /** Issue time of the current token. */
  readonly tokenIssuedAt: number
  /** Start of the suspension, during which tokens are inactive for the renderer. Null if it is not suspended. */
  readonly suspendedAt: number | null
  readonly health: {
    /** Number of mapping entries. */
    readonly mappingEntries: number
    /** Number of mapping entries that name no registered data source; 0 if no schema is registered. */
    readonly unresolvedEntries: number
    /**
     * Time of the last introspection, rounded down to the minute. Null if no renderer has introspected a token of the
     * user group yet.
     */
    readonly lastIntrospectedAt: number | null
  }
}

export interface NewApiToken {
  readonly apiToken: ApiToken
  /** The API token. It is shown only once, so store it. */
  readonly token: string
}

export interface NewUserGroupFields {
  /**
   * Your own id of this user group. Unique within a workspace and an environment; compared exactly. At least one
   * character must be visible.
   */
  readonly userGroupId: string
  /** Name of the user group. Unchanged if omitted. At least one character must be visible. */
  readonly name: string
  /**
   * Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; null or {} clears
   * it; unchanged if omitted.
   */
  readonly mapping?: Mapping | null | undefined
  /**
   * Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels deep, without
   * U+0000. Replaced as a whole; null clears it; unchanged if omitted.
   */
  readonly properties?: JsonObject | JsonInterface | null | undefined
}

export interface NewWorkspace {
  readonly workspace: Workspace
  readonly apiToken: ApiToken
  /** An API token with the scope `admin` in the new workspace. It is shown only once, so store it. */
  readonly token: string
}

/**
 * What needs attention in this environment. `isolationFindings` excludes unresolved mappings, and both exclude
 * accepted findings.
 */
export interface Overview {
  readonly userGroups: Total
  readonly suspendedUserGroups: Total
  readonly unresolvedMappings: Total
  readonly isolationFindings: Total
  /** Null if the store has no webhooks (Citus). */
  readonly webhookEndpoints: {
    /** Number of active webhook endpoints whose last attempt failed. */
    readonly failing: number
    /** Number of webhook endpoints that the service has disabled. */
    readonly disabled: number
  } | null
  /** Number of API tokens that expire within 30 days. */
  readonly expiringApiTokens: number
  /** Number of unfinished jobs. */
  readonly unfinishedJobs: number
  /** The last ten changes, the newest first. */
  readonly lastChanges: readonly AuditEvent[]
}

export interface PageLimit {
  /** Maximum number of entries per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

/** A user group of `Testing` that can be promoted. */
export interface PromotionCandidate {
  /** Internal id of the user group. You do not need to store it. */
  readonly teamId: number
  /** The user_group_id that was sent. */
  readonly providedId: string
  /** Name of the user group. */
  readonly name: string
  /** Time of the last change of name, mapping or properties. */
  readonly updatedAt: number
  /** Time of suspension in `Testing`, which a promotion does not copy. Null if it is not suspended. */
  readonly suspendedAt: number | null
  /**
   * Number of mapping entries that name no registered data source of `Customer`; 0 if it has no schema. With
   * `UGS_MAPPING=registered`, the user group is refused, otherwise its dashboards find no data.
   */
  readonly unresolvedEntries: number
}

export interface PromotionFields {
  /** Ids in `Testing`: 1 to 200, without duplicates. */
  readonly userGroupIds: readonly string[]
  /** Changes nothing and returns the differences. Default: false. */
  readonly dryRun?: boolean | undefined
}

/** Result of promoting one user group, or of a dry run. */
export interface PromotionResult {
  /** The user_group_id that was sent. */
  readonly providedId: string
  /**
   * `created`, `updated` or `unchanged` in `Customer`; `not_found` in `Testing`; `refused` if the mapping names
   * something that is not registered in `Customer`.
   */
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'not_found' | 'refused'
  readonly differences: readonly Difference[]
  /** Team id in `Customer`. Null if the user group does not exist there. */
  readonly teamId: number | null
  /** Reason for `refused`. Null otherwise. */
  readonly message: string | null
  /** Where the user group is suspended. A promotion changes neither: a new user group is active. */
  readonly suspended: {
    readonly inTesting: boolean
    readonly inCustomer: boolean
  }
  /**
   * Number of mapping entries that name no registered data source of `Customer`; 0 if it has no schema. With
   * `UGS_MAPPING=registered`, the user group is refused, otherwise its dashboards find no data.
   */
  readonly unresolvedEntries: number
}

export interface ProvidedIdQuery {
  /**
   * Your own id of this user group. Unique within a workspace and an environment; compared exactly. At least one
   * character must be visible.
   */
  readonly userGroupId: string
}

export interface RegisteredDataSource {
  /** Id that the service assigned. */
  readonly id: number
  /** The id that you assigned. */
  readonly providedId: string
  readonly name: string
  /** Time of registration. */
  readonly createdAt: number
  /** Id of its schema. */
  readonly schemaId: number
}

export interface RegisteredSchema {
  /** Id that the service assigned. */
  readonly id: number
  /** The id that you assigned. */
  readonly providedId: string
  readonly name: string
  /** Time of registration. */
  readonly createdAt: number
}

export interface RotatedApiToken {
  readonly apiToken: ApiToken
  /** The API token. It is shown only once, so store it. */
  readonly token: string
  readonly replaces: ApiToken
}

export interface SchemaFields {
  /** Your id for it: 1 to 255 characters. At least one character must be visible. */
  readonly providedId: string
  /** 1 to 255 characters. At least one character must be visible. */
  readonly name: string
}

/** A permission of an API token. */
export type Scope = 'read' | 'write' | 'introspect' | 'observe' | 'support' | 'admin'

export interface SessionsToEnd {
  /** The viewer whose sessions end. Default: all viewers. At least one character must be visible. */
  readonly viewerId?: string | undefined
}

export interface TokenRotation {
  /** Time for which the old token stays valid for viewing, in whole seconds: 0 to 604800. Default: 0. */
  readonly gracePeriodSeconds?: number | undefined
}

/** A number of entries. */
export interface Total {
  /** Number of entries. */
  readonly count: number
  /** False if there are at least `count`: counting stops at 10,000, or when it takes too long. */
  readonly isExact: boolean
}

/**
 * Who looked. A user group has `teamId`, `providedId`, `name`, `viewers`, `activeDays`, `viewerDays` and
 * `lastSeenAt`; a viewer has `viewerId` instead of `viewers` and `viewerDays`; a resource has `resource`,
 * `userGroups`, `viewers`, `activeDays`, `viewerDays` and `lastSeenAt`; a day has `day`, `userGroups` and
 * `viewers`.
 */
export interface Usage {
  /** Team id of the user group. */
  readonly teamId?: number
  /** The user_group_id. Null if the user group was deleted for good. */
  readonly providedId?: string | null
  /** Name of the user group. Null if the user group was deleted for good. */
  readonly name?: string | null
  /** Of a viewer. */
  readonly viewerId?: string
  /** Of a resource. Empty for looks that named none. */
  readonly resource?: string
  /** Of a day, in UTC. */
  readonly day?: string
  /** Number of user groups that looked. Of a resource or day. */
  readonly userGroups?: number
  /** Number of known viewers. */
  readonly viewers?: number
  /** Number of days on which anyone looked. */
  readonly activeDays?: number
  /** Number of pairs of a known viewer and a day on which that viewer looked. */
  readonly viewerDays?: number
  /**
   * Time of the last look. Of a user group to the minute; of a viewer or resource, a later look of the same day may be
   * missing.
   */
  readonly lastSeenAt?: number
  /** True if some viewers are counted as one. Otherwise absent. */
  readonly truncated?: boolean
}

export interface UsageSearch {
  /** A month in UTC. Default: the current one. */
  readonly month?: string | undefined
  /** What an entry is about. */
  readonly by?: 'user_group' | 'viewer' | 'resource' | 'day' | undefined
  /** Only these user groups: up to 200 team ids, separated by commas. */
  readonly teamId?: string | undefined
  /** Maximum number of entries per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

/** Fields to change. Omitted fields keep their values. */
export interface UserGroupChange {
  /** Name of the user group. Unchanged if omitted. At least one character must be visible. */
  readonly name?: string | undefined
  /**
   * Maps schemas to data sources, each by its id or by your own provided id. Replaced as a whole; null or {} clears
   * it; unchanged if omitted.
   */
  readonly mapping?: Mapping | null | undefined
  /**
   * Available as variables in dashboards and SQL. At most 64 KiB as compact JSON in UTF-8 and 32 levels deep, without
   * U+0000. Replaced as a whole; null clears it; unchanged if omitted.
   */
  readonly properties?: JsonObject | JsonInterface | null | undefined
}

export interface UserGroupErasure {
  /** Identifies the user group in the management API. */
  readonly teamId: number
  /** What was erased, besides the user group itself. */
  readonly erased: {
    /** Number of earlier versions. */
    readonly versions: number
    /** Number of rows of usage: one for each month, viewer and dashboard. */
    readonly usageRows: number
    /** Number of audit events that lost the id and the details. */
    readonly auditEvents: number
  }
  /** What retention still holds. */
  readonly retained: readonly {
    /** Place that still has the id. */
    readonly place: 'events' | 'search_index' | 'jobs' | 'audit_log' | 'backups'
    /** What it has, and until when. */
    readonly message: string
  }[]
}

/** Search criteria. A user group must match all that are given. Strings have 1 to 255 characters. */
export interface UserGroupSearch {
  /** Part of the user group id or of the name. Case and accents are ignored. */
  readonly text?: string | undefined
  /** Prefix of the user group id, case-sensitive. */
  readonly userGroupIdPrefix?: string | undefined
  /** Part of the name. Case and accents are ignored. */
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
  /**
   * A problem: no mapping, a mapping entry that names no registered data source, or no introspection so far. No index
   * has it, so a page examines a limited number of user groups and may have few matches, or none.
   */
  readonly health?: 'no_mapping' | 'unresolved' | 'never_viewed' | undefined
  /**
   * Order. Names are ordered by code point, without the case of ASCII letters. With search criteria, a page examines a
   * limited number of user groups and may have few matches, or none.
   */
  readonly sort?: 'name' | 'user_group_id' | 'created_at' | undefined
  /** Direction of `sort`, which it requires. Default: `asc`. */
  readonly order?: 'asc' | 'desc' | undefined
  /** If true, `total` is the number of matches. */
  readonly total?: boolean | undefined
  /** Maximum number of entries per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

/** An earlier state of a user group, before a change of its name, mapping or properties. */
export interface UserGroupVersion {
  /** The last revision with this state. */
  readonly revision: number
  /** Name of the user group. */
  readonly name: string
  /** The mapping as it was sent: schema to data source, each by id or by provided id. Null if there is none. */
  readonly mapping: Mapping | null
  /** The properties as sent; null if there are none. */
  readonly properties: JsonObject | null
  /** Time of the last change of name, mapping or properties. */
  readonly updatedAt: number
  /**
   * Author of the change: `api_token:` and the id of the API token, `person:` and the id of the person at the identity
   * provider, `cli:` and the name of the operator, or `service`. Null if it was not recorded.
   */
  readonly updatedBy: string | null
}

/** Diagnosis of one user group: variables, data sources, token and recent versions. */
export interface UserGroupView {
  readonly userGroup: AdminUserGroup
  /** The variables `user_group.…` of dashboards and SQL, as the renderer gets them. */
  readonly variables: {
    /** The user_group_id that was sent. */
    readonly providedId: string
    /** Name of the user group. */
    readonly name: string
    /** The properties as sent; null if there are none. */
    readonly properties: JsonObject | null
  }
  /** One entry for each mapping entry. */
  readonly dataSources: readonly {
    /** The key of the mapping entry. */
    readonly schema: string
    /** The value of the mapping entry. */
    readonly dataSource: string
    /** True if the key names a registered schema. */
    readonly hasSchema: boolean
    /** The data source that the entry names. Null if it is not registered: dashboards that use it are empty. */
    readonly registered: DataSource | null
  }[]
  readonly token: {
    /** True if the current token is active for the renderer. */
    readonly active: boolean
    /** Time at which it was issued. */
    readonly issuedAt: number
    /** Running grace periods of old tokens, the last to end first, at most 100. */
    readonly gracePeriods: readonly {
      /** Time of the rotation. */
      readonly supersededAt: number
      /** Time at which the old token stops. */
      readonly validUntil: number
    }[]
  }
  /**
   * Time of the last introspection, rounded down to the minute. Null if no renderer has introspected a token of the
   * user group yet.
   */
  readonly lastIntrospectedAt: number | null
  /** The ten most recent versions, the newest first. */
  readonly versions: readonly UserGroupVersion[]
}

export interface ViewAs {
  /** Shows dashboards as the user group. Open it once; do not pass it on. */
  readonly url: string
  /** End of the session. */
  readonly expiresAt: number
}

/** The delivery of one event to one webhook endpoint. */
export interface WebhookDelivery {
  /** Id of the delivery. */
  readonly id: number
  /** `webhook-id` of the request, the same for each attempt. */
  readonly eventId: string
  readonly eventType: EventType
  /** Time of the event. */
  readonly occurredAt: number
  /** The user group. Null if the event concerns the whole environment. */
  readonly teamId: number | null
  /** `pending` before the first attempt, `failing` after an attempt that failed. */
  readonly state: 'pending' | 'failing' | 'delivered'
  /** Number of attempts. */
  readonly attempts: number
  /** Time of the last attempt. Null if there was none. */
  readonly lastAttemptAt: number | null
  /** Time of the next attempt. Null if it was delivered, and while it waits for an earlier event of the user group. */
  readonly nextAttemptAt: number | null
  /** HTTP status of the last response. Null if there was none. */
  readonly responseStatus: number | null
  /** Duration of the last attempt, in milliseconds. Null if there was none. */
  readonly durationMs: number | null
  /** Reason why the last attempt got no response, such as `ECONNREFUSED`. Null if it got one. */
  readonly errorCode: string | null
}

/** A delivery with the request and the head of the response of its last attempt. */
export interface WebhookDeliveryDetails {
  /** Id of the delivery. */
  readonly id: number
  /** `webhook-id` of the request, the same for each attempt. */
  readonly eventId: string
  readonly eventType: EventType
  /** Time of the event. */
  readonly occurredAt: number
  /** The user group. Null if the event concerns the whole environment. */
  readonly teamId: number | null
  /** `pending` before the first attempt, `failing` after an attempt that failed. */
  readonly state: 'pending' | 'failing' | 'delivered'
  /** Number of attempts. */
  readonly attempts: number
  /** Time of the last attempt. Null if there was none. */
  readonly lastAttemptAt: number | null
  /** Time of the next attempt. Null if it was delivered, and while it waits for an earlier event of the user group. */
  readonly nextAttemptAt: number | null
  /** HTTP status of the last response. Null if there was none. */
  readonly responseStatus: number | null
  /** Duration of the last attempt, in milliseconds. Null if there was none. */
  readonly durationMs: number | null
  /** Reason why the last attempt got no response, such as `ECONNREFUSED`. Null if it got one. */
  readonly errorCode: string | null
  /**
   * Headers of the request, without those of the connection. Null if there was no attempt, or its secret could not be
   * decrypted.
   */
  readonly requestHeaders: Mapping | null
  /** Body of the request. */
  readonly requestBody: string
  /**
   * The first headers of the last response, at most 2,000 characters, without cookies and tokens. Null if there was
   * none.
   */
  readonly responseHeaders: Mapping | null
}

export interface WebhookDeliverySearch {
  /** Only deliveries in this state. Default: all. */
  readonly state?: 'pending' | 'failing' | 'delivered' | undefined
  /** Maximum number of entries per page: 1 to 200. Default: 50. */
  readonly limit?: number | undefined
}

/** A URL that receives the events of this environment, signed by Standard Webhooks. */
export interface WebhookEndpoint {
  /** Id of the webhook endpoint. */
  readonly id: number
  readonly name: string
  /**
   * An https URL at a public address, without user name, password and fragment. Settings of the service may allow
   * others.
   */
  readonly url: string
  /** Types of the events that it receives. Empty for all. */
  readonly eventTypes: readonly EventType[]
  /** `disabled` by the service after 3 days without success. Events then wait as if paused. */
  readonly state: 'active' | 'paused' | 'disabled'
  /** `ok` or `failing` by the last attempt, `unknown` before the first one. */
  readonly health: 'ok' | 'failing' | 'unknown'
  /** Time of creation. */
  readonly createdAt: number
  /** Time of the last change. */
  readonly updatedAt: number
  /** Times until which replaced secrets sign too, earliest first. */
  readonly previousSecretsValidUntil: readonly number[]
  /** Time of the last attempt that succeeded. Null if none did. */
  readonly lastSuccessAt: number | null
  /** Time of the first failed attempt after the last success. Null if none failed. */
  readonly failingSince: number | null
  /** Number of events that wait for their first attempt. */
  readonly pending: number
  /** Number of events whose last attempt failed. */
  readonly failing: number
  /** Time of the oldest undelivered event. Null if there is none. */
  readonly oldestEventAt: number | null
}

/** Fields to change. Omitted fields keep their values. */
export interface WebhookEndpointChange {
  /** 1 to 255 characters. At least one character must be visible. */
  readonly name?: string | undefined
  /**
   * An https URL at a public address, without user name, password and fragment. Settings of the service may allow
   * others.
   */
  readonly url?: string | undefined
  /** Types of the events that it receives. Empty for all. */
  readonly eventTypes?: readonly EventType[] | undefined
  /** While paused, events wait, at most for the retention of events and 3 days. */
  readonly state?: 'active' | 'paused' | undefined
}

export interface WebhookEndpointFields {
  /** 1 to 255 characters, need not be unique. At least one character must be visible. */
  readonly name: string
  /**
   * An https URL at a public address, without user name, password and fragment. Settings of the service may allow
   * others.
   */
  readonly url: string
  /** Types of the events that it receives. Empty for all. */
  readonly eventTypes?: readonly EventType[] | undefined
}

export interface WebhookEndpointSecret {
  readonly webhookEndpoint: WebhookEndpoint
  /** Verifies signatures (Standard Webhooks). It is shown only once, so store it. */
  readonly secret: string
}

export interface WebhookRedelivery {
  /** Events at or after this time. */
  readonly since: number
  /** Events before this time. Default: all. */
  readonly until?: number | undefined
}

export interface WebhookSecretRotation {
  /**
   * Time for which the old secret signs too, in whole seconds: 0 to 2592000, 30 days. Default: 86400, a day. Secrets
   * that were replaced earlier keep their own times.
   */
  readonly overlapSeconds?: number | undefined
}

export interface WebhookTest {
  /** True if the response is a 2xx. */
  readonly delivered: boolean
  /** Headers of the request, without those of the connection. Null never. */
  readonly requestHeaders: Mapping | null
  /** Body of the request. */
  readonly requestBody: string
  /**
   * The first headers of the last response, at most 2,000 characters, without cookies and tokens. Null if there was
   * none.
   */
  readonly responseHeaders: Mapping | null
  /** HTTP status of the response. Null if there was none. */
  readonly responseStatus: number | null
  /** Duration in milliseconds. */
  readonly durationMs: number
  /** Reason why there was no response, such as `ECONNREFUSED`. Null if there was one. */
  readonly errorCode: string | null
}

export interface Workspace {
  /** Id of the workspace. */
  readonly id: number
  readonly name: string
  /** Time of creation. */
  readonly createdAt: number
}

export interface WorkspaceFields {
  /** 1 to 255 characters, unique among workspaces. At least one character must be visible. */
  readonly name: string
}

/** Methods with one request each. `UserGroupManagement` has their errors and retries. */
export interface ManagementOperations {
  /**
   * Shows what needs attention. Numbers of user groups, findings, failing webhooks, expiring API tokens and unfinished
   * jobs, and the last changes. It takes at most about 0.5 s.
   */
  getOverview(options?: RequestOptions): Promise<Overview>

  /**
   * Finds user groups. Ordered by `sort`; without it, by id if `userGroupIdPrefix` is given, otherwise by team id. A
   * page takes at most about 100 ms, so it may have fewer entries than `limit`, or none, although another one
   * follows.
   */
  searchUserGroups(search?: UserGroupSearch, options?: RequestOptions): Paged<ListedUserGroup>

  /**
   * Creates a user group. Never changes an existing user group. Your backend gets the token with its next request for
   * this id. If a retry after a lost response gets `already_exists`, the method throws the error of the lost attempt.
   * @throws ServiceError `already_exists`
   */
  createUserGroup(fields: NewUserGroupFields, options?: RequestOptions): Promise<AdminUserGroup>

  /**
   * Shows a user group.
   * @throws ServiceError `user_group_not_found`
   */
  getUserGroup(teamId: number, options?: RequestOptions): Promise<AdminUserGroup>

  /**
   * Changes name, mapping or properties. Omitted fields keep their values; null clears a field. The previous state is
   * kept as a version. A repeated request overwrites changes that others made in between, unless it names a revision.
   * With `ifRevision`, a retry never overwrites: it fails with the error of the lost attempt.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  updateUserGroup(teamId: number, change: UserGroupChange, options?: ChangeOptions): Promise<AdminUserGroup>

  /**
   * Deletes a user group. Its tokens stop working at once. It can be restored for 30 days, unless another user group
   * takes its id. If a retry after a lost response gets `user_group_not_found`, the operation succeeded.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  deleteUserGroup(teamId: number, options?: ChangeOptions): Promise<void>

  /**
   * Deletes the user group with your id. For a backend that offboards a customer. As the deletion by team id: tokens
   * stop working at once, the user group can be restored for 30 days, and `If-Match` refuses the deletion if the user
   * group has changed. If a retry after a lost response gets `user_group_not_found`, the operation succeeded.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  deleteUserGroupByProvidedId(fields: ProvidedIdQuery, options?: ChangeOptions): Promise<void>

  /**
   * Shows the token of a user group.
   * @throws ServiceError `user_group_not_found`
   */
  getUserGroupToken(teamId: number, options?: RequestOptions): Promise<string>

  /**
   * Suspends a user group. Its tokens are inactive for the renderer, from its next introspection. `/api/user`
   * continues to work. A suspended user group stays as it is. A repeated request suspends again if the user group was
   * resumed in between. With `ifRevision`, a retry never overwrites: it fails with the error of the lost attempt.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  suspendUserGroup(teamId: number, options?: ChangeOptions): Promise<AdminUserGroup>

  /**
   * Resumes a suspended user group. Its current token, and superseded ones in their grace period, work again. A
   * repeated request resumes again if the user group was suspended in between. With `ifRevision`, a retry never
   * overwrites: it fails with the error of the lost attempt.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  resumeUserGroup(teamId: number, options?: ChangeOptions): Promise<AdminUserGroup>

  /**
   * Ends the viewer sessions of a user group. Ends the sessions of one viewer, or of all, that were created until now.
   * The user group token stays. A repeated request also ends sessions that were created in between. With
   * `ifRevision`, a retry never overwrites: it fails with the error of the lost attempt.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`
   */
  endSessionsOfUserGroup(
    teamId: number,
    fields?: SessionsToEnd,
    options?: ChangeOptions,
  ): Promise<AdminUserGroup>

  /**
   * Views as a user group. Creates a viewer session of 5 minutes, and returns the URL of your page of dashboards with
   * it. The id of the viewer is `support:` and the name of the API token, and the viewer has `support: true`. It is
   * in the audit log. Requires `UGS_DASHBOARD_URL`.
   * @throws ServiceError `user_group_not_found`
   */
  viewAsUserGroup(teamId: number, options?: RequestOptions): Promise<ViewAs>

  /**
   * Shows what a user group sees. Returns the variables as the renderer gets them, the data sources that the mapping
   * names, whether the token is active, the last versions, and the time of the last introspection.
   * @throws ServiceError `user_group_not_found`
   */
  viewUserGroup(teamId: number, options?: RequestOptions): Promise<UserGroupView>

  /**
   * Lists earlier states of a user group. Returns earlier values of name, mapping and properties within the last 100
   * revisions, the newest first.
   * @throws ServiceError `user_group_not_found`
   */
  listUserGroupVersions(teamId: number, options?: RequestOptions): Promise<readonly UserGroupVersion[]>

  /**
   * Restores an earlier state of a user group. Restores name, mapping and properties; the token stays. This is a
   * change like any other and can be reverted. Fails with `not_found` if the version does not exist or is no longer
   * kept. If a retry after a lost response gets `not_found`, the method throws the error of the lost attempt. With
   * `ifRevision`, a retry never overwrites: it fails with the error of the lost attempt.
   * @throws ServiceError `user_group_not_found`, `revision_mismatch`, `not_found`
   */
  restoreUserGroupVersion(teamId: number, revision: number, options?: ChangeOptions): Promise<AdminUserGroup>

  /** Lists user groups deleted in the last 30 days. Ordered by team id. */
  listDeletedUserGroups(search?: PageLimit, options?: RequestOptions): Paged<DeletedUserGroup>

  /**
   * Erases a deleted user group. Removes it at once, with its usage, its versions, and its id and all details in the
   * audit log, and returns what was erased and what still has its id. It cannot be restored. If a retry after a lost
   * response gets `user_group_not_found`, the method throws the error of the lost attempt.
   * @throws ServiceError `user_group_not_found`
   */
  eraseUserGroup(teamId: number, options?: RequestOptions): Promise<UserGroupErasure>

  /** Lists the jobs. The newest first. Finished jobs are kept for 30 days. */
  listJobs(search?: PageLimit, options?: RequestOptions): Paged<Job>

  /**
   * Changes many user groups in the background. Suspends, resumes, rotates, deletes or promotes each user group of a
   * selection, as the operation on one does. The search criteria are evaluated while the job runs; user groups that
   * are created after it are left out. The jobs of a workspace run one after the other. Revoking the API token
   * cancels its jobs. `promote` requires an API token of `Customer`. If a response is lost, list the jobs. Never
   * retried if an attempt may have taken effect, which includes a 503.
   * @throws ServiceError `limit_reached`
   */
  createJob(fields: JobFields, options?: RequestOptions): Promise<Job>

  /**
   * Shows a job and its progress.
   * @throws ServiceError `not_found`
   */
  getJob(id: number, options?: RequestOptions): Promise<Job>

  /**
   * Cancels a job. User groups that are in flight are still changed, at most eight. What was done stays. A finished
   * job stays as it is.
   * @throws ServiceError `not_found`
   */
  cancelJob(id: number, options?: RequestOptions): Promise<Job>

  /**
   * Lists what a job did to each user group. In the order in which the job changes them. A rotation shows no token.
   * @throws ServiceError `not_found`
   */
  listJobResults(id: number, search?: JobResultSearch, options?: RequestOptions): Paged<JobResult>

  /**
   * Lists user groups that share a data source or are mapped to none. Returns findings that meet all conditions.
   * Shared data sources come first.
   */
  listIsolationFindings(search?: FindingSearch, options?: RequestOptions): Paged<IsolationFinding>

  /**
   * Accepts an isolation finding. Its status is `accepted` until other user groups are affected. An acceptance of more
   * than 200 user groups holds for any number above 200. Accepted findings do not count in the overview. A repeated
   * request with the same reason changes nothing.
   * @throws ServiceError `not_found`, `revision_mismatch`
   */
  acceptIsolationFinding(fields: AcceptanceFields, options?: RequestOptions): Promise<IsolationFinding>

  /**
   * Reopens an accepted isolation finding. Also one that no longer exists. If a retry after a lost response gets
   * `not_found`, the operation succeeded.
   * @throws ServiceError `not_found`
   */
  reopenIsolationFinding(fields: FindingName, options?: RequestOptions): Promise<true>

  /**
   * Lists user groups of Testing that can be promoted. Ordered by team id. Requires an API token of `Customer`. As in
   * a search, a page may have few entries, or none, and a next page.
   */
  listPromotionCandidates(search?: CandidateSearch, options?: RequestOptions): Paged<PromotionCandidate>

  /**
   * Promotes user groups from Testing to Customer. Copies name, mapping and properties. A user group that is new in
   * `Customer` gets its own token there. Suspensions are not copied: a new user group is active, and an existing one
   * keeps its suspension. An error of one user group does not stop the others. Requires an API token of `Customer`. A
   * repeated request reports user groups that an earlier one promoted as `unchanged`.
   */
  promoteUserGroups(fields: PromotionFields, options?: RequestOptions): Promise<readonly PromotionResult[]>

  /**
   * Lists who looked in a month. By user group (by team id), by known viewer (by team id and viewer id), by resource
   * (by name), or by day until today, with the total of the month. Only what looked at least once is listed, except
   * days. Days and months are in UTC. A look shows up within about a minute.
   */
  listUsage(search?: UsageSearch, options?: RequestOptions): Paged<Usage>

  /**
   * Erases what is recorded of a viewer. Deletes all days of the viewer, of all months. End the sessions of the viewer
   * first, and erase again after two minutes: until then, looks that are not written yet are recorded.
   */
  eraseUsage(fields: ErasureOfViewer, options?: RequestOptions): Promise<number>

  /**
   * Returns the owner of a leaked token and whether it works. With `rotate`, stops it at once. A repeated request does
   * nothing more to a token that an earlier one stopped, and reports the current state: `works` and `rotated` may be
   * false although the earlier request stopped the token. If a retry after a lost response gets `unauthenticated`,
   * the method throws the error of the lost attempt.
   */
  reportLeakedToken(fields: LeakedTokenFields, options?: RequestOptions): Promise<LeakedToken>

  /** Lists the API tokens of this workspace and environment. Also revoked ones. */
  listApiTokens(options?: RequestOptions): Promise<readonly ApiToken[]>

  /**
   * Creates an API token for this workspace and environment. The token is shown only once. If a response is lost, list
   * the API tokens and revoke the unknown one. Never retried if an attempt may have taken effect, which includes a
   * 503.
   */
  createApiToken(fields: ApiTokenFields, options?: RequestOptions): Promise<NewApiToken>

  /**
   * Replaces an API token by a new one; both work during an overlap. The new API token has the same name, scopes and
   * lifetime, and is shown only once. The old one stops after `overlapSeconds`, or earlier if it expires earlier.
   * Fails with `not_found` also if the API token has expired or is revoked, and with `token_superseded` if it was
   * already rotated. If a response is lost, rotate the API token that `replacedBy` of the old one names. Never
   * retried if an attempt may have taken effect, which includes a 503.
   * @throws ServiceError `not_found`, `token_superseded`
   */
  rotateApiToken(id: number, fields?: ApiTokenRotation, options?: RequestOptions): Promise<RotatedApiToken>

  /**
   * Revokes an API token permanently. Takes effect everywhere within about a second. A repeated request changes
   * nothing, not even `revokedAt`. If a retry after a lost response gets `unauthenticated`, the method throws the
   * error of the lost attempt.
   * @throws ServiceError `not_found`
   */
  revokeApiToken(id: number, options?: RequestOptions): Promise<ApiToken>

  /** Shows the workspace of this API token. An API token sees only its own workspace. */
  listWorkspaces(options?: RequestOptions): Promise<readonly Workspace[]>

  /**
   * Creates a workspace and its first API token. The API token has the scope `admin` and the environment of the API
   * token that created it, and is shown only once. If it is lost, `ugs api-token create` creates another one. If a
   * retry after a lost response gets `already_exists`, the method throws the error of the lost attempt.
   * @throws ServiceError `already_exists`
   */
  createWorkspace(fields: WorkspaceFields, options?: RequestOptions): Promise<NewWorkspace>

  /** Lists who is signed in to the console. The newest first. */
  listConsoleSessions(options?: RequestOptions): Promise<readonly ConsoleSession[]>

  /**
   * Ends a console session. The browser is signed out with its next request. The person may sign in again. If a retry
   * after a lost response gets `not_found`, the operation succeeded.
   * @throws ServiceError `not_found`
   */
  endConsoleSession(id: number, options?: RequestOptions): Promise<true>

  /**
   * Lists changes and who made them. Returns events that meet all conditions, the newest first. A page may have fewer
   * entries than `limit`, or none, and still have a next page; continue with `nextCursor`.
   */
  listAuditEvents(search?: AuditSearch, options?: RequestOptions): Paged<AuditEvent>

  /** Lists the schemas. */
  listSchemas(options?: RequestOptions): Promise<readonly RegisteredSchema[]>

  /**
   * Deletes a schema that has no data sources. If a retry after a lost response gets `not_found`, the operation
   * succeeded.
   * @throws ServiceError `not_found`, `in_use`
   */
  deleteSchema(id: number, options?: RequestOptions): Promise<void>

  /** Lists the data sources. Ordered by id. */
  listDataSources(search?: DataSourceSearch, options?: RequestOptions): Paged<RegisteredDataSource>

  /**
   * Deletes a data source that no user group is mapped to. If a retry after a lost response gets `not_found`, the
   * operation succeeded.
   * @throws ServiceError `not_found`, `in_use`
   */
  deleteDataSource(id: number, options?: RequestOptions): Promise<void>

  /** Lists the webhook endpoints. Ordered by id, with the last success and the number of events that wait for delivery. */
  listWebhookEndpoints(options?: RequestOptions): Promise<readonly WebhookEndpoint[]>

  /**
   * Creates a webhook endpoint. It receives events from now on. The secret verifies signatures and is shown only once.
   * If a response is lost, list the webhook endpoints and delete the unknown one. `UGS_MAX_WEBHOOK_ENDPOINTS` limits
   * their number. Never retried if an attempt may have taken effect, which includes a 503.
   * @throws ServiceError `limit_reached`
   */
  createWebhookEndpoint(
    fields: WebhookEndpointFields,
    options?: RequestOptions,
  ): Promise<WebhookEndpointSecret>

  /**
   * Gets a webhook endpoint.
   * @throws ServiceError `not_found`
   */
  getWebhookEndpoint(id: number, options?: RequestOptions): Promise<WebhookEndpoint>

  /**
   * Changes a webhook endpoint, also to pause or resume it. Omitted fields keep their values. An endpoint that becomes
   * active is attempted at once. A repeated request overwrites changes that others made in between.
   * @throws ServiceError `not_found`
   */
  updateWebhookEndpoint(
    id: number,
    change: WebhookEndpointChange,
    options?: RequestOptions,
  ): Promise<WebhookEndpoint>

  /**
   * Deletes a webhook endpoint with its deliveries. If a retry after a lost response gets `not_found`, the operation
   * succeeded.
   * @throws ServiceError `not_found`
   */
  deleteWebhookEndpoint(id: number, options?: RequestOptions): Promise<void>

  /**
   * Replaces the secret of a webhook endpoint; both sign during an overlap. The new secret is shown only once. A
   * rotation does not end the overlaps of earlier ones. At most four replaced secrets sign too; beyond them, only a
   * rotation without an overlap is possible. If a response is lost, rotate again and give the receiver the new secret
   * at once. Never retried if an attempt may have taken effect, which includes a 503.
   * @throws ServiceError `not_found`, `limit_reached`
   */
  rotateWebhookSecret(
    id: number,
    fields?: WebhookSecretRotation,
    options?: RequestOptions,
  ): Promise<WebhookEndpointSecret>

  /**
   * Sends a test event to a webhook endpoint. Sends `webhook_endpoint.test`, whatever the state and the event types of
   * the endpoint, and waits up to 10 seconds for the response. It is no delivery: it is not repeated and does not
   * change `health`. Never retried if an attempt may have taken effect, which includes a 503.
   * @throws ServiceError `not_found`
   */
  testWebhookEndpoint(id: number, options?: RequestOptions): Promise<WebhookTest>

  /**
   * Lists the deliveries to a webhook endpoint. The newest first, for the retention of events.
   * @throws ServiceError `not_found`
   */
  listWebhookDeliveries(
    id: number,
    search?: WebhookDeliverySearch,
    options?: RequestOptions,
  ): Paged<WebhookDelivery>

  /**
   * Gets a delivery with its last request and the head of the response.
   * @throws ServiceError `not_found`
   */
  getWebhookDelivery(
    id: number,
    deliveryId: number,
    options?: RequestOptions,
  ): Promise<WebhookDeliveryDetails>

  /**
   * Sends all events of a time range again. Also delivered ones. Returns how many, without events that wait for their
   * first attempt. A repeated request does not count events that an earlier one sends again.
   * @throws ServiceError `not_found`
   */
  redeliverWebhooks(id: number, fields: WebhookRedelivery, options?: RequestOptions): Promise<number>
}
