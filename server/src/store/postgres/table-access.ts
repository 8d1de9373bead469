import { StoreError } from '../store-error.ts'
import {
  keyColumns,
  maxBatchBytes,
  maxBatchRows,
  type Cells,
  type Table,
  type TableReader,
  type TableWriter,
} from '../tables.ts'
import { liftLimitsOnWorkers } from './citus.ts'
import { hasTable, isBeingFilled, setFilling } from './migrate.ts'
import { PostgresFailure } from './postgres-fault.ts'
import type { PrimaryPool, Query, UnknownRow } from './primary-pool.ts'

/** Advisory lock of a beginning copy: an arbitrary number. */
const beginningLock = 0x55475301

/** Reads and fills the tables of a database. Each step can be repeated safely. */
export class PostgresTableAccess implements TableWriter {
  readonly #primary: PrimaryPool

  constructor(primary: PrimaryPool) {
    this.#primary = primary
  }

  async read(table: Table, after: Cells | null): Promise<Cells[]> {
    if (table.isOptional && !(await hasTable(this.#primary.query, table.name))) return []
    const columns = Object.keys(table.columns)
    const key = keyColumns(table).join(', ')
    const start = after === null ? '' : `WHERE (${key}) > (${after.map((_, i) => `$${i + 3}`).join(', ')})`
    const bytes = [
      '0',
      ...(table.longColumns ?? []).map((column) => `coalesce(octet_length(${column}), 0)`),
    ].join(' + ')
    // Limits the rows first, because Citus would send all rows of a table to a window function. Bytes of the previous rows, so that the
    // first row is always included.
    const rows = await this.#query(
      `SELECT ${columns.join(', ')}
       FROM (
         SELECT *, coalesce(sum(${bytes}) OVER (ORDER BY ${key} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
         FROM (SELECT * FROM ${table.name} ${start} ORDER BY ${key} LIMIT $1) AS next
       ) AS page
       WHERE bytes_before < $2 ORDER BY ${key}`,
      [maxBatchRows, maxBatchBytes, ...(after ?? [])],
    )
    return rows.map((row) => columns.map((column) => row[column] as Cells[number]))
  }

  async count(table: Table): Promise<number> {
    if (table.isOptional && !(await hasTable(this.#primary.query, table.name))) return 0
    return this.#readNumber(`SELECT count(*) AS value FROM ${table.name}`)
  }

  readCounter({ name, counter }: Table): Promise<number> {
    if (counter === undefined) return Promise.resolve(0)
    // The sequence of a migrated store starts after the ids in use.
    return this.#readNumber(
      `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS value FROM ${name}_${counter}_seq`,
    )
  }

  isBeingFilled(): Promise<boolean> {
    return isBeingFilled(this.#primary.query).catch(interrupted)
  }

  async isBeginningToBeFilled(): Promise<boolean> {
    const [row] = await this.#query('SELECT NOT pg_try_advisory_xact_lock($1) AS is_locked', [beginningLock])
    return row?.is_locked === true
  }

  beginFilling(source: TableReader): Promise<void> {
    const begun = this.#primary.transaction(async (query) => {
      // Two URLs may name one database. Advisory locks are per database.
      await query('SELECT pg_advisory_xact_lock($1)', [beginningLock])
      if (await source.isBeginningToBeFilled()) throw new StoreError('the target is the source itself')
      await setFilling(query, true)
      await query('DELETE FROM workspace')
      await query('DELETE FROM locator_key')
    })
    return begun.catch(interrupted)
  }

  async insert(table: Table, rows: readonly Cells[]): Promise<void> {
    const columns = Object.entries(table.columns)
    if (table.isOptional) await this.#create(table)
    await this.#query(
      `INSERT INTO ${table.name} (${columns.map(([name]) => name).join(', ')}) OVERRIDING SYSTEM VALUE
       SELECT * FROM unnest(${columns.map(([, type], i) => `$${i + 1}::${type}[]`).join(', ')})
       ON CONFLICT DO NOTHING`,
      columns.map((_, i) => rows.map((row) => row[i])),
    )
  }

  async setCounter({ name, counter }: Table, value: number): Promise<void> {
    if (counter !== undefined && value > 0)
      await this.#query(`SELECT setval('${name}_${counter}_seq', $1)`, [value])
  }

  finishFilling(): Promise<void> {
    return setFilling(this.#primary.query, false).catch(interrupted)
  }

  close(): Promise<void> {
    return this.#primary.close()
  }

  /** Creates an optional table, with the columns of a copy and their key. */
  async #create(table: Table): Promise<void> {
    const columns = Object.entries(table.columns).map(([name, type]) => `${name} ${type} NOT NULL`)
    await this.#query(
      `CREATE TABLE IF NOT EXISTS ${table.name} (${columns.join(', ')}, PRIMARY KEY (${keyColumns(table).join(', ')}))`,
    )
  }

  async #readNumber(statement: string): Promise<number> {
    const [row] = await this.#query(statement)
    return row?.value as number
  }

  /** Runs a statement without time-outs, because a table may be long. */
  #query(statement: string, values: readonly unknown[] = []): Promise<UnknownRow[]> {
    const run = async (query: Query) => {
      await liftLimitsOnWorkers(query)
      return query(statement, values)
    }
    return this.#primary.transaction(run, 'none').catch(interrupted)
  }
}

function interrupted(error: unknown): never {
  if (!(error instanceof PostgresFailure)) throw error
  if (error.code === '42501')
    throw new StoreError('the role lacks rights: a copy needs one that owns the tables (42501)')
  throw new StoreError(
    `the database failed during the copy; run the same command again to continue (${error.code})`,
  )
}
