import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { scanSql, type SqlDialect } from '@user-group-service/renderer/templates'
import { UsageError } from './errors.ts'

/** A table of the configuration. */
export interface ListedTable {
  /** The name as written, such as `public.sales`. */
  readonly title: string
  readonly schema: string | undefined
  readonly name: string
  /** The condition of a customer's rows: its column, or a condition with variables. Null if all customers share the table. */
  readonly owner: string | null
}

/** A user group as written in a file or by `ugs export`. */
export interface UserGroupFields {
  readonly provided_id?: string
  readonly user_group_id?: string
  readonly name?: string
  readonly properties?: Record<string, unknown> | null
  /** As in `/api/user/create-session`. */
  readonly viewer?: {
    readonly id: string
    readonly name?: string
    readonly properties?: Record<string, unknown>
    readonly time_zone?: string
    readonly locale?: string
  }
}

/** Values of variables, by their names such as `filter.rows`. */
export type VariableValues = Readonly<Record<string, unknown>>

/** `isolation.json`. Paths in it are relative to its folder. */
export interface Config {
  readonly folder: string
  readonly dialect: SqlDialect | undefined
  readonly tables: readonly ListedTable[]
  readonly templates: readonly string[]
  /** Ids, which the service knows, user groups, or the path of a file with user groups. */
  readonly userGroups: string | readonly (string | UserGroupFields)[]
  readonly variables: VariableValues
  readonly optional: readonly string[]
  readonly identifiers: Readonly<Record<string, readonly string[]>>
  /** Names of your own functions that read no tables. */
  readonly functions: readonly string[]
  /** Role of the row-level security kit. */
  readonly role: string
}

const members = [
  'dialect',
  'tables',
  'templates',
  'user_groups',
  'variables',
  'optional',
  'identifiers',
  'functions',
  'role',
]

/** Reads the configuration. @throws UsageError that names what is wrong */
export function readConfig(file: string): Config {
  const wrong = (problem: string) => new UsageError(`${file}: ${problem}`)
  let json: unknown
  try {
    json = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw wrong(
      isMissing
        ? 'does not exist; name the file with --config, or write one (see the README)'
        : `cannot be read as JSON: ${(error as Error).message}`,
    )
  }
  if (!isObject(json)) throw wrong('must be a JSON object')
  const unknown = Object.keys(json).find((name) => !members.includes(name))
  if (unknown !== undefined) throw wrong(`"${unknown}" is unknown; the members are ${members.join(', ')}`)
  const texts = (name: string): string[] => {
    const value = json[name] ?? []
    const list = typeof value === 'string' ? [value] : value
    if (isListOfTexts(list)) return list
    throw wrong(`"${name}" must be a string or a list of strings`)
  }
  const object = (name: string): Record<string, unknown> => {
    const value = json[name] ?? {}
    if (isObject(value)) return value
    throw wrong(`"${name}" must be an object`)
  }
  const identifiers = object('identifiers')
  if (!Object.values(identifiers).every(isListOfTexts))
    throw wrong('"identifiers" must have a list of names for each variable')
  const { dialect, user_groups: userGroups, role = 'dashboards' } = json
  if (dialect !== undefined && !isDialect(dialect)) throw wrong('"dialect" is none of the renderer package')
  if (typeof role !== 'string' || role === '') throw wrong('"role" must be a string')
  if (json.tables === undefined) throw wrong('"tables" is missing: list every table that templates read')
  if (userGroups !== undefined && typeof userGroups !== 'string' && !isListOfUserGroups(userGroups))
    throw wrong(
      '"user_groups" must be a list of ids or of user groups with provided_id, name and properties, or the path of a file',
    )
  return {
    folder: resolve(dirname(file)),
    dialect,
    tables: Object.entries(object('tables')).map(([title, owner]) => {
      if (owner === null || (typeof owner === 'string' && owner !== '')) return listedTable(title, owner)
      throw wrong(
        `"tables": ${title} must have the column of the customer's id, or null if all customers share it`,
      )
    }),
    templates: texts('templates'),
    userGroups: userGroups ?? [],
    variables: object('variables'),
    optional: texts('optional'),
    identifiers: identifiers as Config['identifiers'],
    functions: texts('functions').map((name) => name.toLowerCase()),
    role,
  }
}

function isDialect(value: unknown): value is SqlDialect {
  try {
    scanSql('', { dialect: value as SqlDialect })
    return true
  } catch {
    return false
  }
}

function listedTable(title: string, owner: string | null): ListedTable {
  const dot = title.lastIndexOf('.')
  return {
    title,
    schema: dot === -1 ? undefined : title.slice(0, dot),
    name: title.slice(dot + 1),
    owner,
  }
}

function isListOfTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

export function isListOfUserGroups(value: unknown): value is (string | UserGroupFields)[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string' || isUserGroup(entry))
}

function isUserGroup(value: unknown): value is UserGroupFields {
  if (!isObject(value) || idOf(value) === undefined) return false
  const { name = '', properties = null } = value
  return typeof name === 'string' && (properties === null || isObject(properties))
}

/** Returns the id of a user group in a file; undefined if it has none. */
export function idOf(value: unknown): string | undefined {
  if (!isObject(value)) return undefined
  const id = value.provided_id ?? value.user_group_id
  return typeof id === 'string' ? id : undefined
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
