import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { StoreError } from './store-error.ts'
import {
  keyOf,
  tables,
  type Cells,
  type DescribedTable,
  type TableReader,
  type TableWriter,
} from './tables.ts'

/** Progress of a copy. In each phase, each table counts from 0 to `total`. */
export interface CopyProgress {
  readonly phase: 'comparing' | 'copying' | 'verifying'
  readonly table: string
  readonly done: number
  readonly total: number
}

/** A table that is equal in both stores. */
export interface CopiedTable {
  readonly name: string
  readonly rows: number
  /** SHA-256 over all rows in key order. */
  readonly checksum: string
}

export interface CopyResult {
  /** False if the target was already equal. */
  readonly hasCopied: boolean
  readonly tables: readonly CopiedTable[]
}

/**
 * Copies a store into an empty one, or resumes an interrupted copy of the same store: existing rows are compared and
 * kept. At the end, both stores are read again and compared by counts and checksums; no service starts on the target
 * before that. Neither store may be in use during the copy. A target that is already equal is left unchanged.
 * @throws StoreError if the target holds other rows, or the stores differ at the end
 */
export async function copyStore(
  from: TableReader,
  to: TableWriter,
  report: (progress: CopyProgress) => void,
): Promise<CopyResult> {
  const described = await Promise.all(tables.map((table) => to.describe(table)))
  if (await to.isBeingFilled()) await compareWhatIsThere(described, from, to, report)
  else if (await isFresh(to)) await to.beginFilling(from)
  else {
    const compared = await compareAll(described, from, to, report)
    if (compared.every(isSame)) return { hasCopied: false, tables: compared.map(({ target }) => target) }
    throw new StoreError('the target already contains other data; use an empty database')
  }
  for (const table of described) await copyTable(table, from, to, report)
  const compared = await compareAll(described, from, to, report)
  const different = compared.find((table) => !isSame(table))
  if (different !== undefined) {
    const { source, target } = different
    throw new StoreError(
      `${source.name}: the source has ${source.rows} rows (${source.checksum}), the target ${target.rows} (${target.checksum}): one of them was written to meanwhile; stop the service and copy again into an empty database`,
    )
  }
  await to.finishFilling()
  return { hasCopied: true, tables: compared.map(({ target }) => target) }
}

/** Tables in which the migrations create a row. */
const filledByMigrations = ['workspace', 'locator_key']

/** Returns whether the store holds only the rows that the migrations create. */
async function isFresh(store: TableReader): Promise<boolean> {
  for (const table of tables) {
    if ((await store.count(table)) > (filledByMigrations.includes(table.name) ? 1 : 0)) return false
  }
  return true
}

/** Checks, before anything is written, that every row of the target equals a row of the source. */
async function compareWhatIsThere(
  described: readonly DescribedTable[],
  from: TableReader,
  to: TableReader,
  report: (progress: CopyProgress) => void,
): Promise<void> {
  for (const table of described) {
    const progress = { phase: 'comparing', table: table.name, total: await to.count(table) } as const
    let done = 0
    const source = rowsOf(table, from)
    for await (const row of rowsOf(table, to)) {
      const key = keyOf(table, row)
      let candidate = await source.next()
      while (candidate.done !== true && !sameCells(keyOf(table, candidate.value), key))
        candidate = await source.next()
      if (candidate.done === true || !sameCells(candidate.value, row)) {
        throw new StoreError(
          `the target holds a row of ${table.name} that the source does not, or no longer: name an empty database`,
        )
      }
      report({ ...progress, done: ++done })
    }
  }
}

async function copyTable(
  table: DescribedTable,
  from: TableReader,
  to: TableWriter,
  report: (progress: CopyProgress) => void,
): Promise<void> {
  const progress = { phase: 'copying', table: table.name, total: await from.count(table) } as const
  let done = 0
  for await (const batch of batchesOf(table, from)) {
    await to.insert(table, batch)
    report({ ...progress, done: (done += batch.length) })
  }
  await to.setCounter(table, await from.readCounter(table))
}

interface ComparedTable {
  readonly source: CopiedTable
  readonly target: CopiedTable
}

function isSame({ source, target }: ComparedTable): boolean {
  return source.rows === target.rows && source.checksum === target.checksum
}

async function compareAll(
  described: readonly DescribedTable[],
  from: TableReader,
  to: TableReader,
  report: (progress: CopyProgress) => void,
): Promise<ComparedTable[]> {
  const compared: ComparedTable[] = []
  for (const table of described) {
    const total = (await from.count(table)) + (await to.count(table))
    let done = 0
    const count = (rows: number) =>
      report({ phase: 'verifying', table: table.name, total, done: (done += rows) })
    compared.push({ source: await summarize(table, from, count), target: await summarize(table, to, count) })
  }
  return compared
}

async function summarize(
  table: DescribedTable,
  store: TableReader,
  count: (rows: number) => void,
): Promise<CopiedTable> {
  const hash = createHash('sha256')
  let rows = 0
  for await (const batch of batchesOf(table, store)) {
    for (const row of batch) hash.update(`${textOf(row)}\n`)
    rows += batch.length
    count(batch.length)
  }
  return { name: table.name, rows, checksum: hash.digest('hex') }
}

async function* batchesOf(
  table: DescribedTable,
  store: TableReader,
): AsyncGenerator<Cells[], void, undefined> {
  let after: Cells | null = null
  for (;;) {
    const batch: Cells[] = await store.read(table, after)
    const last = batch.at(-1)
    if (last === undefined) return
    yield batch
    after = keyOf(table, last)
  }
}

async function* rowsOf(table: DescribedTable, store: TableReader): AsyncGenerator<Cells, void, undefined> {
  for await (const batch of batchesOf(table, store)) yield* batch
}

function sameCells(a: Cells, b: Cells): boolean {
  return isDeepStrictEqual(a.map(plain), b.map(plain))
}

function textOf(row: Cells): string {
  return JSON.stringify(row.map(plain))
}

/** Converts bytes to a comparable form, because the drivers return different kinds of byte arrays. */
function plain(cell: Cells[number]): unknown {
  return cell instanceof Uint8Array ? { hex: Buffer.from(cell).toString('hex') } : cell
}
