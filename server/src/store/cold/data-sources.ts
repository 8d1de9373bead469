import { randomUUID } from 'node:crypto'
import { namesOf, type DataSource, type Schema } from '../../domain/data-source/data-source.ts'
import type { DataSourceStore, ListedDataSource } from '../../domain/data-source/data-source-store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { parseId } from '../../domain/util/id.ts'
import { entryIn } from '../postgres/data-source-sql.ts'
import { appendAuditEvent } from './audit-log.ts'
import { transaction, type Attempted, type Operation, type Operations } from './operation.ts'
import { postgres, raw, rowsOf, sql, type Sql } from './sql.ts'

const schemaColumns = raw(
  'schema_id AS id, workspace_id AS "workspaceId", environment, provided_id AS "providedId", name, created_at AS "createdAt"',
)
const dataSourceColumns = raw(
  'data_source_id AS id, schema_id AS "schemaId", provided_id AS "providedId", name, created_at AS "createdAt"',
)

/** Maximum number of data sources that one call examines: on SQLite 10 to 20 ms, in which other requests wait. */
const sharedBatchSize = 1000
/** Maximum number of mapping entries that one statement reads for them: more than their names can have in one mapping each. */
const maxEntries = 5000

/** Schemas and their data sources, without `resolveEntries`, which the hot path shares. */
export const dataSources: Operations<Omit<DataSourceStore, 'resolveEntries'>> = {
  *createSchema(schema) {
    const { isAmbiguous } = yield* changeRegistry()
    const { workspaceId, environment, providedId, name, createdAt } = schema
    const id = parseId(providedId)
    if (id !== null) yield* lockMappings
    const [taken] = yield* selectSchemaByProvidedId(schema, providedId)
    if (taken !== undefined) {
      const isOwn = isAmbiguous && taken.name === name && taken.createdAt === createdAt
      return isOwn ? taken : 'provided_id_taken'
    }
    if (id !== null && (yield* selectSchema(schema, id)).length > 0) {
      const mapped = yield* sql`SELECT 1 FROM mapping_entry
          WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND schema_key = ${providedId} LIMIT 1`
      if (mapped.length > 0) return 'provided_id_mapped'
    }
    const [created] = (yield* sql<Schema>`
      INSERT INTO schema (workspace_id, environment, provided_id, name, created_at)
      VALUES (${workspaceId}, ${environment}, ${providedId}, ${name}, ${createdAt}) RETURNING ${schemaColumns}`) as [
      Schema,
    ]
    yield* renewVersion(schema)
    const details = { schema_id: created.id, provided_id: providedId }
    yield* appendAuditEvent('schema.created', { ...schema, now: createdAt }, details)
    return created
  },

  *renameSchema(command) {
    yield* changeRegistry()
    const { workspaceId, id, name } = command
    const [schema] = yield* selectSchema(command, id)
    if (schema === undefined || schema.name === name) return schema !== undefined
    yield* sql`UPDATE schema SET name = ${name} WHERE workspace_id = ${workspaceId} AND schema_id = ${id}`
    yield* renewVersion(command)
    const details = { schema_id: id, provided_id: schema.providedId, changed_fields: ['name'] }
    yield* appendAuditEvent('schema.updated', command, details)
    return true
  },

  *listSchemas({ workspaceId, environment }) {
    return yield* sql<Schema>`SELECT ${schemaColumns} FROM schema
      WHERE workspace_id = ${workspaceId} AND environment = ${environment} ORDER BY schema_id`
  },

  *deleteSchema(command) {
    const { isAmbiguous } = yield* changeRegistry()
    const { workspaceId, id } = command
    const [schema] = yield* selectSchema(command, id)
    if (schema === undefined) return isAmbiguous ? 'deleted' : 'not_found'
    const used = yield* sql`SELECT 1 FROM data_source
        WHERE workspace_id = ${workspaceId} AND schema_id = ${id} LIMIT 1`
    if (used.length > 0) return 'in_use'
    yield* sql`DELETE FROM schema WHERE workspace_id = ${workspaceId} AND schema_id = ${id}`
    yield* renewVersion(command)
    const details = { schema_id: id, provided_id: schema.providedId }
    yield* appendAuditEvent('schema.deleted', command, details)
    return 'deleted'
  },

  *create(dataSource) {
    const { isAmbiguous } = yield* changeRegistry()
    const { workspaceId, schemaId, providedId, name, createdAt } = dataSource
    const id = parseId(providedId)
    if (id !== null) yield* lockMappings
    const [schema] = yield* selectSchema(dataSource, schemaId)
    if (schema === undefined) return 'schema_not_found'
    const [taken] = yield* selectByProvidedId(schema, providedId)
    if (taken !== undefined) {
      const isOwn = isAmbiguous && taken.name === name && taken.createdAt === createdAt
      return isOwn ? taken : 'provided_id_taken'
    }
    const numbered = yield* sql`SELECT 1 FROM data_source
        WHERE workspace_id = ${workspaceId} AND schema_id = ${schemaId} AND data_source_id = ${id}`
    if (numbered.length > 0 && (yield* isMapped(schema, [providedId]))) return 'provided_id_mapped'
    const [created] = (yield* sql<DataSource>`
      INSERT INTO data_source (workspace_id, schema_id, provided_id, name, created_at)
      VALUES (${workspaceId}, ${schemaId}, ${providedId}, ${name}, ${createdAt}) RETURNING ${dataSourceColumns}`) as [
      DataSource,
    ]
    yield* renewVersion(dataSource)
    yield* appendAuditEvent('data_source.created', { ...dataSource, now: createdAt }, described(created))
    return created
  },

  *rename(command) {
    yield* changeRegistry()
    const { workspaceId, id, name } = command
    const [dataSource] = yield* selectDataSources(command, sql`data_source_id = ${id}`, 1)
    if (dataSource === undefined || dataSource.name === name) return dataSource !== undefined
    yield* sql`UPDATE data_source SET name = ${name} WHERE workspace_id = ${workspaceId} AND data_source_id = ${id}`
    yield* renewVersion(command)
    const details = { ...described(dataSource), changed_fields: ['name'] }
    yield* appendAuditEvent('data_source.updated', command, details)
    return true
  },

  *list({ schemaId, afterId, limit, ...scope }) {
    const ofSchema = schemaId === undefined ? raw('') : sql`AND schema_id = ${schemaId}`
    return yield* selectDataSources(scope, sql`data_source_id > ${afterId ?? 0} ${ofSchema}`, limit)
  },

  *delete(command) {
    const { isAmbiguous } = yield* changeRegistry()
    const { workspaceId, id } = command
    yield* lockMappings
    const [dataSource] = yield* selectDataSources(command, sql`data_source_id = ${id}`, 1)
    if (dataSource === undefined) return isAmbiguous ? 'deleted' : 'not_found'
    const [schema] = (yield* selectSchema(command, dataSource.schemaId)) as [Schema]
    const others = yield* selectByProvidedId(schema, String(id))
    if (yield* isMapped(schema, namesOf(dataSource, others.length > 0))) return 'in_use'
    if (command.isDryRun === true) return 'deleted'
    yield* sql`DELETE FROM data_source WHERE workspace_id = ${workspaceId} AND data_source_id = ${id}`
    yield* renewVersion(command)
    yield* appendAuditEvent('data_source.deleted', command, described(dataSource))
    return 'deleted'
  },

  *listShared({ afterId, ...scope }) {
    const slice = yield* selectDataSources<ListedDataSource>(
      scope,
      sql`data_source_id > ${afterId ?? 0}`,
      sharedBatchSize,
      raw(', schema_provided_id AS "schemaProvidedId"'),
    )
    const { examined, sharedIds } = yield* findShared(scope, slice)
    const isEnd = examined.length === slice.length && slice.length < sharedBatchSize
    return {
      dataSources: examined.filter(({ id }) => sharedIds.has(id)),
      afterId: isEnd ? null : (examined.at(-1)?.id ?? null),
    }
  },
}

