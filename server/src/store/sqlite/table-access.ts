import type { Database } from 'better-sqlite3'
import {
  maxBatchBytes,
  maxBatchRows,
  type Cells,
  type DescribedTable,
  type Table,
  type TableReader,
} from '../tables.ts'

/** Reads the tables of a file. No service may write to it meanwhile. */
export class SqliteTableAccess implements TableReader {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  read(table: DescribedTable, after: Cells | null): Promise<Cells[]> {
    const columns = [...table.columns.keys()]
    const key = table.key.join(', ')
    const start = after === null ? '' : `WHERE (${key}) > (${after.map(() => '?').join(', ')})`
    const rows = this.#database
      .prepare<unknown[], Cells>(
        `SELECT ${columns.map((column) => expressionOf(table, column)).join(', ')} FROM ${table.name} ${start} ORDER BY ${key} LIMIT ?`,
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

const bucket = 'user_group_bucket(workspace_id, environment, provided_id)'

/** Returns how to read a column. The bucket of a row is computed. */
function expressionOf({ name, columns }: DescribedTable, column: string): string {
  if (column !== 'bucket') return column
  // An audit event that concerns no user group has bucket 0.
  if (columns.has('provided_id')) return `CASE WHEN team_id IS NULL THEN 0 ELSE ${bucket} END`
  // A user group may have been deleted for good since its last introspection was recorded.
  return `coalesce(
    (SELECT ${bucket} FROM user_group WHERE team_id = ${name}.team_id),
    (SELECT ${bucket} FROM deleted_user_group WHERE workspace_id = ${name}.workspace_id AND team_id = ${name}.team_id),
    0
  )`
}
