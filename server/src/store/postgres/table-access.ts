import { StoreError } from '../store-error.ts'
import {
  maxBatchBytes,
  maxBatchRows,
  type Cells,
  type DescribedTable,
  type Table,
  type TableReader,
  type TableWriter,
} from '../tables.ts'
import { liftLimitsOnWorkers } from './citus/citus.ts'
import { isBeingFilled, setFilling } from './migrate.ts'
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

  async describe(table: Table): Promise<DescribedTable> {
    const rows = await this.#query(
      `SELECT attname::text AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY array_position($2::text[], attname::text)`,
      [table.name, table.key],
    )
    return { ...table, columns: new Map(rows.map(({ name, type }) => [name as string, type as string])) }
  }

  async read(table: DescribedTable, after: Cells | null): Promise<Cells[]> {
    const columns = [...table.columns.keys()]
    const key = table.key.join(', ')
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

  count(table: Table): Promise<number> {
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

  async insert(table: DescribedTable, rows: readonly Cells[]): Promise<void> {
    const columns = [...table.columns]
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
