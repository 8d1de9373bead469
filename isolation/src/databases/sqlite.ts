import { resolve } from 'node:path'
import type BetterSqlite3 from 'better-sqlite3'
import { QueryError, UsageError } from '../errors.ts'
import { cellOf, quote, type Database, type OpenOptions, type Plans, type Relation } from './database.ts'
import { loadDriver } from './drivers.ts'

const relationsQuery = `
  SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`

/** Virtual tables that read only what the query gives them. */
const harmless = ['json_each', 'json_tree']

/**
 * An instruction of a compiled statement. To open a table or an index, `p2` is its root page, and `p3` the number of its database. `p4`
 * is the address of a virtual table.
 */
type Instruction = [address: bigint, opcode: string, p1: bigint, p2: bigint, p3: bigint, p4: string | null]

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
    // Once the statement runs, a message may contain values of rows.
    let isRunning = false
    try {
      const statement = database.prepare<unknown[], Row>(text).safeIntegers().raw()
      isRunning = true
      return statement.all(values)
    } catch (error) {
      const { code = 'without a code', message } = error as { code?: string; message: string }
      throw new QueryError(isRunning ? `SQLite error ${code}` : message, message)
    }
  }
  const relations = raw<[name: string, kind: Relation['kind']]>(relationsQuery).map(([name, kind]) => ({
    schema: 'main',
    name,
    kind,
    columns: orNone(() => raw<[string]>('SELECT name FROM pragma_table_info(?)', [name]).flat()),
  }))
  return Promise.resolve({
    dialect: 'sqlite',
    quote,
    noLimit: 'LIMIT -1',
    readingFunctions: /^(sqlite_.*|load_extension|fts\d.*)$/,
    catalog: { relations, searchPath: ['main'], schemas: new Set(['main', 'temp']), functions: new Set() },
    writePrivilege: null,
    query: ({ text, values }) =>
      new Promise((settle) => {
        settle(raw<unknown[]>(text, values).map((row) => row.map(cellOf)))
      }),
    plans: plansOf(raw, relations),
    close() {
      database.close()
      return Promise.resolve()
    },
  })
}

type Raw = <Row>(text: string, values?: readonly unknown[]) => Row[]

function plansOf(raw: Raw, relations: readonly Relation[]): Plans {
  const explain = (text: string, values?: readonly unknown[]) => raw<Instruction>(`EXPLAIN ${text}`, values)
  const rootPages = raw<[bigint, string]>('SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0')
  const roots = new Map([[1n, 'sqlite_schema'], ...rootPages])
  const tables = relations.filter(({ kind }) => kind === 'table').map(({ name }) => name)
  const virtualTables = new Map(
    [...tables, ...harmless].flatMap((name) =>
      orNone(() => explain(`SELECT 1 FROM ${quote(name)}`))
        .filter(([, opcode]) => opcode === 'VOpen')
        .map(([, , , , , address]) => [address, name]),
    ),
  )
  return {
    tablesRead: ({ text, values }) =>
      new Promise((settle) => {
        const read = explain(text, values).flatMap(([, opcode, , page, number, address]) => {
          const virtual = virtualTables.get(address) ?? '(a virtual table)'
          if (opcode === 'VOpen') return harmless.includes(virtual) ? [] : { schema: 'main', name: virtual }
          if (opcode !== 'OpenRead' && opcode !== 'ReopenIdx') return []
          return { schema: number === 1n ? 'temp' : 'main', name: roots.get(page) ?? `page ${page}` }
        })
        settle(read.map((table) => [table]))
      }),
    nulls: ({ columns }) => columns.map((column) => `NULL AS ${quote(column)}`).join(', '),
  }
}

/** Returns nothing for a view of a missing table, or a virtual table of a missing module. */
function orNone<Item>(read: () => readonly Item[]): readonly Item[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof QueryError) return []
    throw error
  }
}
