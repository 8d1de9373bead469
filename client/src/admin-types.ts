import type { DataSource, Environment, Json, JsonObject, Mapping } from './user-group.ts'
import type { components } from './wire.ts'

// Types of the management API. All times are in milliseconds since the Unix epoch, as `new Date(…)` takes them.

type Wire = components['schemas']
type WireDelivery = Wire['WebhookDeliveryListResponse']['deliveries'][number]

/** A permission of an API token. */
export type Scope = Wire['ApiToken']['scopes'][number]

/** The content of a user group. */
export interface UserGroupContent {
  readonly name: string
  /** The mapping as it was sent: schema to data source, each by id or by provided id. Null if there is none. */
  readonly mapping: Mapping | null
  /** Null if there are none. */
  readonly properties: JsonObject | null
}

interface Authored {
  /** Time of the last change of name, mapping or properties. */
  readonly updatedAt: number
  /**
   * Author of that change: `api_token:` and the id of the API token, or `cli:` and the name of the operator. Null if it
   * was not recorded.
   */
  readonly updatedBy: string | null
}

/** A user group as the management API shows it: everything except the token. */
export interface AdminUserGroup extends UserGroupContent, Authored {
  /** Identifies the user group in the management API. */
  readonly teamId: number
  /** The `userGroupId` that the user group was created with. */
  readonly providedId: string
  readonly environment: Environment
  /** Increases with every change, including token rotations and suspensions. Pass it as `ifRevision`. */
  readonly revision: number
  readonly createdAt: number
  /** Issue time of the current token. */
  readonly tokenIssuedAt: number
  /** Start of the suspension, during which tokens are inactive for the renderer. Null if not suspended. */
  readonly suspendedAt: number | null
}

/** A user group as a search returns it. */
export interface ListedUserGroup extends AdminUserGroup {
  readonly health: {
    readonly mappingEntries: number
    /** Number of mapping entries that name no registered data source; 0 if no schema is registered. */
    readonly unresolvedEntries: number
    /** To the minute. Null if no renderer has introspected a token of it. */
    readonly lastIntrospectedAt: number | null
  }
}

/** A user group of `Testing` that can be promoted. */
export interface PromotionCandidate {
  readonly providedId: string
  readonly name: string
  readonly updatedAt: number
}

/** An earlier state of a user group, before a change of its name, mapping or properties. */
export interface UserGroupVersion extends UserGroupContent, Authored {
  /** The last revision with this state. */
  readonly revision: number
}

/** A difference between two versions. */
export interface Difference {
  /** A JSON Pointer (RFC 6901), such as `/properties/plan`. */
  readonly path: string
  /** Absent if the value was added. */
  readonly before?: Json
  /** Absent if the value was removed. */
  readonly after?: Json
}

/** Diagnosis of one user group: variables, data sources, token and recent versions. */
export interface UserGroupView {
  readonly userGroup: AdminUserGroup
  /** Variables that dashboards and SQL see as `user_group.…`. */
  readonly variables: {
    readonly providedId: string
    readonly name: string
    readonly properties: JsonObject | null
  }
  /** One item for each mapping entry. */
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
    readonly issuedAt: number
  }
  /** Rounded to the minute. Null if no renderer has introspected a token of the user group yet. */
  readonly lastIntrospectedAt: number | null
  /** The ten most recent versions, newest first. */
  readonly versions: readonly UserGroupVersion[]
}

interface NamedUserGroup {
  readonly teamId: number
  readonly providedId: string
  readonly name: string
}

/** A user group that was deleted within the last 30 days. */
export interface DeletedUserGroup extends NamedUserGroup {
  readonly deletedAt: number
  /** Same format as `updatedBy`. */
  readonly deletedBy: string | null
}

/** A finding of the isolation check. */
export interface IsolationFinding {
  /**
   * `shared`: several user groups use one data source. `unresolved`: a mapping names an unregistered data source. `mapped_twice`: a
   * mapping names a schema by its id with this entry, and by its provided id with another one.
   */
  readonly kind: 'shared' | 'unresolved' | 'mapped_twice'
  /** Pass `schema` and `dataSource` to `searchUserGroups` to find all affected user groups. */
  readonly schema: string
  readonly dataSource: string
  /** Null if it is not registered. */
  readonly registered: DataSource | null
  /** The first ten affected user groups. */
  readonly userGroups: readonly NamedUserGroup[]
}

/** Result of promoting one user group, or of a dry run. */
export interface PromotionResult {
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
}

