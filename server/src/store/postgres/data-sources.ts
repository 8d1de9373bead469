import { randomUUID } from 'node:crypto'
import {
  idOf,
  type DataSource,
  type MappingEntry,
  type ResolvedEntry,
  type Schema,
} from '../../domain/data-source/data-source.ts'
import type { Environment } from '../../domain/environment.ts'
import type {
  DataSourceStore,
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
import { appendAuditEvent } from './audit-log.ts'
import { entriesOf, resolveEntries } from './data-source-sql.ts'
import { PostgresFailure } from './postgres-fault.ts'
import type { PrimaryPool, Query } from './primary-pool.ts'
import type { Retry } from './retry.ts'
import type { Mappings } from './mappings.ts'

/** Number of data sources that one operation examines. */
const sharedBatchSize = 1000

/** SQLSTATE of deleting a row that another row refers to. */
const foreignKeyViolation = '23503'

/** Schemas and their data sources. */
export class DataSources implements DataSourceStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #mappings: Mappings

  constructor(primary: PrimaryPool, retry: Retry, mappings: Mappings) {
    this.#primary = primary
    this.#retry = retry
    this.#mappings = mappings
  }

  resolveEntries(
    workspaceId: number,
    environment: Environment,
    entries: readonly MappingEntry[],
  ): Promise<readonly ResolvedEntry[]> {
    return this.#retry.run(
      async () => (await this.#mappings.resolveEntries({ workspaceId, environment }, entries)).entries,
    )
  }

  createSchema(schema: NewSchema): Promise<Schema | NotRegistered> {
    return this.#retry.run(async (attempt) => {
      const outcome = await attempt.transaction(this.#primary, (query) => insertSchema(query, schema))
      if (outcome !== 'provided_id_taken' || !attempt.isAmbiguous) return outcome
      const { workspaceId, environment, providedId, name, createdAt } = schema
      const [taken] = await this.#primary.query<SchemaRow>(
        `SELECT * FROM schema
         WHERE workspace_id = $1 AND environment = $2 AND provided_id = $3 AND name = $4 AND created_at = $5`,
        [workspaceId, environment, providedId, name, createdAt],
      )
      return taken === undefined ? outcome : schemaOf(taken)
    })
  }

  async listSchemas(workspaceId: number, environment: Environment): Promise<Schema[]> {
    const rows = await this.#retry.query<SchemaRow>(
      'SELECT * FROM schema WHERE workspace_id = $1 AND environment = $2 ORDER BY schema_id',
      [workspaceId, environment],
    )
    return rows.map(schemaOf)
  }

  deleteSchema(command: DeleteRegistered): Promise<DeleteOutcome> {
    const { workspaceId, environment, id } = command
    return this.#retry.run(async (attempt) => {
      const deleted = await attempt
        .transaction(this.#primary, async (query) => {
          const rows = await query<SchemaRow>(
            'DELETE FROM schema WHERE workspace_id = $1 AND environment = $2 AND schema_id = $3 RETURNING *',
            [workspaceId, environment, id],
          )
          for (const { provided_id } of rows) {
            await renewVersion(query, command)
            await appendAuditEvent(query, 'schema.deleted', command, { schema_id: id, provided_id })
          }
          return rows
        })
        .catch((error: unknown) => {
          if (error instanceof PostgresFailure && error.code === foreignKeyViolation) return null
          throw error
        })
      if (deleted === null) return 'in_use'
      return deleted.length === 1 || attempt.isAmbiguous ? 'deleted' : 'not_found'
    })
  }

  create(dataSource: NewDataSource): Promise<DataSource | NotRegistered | 'schema_not_found'> {
    return this.#retry.run(async (attempt) => {
      const outcome = await attempt.transaction(this.#primary, (query) => insertDataSource(query, dataSource))
      if (outcome !== 'provided_id_taken' || !attempt.isAmbiguous) return outcome
      const { workspaceId, schemaId, providedId, name, createdAt } = dataSource
      const [taken] = await this.#primary.query<DataSourceRow>(
        `SELECT * FROM data_source
         WHERE workspace_id = $1 AND schema_id = $2 AND provided_id = $3 AND name = $4 AND created_at = $5`,
        [workspaceId, schemaId, providedId, name, createdAt],
      )
      return taken === undefined ? outcome : dataSourceOf(taken)
    })
  }

  async list({ workspaceId, environment, schemaId, afterId, limit }: ListDataSources): Promise<DataSource[]> {
    const rows = await this.#retry.query<DataSourceRow>(
      `SELECT data_source.* FROM data_source JOIN schema USING (workspace_id, schema_id)
       WHERE workspace_id = $1 AND environment = $2 AND schema_id = coalesce($3, schema_id)
         AND data_source_id > $4
       ORDER BY data_source_id LIMIT $5`,
      [workspaceId, environment, schemaId ?? null, afterId ?? 0, limit],
    )
    return rows.map(dataSourceOf)
  }

  async listShared({ workspaceId, environment, afterId }: ListSharedDataSources): Promise<SharedDataSources> {
    const rows = await this.#retry.query<
      DataSourceRow & { readonly schema_provided_id: string; readonly is_shared: boolean }
    >(
      `SELECT slice.*, (
         SELECT count(*) > 1 FROM (
           SELECT DISTINCT team_id
           FROM unnest(ARRAY[schema_provided_id, schema_id::text]) AS of_schema (key)
           CROSS JOIN unnest(ARRAY[provided_id, data_source_id::text]) AS of_source (key)
           CROSS JOIN LATERAL (
             SELECT team_id FROM mapping_entry
             WHERE workspace_id = $1 AND environment = $2 AND schema_key = of_schema.key
               AND data_source_key = of_source.key LIMIT 2
           ) AS entry
           LIMIT 2
         ) AS two
       ) AS is_shared
       FROM (
         SELECT data_source.*, schema.provided_id AS schema_provided_id
         FROM (
           SELECT * FROM data_source WHERE workspace_id = $1 AND data_source_id > $3 ORDER BY data_source_id
         ) AS data_source CROSS JOIN LATERAL (
           SELECT provided_id, environment FROM schema
           WHERE workspace_id = $1 AND schema_id = data_source.schema_id LIMIT 1
         ) AS schema
         WHERE schema.environment = $2
         ORDER BY data_source_id LIMIT $4
       ) AS slice
       ORDER BY data_source_id`,
      [workspaceId, environment, afterId ?? 0, sharedBatchSize],
    )
    return {
      dataSources: rows
        .filter(({ is_shared }) => is_shared)
        .map((row) => ({ ...dataSourceOf(row), schemaProvidedId: row.schema_provided_id })),
      afterId: rows.length < sharedBatchSize ? null : (rows.at(-1)?.data_source_id ?? null),
    }
  }

  delete(command: DeleteRegistered): Promise<DeleteOutcome> {
    return this.#retry.run(async (attempt) => {
      const outcome = await attempt.transaction(this.#primary, (query) => deleteUnmapped(query, command))
      return outcome === 'not_found' && attempt.isAmbiguous ? 'deleted' : outcome
    })
  }
}

