import { Fault } from '../../domain/fault.ts'
import { shownPointer } from '../../domain/json/json-pointer.ts'
import type { JsonText } from '../../domain/json/json-text.ts'
import { limits } from '../limits.ts'
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  isDigit,
  isWhiteSpace,
  lowerCase,
  minus,
  openBrace,
  openBracket,
  plus,
  point,
  quote,
  slash,
  smallE,
  zero,
} from './json-bytes.ts'
import { escapedUnit, isHighSurrogate, isLowSurrogate, isShortEscape, requiredBytes } from './json-escape.ts'
import { isAcceptedNumber } from './json-number.ts'
import { Utf8Slices } from './utf8-slices.ts'

export interface JsonMember {
  /** An object or array as sent, without insignificant white space. Empty for other values, which no one needs as a text. */
  readonly text: JsonText
  /** Nesting depth of its objects and arrays; 0 for a string, number, boolean or null. */
  readonly depth: number
  /** JSON Pointer to the first of its strings and keys that contains U+0000, or null. */
  readonly nulPointer: string | null
  /** Size of the value as UTF-8 without insignificant white space, if it escaped only what JSON requires. */
  readonly bytes: number
}

/** The source of a JSON text, for error messages. */
export interface JsonSource {
  /** The subject of a message, such as `The body`. */
  readonly whole: string
  /** The number of its first line. */
  readonly firstLine: number
  /** Name of the member whose value the text is. By default, the text is an object of members. */
  readonly member?: string
  /** True if the text may have any size and number of values. */
  readonly isFile?: true
}

// A text beyond these limits is refused before its end. They are about twice those of the contract, so that a text that is only too large is
// refused with all other faults of its fields.

const maxDepth = 2 * limits.propertiesDepth
/** Maximum number of fields. No operation has as many. */
const maxFields = 2 * limits.fieldFaults
const maxMappingKeys = 2 * limits.mappingEntries
/** Length of the longest spelling of a mapping key or of the name of a field: two escapes per character. */
const maxKeyLength = 12 * limits.textLength
/** Maximum size of an object or array that is not `mapping`, in bytes. */
const maxSize = 2 * limits.propertiesBytes
/**
 * Maximum number of bytes outside of strings and `mapping`, with quotes and without white space. Properties may have nothing else.
 */
const maxStructure = limits.propertiesBytes + 8 * limits.mappingEntries
/** The same of `mapping`. A valid entry has six, and one with a number or another literal a few more. */
const maxMappingStructure = 16 * maxMappingKeys

const literals = new Map(
  ['true', 'false', 'null'].map((text) => [text.charCodeAt(0), [...Buffer.from(text)]]),
)

const duplicate = 'is a duplicate key'

/** The token that must follow. `end` is that of the object or array around it. */
type Expected = 'value' | 'value or end' | 'key' | 'key or end' | 'colon' | 'comma or end'

/**
 * Checks a text in one pass: its syntax (RFC 8259), the rules that `JSON.parse` ignores, and limits. It runs before `JSON.parse`, which
 * takes long for a text of many values: the scan stops at the first limit. A valid text causes almost no allocations: positions and
 * names are computed only for errors.
 */
export class JsonScan {
  readonly members = new Map<string, JsonMember>()
  /** The first problem that `JSON.parse` ignores. */
  fault: Fault | undefined

  readonly #bytes: Buffer
  readonly #slices: Utf8Slices
  /** True if a string ends at the next quote. */
  readonly #isPlain: boolean
  readonly #source: JsonSource
  /** The start, the end and the number of the object of each key. */
  readonly #keys: number[] = []
  /** Two entries per object and array, by number: the number of the one around it, and the step from there as in `#steps`. */
  readonly #containers: number[] = []
  #container = -1
  #offset = 0
  #depth = 0
  #expected: Expected = 'value'
  /** Number of bytes of white space so far. */
  #whiteSpaces = 0
  /** Number of bytes within strings so far. */
  #inStrings = 0
  /** Number of escapes of U+0000 so far. */
  #nuls = 0
  /** Offset of the first lone surrogate of the current string, or -1. */
  #loneSurrogate = -1
  /** Number of bytes so far that escapes take and JSON does not require. */
  #excessBytes = 0
  /** Number of bytes outside of strings within and before `mapping`. */
  #mappingStructure = 0
  #structureBeforeMapping = 0
  /** Maximum number of bytes outside of strings so far. */
  #maxStructure = maxStructure
  /** By depth: the offset of the current key in an object, or the one's complement of the index in an array. */
  readonly #steps: number[] = [0, 0, 0, 0]

