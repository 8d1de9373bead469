// A strict reader of comma-separated values (RFC 4180) in UTF-8. Libraries lose rows after a broken quote (decision 0014).

const quote = 0x22
const lineFeed = 0x0a
const carriageReturn = 0x0d

/** Maximum number of lines read at once: about a millisecond of work. */
export const maxBatchLines = 32
/** Maximum number of fields of a record: that of the columns of a spreadsheet. */
const maxFields = 16_384

/** The separators of fields, by the names that users write. A tab is hard to type. */
export const delimiters = { ',': ',', ';': ';', '|': '|', tab: '\t' } as const

export type Delimiter = keyof typeof delimiters

export interface CsvRecord {
  /** Number of its first line, from 1. */
  readonly line: number
  /** Number of its last line; of its first if it is invalid. */
  readonly lastLine: number
  /** The fields, or the problem of an invalid record. */
  readonly fields: readonly Buffer[] | string
  /** Number of fields. Of an invalid record, the number if quotes at wrong places are part of the text, or null if it is unknown. */
  readonly count: number | null
  /** True if a field is in quotes. */
  readonly isQuoted: boolean
  /** In bytes. */
  readonly size: number
}

interface CsvOptions {
  /** Maximum size of a record. */
  readonly maxBytes: number
  /** By default the separator that a first line `sep=…` names, else the first one in the first line. */
  readonly delimiter?: Delimiter | undefined
  /** Returns true if no more records are needed. */
  readonly isEnough?: () => boolean
}

/**
 * Reads records in batches of at most `maxBatchLines`. Skips blank lines and a first line `sep=…`, which spreadsheet programs write. After an invalid record,
 * reading continues on the next line only if this line cannot be part of a quoted field. Otherwise the invalid record is the last.
 * @param chunks large chunks, because an incomplete record is scanned again with each one
 */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  options: CsvOptions,
): AsyncGenerator<CsvRecord[]> {
  const reader = new CsvReader(options)
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    // The remaining input is read, so that its sender can send all of it.
    if (reader.isStopped) continue
    rest = yield* reader.read(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), false)
  }
  yield* reader.read(rest, true)
}

class CsvReader {
  readonly #maxBytes: number
  readonly #isEnough: () => boolean
  #delimiter: number | undefined
  #isFirst = true
  #line = 1
  /** True until the end of a line that is too long. */
  #isSkipping = false
  #isStopped = false

  constructor({ maxBytes, delimiter, isEnough = () => false }: CsvOptions) {
    this.#maxBytes = maxBytes
    this.#isEnough = isEnough
    this.#delimiter = delimiter && delimiters[delimiter].charCodeAt(0)
  }

  get isStopped(): boolean {
    return this.#isStopped || this.#isEnough()
  }

  /** Yields the complete records and returns the bytes after them. */
  *read(bytes: Buffer, isEnd: boolean): Generator<CsvRecord[], Buffer> {
    let records: CsvRecord[] = []
    let end = 0
    for (let steps = 1; end < bytes.length && !this.isStopped; steps++) {
      const start = end
      const next = this.#next(bytes, start, isEnd)
      if (next === null) break
      end = next.end
      const { record } = next
      if (record !== null) {
        const line = this.#line
        const lastLine = typeof record.fields === 'string' ? line : line + linesIn(bytes, start, end - 1)
        records.push({ ...record, line, lastLine, size: end - start })
      }
      this.#line += linesIn(bytes, start, end)
      if (steps % maxBatchLines > 0) continue
      yield records
      records = []
    }
    yield records
    return bytes.subarray(end)
  }

