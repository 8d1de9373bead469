/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object. `__proto__` and `constructor` are ordinary keys: look up own properties only. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** A registered data source, with its schema. */
export interface DataSource {
  readonly id: number
  readonly providedId: string
  readonly name: string
  /** The mapping key may be either id: look a schema up here. */
  readonly schema: { readonly id: number; readonly providedId: string }
}

/** A person inside a user group, as the host backend asserted when it created the session. */
export interface Viewer {
  /** Unique within the user group. */
  readonly id: string
  readonly name: string | null
  readonly properties: JsonObject | null
  /** IANA name, for example `Europe/Berlin`. */
  readonly timeZone: string | null
  /** BCP 47 tag, for example `de-DE`. */
  readonly locale: string | null
}

/** The user group of an active token, with members in camel case. */
export interface UserGroup {
  /** The caller's own id for the user group (`sub`). */
  readonly providedId: string
  readonly teamId: number
  readonly name: string
  /** Environment of the user group (`api_environment_tag`). */
  readonly environment: 'Customer' | 'Testing'
  /** Schema key to data source key. Both are ids or provided ids. */
  readonly mapping: Readonly<Record<string, string>> | null
  /** Registered data sources by mapping key. Mapping entries that name no registered data source are absent. */
  readonly dataSources: Readonly<Record<string, DataSource>>
  readonly properties: JsonObject | null
  /** The viewer of a session. Null for a user group token. */
  readonly viewer: Viewer | null
  /** The only resources that the token may show, for example names of dashboards. Null if it may show all. */
  readonly resources: readonly string[] | null
  readonly token: {
    /** Milliseconds since the Unix epoch (`iat`). */
    readonly issuedAt: number
    /**
     * End of a session, or of the grace period of a superseded token, in milliseconds since the Unix epoch (`exp`). Null for the
     * current user group token.
     */
    readonly expiresAt: number | null
  }
}

/** The part of a user group that variables use. */
export type VariableSource = Pick<UserGroup, 'providedId' | 'name' | 'properties'> &
  Partial<Pick<UserGroup, 'teamId' | 'environment' | 'viewer'>>

/** Returns whether a token may show a resource. Only a session can be limited to some. */
export function mayShow({ resources }: UserGroup, resource: string | undefined): boolean {
  return resource === undefined || resources === null || resources.includes(resource)
}
