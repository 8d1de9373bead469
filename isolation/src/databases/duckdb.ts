import { resolve } from 'node:path'
import { QueryError, tooSlow, UsageError } from '../errors.ts'
import {
  cellOf,
  relationsOf,
  type Catalog,
  type Database,
  type OpenOptions,
  type RelationName,
  quote,
} from './database.ts'
import { loadDriver } from './drivers.ts'

/** The part of `@duckdb/node-api` that this file uses. */
interface Driver {
  readonly DuckDBInstance: {
    create(path: string, options: Readonly<Record<string, string>>): Promise<Instance>
  }
}
interface Instance {
  connect(): Promise<Connection>
  closeSync(): void
}
interface Connection {
  run(sql: string): Promise<unknown>
  runAndReadAll(sql: string, values?: readonly unknown[]): Promise<{ getRowsJson(): unknown[][] }>
  interrupt(): void
  closeSync(): void
}

const catalogQuery = `
  SELECT t.schema_name, t.table_name, 'table', c.column_name
  FROM duckdb_tables() AS t LEFT JOIN duckdb_columns() AS c USING (table_oid)
  WHERE NOT t.internal
  UNION ALL SELECT schema_name, view_name, 'view', NULL FROM duckdb_views() WHERE NOT internal`

const functionsQuery = `
  SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE function_type IN ('macro', 'table_macro') AND NOT internal`

const nullsQuery = `
  SELECT schema_name, table_name, string_agg(
    'NULL::' || data_type || ' AS "' || replace(column_name, '"', '""') || '"', ', ' ORDER BY column_index)
  FROM duckdb_columns() WHERE NOT internal GROUP BY ALL`

/** A part of a plan. One that reads a table has its name, and one that calls a table function has filters, but no table. */
interface Plan {
  readonly name?: string
  readonly extra_info?: { readonly Table?: string; readonly Filters?: unknown }
  readonly children?: readonly Plan[]
}

/** Table functions that read only what the query gives them. */
const harmless = /^(range|generate_series|unnest|repeat|repeat_row|json_each|json_tree)$/

/** Opens a file with `@duckdb/node-api`, read-only and without access to other files. @throws UsageError */
export async function openDuckDb({ url, folder, timeoutMs }: OpenOptions): Promise<Database> {
  const { DuckDBInstance } = loadDriver('@duckdb/node-api', folder) as Driver
  const path = resolve(decodeURIComponent(url.pathname))
  let instance: Instance
  try {
    instance = await DuckDBInstance.create(path, {
      access_mode: 'READ_ONLY',
      enable_external_access: 'false',
    })
  } catch {
    throw new UsageError(`${path} cannot be opened as a DuckDB database: check DATABASE_URL`)
  }
  const connection = await instance.connect()
  const rows = async (text: string, values: readonly unknown[] = []) =>
    (await connection.runAndReadAll(text, values)).getRowsJson()
  const guarded = async (text: string, values: readonly unknown[]) => {
    const timer = setTimeout(() => connection.interrupt(), timeoutMs)
    try {
      return await rows(text, values)
    } catch (error) {
      // Some errors end the transaction.
      await connection.run('ROLLBACK')
      await connection.run('BEGIN TRANSACTION')
      throw queryError(error)
    } finally {
      clearTimeout(timer)
    }
  }
  // With the plan before the optimizer, which may answer from statistics, and then names no table.
  await connection.run("SET explain_output = 'all'")
  await connection.run('BEGIN TRANSACTION')
  const catalog = await readCatalog(rows)
  const nulls = new Map(
    (await rows(nullsQuery)).map(([schema, name, list]) => [JSON.stringify([schema, name]), String(list)]),
  )
  return {
    dialect: 'duckdb',
    quote,
    noLimit: 'LIMIT 9223372036854775807',
    readingFunctions: /^(duckdb_.*|pragma_.*|query|query_table|stats|pg_.*)$/,
    catalog,
    writePrivilege: null,
    query: async ({ text, values }) => (await guarded(text, values)).map((row) => row.map(cellOf)),
    plans: {
      async tablesRead({ text, values }) {
        const plans = (await guarded(`EXPLAIN (FORMAT JSON) ${text}`, values)) as [
          kind: string,
          json: string,
        ][]
        const [, json] = plans.find(([kind]) => kind === 'logical_plan') ?? []
        // A PIVOT whose columns depend on rows is several statements.
        if (json === undefined) throw new QueryError('DuckDB shows no plan', 'DuckDB shows no plan')
        return (JSON.parse(json) as Plan[]).flatMap(readBy).map((table) => [table])
      },
      nulls: ({ schema, name }) => nulls.get(JSON.stringify([schema, name])) ?? '*',
    },
    close() {
      connection.closeSync()
      instance.closeSync()
      return Promise.resolve()
    },
  }
}

async function readCatalog(rows: (text: string) => Promise<unknown[][]>): Promise<Catalog> {
  const names = async (text: string) => (await rows(text)).map(([name]) => String(name))
  const relations = relationsOf((await rows(catalogQuery)) as unknown as Parameters<typeof relationsOf>[0])
  // `FROM database.table` leaves the schema out.
  const databases = await names('SELECT lower(database_name) FROM duckdb_databases()')
  const schemas = [...relations.map(({ schema }) => schema.toLowerCase()), ...databases]
  return {
    relations,
    searchPath: ['main'],
    schemas: new Set([...schemas, 'main', 'information_schema', 'pg_catalog']),
    functions: new Set(await names(functionsQuery)),
  }
}

function readBy({ name: part = '', extra_info: info = {}, children = [] }: Plan): RelationName[] {
  const [schema = '', name] = (info.Table ?? '').split('.').slice(-2)
  const calls = info.Table === undefined && info.Filters !== undefined && !harmless.test(part.toLowerCase())
  return [
    ...(info.Table === undefined
      ? []
      : [name === undefined ? { schema: 'main', name: schema } : { schema, name }]),
    ...(calls ? [{ schema: 'system', name: `${part.toLowerCase()}()` }] : []),
    ...children.flatMap(readBy),
  ]
}

function queryError(error: unknown): QueryError {
  const { message } = error as Error
  if (message.startsWith('INTERRUPT')) return new QueryError(tooSlow, message)
  // Other messages may contain values.
  const isAboutNames = /^(Binder|Catalog|Parser|Permission) Error/.test(message)
  return new QueryError(
    isAboutNames ? (message.split('\n')[0] ?? '') : `DuckDB: ${message.split(':')[0] ?? 'error'}`,
    message,
  )
}
