import { isUtf8 } from 'node:buffer'
import { Fault } from '../../domain/fault.ts'
import type { JsonText } from '../../domain/json/json-text.ts'
import { isAcceptedNumber } from './json-number.ts'
import { shownPointer } from '../../domain/json/json-pointer.ts'
import { syntaxErrorOffset } from './json-syntax.ts'

/** A JSON text that was read strictly (I-JSON, RFC 7493): its value, and the texts of its top-level members. */
export interface JsonDocument {
  readonly value: unknown
  /** By name; empty unless the value is an object. */
  readonly members: ReadonlyMap<string, JsonMember>
}

export interface JsonMember {
  /** The member's value as sent, without insignificant white space. */
  readonly text: JsonText
  /** Nesting depth of its objects and arrays; 0 for a string, number, boolean or null. */
  readonly depth: number
  /** JSON Pointer to the first of its strings and keys that contains U+0000, or null. */
  readonly nulPointer: string | null
  /** Number of bytes that the text would save as UTF-8 if it escaped only what JSON requires. */
  readonly excessBytes: number
}

/** The source of a JSON text, for error messages. */
interface JsonSource {
  /** The subject of a message, such as `The body`. */
  readonly whole: string
  /** The number of its first line. */
  readonly firstLine: number
}

const body: JsonSource = { whole: 'The body', firstLine: 1 }

/**
 * Reads a JSON text without losing or altering any part of it.
 * @throws Fault `malformed_json` with the problem and its position: invalid UTF-8 or JSON, a byte order mark, a duplicate key, a
 * lone surrogate, or a number beyond the precision or range of an IEEE double
 */
export function readStrictJson(bytes: Buffer, source = body): JsonDocument {
  if (!isUtf8(bytes)) throw new Fault('malformed_json', `${source.whole} is not valid UTF-8`)
  const text = bytes.toString('utf8')
  if (text.charCodeAt(0) === 0xfeff) {
    throw new Fault('malformed_json', `${source.whole} starts with a byte order mark; send UTF-8 without one`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw notJson(text, source)
  }
  const scan = new Scan(text, source)
  scan.run()
  // JSON.parse drops duplicate keys. Compare keys only if the numbers of keys differ.
  if (scan.keyCount !== countKeys(value)) new Scan(text, source, { compareKeys: true }).run()
  return { value, members: scan.members }
}

function notJson(text: string, source: JsonSource): Fault {
  const offset = syntaxErrorOffset(text)
  const problem = offset >= text.length ? 'unexpected end' : 'unexpected character'
  return new Fault(
    'malformed_json',
    `${source.whole} is not JSON: ${problem} at ${lineAndColumn(text, offset, source)}`,
  )
}

function lineAndColumn(text: string, offset: number, { firstLine }: JsonSource): string {
  const before = text.slice(0, offset)
  return `line ${before.split('\n').length - 1 + firstLine}, column ${offset - before.lastIndexOf('\n')}`
}

function countKeys(root: unknown): number {
  let count = 0
  const open = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue
    const children: unknown[] = Array.isArray(value) ? value : Object.values(value)
    if (children !== value) count += children.length
    for (const child of children) if (typeof child === 'object') open.push(child)
  }
  return count
}

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a
const minus = 0x2d

function isDigit(char: number): boolean {
  return char >= 0x30 && char <= 0x39
}

function isWhiteSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** Returns the number of bytes of a UTF-16 code unit in a JSON string, escaped only if JSON requires it. */
function requiredBytes(unit: number): number {
  return Buffer.byteLength(JSON.stringify(String.fromCharCode(unit))) - 2
}

/**
 * Scans a text that JSON.parse accepted for the problems that JSON.parse ignores, in one pass. A valid text causes almost no
 * allocations: positions are computed only for an error.
 */
class Scan {
  readonly members = new Map<string, JsonMember>()
  keyCount = 0

  readonly #text: string
  readonly #source: JsonSource
  readonly #keysInScope: Set<string>[] | undefined
  readonly #hasEscapes: boolean
  #offset = 0
  #escape = -1
  #depth = 0
  #expectsKey = false
  /** By depth: the offset of the current key in an object, or the one's complement of the index in an array. */
  readonly #steps: number[] = [0, 0, 0, 0]

  #memberName = ''
  #memberStart = 0
  #memberDepth = 0
  #memberNulPointer: string | null = null
  #memberExcessBytes = 0
  #memberHasWhiteSpace = false

  constructor(text: string, source: JsonSource, options: { compareKeys?: boolean } = {}) {
    this.#text = text
    this.#source = source
    this.#hasEscapes = text.includes('\\')
    this.#keysInScope = options.compareKeys ? [] : undefined
  }