/** Blocks writes of mappings until the end of the transaction. Each such write checks its entries afterwards. */
const lockMappings = 'LOCK TABLE mapping_entry IN SHARE ROW EXCLUSIVE MODE'

async function insertSchema(query: Query, schema: NewSchema): Promise<Schema | NotRegistered> {
  const { workspaceId, environment, providedId, name, createdAt } = schema
  const id = idOf(providedId)
  if (id !== null) {
    await query(lockMappings)
    const [mapped] = await query(
      `SELECT 1 FROM schema WHERE workspace_id = $1 AND environment = $2 AND schema_id = $3 AND EXISTS (
         SELECT 1 FROM mapping_entry WHERE workspace_id = $1 AND environment = $2 AND schema_key = $4
       )`,
      [workspaceId, environment, id, providedId],
    )
    if (mapped !== undefined) return 'provided_id_mapped'
  }
  const [row] = await query<SchemaRow>(
    `INSERT INTO schema (workspace_id, environment, provided_id, name, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, environment, provided_id) DO NOTHING RETURNING *`,
    [workspaceId, environment, providedId, name, createdAt],
  )
  if (row === undefined) return 'provided_id_taken'
  await renewVersion(query, schema)
  const details = { schema_id: row.schema_id, provided_id: providedId }
  await appendAuditEvent(query, 'schema.created', { ...schema, now: createdAt }, details)
  return schemaOf(row)
}

