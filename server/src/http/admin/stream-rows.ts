import { Readable } from 'node:stream'
import type { BulkFormat } from '../../contract/import/import-rows.ts'
import type { AdminResponse } from './operation.ts'

export interface RowWriter<Row> {
  /** The text in front of the first row. */
  readonly head: string
  readonly row: (row: Row) => string
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
