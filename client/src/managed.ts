import type { DataSource, Environment, Json, JsonObject, Mapping } from './user-group.ts'
import type { components } from './wire.ts'

// What the management API tells. All times are milliseconds since the Unix epoch, as `new Date(…)` takes them.

type Wire = components['schemas']

/** What an API token may do. */
export type Scope = Wire['ApiToken']['scopes'][number]

/** What a user group is shown by. */
export interface UserGroupContent {
  readonly name: string
  /** As it was sent: by a schema, a data source; both by id or by provided id. Null where there is none. */
  readonly mapping: Mapping | null
  /** Null where there are none. */
  readonly properties: JsonObject | null
}

interface Authored {
  /** When name, mapping or properties were made so. */
  readonly updatedAt: number
  /**
   * Whose call it was: `api_token:` and the id of the API token, or `cli:` and the name of the operator; null where it was
   * not kept yet.
   */
  readonly updatedBy: string | null
}

/** A user group as the people see it who look after it: all but its token. */
export interface ManagedUserGroup extends UserGroupContent, Authored {
  /** What every call of the management API knows it by. */
  readonly teamId: number
  /** The `userGroupId` that it was made with. */
  readonly providedId: string
  readonly environment: Environment
  /** Goes up with each change, of its token and its suspension too. For `ifRevision`. */
  readonly revision: number
  readonly createdAt: number
  /** When its current token was made. */
  readonly tokenIssuedAt: number
  /** Since when its tokens are inactive for the renderer; null where they are not. */
  readonly suspendedAt: number | null
}

/** What a user group was, up to a change of its name, mapping or properties. */
export interface UserGroupVersion extends UserGroupContent, Authored {
  /** The last one at which it was so. */
  readonly revision: number
}

/** One place at which two versions differ. */
export interface Difference {
  /** A JSON Pointer (RFC 6901), such as `/properties/plan`. */
  readonly path: string
  /** Not there where there was nothing. */
  readonly before?: Json
  /** Not there where there is nothing. */
  readonly after?: Json
}

/** What a user group sees, and what became of it lately. */
export interface UserGroupView {
  readonly userGroup: ManagedUserGroup
  /** What dashboards and SQL have as `user_group.…`. */
  readonly variables: {
    readonly providedId: string
    readonly name: string
    readonly properties: JsonObject | null
  }
  /** One for each entry of the mapping. */
  readonly dataSources: readonly {
    /** The key of the entry. */
    readonly schema: string
    /** Its value. */
    readonly dataSource: string
    /** Whether the key names a registered schema. */
    readonly hasSchema: boolean
    /** What the entry names; null where that is nothing that is registered: its dashboards are empty. */
    readonly registered: DataSource | null
  }[]
  readonly token: {
    /** Whether the renderer takes the current token. */
    readonly active: boolean
    readonly issuedAt: number
  }
  /** To the minute; null where no renderer has asked about it yet. */
  readonly lastIntrospectedAt: number | null
  /** The last ten, the newest first. */
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
  /** As `updatedBy` has it. */
  readonly deletedBy: string | null
}

/** User groups that see the same data, or none. */
export interface IsolationFinding {
  /** `shared`: several see one data source. `unresolved`: what they are mapped to is not registered. */
  readonly kind: 'shared' | 'unresolved'
  /** With `dataSource`, what a search finds all of them by. */
  readonly schema: string
  readonly dataSource: string
  /** Null where it is not registered. */
  readonly registered: DataSource | null
  /** The first ten of them. */
  readonly userGroups: readonly NamedUserGroup[]
}

/** What became of one user group in a promotion, or in a dry run would. */
export interface PromotionResult {
  readonly providedId: string
  /**
   * `created`, `updated` or `unchanged` in `Customer`; `not_found` in `Testing`; `refused`, since `Customer` has not
   * registered what its mapping names.
   */
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'not_found' | 'refused'
  readonly differences: readonly Difference[]
  /** In `Customer`; null where there is none, or none yet. */
  readonly teamId: number | null
  /** Why it was refused. Else null. */
  readonly message: string | null
}

/** Whose a token is that was found somewhere. */
export type LeakedToken =
  | {
      readonly kind: 'user_group_token'
      /** Whether the renderer took it when the service was asked. */
      readonly works: boolean
      /** As it is after the call. */
      readonly userGroup: ManagedUserGroup
      /** Where it was replaced, when its grace period ends or did. Null for a token that was current. */
      readonly validUntil: number | null
      /** Whether this call has replaced it. */
      readonly rotated: boolean
    }
  | {
      readonly kind: 'api_token'
      /** Whether it was valid when the service was asked. */
      readonly works: boolean
      /** As it is after the call. */
      readonly apiToken: ApiToken
    }
  /** No token of this workspace and environment, or none at all. */
  | { readonly kind: 'unknown'; readonly works: boolean }

/** All but the token itself, which is shown once. */
export interface ApiToken {
  readonly id: number
  readonly name: string
  readonly environment: Environment
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  /** Null where it is valid for good. */
  readonly expiresAt: number | null
  /** Null where it is not revoked. */
  readonly revokedAt: number | null
  /** To the minute; null where it was not used yet. */
  readonly lastUsedAt: number | null
  /** The id of the one that took its place; null where none did. */
  readonly replacedBy: number | null
  /** How many calls it may make, a second and at once: `500:2000`. Null where that is what the service is set to. */
  readonly rateLimit: string | null
}

export interface NewApiToken {
  readonly apiToken: ApiToken
  /** The API token. It is shown this once: keep it. */
  readonly token: string
}

export interface RotatedApiToken extends NewApiToken {
  /** The old one, as it is now: it works until its `expiresAt`. */
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
  /** The id that you gave it. */
  readonly providedId: string
  readonly name: string
  readonly createdAt: number
}

export interface RegisteredDataSource extends RegisteredSchema {
  /** Of the schema that it is for. */
  readonly schemaId: number
}

/** One change, and by whom it was made. */
export interface AuditEvent {
  /** A UUID of version 7: ids are in the order of time. */
  readonly eventId: string
  readonly occurredAt: number
  /** Such as `user_group.updated`. A newer service may know more than these. */
  readonly action: AuditAction
  /** `api_token:` and the id of the API token, or `cli:` and the name of the operator. */
  readonly author: string
  /** The `X-Request-Id` of the answer; null where there was no request. */
  readonly requestId: string | null
  /** Null where it was no user group that was changed. */
  readonly userGroup: { readonly teamId: number; readonly providedId: string } | null
  /** By the action, with the names of the wire: `changed_fields`, `grace_period_seconds`, `api_token_id` and the like. */
  readonly details: JsonObject | null
}

export type AuditAction = Wire['AuditEventListAnswer']['audit_events'][number]['action']
