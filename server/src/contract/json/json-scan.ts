import { Fault } from '../../domain/fault.ts'
import { shownPointer } from '../../domain/json/json-pointer.ts'
import type { JsonText } from '../../domain/json/json-text.ts'
import { limits } from '../limits.ts'
import { escapedUnit, isHighSurrogate, isLowSurrogate, requiredBytes } from './json-escape.ts'
import { isAcceptedNumber } from './json-number.ts'

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
export interface JsonSource {
  /** The subject of a message, such as `The body`. */
  readonly whole: string
  /** The number of its first line. */
  readonly firstLine: number
  /** Name of the member whose value the text is. By default, the text is an object of members. */
  readonly member?: string
}

// A text beyond these limits is refused before its end. They are about twice those of the contract, so that a text that is only too large is
// refused with all other faults of its fields.

const maxDepth = 2 * limits.propertiesDepth
/** Maximum number of fields. No operation has as many. */
const maxFields = 2 * limits.fieldFaults
const maxMappingKeys = 2 * limits.mappingEntries
/** Length of the longest spelling of a mapping key: two escapes per character. */
const maxMappingKeyLength = 12 * limits.textLength
/** Maximum size of an object or array that is not `mapping`, in characters. */
const maxSize = 2 * limits.propertiesBytes
/**
 * Maximum number of characters outside of strings, with quotes and without white space. Properties may have nothing else, and a mapping
 * has six per entry.
 */
const maxStructure = limits.propertiesBytes + 8 * limits.mappingEntries

const quote = 0x22
const backslash = 0x5c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const colon = 0x3a
const minus = 0x2d
const slash = 0x2f
/** The letters of true, false and null. */
const literalLetters = new Set(Buffer.from('truefalsenull'))

/** Number of characters that are read one by one before a search for the next escape. */
const fewCharacters = 16

function isDigit(char: number): boolean {
  return char >= 0x30 && char <= 0x39
}

function isWhiteSpace(char: number): boolean {
  return char === 0x20 || char === 0x0a || char === 0x0d || char === 0x09
}

/**
 * Scans a text for the problems that `JSON.parse` ignores, and for limits, in one pass. It runs before `JSON.parse`, which takes long for a
 * text of many values: the scan stops at the first limit. A valid text causes almost no allocations: positions are computed only for an
 * error. The results have a meaning only if `JSON.parse` accepts the text.
 */
export class JsonScan {
  readonly members = new Map<string, JsonMember>()
  keyCount = 0
  /** The first problem that `JSON.parse` ignores. */
  fault: Fault | undefined

  readonly #text: string
  readonly #source: JsonSource
  readonly #keysInScope: Set<string>[] | undefined
  readonly #hasEscapes: boolean
  #offset = 0
  #escape = -1
  #depth = 0
  #expectsKey = false
  /** Number of characters of white space so far. */
  #whiteSpaces = 0
  /** Number of characters within strings so far. */
  #inStrings = 0
  /** Number of bytes so far that escapes take and JSON does not require. */
  #excessBytes = 0
  /** By depth: the offset of the current key in an object, or the one's complement of the index in an array. */
  readonly #steps: number[] = [0, 0, 0, 0]

  #memberName = ''
  #memberStart = 0
  #memberWhiteSpaces = 0
  #memberExcessBytes = 0
  #memberDepth = 0
  #memberKeys = 0
  #memberNulPointer: string | null = null

  constructor(text: string, source: JsonSource, options: { compareKeys?: boolean } = {}) {
    this.#text = text
    this.#source = source
    this.#hasEscapes = text.includes('\\')
    this.#keysInScope = options.compareKeys ? [] : undefined
  }

