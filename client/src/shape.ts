import { badResponse } from './errors.ts'
import { camelCase, type CamelCased } from './names.ts'

type Check = (value: unknown) => boolean

/** A check for each member of a wire type. Does not compile if a member is missing. */
export type Shape<Wire> = { readonly [Name in keyof Wire]-?: Check }

/**
 * Checks that a value has the shape. Ignores unknown members.
 * @throws TransportError `bad_response`
 */
export function read<Wire extends object>(value: unknown, subject: string, shape: Shape<Wire>): Wire {
  if (!isObject(value)) throw badResponse(`${subject} is not an object`)
  for (const [name, isValid] of Object.entries<Check>(shape)) {
    // Own members only: an inherited one was not sent.
    if (!isValid(Object.hasOwn(value, name) ? value[name] : undefined)) {
      throw badResponse(`${subject} has an invalid ${name}`)
    }
  }
  return value as Wire
}

/** Same as `read`, and returns the members of the shape alone, with their names in code and null if they are absent. */
export function readNamed<Wire extends object>(
  value: unknown,
  subject: string,
  shape: Shape<Wire>,
): CamelCased<Whole<Wire>> {
  const checked = read(value, subject, shape)
  const names = Object.keys(shape) as (keyof Wire & string)[]
  return Object.fromEntries(names.map((name) => [camelCase(name), checked[name] ?? null])) as CamelCased<
    Whole<Wire>
  >
}

type Whole<Wire> = {
  readonly [Name in keyof Wire]-?: Wire[Name] | (undefined extends Wire[Name] ? null : never)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isObjectOrNull(value: unknown): boolean {
  return value === null || isObject(value)
}

export function isArray(value: unknown): value is unknown[] {
  return Array.isArray(value)
}

export function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

export function isTextOrNull(value: unknown): boolean {
  return value === null || isText(value)
}

export function isTextByKeyOrNull(value: unknown): boolean {
  return value === null || (isObject(value) && Object.values(value).every(isText))
}

export function isOne(value: unknown): boolean {
  return value === 1
}

export function isBoolean(value: unknown): boolean {
  return typeof value === 'boolean'
}

export function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function isEnvironment(value: unknown): boolean {
  return value === 'Customer' || value === 'Testing'
}

/** Seconds since the Unix epoch, at most the latest time that a Date can hold. */
export function isTime(value: unknown): boolean {
  return isCount(value) && (value as number) <= 8_640_000_000_000
}

/** RFC 3339, in UTC. */
export function isTimeText(value: unknown): boolean {
  return (
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value) &&
    !Number.isNaN(Date.parse(value))
  )
}

export function isOneOf(texts: readonly string[]): (value: unknown) => boolean {
  return (value) => typeof value === 'string' && texts.includes(value)
}