/** Blocks writes of mappings until the end of the transaction. Each such write checks its entries afterwards. */
const lockMappings = postgres`LOCK TABLE mapping_entry IN SHARE ROW EXCLUSIVE MODE`

/** Begins a change of schemas, data sources or signing keys. PostgreSQL runs one at a time, because on Citus two could deadlock. */
export function* changeRegistry(): Operation<Attempted> {
  const attempted = yield* transaction()
  // An arbitrary number.
  yield* postgres`SELECT pg_advisory_xact_lock(${0x55475302})`
  return attempted
}

const selectSchema = ({ workspaceId, environment }: TenantScope, id: number) => sql<Schema>`
  SELECT ${schemaColumns} FROM schema
  WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND schema_id = ${id}`

const selectSchemaByProvidedId = (
  { workspaceId, environment }: TenantScope,
  providedId: string,
) => sql<Schema>`
  SELECT ${schemaColumns} FROM schema
  WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND provided_id = ${providedId}`

const selectByProvidedId = (schema: Schema, providedId: string) => sql<DataSource>`
  SELECT ${dataSourceColumns} FROM data_source
  WHERE workspace_id = ${schema.workspaceId} AND schema_id = ${schema.id} AND provided_id = ${providedId}`

/** Selects data sources with their schemas, in order of id. A join could begin with the schemas and read all of their data sources. */
const selectDataSources = <Row = DataSource>(
  { workspaceId, environment }: TenantScope,
  condition: Sql,
  limit: number,
  more = raw(''),
) => sql<Row>`
  SELECT ${dataSourceColumns} ${more} FROM (
    SELECT data_source.*, (
      SELECT CASE WHEN environment = ${environment} THEN provided_id END
      FROM schema WHERE workspace_id = ${workspaceId} AND schema_id = data_source.schema_id
    ) AS schema_provided_id
    FROM data_source WHERE workspace_id = ${workspaceId} AND ${condition}
  ) AS listed
  WHERE schema_provided_id IS NOT NULL ORDER BY data_source_id LIMIT ${limit}`

