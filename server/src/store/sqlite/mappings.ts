import type { Database, Statement } from 'better-sqlite3'
import {
  isRegistered,
  mappingEntries,
  refusedEntries,
  type MappingEntry,
  type MappingToCheck,
  type RegisteredEntry,
  type ResolvedEntry,
} from '../../domain/data-source/data-source.ts'
import { parseId } from '../../domain/util/id.ts'
import type { Environment } from '../../domain/environment.ts'
import type { JsonText } from '../../domain/json/json-text.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { EntryChanges } from '../../domain/user-group/decisions.ts'
import type { RefusedMapping } from '../../domain/user-group/user-group-store.ts'
import { ResolvedMappings } from '../resolved-mappings.ts'

type EntryValues = [number, Environment, string, string, number]

/** Looks up what the entries of mappings name, and keeps the index of mapping entries. */
export class Mappings {
  readonly #selectSchema: Statement<[number, Environment, number], RegisteredEntry['schema']>
  readonly #selectSchemaByProvidedId: Statement<[number, Environment, string], RegisteredEntry['schema']>
  readonly #selectById: Statement<[number, number], RegisteredEntry['dataSource']>
  readonly #selectByProvidedId: Statement<[number, string], RegisteredEntry['dataSource']>
  readonly #selectVersion: Statement<[number, Environment], string>
  readonly #insertEntry: Statement<EntryValues>
  readonly #deleteEntry: Statement<EntryValues>
  readonly #resolvedMappings = new ResolvedMappings()

  constructor(database: Database) {
    const schemas =
      'SELECT schema_id AS id, provided_id AS providedId FROM schema WHERE workspace_id = ? AND environment = ?'
    this.#selectSchema = database.prepare(`${schemas} AND schema_id = ?`)
    this.#selectSchemaByProvidedId = database.prepare(`${schemas} AND provided_id = ?`)
    const dataSources =
      'SELECT data_source_id AS id, provided_id AS providedId, name FROM data_source WHERE schema_id = ?'
    this.#selectById = database.prepare(`${dataSources} AND data_source_id = ?`)
    this.#selectByProvidedId = database.prepare(`${dataSources} AND provided_id = ?`)
    this.#selectVersion = database
      .prepare<[number, Environment], string>(
        'SELECT version FROM registry WHERE workspace_id = ? AND environment = ?',
      )
      .pluck()
    this.#insertEntry = database.prepare(
      `INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
       VALUES (?, ?, ?, ?, ?)`,
    )
    this.#deleteEntry = database.prepare(
      `DELETE FROM mapping_entry
       WHERE workspace_id = ? AND environment = ? AND schema_key = ? AND data_source_key = ? AND team_id = ?`,
    )
  }

  resolveEntries(scope: TenantScope, entries: readonly MappingEntry[]): ResolvedEntry[] {
    return entries.map(([schemaKey, key]) => this.resolveEntry(scope, schemaKey, key))
  }

  resolveEntry({ workspaceId, environment }: TenantScope, schemaKey: string, key: string): ResolvedEntry {
    const schemaId = parseId(schemaKey)
    const schema =
      this.#selectSchemaByProvidedId.get(workspaceId, environment, schemaKey) ??
      (schemaId === null ? undefined : this.#selectSchema.get(workspaceId, environment, schemaId))
    const id = parseId(key)
    const dataSource =
      schema &&
      (this.#selectByProvidedId.get(schema.id, key) ??
        (id === null ? undefined : this.#selectById.get(schema.id, id)))
    return { schemaKey, schema: schema ?? null, dataSource: dataSource ?? null }
  }

  check(scope: TenantScope, toCheck: MappingToCheck | null): RefusedMapping | null {
    if (toCheck === null) return null
    const { mapping, mode } = toCheck
    // Without a registered schema, no entry can name one twice.
    if (mode === 'free' && this.#versionOf(scope) === undefined) return null
    const entries = refusedEntries(this.resolveEntries(scope, mappingEntries(mapping)), mode)
    return entries.length === 0 ? null : { outcome: 'mapping_refused', entries }
  }

  findRegistered(scope: TenantScope, mapping: JsonText | null): readonly RegisteredEntry[] {
    const version = mapping === null ? undefined : this.#versionOf(scope)
    if (mapping === null || version === undefined) return []
    const versioned = { ...scope, version, mapping }
    const known = this.#resolvedMappings.get(versioned)
    if (known !== undefined) return known
    const entries = this.resolveEntries(scope, mappingEntries(mapping)).filter(isRegistered)
    this.#resolvedMappings.set(versioned, entries)
    return entries
  }

  /** Returns undefined if no schema was ever registered. */
  #versionOf({ workspaceId, environment }: TenantScope): string | undefined {
    return this.#selectVersion.get(workspaceId, environment)
  }

  /** Updates the index of mapping entries. */
  changeEntries(
    { workspaceId, environment }: TenantScope,
    teamId: number,
    { added, removed }: EntryChanges,
  ): void {
    for (const [schemaKey, key] of removed)
      this.#deleteEntry.run(workspaceId, environment, schemaKey, key, teamId)
    for (const [schemaKey, key] of added)
      this.#insertEntry.run(workspaceId, environment, schemaKey, key, teamId)
  }
}