  run(): void {
    const text = this.#text
    while (this.#offset < text.length) {
      const char = text.charCodeAt(this.#offset)
      if (char === quote) this.#string()
      else if (isDigit(char) || char === minus) this.#number()
      else {
        if (char === openBrace || char === openBracket) this.#open(char === openBrace)
        else if (char === closeBrace || char === closeBracket) this.#close()
        else if (char === comma) this.#next()
        else if (char === colon) this.#startValue()
        else if (isWhiteSpace(char)) this.#memberHasWhiteSpace = true
        this.#offset++
      }
    }
  }

  #open(isObject: boolean): void {
    this.#depth++
    this.#steps[this.#depth] = isObject ? 0 : ~0
    this.#expectsKey = isObject
    if (isObject && this.#keysInScope) this.#keysInScope[this.#depth] = new Set()
    if (this.#depth - 1 > this.#memberDepth) this.#memberDepth = this.#depth - 1
  }

  #close(): void {
    if (this.#depth === 1) this.#endMember()
    this.#depth--
    this.#expectsKey = false
  }

  #next(): void {
    if (this.#depth === 1) this.#endMember()
    const step = this.#steps[this.#depth] as number
    if (step < 0) this.#steps[this.#depth] = step - 1
    else this.#expectsKey = true
  }

  #startValue(): void {
    this.#expectsKey = false
    if (this.#depth !== 1) return
    this.#memberName = this.#keyAt(this.#steps[1] as number)
    this.#memberStart = this.#offset + 1
    this.#memberDepth = 0
    this.#memberNulPointer = null
    this.#memberExcessBytes = 0
    this.#memberHasWhiteSpace = false
  }

  #endMember(): void {
    if (this.#memberStart === 0) return
    const text = this.#text.slice(this.#memberStart, this.#offset)
    this.members.set(this.#memberName, {
      text: this.#memberHasWhiteSpace ? withoutWhiteSpace(text) : text,
      depth: this.#memberDepth,
      nulPointer: this.#memberNulPointer,
      excessBytes: this.#memberExcessBytes,
    })
    this.#memberStart = 0
  }

  #string(): void {
    const start = this.#offset
    if (this.#expectsKey) {
      this.keyCount++
      this.#steps[this.#depth] = start
    }
    this.#offset = this.#endOfString(start)
    if (this.#expectsKey && this.#keysInScope) this.#compareKey(start)
  }

  #endOfString(start: number): number {
    const text = this.#text
    let offset = start + 1
    let end = -1
    for (;;) {
      // indexOf skips long strings at memory speed. Keep each result until it is passed, so that a string of a million escapes
      // does not take quadratic time.
      if (end < offset) end = text.indexOf('"', offset)
      const escape = this.#nextEscape(offset)
      if (end < escape) return end + 1
      const escaped = text[escape + 1]
      if (escaped === '/') this.#memberExcessBytes++
      offset = escaped === 'u' ? this.#endOfUnicodeEscape(escape) : escape + 2
    }
  }

  /** Returns the offset of the next backslash, or infinity. Offsets only grow, so each is searched for once. */
  #nextEscape(offset: number): number {
    if (this.#escape < offset) {
      const next = this.#text.indexOf('\\', offset)
      this.#escape = next === -1 ? Infinity : next
    }
    return this.#escape
  }

  #endOfUnicodeEscape(offset: number): number {
    const unit = this.#escapedUnit(offset)
    if (unit === 0) this.#memberNulPointer ??= shownPointer(this.#path())
    if (isHighSurrogate(unit) && isLowSurrogate(this.#escapedUnit(offset + 6))) {
      this.#memberExcessBytes += 8
      return offset + 12
    }
    if (isHighSurrogate(unit) || isLowSurrogate(unit)) {
      this.#fail(offset, 'has a lone surrogate (half of a character)')
    }
    this.#memberExcessBytes += 6 - requiredBytes(unit)
    return offset + 6
  }

  /** Returns the UTF-16 code unit that is escaped at this offset, or -1 if there is no escape. */
  #escapedUnit(offset: number): number {
    return this.#text.startsWith('\\u', offset)
      ? Number.parseInt(this.#text.slice(offset + 2, offset + 6), 16)
      : -1
  }

  #number(): void {
    const text = this.#text
    const start = this.#offset
    let end = start + 1
    let hasExponent = false
    for (; end < text.length; end++) {
      const char = text.charCodeAt(end)
      if (char === 0x65 || char === 0x45) hasExponent = true
      else if (!isDigit(char) && char !== 0x2e && char !== minus && char !== 0x2b) break
    }
    // A double represents any number of 15 significant digits.
    if ((hasExponent || end - start > 15) && !isAcceptedNumber(text.slice(start, end))) {
      this.#fail(start, 'is a number beyond the precision or range of a double; send it as a string')
    }
    this.#offset = end
  }

  #compareKey(start: number): void {
    const keys = this.#keysInScope?.[this.#depth] as Set<string>
    const key = this.#keyAt(start)
    if (keys.has(key)) this.#fail(start, 'is a duplicate key')
    keys.add(key)
  }

  #keyAt(start: number): string {
    if (!this.#hasEscapes) return this.#text.slice(start + 1, this.#text.indexOf('"', start + 1))
    const end = /"[^"\\]*(?:\\.[^"\\]*)*"/y
    end.lastIndex = start
    return JSON.parse(end.exec(this.#text)?.[0] ?? '""') as string
  }

  #path(): (string | number)[] {
    return this.#steps.slice(1, this.#depth + 1).map((step) => (step < 0 ? ~step : this.#keyAt(step)))
  }

  #fail(offset: number, problem: string): never {
    const path = this.#path()
    const pointer = shownPointer(path)
    throw new Fault(
      'malformed_json',
      `${path.length === 0 ? this.#source.whole : pointer} ${problem}, at ${lineAndColumn(this.#text, offset, this.#source)}`,
      { fields: [{ path: pointer, message: problem }] },
    )
  }
}

function withoutWhiteSpace(text: string): string {
  let result = ''
  let inString = false
  let start = 0
  for (let offset = 0; offset < text.length; offset++) {
    const char = text.charCodeAt(offset)
    if (inString && char === backslash) offset++
    else if (char === quote) inString = !inString
    else if (!inString && isWhiteSpace(char)) {
      result += text.slice(start, offset)
      start = offset + 1
    }
  }
  return result + text.slice(start)
}
