import { isUtf8 } from 'node:buffer'
import { setImmediate as nextTick } from 'node:timers/promises'
import { Fault } from '../../domain/fault.ts'
import type { ImportRow } from '../../domain/user-group/user-group-import.ts'
import type { UserGroupChange } from '../../domain/user-group/user-group.ts'
import { readUserGroup } from '../user/bodies.ts'
import { csvRecord } from './csv-record.ts'
import { maxBatchLines, nothingMore, readCsv, type CsvRecord, type Delimiter } from './csv.ts'
import { limits } from '../limits.ts'
import { readStrictJson } from '../json/strict-json.ts'
import { readText } from './text.ts'

/** The media types of imports and exports, by format name. */
export const bulkFormats = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const

export type BulkFormat = keyof typeof bulkFormats

const columns = ['user_group_id', 'name', 'mapping', 'properties'] as const

type Column = (typeof columns)[number]

/** `delimiter` is for CSV. By default it is detected. */
type ReadRows = (chunks: AsyncIterable<Buffer>, delimiter?: Delimiter) => AsyncGenerator<ImportRow[]>

/** Readers of any number of rows. A row that cannot be read contains its fault. */
export const rowReaders = { ndjson: readNdjsonRows, csv: readCsvRows } satisfies Record<BulkFormat, ReadRows>

const lineFeed = 0x0a
const emptyLine: Buffer = Buffer.alloc(0)

/**
 * Reads one user group per line, each as a body of `/api/user`. Skips empty lines.
 * @throws Fault `validation_failed` if the text is a JSON document instead of lines
 */
async function* readNdjsonRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRow[]> {
  let line = 0
  let isFirst = true
  for await (const lines of withPauses(linesOf(chunks))) {
    yield lines.flatMap((bytes) => {
      line++
      if (isBlank(bytes)) return []
      if (isFirst) refuseDocument(bytes, line)
      isFirst = false
      const isTooLong = bytes.length > limits.bodyBytes
      return rowOf(line, bytes.length, () => {
        if (isTooLong) throw rowFault(`is longer than ${limits.bodyBytes} bytes`)
        return bytes
      })
    })
  }
}

