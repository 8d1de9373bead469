import type { Environment } from '../environment.ts'
import type { JsonText } from '../json/json-text.ts'

/** What dashboards are built on: the keys of a mapping are schemas (specification 2.2). */
export interface Schema {
  readonly id: number
  readonly workspaceId: number
  readonly environment: Environment
  /** The id that whoever registered it gave it: unique within a workspace and an environment. */
  readonly providedId: string
  readonly name: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/** Where a schema's data is for some user groups: the values of a mapping are data sources. */
export interface DataSource {
  readonly id: number
  readonly schemaId: number
  /** Unique within the schema. */
  readonly providedId: string
  readonly name: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/**
 * An entry of a mapping, looked up. A key names a schema by its provided id or else by its id, a value a data source of
 * that schema likewise: the provided id wins where both match.
 */
export interface ResolvedEntry {
  readonly schemaKey: string
  /** Whether there is such a schema. */
  readonly hasSchema: boolean
  /** Null where there is no such data source. */
  readonly dataSource: Pick<DataSource, 'id' | 'providedId' | 'name'> | null
}

export interface RegisteredEntry extends ResolvedEntry {
  readonly dataSource: NonNullable<ResolvedEntry['dataSource']>
}

/** Whether the mappings of user groups may hold any strings, or must name what is registered. */
export const mappingModes = ['free', 'registered'] as const

export type MappingMode = (typeof mappingModes)[number]

/** The id that a key or value of a mapping may be; null where it can be none. */
export function idOf(text: string): number | null {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null
}

/** The schema that a key of a mapping names: the provided id wins where another schema's id is the same text. */
export function schemaOfKey(schemas: readonly Schema[], key: string): Schema | undefined {
  return schemas.find(({ providedId }) => providedId === key) ?? schemas.find(({ id }) => id === idOf(key))
}

export type MappingEntry = readonly [schemaKey: string, dataSourceKey: string]

export function mappingEntries(mapping: JsonText | null): readonly MappingEntry[] {
  return mapping === null ? [] : Object.entries(JSON.parse(mapping) as Record<string, string>)
}

/**
 * Whether an entry may name anything, and so is kept to be found by. Neither U+0000 nor U+FFFF is in any provided id:
 * PostgreSQL's text cannot hold the first, and the second, which is no character, stands for it there.
 */
export function mayName(entry: MappingEntry): boolean {
  return !entry.some((text) => /[\0\uffff]/.test(text))
}

/** With the mode `registered`, each entry of a mapping must be. */
export function isRegistered(entry: ResolvedEntry): entry is RegisteredEntry {
  return entry.dataSource !== null
}