  #memberName = ''
  #memberStart = 0
  #memberWhiteSpaces = 0
  #memberExcessBytes = 0
  #memberDepth = 0
  /** The current object or array up to `#textEnd`, without white space. */
  #memberText = ''
  #textEnd = 0
  #memberKeys = 0
  #memberNulPointer: string | null = null

  /**
   * @param text the bytes as a text
   * @param options `checksControls`: always report control characters in strings, which `JSON.parse` finds faster
   */
  constructor(bytes: Buffer, text: string, source: JsonSource, { checksControls = false } = {}) {
    this.#bytes = bytes
    this.#slices = new Utf8Slices(bytes, text)
    this.#isPlain = !checksControls && !bytes.includes(backslash)
    this.#source = source
    if (source.member === 'mapping') this.#maxStructure = maxMappingStructure
    if (source.isFile === true) this.#maxStructure = Infinity
  }

  get keyCount(): number {
    return this.#keys.length / 3
  }

  /** Returns the fault of the first duplicate key, after `run`. */
  duplicateKey(): Fault | undefined {
    const names = this.#allNames()
    const namesByObject = new Map<number, Set<string>>()
    for (let i = 0; i < names.length && !this.fault; i++) {
      const name = names[i] as string
      const object = this.#keys[3 * i + 2] as number
      const others = namesByObject.get(object) ?? new Set()
      const { size } = others
      if (size === 0) namesByObject.set(object, others)
      // Cheaper than to look the name up before.
      if (others.add(name).size === size)
        this.#report(this.#keys[3 * i] as number, duplicate, [...this.#pathOf(object), name])
    }
    return this.fault
  }

