import type { components } from './wire.ts'

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object. `__proto__` and `constructor` are keys like any other: look up own keys only. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** By the id of a schema, the id of a data source or the id that you gave it. */
export type Mapping = Readonly<Record<string, string>>

/** Which user groups an API token sees; user group ids are unique within one. */
export type Environment = components['schemas']['UpdateAnswer']['user_group']['api_environment_tag']

/** What a user group is to be. A field that is left out, or undefined, stays as it is. */
export interface UserGroupFields {
  /** The id that you use in your own database: 1 to 255 characters, compared exactly. */
  readonly userGroupId: string
  /** 1 to 255 characters. Needed where the user group does not exist yet. */
  readonly name?: string | undefined
  /** At most 1,000 entries. Replaced whole, never merged; null or `{}` clears it. */
  readonly mapping?: Mapping | null | undefined
  /**
   * Available as variables in dashboards and in SQL. At most 64 KiB as JSON and 32 levels deep. Replaced whole, never merged;
   * null clears it.
   */
  readonly properties?: JsonObject | null | undefined
}

interface Identity {
  /** Internal id of the user group. There is no need to record it. */
  readonly teamId: number
  /** The user group token: store it, and render the dashboard with it. */
  readonly token: string
  readonly name: string
  /** The `userGroupId` that the user group was made with. */
  readonly providedId: string
}

export interface UserGroup extends Identity {
  /** Null where there are none. */
  readonly properties: JsonObject | null
}

export interface UpdatedUserGroup extends UserGroup {
  /** That of the API token that made the user group. */
  readonly environment: Environment
}

export interface RotatedUserGroup extends Identity {
  /** That of the API token that made the user group. */
  readonly environment: Environment
}

export interface GetOrCreateResult {
  /**
   * Whether this call created the user group. False too where it did, and its answer was lost, so that it had to be
   * repeated.
   */
  readonly newUserGroup: boolean
  readonly userGroup: UserGroup
}

/** Where one schema's data is, for a user group. */
export interface DataSource {
  readonly id: number
  /** The id that was given when the data source was registered. */
  readonly providedId: string
  readonly name: string
}

/** What the service tells the renderer of an active token. */
export interface IntrospectedUserGroup {
  /** The `userGroupId` that the user group was made with. */
  readonly providedId: string
  /** Internal id of the user group. */
  readonly teamId: number
  readonly name: string
  readonly environment: Environment
  readonly mapping: Mapping | null
  /** By the mapping's key, those of its entries that name a registered data source. */
  readonly dataSources: Readonly<Record<string, DataSource>>
  readonly properties: JsonObject | null
  readonly token: {
    /** Milliseconds since the Unix epoch. */
    readonly issuedAt: number
    /** Milliseconds since the Unix epoch: the token was replaced, and works until then. Else null. */
    readonly expiresAt: number | null
  }
}