async function insertDataSource(
  query: Query,
  dataSource: NewDataSource,
): Promise<DataSource | NotRegistered | 'schema_not_found'> {
  const { workspaceId, environment, schemaId, providedId, name, createdAt } = dataSource
  const id = idOf(providedId)
  // All transactions take these locks in this order: first the mappings, then the schema.
  if (id !== null) await query(lockMappings)
  const [schema] = await query<{ provided_id: string }>(
    `SELECT provided_id FROM schema
     WHERE workspace_id = $1 AND environment = $2 AND schema_id = $3 FOR KEY SHARE`,
    [workspaceId, environment, schemaId],
  )
  if (schema === undefined) return 'schema_not_found'
  if (id !== null) {
    const [mapped] = await query(
      `SELECT 1 FROM unnest($3::text[]) AS schema_key
       CROSS JOIN LATERAL (SELECT schema_key AS key, $4::text AS value) AS entry ${resolveEntries}
       WHERE data_source.data_source_id = $5 AND EXISTS (
         SELECT 1 FROM mapping_entry
         WHERE workspace_id = $1 AND environment = $2 AND mapping_entry.schema_key = entry.key
           AND data_source_key = entry.value
       ) AND schema.schema_id = $6 LIMIT 1`,
      [workspaceId, environment, [schema.provided_id, String(schemaId)], providedId, id, schemaId],
    )
    if (mapped !== undefined) return 'provided_id_mapped'
  }
  const [row] = await query<DataSourceRow>(
    `INSERT INTO data_source (workspace_id, schema_id, provided_id, name, created_at) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (workspace_id, schema_id, provided_id) DO NOTHING RETURNING *`,
    [workspaceId, schemaId, providedId, name, createdAt],
  )
  if (row === undefined) return 'provided_id_taken'
  await renewVersion(query, dataSource)
  const details = { data_source_id: row.data_source_id, schema_id: schemaId, provided_id: providedId }
  await appendAuditEvent(query, 'data_source.created', { ...dataSource, now: createdAt }, details)
  return dataSourceOf(row)
}

async function deleteUnmapped(query: Query, command: DeleteRegistered): Promise<DeleteOutcome> {
  const { workspaceId, environment, id } = command
  await query(lockMappings)
  const [row] = await query<{
    schema_id: number
    provided_id: string
    schema_keys: string[]
    keys: string[]
  }>(
    `SELECT schema.schema_id, data_source.provided_id, ARRAY[schema.provided_id, schema.schema_id::text] AS schema_keys,
            ARRAY[data_source.provided_id, data_source_id::text] AS keys
     FROM data_source JOIN schema USING (workspace_id, schema_id)
     WHERE workspace_id = $1 AND environment = $2 AND data_source_id = $3`,
    [workspaceId, environment, id],
  )
  if (row === undefined) return 'not_found'
  // An entry with the same text may name another data source by its provided id. The index may have surplus entries, so the
  // mapping decides.
  const [mapped] = await query(
    `SELECT 1 FROM unnest($3::text[]) AS schema_key CROSS JOIN unnest($4::text[]) AS data_source_key
     CROSS JOIN LATERAL (SELECT schema_key AS key, data_source_key AS value) AS entry ${resolveEntries}
     WHERE data_source.data_source_id = $5 AND EXISTS (
       WITH holder AS MATERIALIZED (
         SELECT team_id FROM mapping_entry
         WHERE workspace_id = $1 AND environment = $2 AND schema_key = entry.key AND data_source_key = entry.value
       )
       SELECT 1 FROM holder CROSS JOIN LATERAL (
         SELECT mapping FROM user_group WHERE workspace_id = $1 AND team_id = holder.team_id LIMIT 1
       ) AS user_group CROSS JOIN LATERAL ${entriesOf('user_group.mapping')} AS current
       WHERE current.key = entry.key AND current.value = entry.value
     ) LIMIT 1`,
    [workspaceId, environment, row.schema_keys, row.keys, id],
  )
  if (mapped !== undefined) return 'in_use'
  await query('DELETE FROM data_source WHERE workspace_id = $1 AND data_source_id = $2', [workspaceId, id])
  await renewVersion(query, command)
  const { schema_id, provided_id } = row
  await appendAuditEvent(query, 'data_source.deleted', command, {
    data_source_id: id,
    schema_id,
    provided_id,
  })
  return 'deleted'
}

/** Renews the registry version, so that every process resolves mappings again after the commit. */
async function renewVersion(query: Query, { workspaceId, environment }: TenantScope): Promise<void> {
  await query(
    `INSERT INTO registry (workspace_id, environment, version) VALUES ($1, $2, $3)
     ON CONFLICT (workspace_id, environment) DO UPDATE SET version = excluded.version`,
    [workspaceId, environment, randomUUID()],
  )
}
