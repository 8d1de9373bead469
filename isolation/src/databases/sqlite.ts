import { resolve } from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import { QueryError, UsageError } from '../errors.ts'
import { cellOf, quote, relationsOf, type Database, type OpenOptions } from './database.ts'
import { loadDriver } from './drivers.ts'

const catalogQuery = `
  SELECT 'main', t.name, t.type, c.name
  FROM sqlite_schema AS t LEFT JOIN pragma_table_info(t.name) AS c
  WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`

/** An instruction of a compiled statement. To open a table or an index, `p2` is its root page, and `p3` the number of its database. */
type Instruction = [address: bigint, opcode: string, p1: bigint, p2: bigint, p3: bigint]

/** Opens a file with `better-sqlite3`, read-only. A query cannot be ended: `timeoutMs` does not apply. @throws UsageError */
export function openSqlite({ url, folder }: OpenOptions): Promise<Database> {
  const Driver = loadDriver('better-sqlite3', folder) as typeof BetterSqlite3
  const path = resolve(decodeURIComponent(url.pathname))
  let database: BetterSqlite3.Database
  try {
    database = new Driver(path, { readonly: true, fileMustExist: true })
    database.exec('BEGIN; SELECT 1 FROM sqlite_schema')
  } catch {
    throw new UsageError(`${path} cannot be opened as a SQLite database: check DATABASE_URL`)
  }
  const raw = <Row>(text: string, values: readonly unknown[] = []) => {
    try {
      return database.prepare<unknown[], Row>(text).safeIntegers().raw().all(values)
    } catch (error) {
      const { message } = error as Error
      throw new QueryError(message, message)
    }
  }
  const relations = relationsOf(raw(catalogQuery))
  const roots = new Map(
    raw<[bigint, string]>('SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0').map(
      ([page, table]) => [page, table],
    ),
  )
  return Promise.resolve({
    dialect: 'sqlite',
    quote,
    noLimit: 'LIMIT -1',
    readingFunctions: /^(pragma_.*|sqlite_.*|dbstat|load_extension|fts\d.*)$/,
    catalog: { relations, searchPath: ['main'], schemas: new Set(['main', 'temp']), functions: new Set() },
    writePrivilege: null,
    query: ({ text, values }) =>
      new Promise((settle) => {
        settle(raw<unknown[]>(text, values).map((row) => row.map(cellOf)))
      }),
    tablesRead: ({ text, values }) =>
      new Promise((settle) => {
        const instructions = raw<Instruction>(`EXPLAIN ${text}`, values)
        settle(
          instructions
            .filter(([, opcode]) => opcode === 'OpenRead' || opcode === 'ReopenIdx')
            .map(([, , , page, number]) => ({
              schema: number === 1n ? 'temp' : 'main',
              name: page === 1n ? 'sqlite_schema' : (roots.get(page) ?? `page ${page}`),
            })),
        )
      }),
    close() {
      database.close()
      return Promise.resolve()
    },
  })
}