  /**
   * Reads the text to its end, or to a character that makes it invalid.
   * @throws Fault `validation_failed` if the text is beyond a limit
   * @throws SyntaxError if a key is not JSON
   */
  run(): void {
    const text = this.#text
    while (this.#offset < text.length) {
      const char = text.charCodeAt(this.#offset)
      if (char === quote) this.#string()
      else if (isDigit(char) || char === minus) this.#number()
      else if (isWhiteSpace(char)) this.#skipWhiteSpace()
      else {
        if (char === openBrace || char === openBracket) this.#open(char === openBrace)
        else if ((char === closeBrace || char === closeBracket) && this.#depth > 0) this.#close()
        else if (char === comma) this.#next()
        else if (char === colon) this.#startValue()
        else if (!literalLetters.has(char)) return
        this.#offset++
      }
      if (this.#offset > maxStructure) this.#checkStructure()
    }
  }

  #open(isObject: boolean): void {
    this.#depth++
    this.#steps[this.#depth] = isObject ? 0 : ~0
    this.#expectsKey = isObject
    if (isObject && this.#keysInScope) this.#keysInScope[this.#depth] = new Set()
    if (this.#depth - 1 <= this.#memberDepth) return
    this.#memberDepth = this.#depth - 1
    if (this.#memberDepth > maxDepth)
      throw this.#beyond(`must be at most ${limits.propertiesDepth} levels deep`)
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
    if (this.#depth !== 1 || this.#source.member !== undefined) return
    if (this.members.size === maxFields) throw this.#beyond(`must have at most ${maxFields} fields`)
    this.#memberName = this.#keyAt(this.#steps[1] as number)
    this.#memberStart = this.#offset + 1
    this.#memberWhiteSpaces = this.#whiteSpaces
    this.#memberExcessBytes = this.#excessBytes
    this.#memberDepth = 0
    this.#memberKeys = this.keyCount
    this.#memberNulPointer = null
  }

  #endMember(): void {
    if (this.#memberStart === 0) return
    const text = this.#text.slice(this.#memberStart, this.#offset)
    this.members.set(this.#memberName, {
      text: this.#whiteSpaces > this.#memberWhiteSpaces ? withoutWhiteSpace(text) : text,
      depth: this.#memberDepth,
      nulPointer: this.#memberNulPointer,
      excessBytes: this.#excessBytes - this.#memberExcessBytes,
    })
    this.#memberStart = 0
  }

  #skipWhiteSpace(): void {
    const text = this.#text
    let end = this.#offset + 1
    while (isWhiteSpace(text.charCodeAt(end))) end++
    this.#whiteSpaces += end - this.#offset
    this.#offset = end
  }

  #string(): void {
    const start = this.#offset
    const isKey = this.#expectsKey
    if (isKey) {
      this.keyCount++
      this.#steps[this.#depth] = start
    }
    this.#skipString()
    this.#inStrings += this.#offset - start - 2
    if (isKey) this.#checkMappingKey(start)
    this.#checkSize()
    if (isKey && this.#keysInScope) this.#compareKey(start)
  }

  #checkMappingKey(start: number): void {
    const hasManyKeys = this.keyCount - this.#memberKeys > maxMappingKeys
    const isLong = this.#offset - start - 2 > maxMappingKeyLength
    if ((!hasManyKeys && !isLong) || !this.#isIn('mapping')) return
    throw hasManyKeys
      ? this.#beyond(`must have at most ${limits.mappingEntries} entries`)
      : this.#beyond(`its key must have 1 to ${limits.textLength} characters`, [this.#keyAt(start)])
  }

  /** Returns the minimum size of the current member as compact JSON, up to an offset. */
  #sizeAt(offset: number): number {
    const whiteSpaces = this.#whiteSpaces - this.#memberWhiteSpaces
    return offset - this.#memberStart - whiteSpaces - (this.#excessBytes - this.#memberExcessBytes)
  }

  #checkStructure(): void {
    if (this.#offset - this.#whiteSpaces - this.#inStrings > maxStructure) throw this.#tooLarge()
  }

  #checkSize(): void {
    if (this.#offset <= maxSize || this.#sizeAt(this.#offset) <= maxSize) return
    const isInObjectOrArray = this.#depth > (this.#source.member === undefined ? 1 : 0)
    if (isInObjectOrArray && !this.#isIn('mapping')) throw this.#tooLarge()
  }

  /** Moves behind a string. Without its end, the text is not JSON. */
  #skipString(): void {
    const text = this.#text
    this.#offset++
    let end = -1
    for (;;) {
      // indexOf skips long strings at memory speed. Keep each result until it is passed, so that a string of a million escapes
      // does not take quadratic time.
      if (end < this.#offset) end = text.indexOf('"', this.#offset)
      if (end === -1) end = text.length
      const escape = this.#nextEscape(this.#offset)
      if (end < escape) break
      this.#offset = this.#endOfEscape(escape)
      this.#checkSize()
    }
    this.#offset = end + 1
  }

  /** Returns the offset of the next backslash, or infinity. Offsets only grow, so each is searched for once. */
  #nextEscape(offset: number): number {
    if (!this.#hasEscapes) return Infinity
    if (this.#escape < offset) {
      // Escapes are often close to each other.
      const near = offset + fewCharacters
      while (offset < near && this.#text.charCodeAt(offset) !== backslash) offset++
      if (offset < near) return (this.#escape = offset)
      const next = this.#text.indexOf('\\', offset)
      this.#escape = next === -1 ? Infinity : next
    }
    return this.#escape
  }

  #endOfEscape(offset: number): number {
    const text = this.#text
    const unit = escapedUnit(text, offset)
    if (unit === -1) {
      if (text.charCodeAt(offset + 1) === slash) this.#excessBytes++
      return offset + 2
    }
    if (unit === 0) this.#memberNulPointer ??= shownPointer(this.#path())
    this.#excessBytes += 6 - requiredBytes(unit)
    if (isHighSurrogate(unit)) {
      const next = escapedUnit(text, offset + 6)
      if (isLowSurrogate(next)) {
        this.#excessBytes += 6 - requiredBytes(next)
        return offset + 12
      }
    }
    if (isHighSurrogate(unit) || isLowSurrogate(unit)) {
      this.#report(offset, 'has a lone surrogate (half of a character)')
    }
    return offset + 6
  }

  #number(): void {
    const text = this.#text
    const start = this.#offset
    const last = start + maxStructure
    let end = start + 1
    let hasExponent = false
    for (; end < text.length && end <= last; end++) {
      const char = text.charCodeAt(end)
      if (char === 0x65 || char === 0x45) hasExponent = true
      else if (!isDigit(char) && char !== 0x2e && char !== minus && char !== 0x2b) break
    }
    // A double represents any number of 15 significant digits.
    if ((hasExponent || end - start > 15) && !this.fault && !isAcceptedNumber(text.slice(start, end))) {
      this.#report(start, 'is a number beyond the precision or range of a double; send it as a string')
    }
    this.#offset = end
  }

  #compareKey(start: number): void {
    const keys = this.#keysInScope?.[this.#depth] as Set<string>
    const key = this.#keyAt(start)
    if (keys.has(key)) this.#report(start, 'is a duplicate key')
    keys.add(key)
  }

  #keyAt(start: number): string {
    const text = this.#text
    if (!this.#hasEscapes) return text.slice(start + 1, text.indexOf('"', start + 1))
    let end = start + 1
    while (end < text.length && text.charCodeAt(end) !== quote)
      end += text.charCodeAt(end) === backslash ? 2 : 1
    return JSON.parse(text.slice(start, end + 1)) as string
  }

  #path(): (string | number)[] {
    return this.#steps.slice(1, this.#depth + 1).map((step) => (step < 0 ? ~step : this.#keyAt(step)))
  }

  #report(offset: number, problem: string): void {
    if (this.fault) return
    const path = this.#path()
    const pointer = shownPointer(path)
    this.fault = new Fault(
      'malformed_json',
      `${path.length === 0 ? this.#source.whole : pointer} ${problem}, at ${lineAndColumn(this.#text, offset, this.#source)}`,
      { fields: [{ path: pointer, message: problem }] },
    )
  }

  /** Returns true if the offset is within the value of this member. */
  #isIn(name: string): boolean {
    return (this.#source.member ?? (this.#memberStart > 0 ? this.#memberName : '')) === name
  }

  #tooLarge(): Fault {
    const isWhole = this.#source.member === undefined && this.#memberStart === 0
    // No operation takes an array.
    if (isWhole && (this.#steps[1] as number) < 0) return this.#beyond('must be an object')
    return this.#beyond(
      isWhole || this.#isIn('mapping') || this.#sizeAt(this.#offset) <= limits.propertiesBytes
        ? `has too many values: all fields together may have ${maxStructure} characters outside of strings`
        : `must be at most ${limits.propertiesBytes} bytes (64 KiB) as compact JSON in UTF-8`,
    )
  }

  /** Returns a fault of the current member, or of the whole text. */
  #beyond(message: string, steps: readonly string[] = []): Fault {
    const isInMember = this.#memberStart > 0
    const path = shownPointer(isInMember ? [this.#memberName, ...steps] : steps)
    const subject = path === '' ? this.#source.whole : `${path.slice(1)}:`
    return new Fault('validation_failed', `${subject} ${message}`, { fields: [{ path, message }] })
  }
}

export function lineAndColumn(text: string, offset: number, { firstLine }: JsonSource): string {
  let line = firstLine
  let start = 0
  for (let i = 0; i < offset; i++) {
    if (text.charCodeAt(i) !== 0x0a) continue
    line++
    start = i + 1
  }
  return `line ${line}, column ${offset - start + 1}`
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
      while (isWhiteSpace(text.charCodeAt(offset + 1))) offset++
      start = offset + 1
    }
  }
  return result + text.slice(start)
}
