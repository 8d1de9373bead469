import { IntrospectionError } from './introspection-error.ts'
import type { DataSource, JsonObject, UserGroup, Viewer } from './user-group.ts'

/**
 * Reads an introspection response with status 200. Returns the user group, or null for an inactive token. The user
 * group is deeply frozen, because callers share it if there is a cache.
 * @throws IntrospectionError `bad_response` for anything else; it is never treated as active
 */
export function readIntrospection(text: string): UserGroup | null {
  const response = new Members(parse(text), 'the response')
  if (response.get('active') === false) {
    if (response.names.length === 1) return null
    throw badResponse('it is inactive but has more members')
  }
  response.require('active', (value) => value === true)
  const isSession = response.require('token_type', isTokenType) === 'viewer_session'
  const expiresAt = isSession || response.has('exp') ? response.require('exp', isTime) * 1000 : null
  const mapping = response.require('mapping', isNullOr(isObject))
  const dataSources = Object.entries(response.require('data_sources', isObject))
  return freeze({
    providedId: response.require('sub', isName),
    teamId: response.require('team_id', isCount),
    name: response.require('name', isName),
    environment: response.require('api_environment_tag', isEnvironment),
    mapping: mapping && readMapping(mapping),
    dataSources: Object.fromEntries(dataSources.map(([key, value]) => [key, readDataSource(value)])),
    properties: response.require('properties', isNullOr(isObject)) as JsonObject | null,
    viewer: isSession ? readViewer(response.require('viewer', isObject)) : null,
    resources: isSession ? response.optional('resources', isResources) : null,
    token: { issuedAt: response.require('iat', isTime) * 1000, expiresAt },
  })
}

function readViewer(value: object): Viewer {
  const members = new Members(value, 'viewer')
  return {
    id: members.require('id', isName),
    name: members.optional('name', isName),
    properties: members.optional('properties', isObject) as JsonObject | null,
    timeZone: members.optional('time_zone', isName),
    locale: members.optional('locale', isName),
  }
}

function readMapping(mapping: object): Record<string, string> {
  const members = new Members(mapping, 'mapping')
  return Object.fromEntries(members.names.map((key) => [key, members.require(key, isName)]))
}

function readDataSource(value: unknown): DataSource {
  const members = new Members(value, 'data_sources')
  return {
    id: members.require('id', isCount),
    providedId: members.require('provided_id', isName),
    name: members.require('name', isName),
    schema: readSchema(members.require('schema', isObject)),
  }
}

function readSchema(value: object): DataSource['schema'] {
  const members = new Members(value, 'schema')
  return { id: members.require('id', isCount), providedId: members.require('provided_id', isName) }
}

/** Own members of an object. Inherited ones were not sent. */
class Members {
  readonly names: readonly string[]
  readonly #object: object
  readonly #name: string

  constructor(value: unknown, name: string) {
    if (!isObject(value)) throw badResponse(`${name} is not an object`)
    this.#object = value
    this.#name = name
    this.names = Object.keys(value)
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name)
  }

  get(name: string): unknown {
    return this.has(name) ? (this.#object as Record<string, unknown>)[name] : undefined
  }

  /** Returns null for a member that is null or absent. */
  optional<Value>(name: string, is: (value: unknown) => value is Value): Value | null {
    return this.has(name) ? this.require(name, isNullOr(is)) : null
  }

  require<Value>(name: string, is: (value: unknown) => value is Value): Value {
    const value = this.get(name)
    if (is(value)) return value
    throw badResponse(
      this.#name === 'mapping'
        ? 'mapping has a value that is not a string'
        : `${this.#name} has an invalid ${name}`,
    )
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Drops the message of JSON.parse, which quotes the text and may hold a customer's data.
    throw badResponse('it is not JSON')
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNullOr<Value>(is: (value: unknown) => value is Value) {
  return (value: unknown): value is Value | null => value === null || is(value)
}

function isTokenType(value: unknown): value is 'user_group' | 'viewer_session' {
  return value === 'user_group' || value === 'viewer_session'
}

/** An empty list would be a session without resources, and the service issues none. */
function isResources(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every(isName)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Seconds since the Unix epoch, at most the latest time that a Date can hold. */
function isTime(value: unknown): value is number {
  return isCount(value) && value <= 8_640_000_000_000
}

function isEnvironment(value: unknown): value is UserGroup['environment'] {
  return value === 'Customer' || value === 'Testing'
}

/** Freezes a value deeply. A loop, because the nesting of a response must not exhaust the stack. */
function freeze<Value extends object>(root: Value): Value {
  const open: unknown[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    Object.freeze(value)
    for (const member of Object.values(value) as unknown[]) open.push(member)
  }
  return root
}

export function badResponse(detail: string): IntrospectionError {
  return new IntrospectionError(
    'bad_response',
    `Unexpected response: ${detail}. ` +
      'Check that url is the /oauth2/introspect of the User Group Service, with no login page or redirect in front of it.',
  )
}