  /** Returns a record, or null where there is none, and the end; null if the input is incomplete. */
  #next(bytes: Buffer, start: number, isEnd: boolean): { record: Content | null; end: number } | null {
    const lineEnd = bytes.indexOf(lineFeed, start) + 1
    const nextLine = lineEnd || bytes.length
    if (this.#isSkipping) {
      this.#isSkipping = lineEnd === 0
      return { record: null, end: nextLine }
    }
    const isLineComplete = isEnd || lineEnd !== 0 || bytes.length - start > this.#maxBytes
    const line = bytes.subarray(start, nextLine)
    if (isBlank(line)) return isLineComplete ? { record: null, end: nextLine } : null
    if (this.#isFirst) {
      if (!isLineComplete) return null
      this.#isFirst = false
      const [, named] = /^"?sep=(.)"?\s*$/i.exec(line.toString('latin1', 0, 9)) ?? []
      this.#delimiter ??= (named ?? /[,;|\t]/.exec(line.toString('latin1'))?.[0] ?? ',').charCodeAt(0)
      if (named !== undefined) return { record: null, end: nextLine }
    }
    const window = bytes.subarray(0, start + this.#maxBytes)
    const isWhole = isEnd && window.length === bytes.length
    const scanned = scanRecord(window, start, this.#delimiter as number, isWhole)
    if ('end' in scanned) return scanned
    const { problem, fieldStart, offset } = scanned
    const openedOn = `line ${this.#line + linesIn(bytes, start, fieldStart)}`
    if (problem === null) {
      if (bytes.length - start <= this.#maxBytes) return null
      const tooLong = `is longer than ${this.#maxBytes} bytes`
      if (bytes[fieldStart] === quote)
        return this.#stop(`${tooLong}, or the quote that opens on ${openedOn} is not closed`, bytes)
      const end = bytes.indexOf(lineFeed, fieldStart) + 1
      this.#isSkipping = end === 0
      return { record: invalid(tooLong), end: end || bytes.length }
    }
    if (!isLineComplete) return null
    const isFirstLine = offset < nextLine && line.length <= this.#maxBytes
    const count = isFirstLine ? this.#countFields(line) : null
    if (count !== null) return { record: { ...invalid(problem), count }, end: nextLine }
    return this.#stop(
      bytes[fieldStart] === quote ? `${problem} (the quote opens on ${openedOn})` : problem,
      bytes,
    )
  }

  #stop(problem: string, bytes: Buffer): { record: Content; end: number } {
    this.#isStopped = true
    return { record: invalid(`${problem}. ${nothingMore(this.#line)}`), end: bytes.length }
  }

  /**
   * Returns the number of fields for a writer that does not double quotes, or null if the line would end within a quoted field or has
   * too many fields.
   */
  #countFields(bytes: Buffer): number | null {
    const line = bytes.toString('latin1').trimEnd()
    const delimiter = String.fromCharCode(this.#delimiter as number)
    for (let count = 1, at = 0; count <= maxFields; count++) {
      at = afterSpaces(line, at, delimiter)
      if (line[at] === '"') {
        at = closingQuote(line, at + 1, delimiter)
        if (at === -1) return null
      }
      at = line.indexOf(delimiter, at) + 1
      if (at === 0) return count
    }
    return null
  }
}

type Content = Pick<CsvRecord, 'fields' | 'count' | 'isQuoted'>

const invalid = (problem: string): Content => ({ fields: problem, count: null, isQuoted: false })

/** Returns a sentence for the row after which an import stops. */
export function nothingMore(line: number): string {
  return `No row from line ${line} on is imported, because the following lines may be part of this row: fix it and import the file again`
}

/** Returns the offset of the quote that ends a field, or -1. */
function closingQuote(line: string, start: number, delimiter: string): number {
  for (let at = line.indexOf('"', start); at !== -1; at = line.indexOf('"', at)) {
    if (line[at + 1] === '"') at += 2
    else {
      const next = line[afterSpaces(line, at + 1, delimiter)]
      if (next === undefined || next === delimiter) return at
      at++
    }
  }
  return -1
}

function afterSpaces(line: string, start: number, delimiter: string): number {
  let at = start
  while (line[at] !== delimiter && (line[at] === ' ' || line[at] === '\t')) at++
  return at
}

