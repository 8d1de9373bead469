import { randomUUID } from 'node:crypto'
import {
  type DataSource,
  type MappingEntry,
  type ResolvedEntry,
  type Schema,
} from '../../domain/data-source/data-source.ts'
import { parseId } from '../../domain/util/id.ts'
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
import { entryIn, resolveEntries } from './data-source-sql.ts'
import { PostgresFailure } from './postgres-fault.ts'
import type { PrimaryPool, Query } from './primary-pool.ts'
import type { Attempt, Retry } from './retry.ts'
import type { Mappings } from './mappings.ts'

/** Maximum number of data sources that one operation examines. */
const sharedBatchSize = 1000
/** Maximum number of mapping entries that one statement reads for them: more than their keys can have in one mapping each. */
const maxEntries = 5000

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
      const outcome = await this.#change(attempt, (query) => insertSchema(query, schema))
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
      const deleted = await this.#change(attempt, async (query) => {
        const rows = await query<SchemaRow>(
          'DELETE FROM schema WHERE workspace_id = $1 AND environment = $2 AND schema_id = $3 RETURNING *',
          [workspaceId, environment, id],
        )
        for (const { provided_id } of rows) {
          await renewVersion(query, command)
          await appendAuditEvent(query, 'schema.deleted', command, { schema_id: id, provided_id })
        }
        return rows
      }).catch((error: unknown) => {
        if (error instanceof PostgresFailure && error.code === foreignKeyViolation) return null
        throw error
      })
      if (deleted === null) return 'in_use'
      return deleted.length === 1 || attempt.isAmbiguous ? 'deleted' : 'not_found'
    })
  }

  create(dataSource: NewDataSource): Promise<DataSource | NotRegistered | 'schema_not_found'> {
    return this.#retry.run(async (attempt) => {
      const outcome = await this.#change(attempt, (query) => insertDataSource(query, dataSource))
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
    const slice = await this.#retry.query<SharedRow>(
      `SELECT data_source.*, schema.provided_id AS schema_provided_id
       FROM (
         SELECT * FROM data_source WHERE workspace_id = $1 AND data_source_id > $3 ORDER BY data_source_id
       ) AS data_source CROSS JOIN LATERAL (
         SELECT provided_id, environment FROM schema
         WHERE workspace_id = $1 AND schema_id = data_source.schema_id LIMIT 1
       ) AS schema
       WHERE schema.environment = $2
       ORDER BY data_source_id LIMIT $4`,
      [workspaceId, environment, afterId ?? 0, sharedBatchSize],
    )
    const { examined, sharedIds } = await this.#findShared({ workspaceId, environment }, slice)
    const isEnd = examined.length === slice.length && slice.length < sharedBatchSize
    return {
      dataSources: examined
        .filter((row) => sharedIds.has(row.data_source_id))
        .map((row) => ({ ...dataSourceOf(row), schemaProvidedId: row.schema_provided_id })),
      afterId: isEnd ? null : (examined.at(-1)?.data_source_id ?? null),
    }
  }

  /**
   * Finds those of the first data sources of a slice to which several user groups map. Examines fewer of them, but at least one, if
   * they have many entries. A data source of one user group has at most four entries, so a statement that reaches its limit finds
   * a shared one.
   */
  async #findShared(
    { workspaceId, environment }: TenantScope,
    slice: readonly SharedRow[],
  ): Promise<{ examined: readonly SharedRow[]; sharedIds: ReadonlySet<number> }> {
    const sharedIds = new Set<number>()
    for (let examined = slice; ; examined = examined.slice(0, Math.ceil(examined.length / 2))) {
      const keys = examined.filter(({ data_source_id: id }) => !sharedIds.has(id)).flatMap(keysOf)
      if (keys.length === 0) return { examined, sharedIds }
      const entries = await this.#retry.query<{ data_source_id: number; team_id: number }>(
        // With a constant workspace and environment and without statistics, PostgreSQL would read all of mapping_entry.
        `WITH wanted AS MATERIALIZED (
           SELECT $1::bigint AS workspace_id, $2::text AS environment, *
           FROM unnest($3::bigint[], $4::text[], $5::text[]) AS wanted (data_source_id, schema_key, data_source_key)
         )
         SELECT data_source_id, team_id
         FROM wanted JOIN mapping_entry USING (workspace_id, environment, schema_key, data_source_key)
         LIMIT ${maxEntries}`,
        [
          workspaceId,
          environment,
          keys.map(({ id }) => id),
          keys.map(({ schemaKey }) => schemaKey),
          keys.map(({ key }) => key),
        ],
        null,
      )
      const teamIds = new Map<number, number>()
      for (const { data_source_id: id, team_id: teamId } of entries) {
        const first = teamIds.get(id)
        if (first === undefined) teamIds.set(id, teamId)
        else if (first !== teamId) sharedIds.add(id)
      }
      if (entries.length < maxEntries) return { examined, sharedIds }
    }
  }

  delete(command: DeleteRegistered): Promise<DeleteOutcome> {
    return this.#retry.run(async (attempt) => {
      const outcome = await this.#change(attempt, (query) => deleteUnmapped(query, command))
      return outcome === 'not_found' && attempt.isAmbiguous ? 'deleted' : outcome
    })
  }

  /** Runs a transaction that changes schemas or data sources. One runs at a time, because on Citus two could deadlock. */
  #change<T>(attempt: Attempt, work: (query: Query) => Promise<T>): Promise<T> {
    return attempt.transaction(this.#primary, async (query) => {
      await query('SELECT pg_advisory_xact_lock($1)', [registryLock])
      return work(query)
    })
  }
}

