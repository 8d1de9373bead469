import type { TSchema } from 'typebox'

type Write = (value: unknown) => string

interface JsonSchema {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly const?: unknown
  readonly anyOf?: readonly JsonSchema[]
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
}

const writers = new WeakMap<TSchema, Write>()

/**
 * Returns a value as JSON with the names, the order and the formats of its schema. Names of the value are in camel case, `api_environment_tag`
 * is its `environment`, times are milliseconds since the Unix epoch, and constants are left out. Members that the schema lacks are ignored. An
 * object whose members the schema does not list is JSON text already: mappings and properties are returned byte for byte.
 * @throws Error for a missing member
 */
export function writeJson(schema: TSchema, value: unknown): string {
  let write = writers.get(schema)
  if (write === undefined) writers.set(schema, (write = writerOf(schema)))
  return write(value)
}

/** Returns what `writeJson` writes, as a value. */
export function jsonValue(schema: TSchema, value: unknown): object {
  return JSON.parse(writeJson(schema, value)) as object
}

/** Returns the name of a member in code. */
export function camelCase(name: string): string {
  if (name === 'api_environment_tag') return 'environment'
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function writerOf(schema: JsonSchema): Write {
  const { anyOf, items, properties } = schema
  if (schema.const !== undefined) return () => JSON.stringify(schema.const)
  if (anyOf !== undefined) return alternativeWriter(anyOf)
  if (properties !== undefined) return objectWriter(properties, schema.required)
  if (items !== undefined) {
    const write = writerOf(items)
    return (array) => `[${(array as unknown[]).map((item) => write(item)).join()}]`
  }
  if (schema.format === 'date-time')
    return (time) => (time === null ? 'null' : `"${new Date(time as number).toISOString()}"`)
  const isJsonText = [schema.type].flat().includes('object')
  return isJsonText ? (text) => (text as string | null) ?? 'null' : JSON.stringify
}

function objectWriter(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): Write {
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    key: camelCase(name),
    prefix: `,${JSON.stringify(name)}:`,
    write: writerOf(schema),
    isRequired: schema.const === undefined && required.includes(name),
    isConstant: schema.const !== undefined,
  }))
  return (value) => {
    let text = ''
    for (const { name, key, prefix, write, isRequired, isConstant } of members) {
      const member = (value as Record<string, unknown>)[key]
      if (member !== undefined || isConstant) text += prefix + write(member)
      else if (isRequired) throw new Error(`the response lacks ${name}`)
    }
    return `{${text.slice(1)}}`
  }
}

/** Takes the first alternative whose constants the value has. */
function alternativeWriter(schemas: readonly JsonSchema[]): Write {
  const alternatives = schemas.map((schema) => ({
    write: writerOf(schema),
    isNull: schema.type === 'null',
    constants: Object.entries(schema.properties ?? {}).filter(
      ([, { const: constant }]) => typeof constant === 'string',
    ),
  }))
  return (value) => {
    const found = alternatives.find(({ isNull, constants }) =>
      value === null || isNull
        ? value === null && isNull
        : constants.every(
            ([name, schema]) => (value as Record<string, unknown>)[camelCase(name)] === schema.const,
          ),
    )
    if (found === undefined) throw new Error('the response has no schema')
    return found.write(value)
  }
}