/** The owner and state of a leaked token. */
export type LeakedToken =
  | {
      readonly kind: 'user_group_token'
      /** True if the token was active when the service received the report. */
      readonly works: boolean
      /** State after the report. */
      readonly userGroup: AdminUserGroup
      /** End of the grace period if the token was superseded. Null if it was the current token. */
      readonly validUntil: number | null
      /** True if this report rotated the token. */
      readonly rotated: boolean
    }
  | {
      readonly kind: 'api_token'
      /** True if the API token was valid when the service received the report. */
      readonly works: boolean
      /** State after the report. */
      readonly apiToken: ApiToken
    }
  /** Not a token of this workspace and environment. */
  | { readonly kind: 'unknown'; readonly works: boolean }

/** An API token without its secret, which is shown only once. */
export interface ApiToken {
  readonly id: number
  readonly name: string
  readonly environment: Environment
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  /** Null if it never expires. */
  readonly expiresAt: number | null
  /** Null if it is not revoked. */
  readonly revokedAt: number | null
  /** Rounded to the minute. Null if it was never used. */
  readonly lastUsedAt: number | null
  /** Id of the API token that replaced this one. Null if none did. */
  readonly replacedBy: number | null
  /** Requests per second and burst, for example `500:2000`. Null if the limit of the service applies. */
  readonly rateLimit: string | null
}

export interface NewApiToken {
  readonly apiToken: ApiToken
  /** The API token. It is shown only once, so store it. */
  readonly token: string
}

export interface RotatedApiToken extends NewApiToken {
  /** The replaced API token, which works until its `expiresAt`. */
  readonly replaces: ApiToken
}

export interface Workspace {
  readonly id: number
  readonly name: string
  readonly createdAt: number
}

export interface NewWorkspace extends NewApiToken {
  readonly workspace: Workspace
}

export interface RegisteredSchema {
  readonly id: number
  /** The id that you assigned. */
  readonly providedId: string
  readonly name: string
  readonly createdAt: number
}

export interface RegisteredDataSource extends RegisteredSchema {
  /** Id of its schema. */
  readonly schemaId: number
}

/** The record of one change. */
export interface AuditEvent {
  /** A UUID version 7, so ids sort by time. */
  readonly eventId: string
  readonly occurredAt: number
  /** For example `user_group.updated`. Newer services may send actions that are not listed here. */
  readonly action: AuditAction
  /** `api_token:` and the id of the API token, or `cli:` and the name of the operator. */
  readonly author: string
  /** The `X-Request-Id` of the response. Null if there was no request. */
  readonly requestId: string | null
  /** Null if the change did not concern a user group. */
  readonly userGroup: { readonly teamId: number; readonly providedId: string } | null
  /**
   * Depends on the action; names as on the wire, for example `changed_fields`, `grace_period_seconds`, `api_token_id`.
   */
  readonly details: JsonObject | null
}

/** A URL that receives the events of this environment, signed by Standard Webhooks. */
export interface WebhookEndpoint {
  readonly id: number
  readonly name: string
  readonly url: string
  /** Types of the events that it receives. Empty for all. Newer services may send types that are not listed here. */
  readonly eventTypes: readonly EventType[]
  /** `disabled` by the service after 3 days without success. Events then wait as if paused. */
  readonly state: Wire['WebhookEndpoint']['state']
  readonly createdAt: number
  readonly updatedAt: number
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

export interface WebhookEndpointSecret {
  readonly webhookEndpoint: WebhookEndpoint
  /** Verifies signatures. It is shown only once, so store it. */
  readonly secret: string
}

/** The delivery of one event to one webhook endpoint. */
export interface WebhookDelivery {
  readonly id: number
  /** `webhook-id` of the request, the same for each attempt. */
  readonly eventId: string
  readonly eventType: EventType
  readonly occurredAt: number
  /** Null if the event concerns no user group. */
  readonly teamId: number | null
  /** `pending` before the first attempt, `failing` after an attempt that failed. */
  readonly state: WireDelivery['state']
  readonly attempts: number
  readonly lastAttemptAt: number | null
  /** Null if it was delivered, and while it waits for an earlier event of the user group. */
  readonly nextAttemptAt: number | null
  /** HTTP status of the last response. Null if there was none. */
  readonly responseStatus: number | null
  /** Duration of the last attempt, in milliseconds. */
  readonly durationMs: number | null
  /** Reason why the last attempt got no response, such as `ECONNREFUSED`. Null if it got one. */
  readonly errorCode: string | null
}

/** For example `user_group.suspended`. */
export type EventType = WireDelivery['event_type']

export type AuditAction = Wire['AuditEventListResponse']['audit_events'][number]['action']