type SharedRow = DataSourceRow & { readonly schema_provided_id: string }

/** Returns the mapping entries that can name a data source. */
function keysOf({ data_source_id: id, provided_id: providedId, ...row }: SharedRow) {
  const schemaKeys = new Set([row.schema_provided_id, String(row.schema_id)])
  const keys = new Set([providedId, String(id)])
  return [...schemaKeys].flatMap((schemaKey) => [...keys].map((key) => ({ id, schemaKey, key })))
}

/** Advisory lock of changes of schemas and data sources: an arbitrary number. */
const registryLock = 0x55475302

/** Blocks writes of mappings until the end of the transaction. Each such write checks its entries afterwards. */
const lockMappings = 'LOCK TABLE mapping_entry IN SHARE ROW EXCLUSIVE MODE'

async function insertSchema(query: Query, schema: NewSchema): Promise<Schema | NotRegistered> {
  const { workspaceId, environment, providedId, name, createdAt } = schema
  const id = parseId(providedId)
  if (id !== null) {
    await query(lockMappings)
    const [numbered] = await query(
      'SELECT 1 FROM schema WHERE workspace_id = $1 AND environment = $2 AND schema_id = $3',
      [workspaceId, environment, id],
    )
    if (numbered !== undefined) {
      const [mapped] = await query(
        'SELECT 1 FROM mapping_entry WHERE workspace_id = $1 AND environment = $2 AND schema_key = $3 LIMIT 1',
        [workspaceId, environment, providedId],
      )
      if (mapped !== undefined) return 'provided_id_mapped'
    }
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
  const id = parseId(providedId)
  if (id !== null) await query(lockMappings)
  const [schema] = await query<{ provided_id: string }>(
    'SELECT provided_id FROM schema WHERE workspace_id = $1 AND environment = $2 AND schema_id = $3',
    [workspaceId, environment, schemaId],
  )
  if (schema === undefined) return 'schema_not_found'
  if (id !== null) {
    const spellings = await resolveSpellings(query, dataSource, {
      schemaKeys: [schema.provided_id, String(schemaId)],
      keys: [providedId],
      schemaId,
      dataSourceId: id,
    })
    for (const { key, value } of spellings) {
      const [mapped] = await query(
        `SELECT 1 FROM mapping_entry
         WHERE workspace_id = $1 AND environment = $2 AND schema_key = $3 AND data_source_key = $4 LIMIT 1`,
        [workspaceId, environment, key, value],
      )
      if (mapped !== undefined) return 'provided_id_mapped'
    }
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
  const [row] = await query<{ schema_id: number; provided_id: string; schema_provided_id: string }>(
    `SELECT schema.schema_id, data_source.provided_id, schema.provided_id AS schema_provided_id
     FROM data_source JOIN schema USING (workspace_id, schema_id)
     WHERE workspace_id = $1 AND environment = $2 AND data_source_id = $3`,
    [workspaceId, environment, id],
  )
  if (row === undefined) return 'not_found'
  const spellings = await resolveSpellings(query, command, {
    schemaKeys: [row.schema_provided_id, String(row.schema_id)],
    keys: [row.provided_id, String(id)],
    schemaId: row.schema_id,
    dataSourceId: id,
  })
  for (const { key, value } of spellings) {
    // `mapping_entry` may have surplus rows, so the mapping decides.
    const [mapped] = await query(
      `SELECT 1 FROM mapping_entry JOIN user_group
         ON user_group.workspace_id = $1 AND user_group.bucket = mapping_entry.bucket
           AND user_group.team_id BETWEEN mapping_entry.team_id AND mapping_entry.team_id
       WHERE mapping_entry.workspace_id = $1 AND mapping_entry.environment = $2 AND schema_key = $3 AND data_source_key = $4
         AND ${entryIn('user_group.mapping', '$3::text')} = $4
       LIMIT 1`,
      [workspaceId, environment, key, value],
    )
    if (mapped !== undefined) return 'in_use'
  }
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

interface Spellings {
  readonly schemaKeys: readonly string[]
  readonly keys: readonly string[]
  readonly schemaId: number
  readonly dataSourceId: number
}

/**
 * Returns the mapping entries that name a data source. An entry with the same text may name another data source by its provided id.
 */
async function resolveSpellings(
  query: Query,
  { workspaceId, environment }: TenantScope,
  { schemaKeys, keys, schemaId, dataSourceId }: Spellings,
): Promise<{ key: string; value: string }[]> {
  const pairs = [...new Set(schemaKeys)].flatMap((schemaKey) =>
    [...new Set(keys)].map((key) => [schemaKey, key]),
  )
  return query<{ key: string; value: string }>(
    `SELECT entry.key, entry.value FROM unnest($3::text[], $4::text[]) AS entry (key, value) ${resolveEntries}
     WHERE schema.schema_id = $5 AND data_source.data_source_id = $6`,
    [
      workspaceId,
      environment,
      pairs.map(([schemaKey]) => schemaKey),
      pairs.map(([, key]) => key),
      schemaId,
      dataSourceId,
    ],
  )
}

/** Renews the registry version, so that every process resolves mappings again after the commit. */
async function renewVersion(query: Query, { workspaceId, environment }: TenantScope): Promise<void> {
  await query(
    `INSERT INTO registry (workspace_id, environment, version) VALUES ($1, $2, $3)
     ON CONFLICT (workspace_id, environment) DO UPDATE SET version = excluded.version`,
    [workspaceId, environment, randomUUID()],
  )
}
