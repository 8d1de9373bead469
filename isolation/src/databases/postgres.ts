import type pg from 'pg'
import { QueryError, tooSlow, UsageError } from '../errors.ts'
import {
  relationsOf,
  type Catalog,
  type Database,
  type OpenOptions,
  type Relation,
  quote,
} from './database.ts'
import { loadDriver } from './drivers.ts'

const float4 = 700
const float8 = 701

const catalogQuery = `
  SELECT n.nspname, c.relname,
         CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'table' END, a.attname
  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND n.nspname !~ '^(pg_|information_schema$)'
  ORDER BY n.nspname, c.relname, a.attnum`

const functionsQuery = `
  SELECT DISTINCT lower(proname) FROM pg_proc JOIN pg_namespace AS n ON n.oid = pronamespace
  WHERE n.nspname !~ '^(pg_catalog|information_schema)$'`

const writableQuery = `
  SELECT CASE WHEN rolsuper THEN 'is a superuser' END
  FROM pg_roles WHERE rolname = current_user
  UNION ALL (
    SELECT 'may write to ' || n.nspname || '.' || c.relname
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'f', 'v') AND n.nspname !~ '^(pg_|information_schema$)'
      AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
    ORDER BY 1 LIMIT 1
  )`

/** Table partitions and children, with the table that a template names. */
const rootsQuery = `
  WITH RECURSIVE root (oid, root) AS (
    SELECT inhrelid, inhparent FROM pg_inherits
    UNION SELECT root.oid, inhparent FROM root JOIN pg_inherits ON inhrelid = root.root
  )
  SELECT n.nspname, c.relname, rn.nspname, r.relname
  FROM root JOIN pg_class AS c ON c.oid = root.oid JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_class AS r ON r.oid = root.root JOIN pg_namespace AS rn ON rn.oid = r.relnamespace
  WHERE root.root NOT IN (SELECT inhrelid FROM pg_inherits)`

interface Plan {
  readonly 'Relation Name'?: string
  readonly Schema?: string
  readonly Plans?: readonly Plan[]
}

/** Connects with `pg`, and begins a read-only transaction with one snapshot. @throws UsageError */
export async function openPostgres({ url, folder, timeoutMs }: OpenOptions): Promise<Database> {
  const client = await connect(url, folder)
  const rows = async (text: string, values: unknown[] = []) =>
    (
      await client.query<(string | number | null)[]>({
        text,
        values,
        rowMode: 'array',
        types: { getTypeParser: (oid: number) => (oid === float4 || oid === float8 ? Number : String) },
      })
    ).rows
  const guarded = async (text: string, values: unknown[]) => {
    try {
      return await rows(text, values)
    } catch (error) {
      try {
        await client.query('ROLLBACK TO SAVEPOINT probe')
      } catch {
        throw new UsageError(`the connection to PostgreSQL at ${url.host} was lost`)
      }
      throw queryError(error)
    }
  }
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  const roots = await readRoots(rows)
  const writePrivilege = (await rows(writableQuery)).find(([reason]) => reason !== null)?.[0] ?? null
  const catalog = await readCatalog(rows)
  // Only for the queries of templates.
  await client.query(`SET LOCAL statement_timeout = ${timeoutMs}`)
  await client.query('SAVEPOINT probe')
  return {
    dialect: 'postgresql',
    quote,
    noLimit: 'OFFSET 0',
    readingFunctions:
      /^(pg_.*|(query|table|schema|database|cursor)_to_xml.*|ts_stat|ts_rewrite|lo_.*|currval|lastval|nextval|setval|txid_.*)$/,
    catalog,
    writePrivilege: writePrivilege === null ? null : String(writePrivilege),
    query: ({ text, values }) => guarded(text, values),
    async tablesRead({ text, values }) {
      const [[json] = []] = await guarded(`EXPLAIN (VERBOSE, FORMAT JSON) ${text}`, values)
      const [{ Plan: plan }] = JSON.parse(String(json)) as [{ readonly Plan: Plan }]
      return readBy(plan).map((table) => roots.get(JSON.stringify([table.schema, table.name])) ?? table)
    },
    rls: {
      ask: async (text, values) => (await client.query<Record<string, unknown>>(text, [...values])).rows,
      async query({ text, values }, userGroupId, role) {
        await guarded(
          "SELECT set_config('ugs.user_group_id', $1, true), set_config('ugs.viewer_id', '', true)",
          [userGroupId],
        )
        if (role !== null) await guarded(`SET LOCAL ROLE ${quote(role)}`, [])
        const result = await guarded(text, values)
        // Ends the role and the settings.
        await client.query('ROLLBACK TO SAVEPOINT probe')
        return result
      },
    },
    close: () => client.end(),
  }
}

type ReadRows = (text: string) => Promise<unknown[][]>

/** Returns the table that a template names for each partition. */
async function readRoots(rows: ReadRows): Promise<ReadonlyMap<string, Pick<Relation, 'schema' | 'name'>>> {
  return new Map(
    (await rows(rootsQuery)).map(([schema, name, rootSchema, root]) => [
      JSON.stringify([schema, name]),
      { schema: String(rootSchema), name: String(root) },
    ]),
  )
}

async function readCatalog(rows: ReadRows): Promise<Catalog> {
  const names = async (text: string) => (await rows(text)).map(([name]) => String(name))
  const relations = relationsOf((await rows(catalogQuery)) as unknown as Parameters<typeof relationsOf>[0])
  const schemas = relations.map(({ schema }) => schema.toLowerCase())
  return {
    relations,
    searchPath: await names('SELECT unnest(current_schemas(false))'),
    schemas: new Set([...schemas, 'pg_catalog', 'information_schema']),
    functions: new Set(await names(functionsQuery)),
  }
}

function readBy(plan: Plan): Pick<Relation, 'schema' | 'name'>[] {
  const { 'Relation Name': name, Schema: schema = '', Plans: plans = [] } = plan
  return [...(name === undefined ? [] : [{ schema, name }]), ...plans.flatMap(readBy)]
}

/** Connects with start-up parameters that PgBouncer accepts. @throws UsageError */
export async function connect(url: URL, folder: string): Promise<pg.Client> {
  const { Client } = loadDriver('pg', folder) as typeof pg
  const client = new Client({
    connectionString: url.href,
    connectionTimeoutMillis: 10_000,
    application_name: 'ugs-isolation',
  })
  // A lost connection fails the next query, too.
  client.on('error', () => undefined)
  try {
    await client.connect()
  } catch (error) {
    const { code = 'no answer' } = error as { code?: string }
    throw new UsageError(`PostgreSQL at ${url.host} refuses the connection (${code}): check DATABASE_URL`)
  }
  return client
}

export function queryError(error: unknown): QueryError {
  const { code = '', message } = error as { code?: string; message: string }
  if (code === '57014') return new QueryError(tooSlow, message)
  // Messages of class 42 (syntax, names, types, privileges) name no values.
  const isAboutNames = code.startsWith('42')
  return new QueryError(isAboutNames ? message : `PostgreSQL error ${code || 'without a code'}`, message)
}
