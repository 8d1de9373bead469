import { isUtf8 } from 'node:buffer'
import { Fault } from '../../domain/fault.ts'
import type { ImportRow } from '../../domain/user-group/user-group-import.ts'
import type { UserGroupChange } from '../../domain/user-group/user-group.ts'
import { readUserGroup } from '../user/bodies.ts'
import { readCsv, type CsvRecord } from './csv.ts'
import { limits } from '../limits.ts'
import { readStrictJson } from '../json/strict-json.ts'

/** The media types of what can be imported and exported, by their names. */
export const bulkFormats = { ndjson: 'application/x-ndjson', csv: 'text/csv' } as const

export type BulkFormat = keyof typeof bulkFormats

const columns = ['user_group_id', 'name', 'mapping', 'properties'] as const

type Column = (typeof columns)[number]

type ReadRows = (chunks: AsyncIterable<Buffer>) => AsyncGenerator<ImportRow[]>

/** Reads rows of any number; what is wrong with one is told with it. */
export const rowReaders = { ndjson: readNdjsonRows, csv: readCsvRows } satisfies Record<BulkFormat, ReadRows>

const lineFeed = 0x0a
const gatheredBytes = 65_536

/** A user group a line, each as a body of `/api/user`. Empty lines are none. */
async function* readNdjsonRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRow[]> {
  let line = 0
  for await (const lines of linesOf(chunks)) {
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

/** Lines without their line feeds. Of one that is too long, only the first part. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer[]> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of gathered(chunks)) {
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

/** In pieces of some size, however small they come. */
async function* gathered(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of chunks) {
    parts.push(chunk)
    length += chunk.length
    if (length < gatheredBytes) continue
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
 * A user group a record, after one that names the columns. `mapping` and `properties` are JSON; an empty field is left out.
 * @throws Fault `validation_failed` where the first record does not name the columns
 */
async function* readCsvRows(chunks: AsyncIterable<Buffer>): AsyncGenerator<ImportRow[]> {
  let head: readonly Column[] | undefined
  for await (const records of readCsv(gathered(chunks), limits.bodyBytes)) {
    yield records.flatMap(({ line, fields, size }) => {
      if (head !== undefined) return rowOf(line, size, () => jsonOf(fields, head as readonly Column[], line))
      head = readHead(fields)
      return []
    })
  }
  if (head === undefined) throw headFault(expectedHead)
}

const expectedHead = `Line 1 must name the columns, of ${columns.join(', ')}, with commas between them`

/** @throws Fault `validation_failed` */
function readHead(fields: CsvRecord['fields']): readonly Column[] {
  if (typeof fields === 'string') throw headFault(`${expectedHead}; it ${fields}`)
  const names = fields.map((field) => field.toString('utf8'))
  const unknown = names.find((name) => !columns.some((column) => column === name))
  if (unknown !== undefined)
    throw headFault(`${expectedHead}; it has ${JSON.stringify(unknown.slice(0, 100))}`)
  if (new Set(names).size < names.length) throw headFault(`${expectedHead}; it has one of them twice`)
  if (!names.includes('user_group_id')) throw headFault(`${expectedHead}; it lacks user_group_id`)
  return names as Column[]
}

function headFault(message: string): Fault {
  return new Fault('validation_failed', message)
}

function rowFault(message: string): Fault {
  return new Fault('validation_failed', `The row ${message}`)
}

/** The body of `/api/user` that a record stands for. @throws Fault `malformed_json`, `validation_failed` */
function jsonOf(fields: CsvRecord['fields'], head: readonly Column[], line: number): Buffer {
  if (typeof fields === 'string') throw rowFault(fields)
  if (fields.length !== head.length)
    throw rowFault(`has ${fields.length} columns, and line 1 has ${head.length}`)
  const members = head.flatMap((column, i) => {
    const field = fields[i] as Buffer
    if (field.length === 0) return []
    const source = { whole: `The column ${column}`, firstLine: line }
    if (!isUtf8(field)) throw new Fault('malformed_json', `${source.whole} is not valid UTF-8`)
    const isText = column === 'user_group_id' || column === 'name'
    // Read on its own first, so that what stands in one column cannot reach another.
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

/** As far as it can be told of a row that may be at fault. */
function providedIdIn(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('user_group_id' in value)) return null
  const { user_group_id: id } = value
  return typeof id === 'string' && id.length <= limits.textLength * 2 ? id : null
}

/** The same forms, for the export. */
export const rowWriters = {
  ndjson: { head: '', row: ndjsonRow },
  csv: { head: `${columns.join()}\r\n`, row: csvRow },
} satisfies Record<BulkFormat, RowWriter>

export interface RowWriter {
  /** Comes before the rows. */
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
