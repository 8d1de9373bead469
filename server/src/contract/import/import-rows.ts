import { isUtf8 } from 'node:buffer'
import { Fault } from '../../domain/fault.ts'
import type { ImportRow } from '../../domain/user-group/user-group-import.ts'
import type { UserGroupChange } from '../../domain/user-group/user-group.ts'
import { readUserGroup } from '../user/bodies.ts'
import { readCsv, type CsvRecord } from './csv.ts'
import { limits } from '../limits.ts'
import { readStrictJson } from '../json/strict-json.ts'

/** The media types of imports and exports, by format name. */
export const bulkFormats = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const

export type BulkFormat = keyof typeof bulkFormats

const columns = ['user_group_id', 'name', 'mapping', 'properties'] as const

type Column = (typeof columns)[number]

type ReadRows = (chunks: AsyncIterable<Buffer>) => AsyncGenerator<ImportRow[]>

/** Readers of any number of rows. A row that cannot be read contains its fault. */
export const rowReaders = { ndjson: readNdjsonRows, csv: readCsvRows } satisfies Record<BulkFormat, ReadRows>

const lineFeed = 0x0a
const minChunkBytes = 65_536
/** Maximum number of rows read without a pause: about a millisecond of work. */
const rowsAtOnce = 32

/** Reads one user group per line, each as a body of `/api/user`. Skips empty lines. */
async function* readNdjsonRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRow[]> {
  let line = 0
  for await (const lines of someAtOnce(linesOf(chunks))) {
    yield lines.flatMap((bytes) => {
      line++
      if (isBlank(bytes)) return []
      const isTooLong = bytes.length > limits.bodyBytes
      return rowOf(line, bytes.length, () => {
        if (isTooLong) throw rowFault(`is longer than ${limits.bodyBytes} bytes`)
        return bytes
      })
    })
  }
}

/** Returns lines without their line feeds. Lines that are too long are truncated. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of joinChunks(chunks)) {
    const lines: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      lines.push(joined(rest, chunk.subarray(start, end)))
      rest = Buffer.alloc(0)
      start = end + 1
    }
    rest = joined(rest, chunk.subarray(start))
    yield lines
  }
  yield [rest]
}

/** Joins small chunks to chunks of at least `minChunkBytes`. */
async function* joinChunks(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    parts.push(chunk)
    length += chunk.length
    if (length < minChunkBytes) continue
    yield Buffer.concat(parts)
    parts = []
    length = 0
  }
  yield Buffer.concat(parts)
}

function joined(rest: Buffer, part: Buffer): Buffer {
  if (rest.length === 0) return part
  return rest.length > limits.bodyBytes ? rest : Buffer.concat([rest, part])
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}

/**
 * Reads one user group per record, after a record that names the columns. `mapping` and `properties` are JSON; an empty field counts
 * as omitted.
 * @throws Fault `validation_failed` if the first record does not name the columns
 */
async function* readCsvRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRow[]> {
  let header: readonly Column[] | undefined
  for await (const records of someAtOnce(readCsv(joinChunks(chunks), limits.bodyBytes))) {
    yield records.flatMap(({ line, fields, size }) => {
      if (header !== undefined)
        return rowOf(line, size, () => jsonOf(fields, header as readonly Column[], line))
      header = readHeader(fields)
      return []
    })
  }
  if (header === undefined) throw headerFault(expectedHeader)
}

async function* someAtOnce<T>(lists: AsyncIterable<readonly T[]>): AsyncGenerator<readonly T[]> {
  for await (const list of lists)
    for (let i = 0; i < list.length; i += rowsAtOnce) yield list.slice(i, i + rowsAtOnce)
}

const expectedHeader = `Line 1 must name the columns, separated by commas (${columns.join(', ')})`

/** @throws Fault `validation_failed` */
function readHeader(fields: CsvRecord['fields']): readonly Column[] {
  if (typeof fields === 'string') throw headerFault(`${expectedHeader}; it ${fields}`)
  const names = fields.map((field) => field.toString('utf8'))
  const unknown = names.find((name) => !columns.some((column) => column === name))
  if (unknown !== undefined)
    throw headerFault(`${expectedHeader}; it has ${JSON.stringify(unknown.slice(0, 100))}`)
  if (new Set(names).size < names.length) throw headerFault(`${expectedHeader}; it names a column twice`)
  if (!names.includes('user_group_id')) throw headerFault(`${expectedHeader}; it lacks user_group_id`)
  return names as Column[]
}

function headerFault(message: string): Fault {
  return new Fault('validation_failed', message)
}

function rowFault(message: string): Fault {
  return new Fault('validation_failed', `The row ${message}`)
}

/** Converts a record to a body of `/api/user`. @throws Fault `malformed_json`, `validation_failed` */
function jsonOf(fields: CsvRecord['fields'], header: readonly Column[], line: number): Buffer {
  if (typeof fields === 'string') throw rowFault(fields)
  if (fields.length !== header.length)
    throw rowFault(`has ${fields.length} columns, but line 1 has ${header.length}`)
  const members = header.flatMap((column, i) => {
    const field = fields[i] as Buffer
    if (field.length === 0) return []
    const source = { whole: `The column ${column}`, firstLine: line }
    if (!isUtf8(field)) throw new Fault('malformed_json', `${source.whole} is not valid UTF-8`)
    const isText = column === 'user_group_id' || column === 'name'
    // Check the column alone first, so that its text cannot extend into the next member.
    if (!isText) readStrictJson(field, source)
    return [`"${column}":${isText ? JSON.stringify(field.toString('utf8')) : field.toString('utf8')}`]
  })
  return Buffer.from(`{${members.join()}}`)
}

function rowOf(line: number, size: number, json: () => Buffer): ImportRow {
  let providedId: string | null = null
  let content: UserGroupChange | Fault
  try {
    const document = readStrictJson(json(), { whole: 'The row', firstLine: line })
    providedId = providedIdIn(document.value)
    content = readUserGroup(document).change
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    content = error
  }
  return { line, providedId, content, size }
}

/** Returns the id in a row that may be invalid, or null if it cannot be read. */
function providedIdIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('user_group_id' in value)) return null
  const { user_group_id: id } = value
  return typeof id === 'string' && id.length <= limits.textLength * 2 ? id : null
}

/** Writers of the rows of an export, in the same formats. */
export const rowWriters = {
  ndjson: { head: '', row: ndjsonRow },
  csv: { head: `${columns.join()}\r\n`, row: csvRow },
} satisfies Record<BulkFormat, RowWriter>

export interface RowWriter {
  /** The text in front of the first row. */
  readonly head: string
  readonly row: (userGroup: ExportedUserGroup) => string
}

interface ExportedUserGroup {
  readonly providedId: string
  readonly name: string
  readonly mapping: string | null
  readonly properties: string | null
}

function ndjsonRow({ providedId, name, mapping, properties }: ExportedUserGroup): string {
  return `{"user_group_id":${JSON.stringify(providedId)},"name":${JSON.stringify(name)},"mapping":${mapping},"properties":${properties}}\n`
}

function csvRow({ providedId, name, mapping, properties }: ExportedUserGroup): string {
  return `${[providedId, name, String(mapping), String(properties)].map(csvField).join()}\r\n`
}

function csvField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
