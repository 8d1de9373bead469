import type pg from 'pg'
import { QueryError, tooSlow, UsageError } from '../errors.ts'
import {
  cellOf,
  quote,
  relationsOf,
  type Catalog,
  type Database,
  type OpenOptions,
  type Plans,
  type RelationName,
  type TableRead,
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

/** Partitions and child tables, with the tables of which they are a part. */
const parentsQuery = `
  WITH RECURSIVE parent (oid, parent) AS (
    SELECT inhrelid, inhparent FROM pg_inherits
    UNION SELECT parent.oid, inhparent FROM parent JOIN pg_inherits ON inhrelid = parent.parent
  )
  SELECT n.nspname, c.relname, pn.nspname, p.relname
  FROM parent JOIN pg_class AS c ON c.oid = parent.oid JOIN pg_namespace AS n ON n.oid = c.relnamespace
  JOIN pg_class AS p ON p.oid = parent.parent JOIN pg_namespace AS pn ON pn.oid = p.relnamespace`

interface Plan {
  readonly 'Relation Name'?: string
  readonly Schema?: string
  /** Tables that a foreign server joins or aggregates, such as `Aggregate on ((public.sales) INNER JOIN (public.orders))`. */
  readonly Relations?: string
  readonly Plans?: readonly Plan[]
}

const qualifiedNames = /("(?:[^"]|"")+"|[\w$\u0080-\uffff]+)\.("(?:[^"]|"")+"|[\w$\u0080-\uffff]+)/g

/** Connects with `pg`, and begins a read-only transaction with one snapshot. @throws UsageError */
export async function openPostgres({ url, folder, timeoutMs }: OpenOptions): Promise<Database> {
  const client = await connect(url, folder)
  const rows = async (text: string, values: unknown[] = []) =>
    (
      await client.query<(string | number | null)[]>({
        text,
        values,
        rowMode: 'array',
        types: {
          getTypeParser: (oid: number) =>
            oid === float4 || oid === float8 ? (text: string) => cellOf(Number(text)) : String,
        },
      })
    ).rows
  const guarded = async (text: string, values: unknown[] = []) => {
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
  const parents = await readParents(rows)
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
    plans: plansOf(guarded, parents),
    rls: {
      ask: async (text, values) => (await client.query<Record<string, unknown>>(text, [...values])).rows,
      async query({ text, values }, userGroupId, role) {
        await guarded(
          "SELECT set_config('ugs.user_group_id', $1, true), set_config('ugs.viewer_id', '', true)",
          [userGroupId],
        )
        if (role !== null) await guarded(`SET LOCAL ROLE ${quote(role)}`)
        const result = await guarded(text, values)
        // Ends the role and the settings.
        await client.query('ROLLBACK TO SAVEPOINT probe')
        return result
      },
    },
    close: () => client.end(),
  }
}

type ReadRows = (text: string, values?: unknown[]) => Promise<unknown[][]>

function plansOf(rows: ReadRows, parents: ReadonlyMap<string, TableRead>): Plans {
  return {
    async tablesRead({ text, values }) {
      const [[json] = []] = await rows(`EXPLAIN (VERBOSE, FORMAT JSON) ${text}`, values)
      const [{ Plan: plan }] = JSON.parse(String(json)) as [{ readonly Plan: Plan }]
      return readBy(plan).map((table) => [table, ...(parents.get(keyOf(table)) ?? [])])
    },
    nulls: ({ schema, name }) => `(NULL::${quote(schema)}.${quote(name)}).*`,
  }
}

/** Returns the tables of which each partition and child table is a part. */
async function readParents(rows: ReadRows): Promise<ReadonlyMap<string, TableRead>> {
  const parents = new Map<string, RelationName[]>()
  for (const [schema, name, parentSchema, parent] of (await rows(parentsQuery)) as string[][]) {
    const key = keyOf({ schema, name } as RelationName)
    parents.set(key, [...(parents.get(key) ?? []), { schema: parentSchema, name: parent } as RelationName])
  }
  return parents
}

function keyOf({ schema, name }: RelationName): string {
  return JSON.stringify([schema, name])
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

function readBy({
  'Relation Name': name,
  Schema: schema = '',
  Relations: joined = '',
  Plans: plans = [],
}: Plan): RelationName[] {
  return [
    ...(name === undefined ? [] : [{ schema, name }]),
    ...[...joined.matchAll(qualifiedNames)].map(([, of = '', table = '']) => ({
      schema: unquoted(of),
      name: unquoted(table),
    })),
    ...plans.flatMap(readBy),
  ]
}

function unquoted(name: string): string {
  return name.startsWith('"') ? name.slice(1, -1).replaceAll('""', '"') : name
}

/** Connects with start-up parameters that PgBouncer accepts. @throws UsageError */
export async function connect(url: URL, folder: string): Promise<pg.Client> {
  const { Client } = loadDriver('pg', folder) as typeof pg
  try {
    const client = new Client({
      connectionString: url.href,
      connectionTimeoutMillis: 10_000,
      application_name: 'ugs-isolation',
    })
    // A lost connection fails the next query, too.
    client.on('error', () => undefined)
    await client.connect()
    return client
  } catch (error) {
    const { code = 'no answer' } = error as { code?: string }
    throw new UsageError(`PostgreSQL at ${url.host} refuses the connection (${code}): check DATABASE_URL`)
  }
}

export function queryError(error: unknown): QueryError {
  const { code = '', position, message } = error as { code?: string; position?: string; message: string }
  if (code === '57014') return new QueryError(tooSlow, message)
  // Messages about a place in the statement, a privilege, a feature or the read-only transaction name no values of rows.
  const isAboutStatement = (code.startsWith('42') && position !== undefined) || /^(42501|0A|25)/.test(code)
  return new QueryError(isAboutStatement ? message : `PostgreSQL error ${code || 'without a code'}`, message)
}
