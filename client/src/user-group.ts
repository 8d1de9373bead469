/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object. `__proto__` and `constructor` are ordinary keys: look up own properties only. */
export interface JsonObject {
  readonly [key: string]: Json
}

/**
 * An object with an interface as its type, which has no index signature and so is no `JsonObject`. Its members must be
 * JSON values. Arrays and other iterables, functions and dates are not accepted.
 */
export type JsonInterface = object & {
  readonly [Symbol.iterator]?: never
  readonly call?: never
  readonly getTime?: never
}

/** Schema key to data source key. Both are ids or provided ids. */
export type Mapping = Readonly<Record<string, string>>

/**
 * Separates production user groups from test ones. Every API token belongs to one environment, and user group ids are
 * unique within it.
 */
export type Environment = 'Customer' | 'Testing'

/** Desired state of a user group. Omitted and undefined fields keep their values. */
export interface UserGroupFields {
  /** Your own id for the user group: 1 to 255 characters, compared exactly. */
  readonly userGroupId: string
  /** 1 to 255 characters. Required to create a user group. */
  readonly name?: string | undefined
  /** At most 1,000 entries. Replaces the whole mapping; null or `{}` clears it. */
  readonly mapping?: Mapping | null | undefined
  /**
   * Variables for dashboards and SQL. At most 64 KiB as JSON and 32 levels deep. Replaces all properties; null clears
   * them.
   */
  readonly properties?: JsonObject | JsonInterface | null | undefined
}

interface Identity {
  /** Internal id of the user group. You need not store it. */
  readonly teamId: number
  /** The user group token, for servers. Pages get a session: see `createSession`. */
  readonly token: string
  readonly name: string
  /** The `userGroupId` that the user group was created with. */
  readonly providedId: string
}

export interface UserGroup extends Identity {
  /** Null if there are none. */
  readonly properties: JsonObject | null
}

export interface UpdatedUserGroup extends UserGroup {
  /** Environment of the user group. */
  readonly environment: Environment
}

export interface RotatedUserGroup extends Identity {
  /** Environment of the user group. */
  readonly environment: Environment
}

export interface GetOrCreateResult {
  /**
   * True if this call created the user group. Also false if the call was retried because the response to the creation
   * was lost.
   */
  readonly newUserGroup: boolean
  readonly userGroup: UserGroup
}

/** The person inside a user group who looks. */
export interface Viewer {
  /** Your own id for the person: 1 to 255 characters, compared exactly. */
  readonly id: string
  /** 1 to 255 characters. */
  readonly name?: string | undefined
  /** Variables for dashboards and SQL, `viewer.properties.…`. At most 2 KiB as JSON and 8 levels deep. */
  readonly properties?: JsonObject | JsonInterface | undefined
  /** A name of the IANA time zone database, such as `Europe/Berlin`. */
  readonly timeZone?: string | undefined
  /** A language tag (BCP 47), such as `de-DE`. */
  readonly locale?: string | undefined
}

/** The viewer of a session, as `createSession` got it. */
export interface IntrospectedViewer {
  readonly id: string
  readonly name: string | null
  readonly properties: JsonObject | null
  readonly timeZone: string | null
  readonly locale: string | null
}

/** The part of the user group that a session leaves. */
export interface Narrowing {
  /**
   * Values that stay of properties which are lists or single values. Each must be a value of the property now. A value
   * that the property loses later is gone in the session too.
   */
  readonly properties?: Readonly<Record<string, readonly (string | number | boolean | null)[]>> | undefined
  /** Keys of the mapping that stay. */
  readonly schemas?: readonly string[] | undefined
}

/** The session of a viewer. */
export interface ViewerSession {
  /** Give it to the page that shows the dashboard. */
  readonly token: string
  /** Claim `jti` of the token. */
  readonly sessionId: string
  /** Milliseconds since the Unix epoch, by the clock of the service. */
  readonly expiresAt: number
  readonly expiresInSeconds: number
}

/** A registered data source. */
export interface DataSource {
  readonly id: number
  /** The id that was assigned at registration. */
  readonly providedId: string
  readonly name: string
}

/** A data source that a mapping names, with its schema. */
export interface MappedDataSource extends DataSource {
  /** The mapping key may be either id. */
  readonly schema: { readonly id: number; readonly providedId: string }
}

/** Introspection result of an active token. */
export interface IntrospectedUserGroup {
  /** The `userGroupId` that the user group was created with. */
  readonly providedId: string
  /** Internal id of the user group. */
  readonly teamId: number
  readonly name: string
  readonly environment: Environment
  readonly mapping: Mapping | null
  /** Registered data sources by mapping key. Mapping entries that name no registered data source are absent. */
  readonly dataSources: Readonly<Record<string, MappedDataSource>>
  readonly properties: JsonObject | null
  /** Claim `jti` of a session. Null for a user group token. */
  readonly sessionId: string | null
  /** The viewer of a session. Null for a user group token. */
  readonly viewer: IntrospectedViewer | null
  /** The only dashboards that the session is for. Null for all. */
  readonly resources: readonly string[] | null
  readonly token: {
    /** Milliseconds since the Unix epoch. */
    readonly issuedAt: number
    /**
     * End of the session, or of the grace period of a superseded token, in milliseconds since the Unix epoch. Null for the current
     * user group token.
     */
    readonly expiresAt: number | null
  }
}
