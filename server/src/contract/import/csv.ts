// A strict reader of comma-separated values (RFC 4180) in UTF-8. Libraries lose rows after a broken quote (decision 0014).

const quote = 0x22
const comma = 0x2c
const lineFeed = 0x0a
const carriageReturn = 0x0d
const byteOrderMark = Buffer.from('\ufeff')

export interface CsvRecord {
  /** Number of its first line, from 1. */
  readonly line: number
  /** The fields, or the problem of an invalid record. */
  readonly fields: readonly Buffer[] | string
  /** In bytes. */
  readonly size: number
}

/** The fields of a record and its end; null if the record is incomplete. */
type Scanned = { readonly fields: Buffer[] | string; readonly end: number } | null

/**
 * Reads records in batches. An invalid record ends with its first line, and the next line starts a new record. Blank lines and the
 * byte order mark of spreadsheet programs are skipped.
 * @param chunks large chunks, because an incomplete record is scanned again with each one
 * @param maxBytes maximum size of a record
 */
export async function* readCsv(chunks: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<CsvRecord[]> {
  let rest: Buffer | undefined
  let line = 1
  /** The problem of an invalid record until the end of its first line. */
  let fault: string | null = null

  const take = (bytes: Buffer, isEnd: boolean): CsvRecord[] => {
    const records: CsvRecord[] = []
    let start = 0
    while (start < bytes.length) {
      const isRecord = fault !== null || !isBlank(bytes, start)
      const scanned = fault === null ? scanRecord(bytes, start, isEnd) : { fields: fault, end: 0 }
      const size = (scanned?.end ?? bytes.length) - start
      if (scanned === null && size <= maxBytes) break
      const fields = scanned === null || size > maxBytes ? tooLong(maxBytes) : scanned.fields
      let end = scanned?.end ?? 0
      if (typeof fields === 'string') {
        const lineEnd = bytes.indexOf(lineFeed, start) + 1
        fault = lineEnd === 0 ? fields : null
        end = lineEnd || bytes.length
      }
      if (fault === null && isRecord) records.push({ line, fields, size: end - start })
      line += linesIn(bytes, start, end)
      start = end
    }
    rest = bytes.subarray(start)
    if (isEnd && fault !== null) records.push({ line, fields: fault, size: 0 })
    return records
  }

  for await (const chunk of chunks) {
    const isFirst = rest === undefined
    const bytes: Buffer = rest === undefined || rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    yield take(
      isFirst && bytes.indexOf(byteOrderMark) === 0 ? bytes.subarray(byteOrderMark.length) : bytes,
      false,
    )
  }
  yield take(rest ?? Buffer.alloc(0), true)
}

function tooLong(maxBytes: number): string {
  return `is longer than ${maxBytes} bytes, or a quote is not closed`
}

function isBlank(bytes: Buffer, start: number): boolean {
  const first = bytes[start]
  return first === lineFeed || (first === carriageReturn && (bytes[start + 1] ?? lineFeed) === lineFeed)
}

function scanRecord(bytes: Buffer, start: number, isEnd: boolean): Scanned {
  const fields: Buffer[] = []
  for (let offset = start; ;) {
    const scanned =
      bytes[offset] === quote ? scanQuoted(bytes, offset, isEnd) : scanPlain(bytes, offset, isEnd)
    if (scanned === null) return null
    if (typeof scanned === 'string') return { fields: scanned, end: 0 }
    fields.push(scanned.field)
    offset = scanned.end + 1
    if (bytes[scanned.end] !== comma) return { fields, end: Math.min(offset, bytes.length) }
  }
}

/** A field and the offset of the comma or line feed after it, a problem, or null if the field is incomplete. */
type ScannedField = { readonly field: Buffer; readonly end: number } | string | null

function scanPlain(bytes: Buffer, start: number, isEnd: boolean): ScannedField {
  for (let offset = start; offset < bytes.length; offset++) {
    const byte = bytes[offset]
    if (byte === quote)
      return 'has a quote within a field; enclose the field in quotes and double the quotes within it'
    if (byte === comma) return { field: bytes.subarray(start, offset), end: offset }
    if (byte === lineFeed)
      return { field: bytes.subarray(start, withoutReturn(bytes, start, offset)), end: offset }
  }
  return isEnd
    ? { field: bytes.subarray(start, withoutReturn(bytes, start, bytes.length)), end: bytes.length }
    : null
}

function scanQuoted(bytes: Buffer, start: number, isEnd: boolean): ScannedField {
  let hasQuotes = false
  for (let offset = start + 1; ; offset += 2) {
    offset = bytes.indexOf(quote, offset)
    if (offset === -1) return isEnd ? 'has a quote that is not closed' : null
    if (bytes[offset + 1] === quote) {
      hasQuotes = true
      continue
    }
    const hasReturn = bytes[offset + 1] === carriageReturn
    const isLast = isEnd && offset + 2 === bytes.length
    const end = hasReturn && (bytes[offset + 2] === lineFeed || isLast) ? offset + 2 : offset + 1
    if (end >= bytes.length - 1 && !isEnd && bytes[end] !== comma && bytes[end] !== lineFeed) return null
    if (end < bytes.length && bytes[end] !== comma && bytes[end] !== lineFeed) {
      return 'has text after a closing quote; double the quotes within a field'
    }
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
