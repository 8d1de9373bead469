import type { schemas, userSchemas } from './schemas.ts'
import type { Environment, Mapping } from './user-group.ts'

// The JSON of the wire format, by the schemas that `schema.ts` explains.

type Schemas = typeof schemas

/** JSON of `/admin/v1`. */
export type AdminWire = { readonly [Name in keyof Schemas]: Wire<Schemas[Name]> }

/** JSON of the other operations. */
export type UserWire = { readonly [Name in keyof typeof userSchemas]: Wire<(typeof userSchemas)[Name]> }

export interface Values {
  text: string
  count: number
  boolean: boolean
  /** RFC 3339, in UTC. */
  time: string
  environment: Environment
  mapping: Mapping
  object: Record<string, unknown>
  json: unknown
  null: null
}

/** The JSON that a schema describes. */
type Wire<S> = S extends string
  ? WireOfText<S>
  : S extends readonly [infer Item]
    ? Wire<Item>[]
    : S extends readonly unknown[]
      ? Wire<S[number]>
      : S extends { readonly '*': infer Value }
        ? Record<string, Wire<Value>>
        : { [Name in keyof S as Name extends `${string}?` ? never : Name]: Wire<S[Name]> } & {
            [Name in keyof S as Name extends `${infer Optional}?` ? Optional : never]?: Wire<S[Name]>
          }

type WireOfText<S extends string> = S extends `${infer One}|${infer Others}`
  ? WireOfText<One> | WireOfText<Others>
  : S extends keyof Schemas
    ? Wire<Schemas[S]>
    : S extends keyof Values
      ? Values[S]
      : S extends `"${infer Constant}"`
        ? Constant
        : S extends `${infer Constant extends number | boolean}`
          ? Constant
          : S extends `${infer One}/${infer Others}`
            ? One | ValueOf<Others>
            : never
type ValueOf<S extends string> = S extends `${infer One}/${infer Others}` ? One | ValueOf<Others> : S
