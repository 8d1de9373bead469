/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject

/** A JSON object. `__proto__` and `constructor` are keys like any other: look up own keys only. */
export interface JsonObject {
  readonly [key: string]: Json
}

/** Where one schema's data is, for this user group. */
export interface DataSource {
  readonly id: number
  readonly providedId: string
  readonly name: string
}

/** Who is viewing: what introspection says of an active token, in the names of JavaScript. */
export interface UserGroup {
  /** The id that the customer's backend gave (`sub`). */
  readonly providedId: string
  readonly teamId: number
  readonly name: string
  /** The label of the API token that made the user group (`api_environment_tag`). */
  readonly environment: 'Customer' | 'Testing'
  /** By the id of a schema, the id or provided id of a data source. */
  readonly mapping: Readonly<Record<string, string>> | null
  /** By the mapping's key, those of its entries that name a registered data source. */
  readonly dataSources: Readonly<Record<string, DataSource>>
  readonly properties: JsonObject | null
  readonly token: {
    /** Milliseconds since the Unix epoch (`iat`). */
    readonly issuedAt: number
    /** Milliseconds since the Unix epoch (`exp`): the token was replaced, and works until then. Else null. */
    readonly expiresAt: number | null
  }
}

/** As much of a user group as variables are taken from. */
export type VariableSource = Pick<UserGroup, 'providedId' | 'name' | 'properties'>
