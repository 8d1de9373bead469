import type { Environment } from '../environment.ts'
import type { JsonText } from '../json/json-text.ts'
import { parseId } from '../util/id.ts'

/** A database structure that dashboards query. The keys of a mapping name schemas (specification 2.2). */
export interface Schema {
  readonly id: number
  readonly workspaceId: number
  readonly environment: Environment
  /** The client's own id, unique within a workspace and an environment. */
  readonly providedId: string
  readonly name: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/** A database with the structure of a schema. The values of a mapping name data sources. */
export interface DataSource {
  readonly id: number
  readonly schemaId: number
  /** The client's own id, unique within the schema. */
  readonly providedId: string
  readonly name: string
  /** Milliseconds since the Unix epoch. */
  readonly createdAt: number
}

/**
 * A mapping entry with the registered data source that it names. The key names a schema by its provided id or its id, and the
 * value names a data source of that schema in the same way. The provided id wins if both match.
 */
export interface ResolvedEntry {
  readonly schemaKey: string
  /** Null if the key names no registered schema. */
  readonly schema: Pick<Schema, 'id' | 'providedId'> | null
  /** Null if the value names no data source of the schema. */
  readonly dataSource: Pick<DataSource, 'id' | 'providedId' | 'name'> | null
}

export interface RegisteredEntry extends ResolvedEntry {
  readonly schema: NonNullable<ResolvedEntry['schema']>
  readonly dataSource: NonNullable<ResolvedEntry['dataSource']>
}

/** `free`: mappings may contain any strings. `registered`: each entry must name a registered data source. */
export const mappingModes = ['free', 'registered'] as const

export type MappingMode = (typeof mappingModes)[number]

/** Returns the schema that a mapping key names. A provided id wins over an equal id of another schema. */
export function schemaOfKey(schemas: readonly Schema[], key: string): Schema | undefined {
  return schemas.find(({ providedId }) => providedId === key) ?? schemas.find(({ id }) => id === parseId(key))
}

/**
 * Returns the texts by which mappings name a schema, or a data source of a schema.
 * @param isIdTaken whether the id, as text, is a provided id, which wins
 */
export function namesOf({ id, providedId }: Pick<Schema, 'id' | 'providedId'>, isIdTaken: boolean): string[] {
  return isIdTaken ? [providedId] : [providedId, String(id)]
}

export type MappingEntry = readonly [schemaKey: string, dataSourceKey: string]

export function mappingEntries(mapping: JsonText | null): readonly MappingEntry[] {
  return mapping === null ? [] : Object.entries(JSON.parse(mapping) as Record<string, string>)
}

/**
 * Returns true if an entry can name a data source and is therefore indexed for search. No provided id contains U+0000, which
 * PostgreSQL cannot store, or U+FFFF, a noncharacter that replaces it there.
 */
export function mayName(entry: MappingEntry): boolean {
  return !entry.some((text) => /[\0\uffff]/.test(text))
}

/** Returns true if the entry names a registered data source. */
export function isRegistered(entry: ResolvedEntry): entry is RegisteredEntry {
  return entry.dataSource !== null
}

/** Returns true if the key of the entry is the id of the schema, and not its provided id. */
export function isNamedById({ schemaKey, schema }: ResolvedEntry): boolean {
  return schema !== null && schema.providedId !== schemaKey
}

/** A mapping to check before it is stored. */
export interface MappingToCheck {
  readonly mapping: JsonText
  readonly mode: MappingMode
}

/** Returns true if the mapping must be resolved. With `free`, only a key that may be the id of a schema can name one twice. */
export function mustCheck({ mapping, mode }: MappingToCheck): boolean {
  if (mode === 'registered') return true
  const entries = mappingEntries(mapping)
  return entries.length > 1 && entries.some(([schemaKey]) => parseId(schemaKey) !== null)
}

/** Returns the entries for which the mapping is refused: they name a schema twice or, with `registered`, something unregistered. */
export function refusedEntries(entries: readonly ResolvedEntry[], mode: MappingMode): ResolvedEntry[] {
  const counts = new Map<number, number>()
  for (const { schema } of entries)
    if (schema !== null) counts.set(schema.id, (counts.get(schema.id) ?? 0) + 1)
  return entries.filter(
    (entry) =>
      (entry.schema !== null && counts.get(entry.schema.id) !== 1) ||
      (mode === 'registered' && !isRegistered(entry)),
  )
}
