import { Readable } from 'node:stream'
import type { TSchema } from 'typebox'
import { cellOf, csvRecord } from '../../contract/import/csv-record.ts'
import type { BulkFormat, RowWriter } from '../../contract/import/import-rows.ts'
import { writeJson } from '../../contract/json/json-writer.ts'
import type { AdminResponse } from './operation.ts'

/**
 * Returns writers of the rows of an export, by format.
 * @param schema schema of a line of NDJSON
 * @param shown returns the members of a line, as for `writeJson`
 * @param columns returns the cells of CSV, by the names of their columns
 */
export function rowWritersOf<Row, Shown extends object>(
  schema: TSchema,
  shown: (row: Row) => Shown,
  columns: Readonly<Record<string, (shown: Shown) => string | number | boolean | null | undefined>>,
): Readonly<Record<BulkFormat, RowWriter<Row>>> {
  const csvRow = (row: Shown) =>
    csvRecord(Object.values(columns).map((cell) => cellOf(cell(row)?.toString())))
  return {
    ndjson: { head: '', row: (row) => `${writeJson(schema, shown(row))}\n` },
    csv: { head: csvRecord(Object.keys(columns)), row: (row) => csvRow(shown(row)) },
  }
}

/** Returns a response with rows. Loads the first batch before the response starts, so that an unreachable store gets a 503. */
export async function streamRows<Row>(
  format: BulkFormat,
  { head, row }: RowWriter<Row>,
  batches: AsyncGenerator<readonly Row[]>,
): Promise<AdminResponse> {
  const first = await batches.next()
  async function* texts() {
    yield head
    if (first.done !== true) yield first.value.map(row).join('')
    for await (const batch of batches) yield batch.map(row).join('')
  }
  return { format, stream: Readable.from(texts(), { objectMode: false }) }
}
