import { StringDecoder } from 'node:string_decoder'
import { Fault } from '../../domain/fault.ts'

const minChunkBytes = 65_536
const lineFeed = 0x0a
const carriageReturn = 0x0d
/** Is in no UTF-8 text, so that the row around it is refused. */
const invalidByte = Buffer.of(0xff)

/**
 * Reads a text as spreadsheet programs and shells write it: UTF-8, or UTF-16 with a byte order mark; lines may end with carriage
 * returns alone. Returns it as UTF-8 without a byte order mark, with line feeds, in large chunks.
 * @throws Fault `validation_failed` if the text is UTF-32, or UTF-16 without a byte order mark
 */
export async function* readText(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let hasReturns: boolean | undefined
  for await (const chunk of decode(joinChunks(chunks))) {
    hasReturns ??= endsLinesWithReturns(chunk)
    yield hasReturns ? withLineFeeds(chunk) : chunk
  }
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

async function* decode(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let utf16: Utf16Decoder | undefined
  let isFirst = true
  for await (const chunk of chunks) {
    const mark = isFirst ? byteOrderMarkOf(chunk) : ''
    if (mark === 'fffe' || mark === 'feff') utf16 = new Utf16Decoder(mark === 'feff')
    isFirst = false
    const bytes = chunk.subarray(mark.length / 2)
    yield utf16 === undefined ? bytes : utf16.write(bytes)
  }
  if (utf16 !== undefined) yield utf16.end()
}

/** Returns the byte order mark of UTF-8 or UTF-16 in hexadecimal, or an empty text. @throws Fault */
function byteOrderMarkOf(text: Buffer): string {
  const start = text.toString('hex', 0, 4)
  const [mark = ''] = /^(?:efbbbf|fffe|feff)/.exec(start) ?? []
  if (mark === '' ? text.subarray(0, 4).includes(0) : start === 'fffe0000') {
    throw new Fault(
      'validation_failed',
      'The file starts with null bytes, as in UTF-32, or in UTF-16 without a byte order mark: save it as UTF-8',
    )
  }
  return mark
}

/** Converts UTF-16 to UTF-8. Invalid parts stay invalid. */
class Utf16Decoder {
  readonly #isBigEndian: boolean
  readonly #decoder = new StringDecoder('utf16le')
  /** At most one byte. */
  #rest: Buffer = Buffer.alloc(0)

  constructor(isBigEndian: boolean) {
    this.#isBigEndian = isBigEndian
  }

  write(chunk: Buffer): Buffer {
    const bytes = Buffer.concat([this.#rest, chunk])
    const pairs = bytes.subarray(0, bytes.length - (bytes.length % 2))
    this.#rest = bytes.subarray(pairs.length)
    return utf8Of(this.#decoder.write(this.#isBigEndian ? pairs.swap16() : pairs))
  }

  end(): Buffer {
    const last = utf8Of(this.#decoder.end())
    return this.#rest.length === 0 ? last : Buffer.concat([last, invalidByte])
  }
}

function utf8Of(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text)
  const [first = '', ...others] = text.split(/[\ud800-\udfff]/u)
  return Buffer.concat([Buffer.from(first), ...others.flatMap((part) => [invalidByte, Buffer.from(part)])])
}

/** Returns true if the first line ends with a carriage return alone. */
function endsLinesWithReturns(text: Buffer): boolean {
  const at = text.indexOf(carriageReturn)
  return at !== -1 && !text.subarray(0, at + 2).includes(lineFeed)
}

/** Replaces the carriage returns within values too. No valid value has one that is not escaped. */
function withLineFeeds(text: Buffer): Buffer {
  for (let at = text.indexOf(carriageReturn); at !== -1; at = text.indexOf(carriageReturn, at))
    text[at] = lineFeed
  return text
}
