import type { Database } from 'better-sqlite3'
import {
  keyColumns,
  maxBatchBytes,
  maxBatchRows,
  type Cells,
  type Table,
  type TableReader,
} from '../tables.ts'

/** Reads the tables of a file. No service may write to it meanwhile. */
export class SqliteTableAccess implements TableReader {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  read(table: Table, after: Cells | null): Promise<Cells[]> {
    const columns = Object.keys(table.columns)
    const key = keyColumns(table).join(', ')
    const start = after === null ? '' : `WHERE (${key}) > (${after.map(() => '?').join(', ')})`
    const rows = this.#database
      .prepare<unknown[], Cells>(
        `SELECT ${columns.join(', ')} FROM ${table.name} ${start} ORDER BY ${key} LIMIT ?`,
      )
      .raw()
      .iterate(...(after ?? []), maxBatchRows)
    const long = (table.longColumns ?? []).map((column) => columns.indexOf(column))
    const batch: Cells[] = []
    let bytes = 0
    for (const row of rows) {
      batch.push(row)
      for (const column of long) bytes += Buffer.byteLength((row[column] as string | null) ?? '')
      if (bytes >= maxBatchBytes) break
    }
    return Promise.resolve(batch)
  }

  count(table: Table): Promise<number> {
    return Promise.resolve(this.#readNumber(`SELECT count(*) FROM ${table.name}`))
  }

  readCounter({ name, counter }: Table): Promise<number> {
    if (counter === undefined) return Promise.resolve(0)
    const highest = this.#readNumber(`SELECT coalesce(max(${counter}), 0) FROM ${name}`)
    // AUTOINCREMENT also counts deleted rows.
    const given = this.#readNumber('SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = ?', name)
    return Promise.resolve(Math.max(highest, given))
  }

  isBeginningToBeFilled(): Promise<boolean> {
    return Promise.resolve(false)
  }

  close(): Promise<void> {
    this.#database.close()
    return Promise.resolve()
  }

  #readNumber(statement: string, ...values: string[]): number {
    return this.#database
      .prepare(statement)
      .pluck()
      .get(...values) as number
  }
}
