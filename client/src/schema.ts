import { badResponse } from './errors.ts'
import { camelCase } from './names.ts'
import { schemas } from './schemas.ts'
import {
  isArray,
  isBoolean,
  isCount,
  isEnvironment,
  isObject,
  isObjectOrNull,
  isTextByKeyOrNull,
  isTimeText,
} from './shape.ts'
import type { Values } from './wire.ts'

/**
 * Schema of JSON, as short as it can be. A text is the name of a type or of another schema, a constant in JSON, or values of an
 * enumeration, of which there may be more in newer services (`a/b`). A bar separates alternatives (`text|null`). An array with one
 * element is the schema of a list, with several of alternatives. An object has the members, and `?` after the name of an optional one.
 */
export type Schema = string | readonly Schema[] | { readonly [member: string]: Schema }

const isValid: Readonly<Record<keyof Values, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  count: isCount,
  boolean: isBoolean,
  time: isTimeText,
  environment: isEnvironment,
  mapping: (value) => value !== null && isTextByKeyOrNull(value),
  object: (value) => value !== null && isObjectOrNull(value),
  json: (value) => value !== undefined,
  null: (value) => value === null,
}

/**
 * Converts JSON to a value with names in camel case and times in milliseconds. Drops unknown members and `success`.
 * @throws TransportError `bad_response`
 */
export function read(schema: Schema, json: unknown, subject: string): unknown {
  if (typeof schema === 'string')
    return schema.includes('|') ? readOne(schema.split('|'), json, subject) : readText(schema, json, subject)
  if (isSchemas(schema)) {
    const [item] = schema
    if (item === undefined || schema.length > 1) return readOne(schema, json, subject)
    if (!isArray(json)) throw badResponse(`${subject} is not an array`)
    return json.map((value) => read(item, value, `an item of ${subject}`))
  }
  if (!isObject(json)) throw badResponse(`${subject} is not an object`)
  const members = Object.entries(schema).flatMap(([key, member]) => {
    const name = key.replace('?', '')
    // Own members only: an inherited one was not sent.
    const value = Object.hasOwn(json, name) ? json[name] : undefined
    if (value === undefined && name !== key) return []
    const result = read(member, value, name)
    return name === 'success' ? [] : [[camelCase(name), result]]
  })
  return Object.fromEntries(members) as unknown
}

/** Reads the first alternative that the JSON matches. */
function readOne(alternatives: readonly Schema[], json: unknown, subject: string): unknown {
  let error: unknown
  for (const schema of alternatives) {
    try {
      return read(schema, json, subject)
    } catch (mismatch) {
      error ??= mismatch
    }
  }
  throw error
}

function readText(schema: string, json: unknown, subject: string): unknown {
  if (Object.hasOwn(schemas, schema)) return read(schemas[schema as keyof typeof schemas], json, subject)
  const isType = Object.hasOwn(isValid, schema)
  const isMatch = isType
    ? isValid[schema as keyof Values](json)
    : schema.includes('/')
      ? typeof json === 'string'
      : JSON.stringify(json) === schema
  if (!isMatch) throw badResponse(`${subject} is invalid`)
  return schema === 'time' ? Date.parse(json as string) : json
}

function isSchemas(schema: Schema): schema is readonly Schema[] {
  return isArray(schema)
}