/** Refuses a JSON array, and an object that spans several lines: some of their lines could be read as rows. */
function refuseDocument(firstLine: Buffer, line: number): void {
  const text = firstLine.toString('latin1').trim()
  const isArray = text.startsWith('[')
  if (!isArray && !/^\{(?:.*[{[,])?$/.test(text)) return
  throw new Fault(
    'validation_failed',
    `Line ${line} starts ${isArray ? 'a JSON array' : 'an object that spans several lines'}, but NDJSON has one object per line. Nothing is imported. Convert the file: jq -c '.${isArray ? '[]' : ''}' FILE.json > FILE.ndjson`,
  )
}

/** Returns lines without their line feeds, in batches. Lines that are too long are truncated. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let rest = emptyLine
  for await (const chunk of readText(chunks)) {
    let lines: Buffer[] = []
    let start = 0
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      lines.push(joined(rest, chunk.subarray(start, end)))
      rest = emptyLine
      start = end + 1
      if (lines.length < maxBatchLines) continue
      yield lines
      lines = []
    }
    rest = joined(rest, chunk.subarray(start))
    yield lines
  }
  yield [rest]
}

function joined(rest: Buffer, part: Buffer): Buffer {
  if (rest.length === 0) return part
  return rest.length > limits.bodyBytes ? rest : Buffer.concat([rest, part])
}

function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d)
}

/** The first record, which names the columns. */
interface Header {
  readonly line: number
  readonly columns: readonly Column[]
}

/**
 * Reads one user group per record, after a record that names the columns. `mapping` and `properties` are JSON; an empty field counts
 * as omitted. Skips records with empty fields only.
 * @throws Fault `validation_failed` if the first record does not name the columns
 */
async function* readCsvRows(
  chunks: AsyncIterable<Buffer>,
  delimiter?: Delimiter,
): AsyncGenerator<ImportRow[]> {
  let header: Header | undefined
  let isStopped = false
  const options = { maxBytes: limits.bodyBytes, delimiter, isEnough: () => isStopped }
  for await (const records of withPauses(readCsv(readText(chunks), options))) {
    const rows: ImportRow[] = []
    for (const record of records) {
      const { line, fields, size } = record
      if (isStopped || isEmpty(fields)) continue
      if (header === undefined) {
        header = { line, columns: readHeader(line, fields) }
        continue
      }
      const row = rowOf(line, size, () => jsonOf(record, header as Header))
      isStopped = row.content instanceof Fault && mayContinueBelow(record, header)
      rows.push(isStopped ? withNothingMore(row) : row)
    }
    yield rows
  }
  if (header === undefined) throw headerFault(1)
}

const isEmpty = (fields: CsvRecord['fields']) => typeof fields !== 'string' && columnsIn(fields, 0) === 0

/** Returns the number of fields, without empty ones after the expected number: spreadsheet programs write them. */
function columnsIn(fields: readonly Buffer[], expected: number): number {
  const used = fields.findLastIndex(({ length }) => length > 0) + 1
  return Math.max(used, Math.min(fields.length, expected))
}

/**
 * Returns true if the lines after a refused record may be part of it: a line break without quotes ends a record too early, a stray
 * quote ends a field too early, or at the next quote, behind the rows that it swallows.
 */
function mayContinueBelow(record: CsvRecord, { columns: { length } }: Header): boolean {
  const { line, lastLine, fields, count, isQuoted } = record
  if (typeof fields === 'string') return count !== null && count !== length
  if ((count ?? length) < length || (columnsIn(fields, length) > length && isQuoted)) return true
  return lastLine > line && (length === 1 || fields.some(holdsRows))
}

/** Returns true if the lines of a field after its first could be rows. */
function holdsRows(field: Buffer): boolean {
  const lineEnd = field.indexOf(lineFeed)
  return lineEnd !== -1 && /[,;|\t]/.test(field.toString('latin1', lineEnd))
}

function withNothingMore({ content, ...row }: ImportRow): ImportRow {
  const { code, message, fields } = content as Fault
  return { ...row, content: new Fault(code, `${message}. ${nothingMore(row.line)}`, { fields }) }
}

/** Handles other events after each item. Rows that are refused need no I/O, which would do the same. */
async function* withPauses<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  for await (const item of items) {
    yield item
    await nextTick()
  }
}

/** @throws Fault `validation_failed` */
function readHeader(line: number, fields: CsvRecord['fields']): readonly Column[] {
  if (typeof fields === 'string') throw headerFault(line, `it ${fields}`)
  const names = fields.slice(0, columnsIn(fields, 0)).map((field) => field.toString('utf8'))
  const unknown = names.find((name) => !columns.some((column) => column === name))
  if (unknown !== undefined)
    throw headerFault(line, `it has ${JSON.stringify(unknown.slice(0, 100))}${hintFor(unknown)}`)
  if (new Set(names).size < names.length) throw headerFault(line, 'it names a column twice')
  if (!names.includes('user_group_id')) throw headerFault(line, 'it lacks user_group_id')
  return names as Column[]
}

function hintFor(name: string): string {
  const nearest = name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_')
  return columns.some((column) => column === nearest) ? ` instead of "${nearest}"` : ''
}

function headerFault(line: number, problem?: string): Fault {
  return new Fault(
    'validation_failed',
    `Line ${line} must name the columns, separated by commas, semicolons, tabs or "|" (${columns.join(', ')})${problem === undefined ? '' : `; ${problem}`}`,
  )
}

function rowFault(message: string): Fault {
  return new Fault('validation_failed', `The row ${message}`)
}

/** Converts a record to a body of `/api/user`. @throws Fault `malformed_json`, `validation_failed` */
function jsonOf({ line, fields }: CsvRecord, header: Header): Buffer {
  if (typeof fields === 'string') throw rowFault(fields)
  const { columns } = header
  const count = columnsIn(fields, columns.length)
  if (count !== columns.length)
    throw rowFault(`has ${count} columns, but line ${header.line} has ${columns.length}`)
  const members = columns.flatMap((column, i) => {
    const field = fields[i] as Buffer
    if (field.length === 0) return []
    const source = { whole: `The column ${column}`, firstLine: line, member: column }
    if (!isUtf8(field))
      throw new Fault('malformed_json', `${source.whole} is not valid UTF-8: save the file as UTF-8`)
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
  csv: { head: csvRecord(columns), row: csvRow },
} satisfies Record<BulkFormat, RowWriter>

export interface RowWriter<Row = ExportedUserGroup> {
  /** The text in front of the first row. */
  readonly head: string
  readonly row: (row: Row) => string
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
  return csvRecord([providedId, name, String(mapping), String(properties)])
}
