import { IntrospectionError } from './introspection-error.ts'
import type { DataSource, JsonObject, UserGroup } from './user-group.ts'

/**
 * Reads what the service answers with status 200: a user group, or null for an inactive token. The user group is frozen, as
 * deep as it goes: with a cache, several callers get the same one.
 * @throws IntrospectionError `bad_answer` for whatever is neither; it is never taken for active.
 */
export function readAnswer(text: string): UserGroup | null {
  const answer = new Members(parse(text), 'the answer')
  if (answer.get('active') === false) {
    if (answer.names.length === 1) return null
    throw badAnswer('the answer is inactive and says more')
  }
  answer.require('active', (value) => value === true)
  answer.require('token_type', (value) => value === 'user_group')
  const expiresAt = answer.has('exp') ? answer.require('exp', isTime) * 1000 : null
  const mapping = answer.require('mapping', isNullOr(isObject))
  const dataSources = Object.entries(answer.require('data_sources', isObject))
  return freeze({
    providedId: answer.require('sub', isName),
    teamId: answer.require('team_id', isCount),
    name: answer.require('name', isName),
    environment: answer.require('api_environment_tag', isEnvironment),
    mapping: mapping && readMapping(mapping),
    dataSources: Object.fromEntries(dataSources.map(([key, value]) => [key, readDataSource(value)])),
    properties: answer.require('properties', isNullOr(isObject)) as JsonObject | null,
    token: { issuedAt: answer.require('iat', isTime) * 1000, expiresAt },
  })
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
  }
}

/** The own members of an object: what is inherited is nobody's answer. */
class Members {
  readonly names: readonly string[]
  readonly #object: object
  readonly #what: string

  constructor(value: unknown, what: string) {
    if (!isObject(value)) throw badAnswer(`${what} is no object`)
    this.#object = value
    this.#what = what
    this.names = Object.keys(value)
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#object, name)
  }

  get(name: string): unknown {
    return this.has(name) ? (this.#object as Record<string, unknown>)[name] : undefined
  }

  require<Value>(name: string, is: (value: unknown) => value is Value): Value {
    const value = this.get(name)
    if (is(value)) return value
    throw badAnswer(
      this.#what === 'mapping'
        ? 'mapping holds what is no text'
        : `${name} of ${this.#what} is not as it should be`,
    )
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The words of JSON.parse quote the text, and that may hold what is a customer's.
    throw badAnswer('it is not JSON')
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isNullOr<Value>(is: (value: unknown) => value is Value) {
  return (value: unknown): value is Value | null => value === null || is(value)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Seconds since the Unix epoch, up to the latest time that a Date holds. */
function isTime(value: unknown): value is number {
  return isCount(value) && value <= 8_640_000_000_000
}

function isEnvironment(value: unknown): value is UserGroup['environment'] {
  return value === 'Customer' || value === 'Testing'
}

/** A loop: how deep an answer goes is not for the stack to find out. */
function freeze<Value extends object>(root: Value): Value {
  const open: unknown[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    Object.freeze(value)
    for (const member of Object.values(value) as unknown[]) open.push(member)
  }
  return root
}

export function badAnswer(what: string): IntrospectionError {
  return new IntrospectionError(
    'bad_answer',
    `What answers is not the User Group Service as it should be (${what}): ` +
      'check that url is that of its /oauth2/introspect, with no login page or redirect before it',
  )
}
