import { QueryError, tooSlow, UsageError } from '../errors.ts'
import { cellOf, relationsOf, type Database, type OpenOptions } from './database.ts'
import { loadDriver } from './drivers.ts'

/** The part of `mysql2/promise` that this file uses. */
interface Driver {
  createConnection(options: object): Promise<Connection>
}
interface Connection {
  query(sql: string): Promise<[unknown]>
  execute(sql: string, values: readonly unknown[]): Promise<[unknown]>
  on(event: 'error', listener: () => void): void
  end(): Promise<void>
}

const systemSchemas = ['information_schema', 'performance_schema', 'mysql', 'sys']

const catalogQuery = `
  SELECT t.table_schema, t.table_name, CASE WHEN t.table_type IN ('BASE TABLE', 'SYSTEM VERSIONED') THEN 'table' ELSE 'view' END, c.column_name
  FROM information_schema.tables AS t
  LEFT JOIN information_schema.columns AS c ON c.table_schema = t.table_schema AND c.table_name = t.table_name
  WHERE t.table_schema NOT IN (${systemSchemas.map((name) => `'${name}'`).join(', ')})
  ORDER BY 1, 2, c.ordinal_position`

/** Privileges that only read, or that concern no rows. */
const reading =
  /^(USAGE|SELECT|SHOW VIEW|SHOW DATABASES|EXECUTE|PROCESS|REPLICATION CLIENT|BINLOG MONITOR|SLAVE MONITOR|RELOAD|LOCK TABLES)( ?\(.*\))?$/

/** Connects with `mysql2`, and begins a read-only transaction with one snapshot. @throws UsageError */
export async function openMysql({ url, folder, timeoutMs }: OpenOptions): Promise<Database> {
  const connection = await connect(url, folder)
  const rows = async (text: string) => (await connection.query(text))[0] as unknown[][]
  const [[version, database] = []] = (await rows('SELECT version(), database()')) as (string | null)[][]
  if (!database) throw new UsageError('DATABASE_URL names no database: mysql://user@host/database')
  const isMariaDb = version?.includes('MariaDB') === true
  await connection.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ')
  await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
  const relations = relationsOf((await rows(catalogQuery)) as unknown as Parameters<typeof relationsOf>[0])
  const functions = await rows('SELECT DISTINCT lower(routine_name) FROM information_schema.routines')
  const writePrivilege = writePrivilegeOf((await rows('SHOW GRANTS')).map(([grant]) => String(grant)))
  // Only for the queries of templates.
  await connection.query(
    isMariaDb ? `SET max_statement_time = ${timeoutMs / 1000}` : `SET max_execution_time = ${timeoutMs}`,
  )
  return {
    dialect: isMariaDb ? 'mariadb' : 'mysql',
    quote: (name) => `\`${name.replaceAll('`', '``')}\``,
    noLimit: 'LIMIT 18446744073709551615',
    readingFunctions: /^(load_file|lastval|nextval|setval|last_insert_id|found_rows|row_count)$/,
    catalog: {
      relations,
      searchPath: [database],
      schemas: new Set([...relations.map(({ schema }) => schema.toLowerCase()), ...systemSchemas]),
      functions: new Set(functions.map(([name]) => String(name))),
    },
    writePrivilege,
    async query({ text, values }) {
      try {
        const [result] = await connection.execute(text, values)
        return (result as unknown[][]).map((row) => row.map(cellOf))
      } catch (error) {
        throw queryError(error)
      }
    },
    // No `plans`: they have aliases instead of tables, and nothing of a table that is read while the query is planned.
    close: () => connection.end(),
  }
}

function writePrivilegeOf(grants: readonly string[]): string | null {
  for (const grant of grants) {
    const [, list = '', on = ''] = /^GRANT (.+) ON (.+) TO /.exec(grant) ?? []
    const writing = list
      .split(/, (?![^(]*\))/)
      .find((privilege) => privilege !== '' && !reading.test(privilege))
    if (writing !== undefined) return `has the privilege ${writing} on ${on}`
  }
  return null
}

async function connect(url: URL, folder: string): Promise<Connection> {
  const driver = loadDriver('mysql2/promise', folder) as Driver
  try {
    const connection = await driver.createConnection({
      ...(url.searchParams.has('socketPath')
        ? { socketPath: url.searchParams.get('socketPath') }
        : { host: url.hostname, port: Number(url.port || 3306) }),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)) || undefined,
      rowsAsArray: true,
      dateStrings: true,
      supportBigNumbers: true,
      bigNumberStrings: true,
      charset: 'utf8mb4',
      connectTimeout: 10_000,
    })
    // A lost connection fails the next query, too.
    connection.on('error', () => undefined)
    return connection
  } catch (error) {
    if (error instanceof UsageError) throw error
    const { code = 'no answer' } = error as { code?: string }
    throw new UsageError(`the database at ${url.host} refuses the connection (${code}): check DATABASE_URL`)
  }
}

interface MysqlError {
  readonly code?: string
  readonly errno: number
  readonly sqlState?: string
  /** Set if the connection cannot be used any more. */
  readonly fatal?: boolean
  readonly message: string
}

/** Errors of a query that took too long: of MariaDB, and of MySQL. */
const timeouts = [1969, 3024]

function queryError(error: unknown): QueryError {
  const { code, errno, sqlState = '', fatal = false, message } = error as MysqlError
  if (timeouts.includes(errno)) return new QueryError(tooSlow, message)
  if (fatal) throw new UsageError('the connection to the database was lost')
  // Messages of class 42 (syntax, names, privileges) name no values.
  return new QueryError(sqlState.startsWith('42') ? message : `database error ${code ?? errno}`, message)
}