/** Returns whether a mapping names a data source of the schema by one of these names. */
function* isMapped(schema: Schema, names: readonly string[]): Operation<boolean> {
  const { workspaceId, environment } = schema
  const others = yield* selectSchemaByProvidedId(schema, String(schema.id))
  for (const schemaKey of namesOf(schema, others.length > 0)) {
    for (const name of names) {
      // PostgreSQL may have surplus entries, so the mapping decides.
      const mapped = yield* sql`
        SELECT 1 FROM mapping_entry ${postgres`JOIN user_group
          ON user_group.workspace_id = ${workspaceId} AND user_group.bucket = mapping_entry.bucket
            AND user_group.team_id BETWEEN mapping_entry.team_id AND mapping_entry.team_id
            AND ${raw(entryIn('user_group.mapping', 'schema_key'))} = data_source_key`}
        WHERE mapping_entry.workspace_id = ${workspaceId} AND mapping_entry.environment = ${environment}
          AND schema_key = ${schemaKey} AND data_source_key = ${name}
        LIMIT 1`
      if (mapped.length > 0) return true
    }
  }
  return false
}

/**
 * Finds those of the first data sources of a slice to which several user groups map. Examines fewer of them, but at least one, if
 * they have many entries. A data source of one user group has at most four entries, so a statement that reaches its limit finds
 * a shared one.
 */
function* findShared(
  { workspaceId, environment }: TenantScope,
  slice: readonly ListedDataSource[],
): Operation<{ examined: readonly ListedDataSource[]; sharedIds: ReadonlySet<number> }> {
  const sharedIds = new Set<number>()
  for (let examined = slice; ; examined = examined.slice(0, Math.ceil(examined.length / 2))) {
    const wanted = examined.filter(({ id }) => !sharedIds.has(id)).flatMap(possibleEntries)
    if (wanted.length === 0) return { examined, sharedIds }
    // With a constant workspace and environment and without statistics, PostgreSQL would read all of mapping_entry.
    const entries = yield* sql<{ id: number; teamId: number }>`
      WITH wanted AS MATERIALIZED (
        SELECT CAST(${workspaceId} AS bigint) AS workspace_id, CAST(${environment} AS text) AS environment, given.*
        FROM ${rowsOf('given', { id: 'bigint', schema_key: 'text', data_source_key: 'text' }, wanted)}
      )
      SELECT id, team_id AS "teamId"
      FROM wanted JOIN mapping_entry USING (workspace_id, environment, schema_key, data_source_key)
      LIMIT ${maxEntries}`.inBucket(null)
    const teamIds = new Map<number, number>()
    for (const { id, teamId } of entries) {
      const first = teamIds.get(id)
      if (first === undefined) teamIds.set(id, teamId)
      else if (first !== teamId) sharedIds.add(id)
    }
    if (entries.length < maxEntries) return { examined, sharedIds }
  }
}

/** Returns the mapping entries that can name a data source. */
function possibleEntries({ id, schemaId, providedId, schemaProvidedId }: ListedDataSource) {
  const keys = new Set([providedId, String(id)])
  return [...new Set([schemaProvidedId, String(schemaId)])].flatMap((schema_key) =>
    [...keys].map((data_source_key) => ({ id, schema_key, data_source_key })),
  )
}

/** Renews the registry version, so that every process resolves mappings and confirms cached responses again after the commit. */
export const renewVersion = ({ workspaceId, environment }: TenantScope) => sql`
  INSERT INTO registry (workspace_id, environment, version) VALUES (${workspaceId}, ${environment}, ${randomUUID()})
  ON CONFLICT (workspace_id, environment) DO UPDATE SET version = excluded.version`

/** Details of the audit events of a data source. */
function described({ id, schemaId, providedId }: DataSource): object {
  return { data_source_id: id, schema_id: schemaId, provided_id: providedId }
}
