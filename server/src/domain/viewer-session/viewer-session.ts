import type { FieldFault } from '../fault.ts'
import { shownPointer } from '../json/json-pointer.ts'
import type { JsonText } from '../json/json-text.ts'
import type { ActiveUserGroup } from '../user-group/user-group-store.ts'
import type { TokenlessUserGroup, UserGroupContent } from '../user-group/user-group.ts'

/** Maximum lifetime of a session, in milliseconds. */
export const maxLifetimeMs = 24 * 60 * 60 * 1000
/** Maximum size of a token, in bytes. */
export const maxTokenBytes = 6 * 1024
/** Time by which the clock of the process that created a session may be ahead, in seconds. */
export const maxClockSkewSeconds = 5

/** The part of a user group that a session leaves. */
export interface Narrowing {
  /** The allowed elements of properties that are lists. */
  readonly properties?: Readonly<Record<string, readonly unknown[]>>
  /** The allowed keys of the mapping. */
  readonly schemas?: readonly string[]
}

/** A session to create. */
export interface SessionRequest {
  readonly providedId: string
  readonly viewerId: string
  /** The viewer with its id, as sent. */
  readonly viewer: JsonText
  readonly narrow?: Narrowing
  readonly resources?: readonly string[]
  readonly expiresInSeconds: number
  /** The last three are for engines that verify the token themselves. */
  readonly audience?: string
  readonly include?: readonly string[]
  /** A JSON object. */
  readonly claims?: JsonText
}

/** The payload of a session's token. Times are in seconds since the Unix epoch. */
export interface SessionClaims {
  readonly sub: string
  readonly iat: number
  readonly exp: number
  readonly jti: string
  readonly team_id: number
  readonly viewer_id: string
  readonly viewer: object
  readonly narrow?: IssuedNarrowing
  readonly resources?: readonly string[]
}

/** A property that was not a list has its value instead of a list. */
interface IssuedNarrowing {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly schemas?: readonly string[]
}

/** The user group of a session, narrowed, as it is now. */
export interface SessionView extends ActiveUserGroup {
  readonly claims: SessionClaims
}

type Properties = Readonly<Record<string, unknown>>

/** Returns what is wrong with a narrowing for a user group as it is. */
export function faultsOfNarrowing(
  { properties = {}, schemas = [] }: Narrowing,
  userGroup: Pick<UserGroupContent, 'mapping' | 'properties'>,
): FieldFault[] {
  const current = objectIn(userGroup.properties)
  const mapping = objectIn(userGroup.mapping)
  return [
    ...Object.entries(properties).flatMap(([name, allowed]) => {
      const message = faultOfList(allowed, Object.hasOwn(current, name) ? current[name] : undefined)
      return message === null ? [] : [{ path: shownPointer(['narrow', 'properties', name]), message }]
    }),
    ...schemas.flatMap((key, i) =>
      Object.hasOwn(mapping, key)
        ? []
        : [{ path: `/narrow/schemas/${i}`, message: 'is not a key of the mapping of the user group' }],
    ),
  ]
}

function faultOfList(allowed: readonly unknown[], value: unknown): string | null {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (value === undefined || !values.every(isScalar))
    return 'must name a property of the user group that is a text, number, boolean or null, or a list of those'
  const has = membership(values)
  return allowed.every(has) ? null : 'must only have values of the property of the user group'
}

/** Returns the narrowing for the token. */
export function issuedNarrowing(
  { properties, schemas }: Narrowing,
  userGroup: Pick<UserGroupContent, 'properties'>,
): IssuedNarrowing {
  const current = objectIn(userGroup.properties)
  const issued =
    properties &&
    Object.entries(properties).map(([name, allowed]) => [
      name,
      Array.isArray(current[name]) || allowed.length === 0 ? allowed : current[name],
    ])
  return {
    ...(issued !== undefined && { properties: Object.fromEntries(issued) as Properties }),
    ...(schemas !== undefined && { schemas }),
  }
}

/** Narrows a user group as it is now. The result never has a value that the user group does not have. */
export function narrowed(
  { properties, schemas }: IssuedNarrowing,
  { userGroup, state, dataSources }: ActiveUserGroup,
): ActiveUserGroup {
  const isShown = (schemaKey: string) => schemas?.includes(schemaKey) ?? true
  return {
    userGroup: {
      ...userGroup,
      mapping: narrowedMapping(userGroup, isShown),
      properties: narrowedProperties(userGroup, properties),
    },
    state,
    dataSources: dataSources.filter(({ schemaKey }) => isShown(schemaKey)),
  }
}

function narrowedMapping({ mapping }: TokenlessUserGroup, isShown: (schemaKey: string) => boolean) {
  const entries = Object.entries(objectIn(mapping))
  const shown = entries.filter(([key]) => isShown(key))
  return shown.length === entries.length ? mapping : JSON.stringify(Object.fromEntries(shown))
}

export function narrowedProperties(
  { properties }: Pick<UserGroupContent, 'properties'>,
  allowed: IssuedNarrowing['properties'],
): JsonText | null {
  if (allowed === undefined) return properties
  const current = objectIn(properties)
  const entries = Object.entries(allowed).map(([name, value]) => [
    name,
    intersection(Object.hasOwn(current, name) ? current[name] : undefined, value),
  ])
  return JSON.stringify({ ...current, ...(Object.fromEntries(entries) as Properties) })
}

/** Returns the current value, without the elements that are not allowed. An empty list matches nothing in a template. */
function intersection(current: unknown, allowed: unknown): unknown {
  const isAllowed = membership(Array.isArray(allowed) ? allowed : [allowed])
  if (Array.isArray(current) && Array.isArray(allowed)) return current.filter(isAllowed)
  return !Array.isArray(allowed) && isAllowed(current) ? current : []
}

/** Returns a function that tells whether a value is one of these scalars, compared as JSON values. */
function membership(values: readonly unknown[]): (value: unknown) => boolean {
  const texts = new Set(values.filter(isScalar).map((value) => JSON.stringify(value)))
  return (value) => isScalar(value) && texts.has(JSON.stringify(value))
}

function isScalar(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value)
}

export function objectIn(text: JsonText | null): Properties {
  return text === null ? {} : (JSON.parse(text) as Properties)
}
