import { randomUUID } from 'node:crypto'
import type { Database, Statement } from 'better-sqlite3'
import {
  type DataSource,
  type MappingEntry,
  type ResolvedEntry,
  type Schema,
} from '../../domain/data-source/data-source.ts'
import { parseId } from '../../domain/util/id.ts'
import type { Environment } from '../../domain/environment.ts'
import type {
  DeleteOutcome,
  DeleteRegistered,
  ListDataSources,
  ListSharedDataSources,
  NewDataSource,
  NewSchema,
  NotRegistered,
  SharedDataSources,
} from '../../domain/data-source/data-source-store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { dataSourceOf, schemaOf, type DataSourceRow, type SchemaRow } from '../data-source-row.ts'
import type { AuditLog } from './audit-log.ts'
import type { Mappings } from './mappings.ts'

/** Number of data sources that one call examines: some milliseconds, in which other requests wait. */
const dataSourcesLookedAt = 1000

/** Schemas and their data sources. */
export class DataSources {
  readonly #audit: AuditLog
  readonly #mappings: Mappings
  readonly #insertSchema: Statement<unknown[], SchemaRow>
  readonly #selectSchemas: Statement<[number, Environment], SchemaRow>
  readonly #selectSchema: Statement<[number, Environment, number], SchemaRow>
  readonly #deleteSchema: Statement<[number]>
  readonly #insert: Statement<unknown[], DataSourceRow>
  readonly #selectAll: Statement<[number, Environment, number, number], DataSourceRow>
  readonly #selectOfSchema: Statement<[number, Environment, number, number, number], DataSourceRow>
  readonly #select: Statement<[number, Environment, number], DataSourceRow & { schema_provided_id: string }>
  readonly #selectById: Statement<[number, number], DataSourceRow>
  readonly #selectSlice: Statement<
    [number, Environment, number, number],
    DataSourceRow & { schema_provided_id: string }
  >
  readonly #isShared: Statement<[number, Environment, string, string, string, string], number>
  readonly #setVersion: Statement<[number, Environment, string]>
  readonly #selectAnyOfSchema: Statement<[number]>
  readonly #delete: Statement<[number]>
  readonly #hasSchemaKey: Statement<[number, Environment, string], number>
  readonly #hasEntry: Statement<[number, Environment, string, string], number>