function isBlank(line: Buffer): boolean {
  return line[0] === lineFeed || (line[0] === carriageReturn && (line[1] ?? lineFeed) === lineFeed)
}

/** A record that is incomplete, if `problem` is null, or invalid. */
interface Unfinished {
  readonly problem: string | null
  /** Offsets of the last field and of the problem. */
  readonly fieldStart: number
  readonly offset: number
}

function scanRecord(
  bytes: Buffer,
  start: number,
  delimiter: number,
  isEnd: boolean,
): { readonly record: Content; readonly end: number } | Unfinished {
  const fields: Buffer[] = []
  let isQuoted = false
  for (let fieldStart = start; ;) {
    if (fields.length === maxFields)
      return { problem: `has more than ${maxFields} columns`, fieldStart, offset: fieldStart }
    const hasQuote = bytes[fieldStart] === quote
    isQuoted ||= hasQuote
    const scanned = hasQuote
      ? scanQuoted(bytes, fieldStart, delimiter, isEnd)
      : scanPlain(bytes, fieldStart, delimiter, isEnd)
    if (scanned === null) return { problem: null, fieldStart, offset: bytes.length }
    if ('problem' in scanned) return { ...scanned, fieldStart }
    fields.push(scanned.field)
    fieldStart = scanned.end + 1
    if (bytes[scanned.end] !== delimiter) {
      const record = { fields, count: fields.length, isQuoted }
      return { record, end: Math.min(fieldStart, bytes.length) }
    }
  }
}

/** A field and the offset of the delimiter or line feed after it, a problem, or null if the field is incomplete. */
type ScannedField =
  | { readonly field: Buffer; readonly end: number }
  | { readonly problem: string; readonly offset: number }
  | null

function scanPlain(bytes: Buffer, start: number, delimiter: number, isEnd: boolean): ScannedField {
  for (let offset = start; offset < bytes.length; offset++) {
    const byte = bytes[offset]
    if (byte === quote) {
      const problem =
        'has a quote within a field; enclose the field in quotes and double the quotes within it'
      return { problem, offset }
    }
    if (byte === delimiter) return { field: bytes.subarray(start, offset), end: offset }
    if (byte === lineFeed)
      return { field: bytes.subarray(start, withoutReturn(bytes, start, offset)), end: offset }
  }
  return isEnd
    ? { field: bytes.subarray(start, withoutReturn(bytes, start, bytes.length)), end: bytes.length }
    : null
}

function scanQuoted(bytes: Buffer, start: number, delimiter: number, isEnd: boolean): ScannedField {
  let hasQuotes = false
  for (let offset = start + 1; ; offset += 2) {
    offset = bytes.indexOf(quote, offset)
    if (offset === -1)
      return isEnd ? { problem: 'has a quote that is not closed', offset: bytes.length } : null
    if (bytes[offset + 1] === quote) {
      hasQuotes = true
      continue
    }
    const hasReturn = bytes[offset + 1] === carriageReturn
    const isLast = isEnd && offset + 2 === bytes.length
    const end = hasReturn && (bytes[offset + 2] === lineFeed || isLast) ? offset + 2 : offset + 1
    const isEnded = bytes[end] === delimiter || bytes[end] === lineFeed
    if (end >= bytes.length - 1 && !isEnd && !isEnded) return null
    if (end < bytes.length && !isEnded)
      return { problem: 'has text after a closing quote; double the quotes within a field', offset }
    const field = bytes.subarray(start + 1, offset)
    return {
      field: hasQuotes ? Buffer.from(field.toString('latin1').replaceAll('""', '"'), 'latin1') : field,
      end,
    }
  }
}

function withoutReturn(bytes: Buffer, start: number, end: number): number {
  return end > start && bytes[end - 1] === carriageReturn ? end - 1 : end
}

function linesIn(bytes: Buffer, start: number, end: number): number {
  let count = 0
  for (let at = bytes.indexOf(lineFeed, start); at !== -1 && at < end; at = bytes.indexOf(lineFeed, at + 1))
    count++
  return count
}
