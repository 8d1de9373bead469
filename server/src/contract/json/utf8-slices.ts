import { isAscii } from 'node:buffer'
import { quote } from './json-bytes.ts'

const lineFeed = 0x0a
/** Minimum number of bytes for which a call of Node.js is worthwhile. */
const longBytes = 4096

/** Finds parts of a text by offsets of its UTF-8. */
export class Utf8Slices {
  readonly isAscii: boolean
  readonly #bytes: Buffer
  readonly #text: string
  /** An offset of `bytes` at which a character starts, and its index in `text`. */
  #offset = 0
  #index = 0

  constructor(bytes: Buffer, text: string) {
    this.#bytes = bytes
    this.#text = text
    this.isAscii = text.length === bytes.length
  }

  /** Continues with slices from the start of the text. */
  restart(): void {
    this.#offset = this.#index = 0
  }

  /** Returns the text between two offsets. Slices in order take linear time together. */
  slice(start: number, end: number): string {
    if (this.isAscii) return this.#text.slice(start, end)
    if (start < this.#offset) return this.#bytes.toString('utf8', start, end)
    return this.#text.slice(this.#indexOf(start), this.#indexOf(end))
  }

  /** Returns the offset of the next quote, or -1. */
  nextQuote(offset: number): number {
    return this.isAscii ? this.#text.indexOf('"', offset) : this.#bytes.indexOf(quote, offset)
  }

  lineAndColumn(firstLine: number, offset: number): string {
    let line = firstLine
    let lineStart = 0
    for (let i = 0; i < offset; i++) {
      if (this.#bytes[i] !== lineFeed) continue
      line++
      lineStart = i + 1
    }
    return `line ${line}, column ${this.#codeUnits(lineStart, offset) + 1}`
  }

  #indexOf(offset: number): number {
    this.#index += this.#codeUnits(this.#offset, offset)
    this.#offset = offset
    return this.#index
  }

  /** Returns the number of code units of UTF-16 between two offsets. */
  #codeUnits(start: number, end: number): number {
    const bytes = this.#bytes
    if (end - start >= longBytes && isAscii(bytes.subarray(start, end))) return end - start
    let count = 0
    for (let i = start; i < end; i++) {
      const byte = bytes[i] as number
      // The first byte of a character of UTF-8. One of four bytes is two code units.
      if (byte < 0x80 || byte >= 0xc0) count += byte >= 0xf0 ? 2 : 1
    }
    return count
  }
}