  // eslint-disable-next-line max-lines-per-function -- A list of statements.
  constructor(database: Database, mappings: Mappings, audit: AuditLog) {
    this.#mappings = mappings
    this.#audit = audit
    this.#insertSchema = database.prepare(
      `INSERT INTO schema (workspace_id, environment, provided_id, name, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (workspace_id, environment, provided_id) DO NOTHING RETURNING *`,
    )
    this.#selectSchemas = database.prepare(
      'SELECT * FROM schema WHERE workspace_id = ? AND environment = ? ORDER BY schema_id',
    )
    this.#selectSchema = database.prepare(
      'SELECT * FROM schema WHERE workspace_id = ? AND environment = ? AND schema_id = ?',
    )
    this.#deleteSchema = database.prepare('DELETE FROM schema WHERE schema_id = ?')
    this.#insert = database.prepare(
      `INSERT INTO data_source (workspace_id, schema_id, provided_id, name, created_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (schema_id, provided_id) DO NOTHING RETURNING *`,
    )
    this.#selectAll = database.prepare(
      `SELECT data_source.* FROM data_source CROSS JOIN schema USING (schema_id)
       WHERE schema.workspace_id = ? AND schema.environment = ? AND data_source_id > ?
       ORDER BY data_source_id LIMIT ?`,
    )
    this.#selectOfSchema = database.prepare(
      `SELECT data_source.* FROM data_source JOIN schema USING (schema_id)
       WHERE schema.workspace_id = ? AND schema.environment = ? AND schema_id = ? AND data_source_id > ?
       ORDER BY data_source_id LIMIT ?`,
    )
    this.#select = database.prepare(
      `SELECT data_source.*, schema.provided_id AS schema_provided_id
       FROM data_source JOIN schema USING (schema_id)
       WHERE schema.workspace_id = ? AND schema.environment = ? AND data_source_id = ?`,
    )
    this.#selectById = database.prepare(
      'SELECT * FROM data_source WHERE schema_id = ? AND data_source_id = ?',
    )
    this.#selectSlice = database.prepare(
      `SELECT data_source.*, schema.provided_id AS schema_provided_id
       FROM data_source CROSS JOIN schema USING (schema_id)
       WHERE schema.workspace_id = ? AND schema.environment = ? AND data_source_id > ?
       ORDER BY data_source_id LIMIT ?`,
    )
    this.#isShared = database
      .prepare<[number, Environment, string, string, string, string], number>(
        `SELECT count(*) > 1 FROM (
           SELECT DISTINCT team_id FROM mapping_entry
           WHERE workspace_id = ? AND environment = ? AND schema_key IN (?, ?) AND data_source_key IN (?, ?) LIMIT 2
         )`,
      )
      .pluck()
    this.#setVersion = database.prepare('INSERT OR REPLACE INTO registry VALUES (?, ?, ?)')
    this.#selectAnyOfSchema = database.prepare('SELECT 1 FROM data_source WHERE schema_id = ? LIMIT 1')
    this.#delete = database.prepare('DELETE FROM data_source WHERE data_source_id = ?')
    this.#hasSchemaKey = database
      .prepare<[number, Environment, string], number>(
        `SELECT EXISTS (SELECT 1 FROM mapping_entry
           WHERE workspace_id = ? AND environment = ? AND schema_key = ?)`,
      )
      .pluck()
    this.#hasEntry = database
      .prepare<[number, Environment, string, string], number>(
        `SELECT EXISTS (SELECT 1 FROM mapping_entry
           WHERE workspace_id = ? AND environment = ? AND schema_key = ? AND data_source_key = ?)`,
      )
      .pluck()
  }

  createSchema(schema: NewSchema): Schema | NotRegistered {
    const { workspaceId, environment, providedId, name, createdAt } = schema
    const id = parseId(providedId)
    const isNamedById = id !== null && this.#selectSchema.get(workspaceId, environment, id) !== undefined
    if (isNamedById && this.#hasSchemaKey.get(workspaceId, environment, providedId) === 1)
      return 'provided_id_mapped'
    const row = this.#insertSchema.get(workspaceId, environment, providedId, name, createdAt)
    if (row === undefined) return 'provided_id_taken'
    this.#renewVersion(schema)
    const details = { schema_id: row.schema_id, provided_id: providedId }
    this.#audit.append('schema.created', { ...schema, now: createdAt }, { details })
    return schemaOf(row)
  }

  listSchemas(workspaceId: number, environment: Environment): Schema[] {
    return this.#selectSchemas.all(workspaceId, environment).map(schemaOf)
  }

  deleteSchema(command: DeleteRegistered): DeleteOutcome {
    const { workspaceId, environment, id } = command
    const row = this.#selectSchema.get(workspaceId, environment, id)
    if (row === undefined) return 'not_found'
    if (this.#selectAnyOfSchema.get(id) !== undefined) return 'in_use'
    this.#deleteSchema.run(id)
    this.#renewVersion(command)
    const details = { schema_id: id, provided_id: row.provided_id }
    this.#audit.append('schema.deleted', command, { details })
    return 'deleted'
  }

  create(dataSource: NewDataSource): DataSource | NotRegistered | 'schema_not_found' {
    const { workspaceId, environment, schemaId, providedId, name, createdAt } = dataSource
    const schema = this.#selectSchema.get(workspaceId, environment, schemaId)
    if (schema === undefined) return 'schema_not_found'
    const id = parseId(providedId)
    if (id !== null && this.#selectById.get(schemaId, id) !== undefined) {
      for (const schemaKey of [schema.provided_id, String(schemaId)]) {
        const meant = this.#mappings.resolveEntry(dataSource, schemaKey, providedId).dataSource
        if (meant?.id === id && this.#hasEntry.get(workspaceId, environment, schemaKey, providedId) === 1)
          return 'provided_id_mapped'
      }
    }
    const row = this.#insert.get(workspaceId, schemaId, providedId, name, createdAt)
    if (row === undefined) return 'provided_id_taken'
    this.#renewVersion(dataSource)
    const details = { data_source_id: row.data_source_id, schema_id: schemaId, provided_id: providedId }
    this.#audit.append('data_source.created', { ...dataSource, now: createdAt }, { details })
    return dataSourceOf(row)
  }

  list({ workspaceId, environment, schemaId, afterId, limit }: ListDataSources): DataSource[] {
    const rows =
      schemaId === undefined
        ? this.#selectAll.all(workspaceId, environment, afterId ?? 0, limit)
        : this.#selectOfSchema.all(workspaceId, environment, schemaId, afterId ?? 0, limit)
    return rows.map(dataSourceOf)
  }

  delete(command: DeleteRegistered): DeleteOutcome {
    const { workspaceId, environment, id } = command
    const row = this.#select.get(workspaceId, environment, id)
    if (row === undefined) return 'not_found'
    for (const schemaKey of [row.schema_provided_id, String(row.schema_id)]) {
      for (const key of [row.provided_id, String(id)]) {
        // An entry with the same text may name another data source by its provided id.
        const meant = this.#mappings.resolveEntry(command, schemaKey, key).dataSource
        if (meant?.id === id && this.#hasEntry.get(workspaceId, environment, schemaKey, key) === 1)
          return 'in_use'
      }
    }
    this.#delete.run(id)
    this.#renewVersion(command)
    const details = { data_source_id: id, schema_id: row.schema_id, provided_id: row.provided_id }
    this.#audit.append('data_source.deleted', command, { details })
    return 'deleted'
  }

  listShared({ workspaceId, environment, afterId }: ListSharedDataSources): SharedDataSources {
    const rows = this.#selectSlice.all(workspaceId, environment, afterId ?? 0, dataSourcesLookedAt)
    return {
      dataSources: rows
        .filter(
          (row) =>
            this.#isShared.get(
              workspaceId,
              environment,
              row.schema_provided_id,
              String(row.schema_id),
              row.provided_id,
              String(row.data_source_id),
            ) === 1,
        )
        .map((row) => ({ ...dataSourceOf(row), schemaProvidedId: row.schema_provided_id })),
      afterId: rows.length < dataSourcesLookedAt ? null : (rows.at(-1)?.data_source_id ?? null),
    }
  }

  resolveEntries(
    workspaceId: number,
    environment: Environment,
    entries: readonly MappingEntry[],
  ): ResolvedEntry[] {
    return this.#mappings.resolveEntries({ workspaceId, environment }, entries)
  }

  /** Renews the registry version, so that every process resolves mappings again after the commit. */
  #renewVersion({ workspaceId, environment }: TenantScope): void {
    this.#setVersion.run(workspaceId, environment, randomUUID())
  }
}