  #allNames(): string[] {
    this.#slices.restart()
    const keys = Array.from({ length: this.keyCount }, (_, i) =>
      this.#slices.slice(this.#keys[3 * i] as number, this.#keys[3 * i + 1] as number),
    )
    // One call for all names: a call for each would take longer than the scan.
    return JSON.parse(`[${keys.join()}]`) as string[]
  }

  /**
   * Reads the text.
   * @throws Fault `validation_failed` if the text is beyond a limit, `malformed_json` if it is not JSON
   */
  run(): void {
    const bytes = this.#bytes
    const { length } = bytes
    while (this.#offset < length) {
      const byte = bytes[this.#offset] as number
      if (byte === quote) this.#string()
      else if (byte === comma || byte === colon) this.#separator(byte)
      else if (isWhiteSpace(byte)) this.#skipWhiteSpace()
      else if (byte === openBrace || byte === openBracket) this.#open(byte === openBrace)
      else if (byte === closeBrace || byte === closeBracket) this.#close(byte === closeBrace)
      else this.#numberOrLiteral(byte)
      if (this.#offset > maxMappingStructure) this.#checkStructure()
    }
    if (this.#depth > 0 || this.#expected !== 'comma or end') throw this.#notJson()
  }

  /** Checks that a value may follow, and moves to the state behind it. */
  #value(): void {
    if (this.#expected !== 'value' && this.#expected !== 'value or end') throw this.#notJson()
    this.#expected = 'comma or end'
  }

  #open(isObject: boolean): void {
    this.#value()
    this.#offset++
    this.#containers.push(this.#container, this.#steps[this.#depth] as number)
    this.#container = this.#containers.length / 2 - 1
    this.#depth++
    this.#steps[this.#depth] = isObject ? 0 : ~0
    this.#expected = isObject ? 'key or end' : 'value or end'
    if (this.#depth - 1 <= this.#memberDepth) return
    this.#memberDepth = this.#depth - 1
    if (this.#memberDepth > maxDepth) throw this.#tooDeep()
  }

  #close(isObject: boolean): void {
    const mayEnd =
      this.#expected === 'comma or end' || this.#expected === (isObject ? 'key or end' : 'value or end')
    if (!mayEnd || this.#depth === 0 || this.#isInObject() !== isObject) throw this.#notJson()
    if (this.#depth === 1) this.#endMember()
    this.#offset++
    this.#depth--
    this.#container = this.#containers[2 * this.#container] as number
    this.#expected = 'comma or end'
  }

  #isInObject(): boolean {
    return (this.#steps[this.#depth] as number) >= 0
  }

  #separator(byte: number): void {
    if (byte === colon) {
      if (this.#expected !== 'colon') throw this.#notJson()
      this.#startValue()
    } else {
      if (this.#expected !== 'comma or end' || this.#depth === 0) throw this.#notJson()
      if (this.#depth === 1) this.#endMember()
      this.#expected = this.#isInObject() ? 'key' : 'value'
      if (!this.#isInObject()) (this.#steps[this.#depth] as number)--
    }
    this.#offset++
  }

  #startValue(): void {
    this.#expected = 'value'
    if (this.#depth !== 1 || this.#source.member !== undefined) return
    if (this.members.size === maxFields) throw this.#beyond(`must have at most ${maxFields} fields`)
    const start = this.#steps[1] as number
    this.#memberName = this.#keyAt(start)
    if (this.members.has(this.#memberName)) this.#report(start, duplicate)
    this.#memberStart = this.#offset + 1
    this.#memberWhiteSpaces = this.#whiteSpaces
    this.#memberExcessBytes = this.#excessBytes
    this.#memberDepth = 0
    this.#memberText = ''
    this.#textEnd = this.#memberStart
    this.#memberKeys = this.keyCount
    this.#memberNulPointer = null
    if (this.#memberName !== 'mapping') return
    this.#structureBeforeMapping = this.#structure() - this.#mappingStructure
    this.#maxStructure = this.#structureBeforeMapping + maxMappingStructure
  }

  #endMember(): void {
    if (this.#memberStart === 0) return
    this.#appendText()
    this.members.set(this.#memberName, {
      text: this.#memberText,
      depth: this.#memberDepth,
      nulPointer: this.#memberNulPointer,
      bytes: this.#sizeAt(this.#offset),
    })
    if (this.#memberName === 'mapping') {
      this.#mappingStructure = this.#structure() - this.#structureBeforeMapping
      this.#maxStructure = maxStructure + this.#mappingStructure
    }
    this.#memberStart = 0
  }

  /** Adds the text since the latest white space to that of the current member, if it is an object or array. */
  #appendText(): void {
    const isInMember = this.#memberStart > 0 && this.#memberDepth > 0
    if (isInMember && this.#offset > this.#textEnd)
      this.#memberText += this.#slices.slice(this.#textEnd, this.#offset)
  }

  #skipWhiteSpace(): void {
    let end = this.#offset + 1
    this.#appendText()
    while (isWhiteSpace(this.#bytes[end])) end++
    this.#whiteSpaces += end - this.#offset
    this.#offset = this.#textEnd = end
  }

  #string(): void {
    const start = this.#offset
    const nuls = this.#nuls
    this.#loneSurrogate = -1
    const isKey = this.#expected === 'key' || this.#expected === 'key or end'
    if (isKey) {
      this.#expected = 'colon'
      this.#steps[this.#depth] = start
    } else this.#value()
    const end = this.#isPlain ? this.#slices.nextQuote(start + 1) : this.#endOfString(start + 1)
    if (end === -1) throw this.#notJson(this.#bytes.length)
    this.#offset = end + 1
    this.#inStrings += end - start - 1
    if (isKey) {
      this.#keys.push(start, this.#offset, this.#container)
      this.#checkKey(start)
    }
    if (this.#nuls > nuls) this.#memberNulPointer ??= shownPointer(this.#path())
    if (this.#loneSurrogate > start)
      this.#report(this.#loneSurrogate, 'has a lone surrogate (half of a character)')
    this.#checkSize()
  }

  /** Returns the offset of the quote that ends a string. */
  #endOfString(offset: number): number {
    const bytes = this.#bytes
    const { length } = bytes
    for (;;) {
      const byte = offset < length ? (bytes[offset] as number) : 0
      if (byte === quote) return offset
      if (byte === backslash) offset = this.#endOfEscape(offset)
      else if (byte >= 0x20) offset++
      // A string without an end may run into the end of a line.
      else throw this.#notJson(bytes.includes(quote, offset) ? offset : length)
    }
  }

  #checkKey(start: number): void {
    const hasManyKeys = this.keyCount - this.#memberKeys > maxMappingKeys
    const isLong = this.#offset - start - 2 > maxKeyLength
    if (hasManyKeys && this.#isIn('mapping'))
      throw this.#beyond(`must have at most ${limits.mappingEntries} entries`)
    if (isLong && this.#isIn('mapping'))
      throw this.#beyond(`its key must have 1 to ${limits.textLength} characters`, [this.#keyAt(start)])
    if (isLong && this.#depth === 1 && this.#source.member === undefined)
      throw this.#beyond('is not a known field', [this.#keyAt(start)])
  }

  /** Returns the minimum size of the current member as compact JSON, up to an offset. */
  #sizeAt(offset: number): number {
    const whiteSpaces = this.#whiteSpaces - this.#memberWhiteSpaces
    return offset - this.#memberStart - whiteSpaces - (this.#excessBytes - this.#memberExcessBytes)
  }

  #structure(): number {
    return this.#offset - this.#whiteSpaces - this.#inStrings
  }

  #checkStructure(): void {
    if (this.#structure() > this.#maxStructure) throw this.#tooLarge()
  }

  #checkSize(): void {
    if (this.#source.isFile || this.#offset <= maxSize || this.#sizeAt(this.#offset) <= maxSize) return
    const isInObjectOrArray = this.#depth > (this.#source.member === undefined ? 1 : 0)
    if (isInObjectOrArray && !this.#isIn('mapping')) throw this.#tooLarge()
  }

  #endOfEscape(offset: number): number {
    const bytes = this.#bytes
    const unit = escapedUnit(bytes, offset)
    if (unit < 0) {
      const byte = bytes[offset + 1]
      if (!isShortEscape(byte)) throw this.#notJson(offset + 2 > bytes.length ? bytes.length : offset)
      if (byte === slash) this.#excessBytes++
      return offset + 2
    }
    if (unit === 0) this.#nuls++
    this.#excessBytes += 6 - requiredBytes(unit)
    if (isHighSurrogate(unit)) {
      const next = escapedUnit(bytes, offset + 6)
      if (isLowSurrogate(next)) {
        this.#excessBytes += 6 - requiredBytes(next)
        return offset + 12
      }
    }
    if ((isHighSurrogate(unit) || isLowSurrogate(unit)) && this.#loneSurrogate < 0)
      this.#loneSurrogate = offset
    return offset + 6
  }

  #numberOrLiteral(first: number): void {
    const literal = literals.get(first)
    if (literal === undefined && !isDigit(first) && first !== minus) throw this.#notJson()
    this.#value()
    if (literal === undefined) this.#number(first)
    else for (const byte of literal) this.#expect(this.#bytes[this.#offset] === byte)
  }

  #number(first: number): void {
    const bytes = this.#bytes
    const start = this.#offset
    if (first === minus) this.#offset++
    if (bytes[this.#offset] === zero) this.#offset++
    else this.#digits()
    if (bytes[this.#offset] === point) {
      this.#offset++
      this.#digits()
    }
    const hasExponent = ((bytes[this.#offset] ?? 0) | lowerCase) === smallE
    if (hasExponent) {
      const sign = bytes[++this.#offset]
      if (sign === plus || sign === minus) this.#offset++
      this.#digits()
    }
    const length = this.#offset - start
    // A double represents any number of 15 significant digits. A very long number is beyond a limit.
    if ((!hasExponent && length <= 15) || length > maxStructure || this.fault) return
    if (!isAcceptedNumber(this.#slices.slice(start, this.#offset)))
      this.#report(start, 'is a number beyond the precision or range of a double; send it as a string')
  }

  #digits(): void {
    this.#expect(isDigit(this.#bytes[this.#offset]))
    while (isDigit(this.#bytes[this.#offset])) this.#offset++
  }

  #expect(isThere: boolean): void {
    if (!isThere) throw this.#notJson()
    this.#offset++
  }

  #endOfKey(start: number): number {
    let end = start + 1
    while (this.#bytes[end] !== quote) end += this.#bytes[end] === backslash ? 2 : 1
    return end + 1
  }

  #keyAt(start: number): string {
    if (this.#isPlain) return this.#slices.slice(start + 1, this.#slices.nextQuote(start + 1))
    const text = this.#slices.slice(start, this.#endOfKey(start))
    return text.includes('\\') ? (JSON.parse(text) as string) : text.slice(1, -1)
  }

  #path(): (string | number)[] {
    return this.#steps.slice(1, this.#depth + 1).map((step) => this.#stepAt(step))
  }

  /** Returns the path of an object or array. */
  #pathOf(container: number): (string | number)[] {
    if (container === 0) return []
    const [parent = 0, step = 0] = this.#containers.slice(2 * container, 2 * container + 2)
    return [...this.#pathOf(parent), this.#stepAt(step)]
  }

  #stepAt(step: number): string | number {
    return step < 0 ? ~step : this.#keyAt(step)
  }

  #report(offset: number, problem: string, path = this.#path()): void {
    if (this.fault) return
    const pointer = shownPointer(path)
    this.fault = new Fault(
      'malformed_json',
      `${path.length === 0 ? this.#source.whole : pointer} ${problem}, at ${this.#slices.lineAndColumn(this.#source.firstLine, offset)}`,
      { fields: [{ path: pointer, message: problem }] },
    )
  }

  #notJson(offset = this.#offset): Fault {
    const problem = offset >= this.#bytes.length ? 'unexpected end' : 'unexpected character'
    return new Fault(
      'malformed_json',
      `${this.#source.whole} is not JSON: ${problem} at ${this.#slices.lineAndColumn(this.#source.firstLine, offset)}`,
    )
  }

  /** Returns true if the offset is within the value of this member. */
  #isIn(name: string): boolean {
    return (this.#source.member ?? (this.#memberStart > 0 ? this.#memberName : '')) === name
  }

  #tooDeep(): Fault {
    if (this.#isIn('properties')) return this.#beyond(`must be at most ${limits.propertiesDepth} levels deep`)
    return this.#notOfType() ?? this.#beyond(`must be at most ${maxDepth} levels deep`)
  }

  #tooLarge(): Fault {
    const isWhole = this.#source.member === undefined && this.#memberStart === 0
    const fault = this.#notOfType()
    if (fault) return fault
    return this.#beyond(
      isWhole || this.#isIn('mapping') || this.#sizeAt(this.#offset) <= limits.propertiesBytes
        ? `has too many values: all fields together may have ${maxStructure} characters outside of strings`
        : `must be at most ${limits.propertiesBytes} bytes (64 KiB) as compact JSON in UTF-8`,
    )
  }

  /** Returns the fault of a body that is an array, which no operation takes, and of a mapping to other values than strings. */
  #notOfType(): Fault | undefined {
    const isWhole = this.#source.member === undefined && this.#memberStart === 0
    if (isWhole && (this.#steps[1] as number) < 0) return this.#beyond('must be an object')
    const levels = this.#depth - (this.#source.member === undefined ? 1 : 0)
    return this.#isIn('mapping') && levels > 1
      ? this.#beyond('must be an object of strings, or null')
      : undefined
  }

  /** Returns a fault of the current member, or of the whole text. */
  #beyond(message: string, steps: readonly string[] = []): Fault {
    const isInMember = this.#memberStart > 0
    const path = shownPointer(isInMember ? [this.#memberName, ...steps] : steps)
    const subject = path === '' ? this.#source.whole : `${path.slice(1)}:`
    return new Fault('validation_failed', `${subject} ${message}`, { fields: [{ path, message }] })
  }
}
