/**
 * Reads JSON by the contract's rules ("Input") as simply as possible, for comparison with the service's reader. It shares no code
 * with that reader or with `JSON.parse`.
 */
export function readSlowly(bytes: Buffer): SlowReading {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { kind: 'malformed' }
  }
  const reader = new Reader(text)
  try {
    const value = reader.whole()
    return reader.broken.length === 0 ? { kind: 'value', value } : { kind: 'broken', paths: reader.broken }
  } catch (error) {
    if (error === noJson) return { kind: 'malformed' }
    throw error
  }
}

export type SlowReading =
  | { readonly kind: 'value'; readonly value: SlowValue }
  /** The text is not JSON. */
  | { readonly kind: 'malformed' }
  /** JSON Pointers to the places that break a rule of the contract. */
  | { readonly kind: 'broken'; readonly paths: readonly string[] }

/** A value and its text without insignificant white space. */
export type SlowValue = { readonly text: string } & (
  | { readonly kind: 'null' | 'true' | 'false' }
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'string'; readonly string: string }
  | { readonly kind: 'array'; readonly items: readonly SlowValue[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [key: string, value: SlowValue])[] }
)

export function memberOf(value: SlowValue, name: string): SlowValue | undefined {
  return value.kind === 'object' ? value.members.find(([key]) => key === name)?.[1] : undefined
}

export function depthOf(value: SlowValue): number {
  if (value.kind === 'array') return 1 + Math.max(0, ...value.items.map(depthOf))
  if (value.kind === 'object') return 1 + Math.max(0, ...value.members.map(([, member]) => depthOf(member)))
  return 0
}

/** Returns the steps to each string of a value that contains U+0000, keys included. */
export function nulsIn(value: SlowValue): string[][] {
  if (value.kind === 'string') return value.string.includes('\0') ? [[]] : []
  if (value.kind === 'array') {
    return value.items.flatMap((item, index) => nulsIn(item).map((steps) => [String(index), ...steps]))
  }
  if (value.kind !== 'object') return []
  return value.members.flatMap(([key, member]) => [
    ...(key.includes('\0') ? [[key]] : []),
    ...nulsIn(member).map((steps) => [key, ...steps]),
  ])
}

/** Returns the text of a value that escapes only what JSON requires. */
export function compactText(value: SlowValue): string {
  if (value.kind === 'string') return JSON.stringify(value.string)
  if (value.kind === 'array') return `[${value.items.map(compactText).join()}]`
  if (value.kind !== 'object') return value.text
  return `{${value.members.map(([key, member]) => `${JSON.stringify(key)}:${compactText(member)}`).join()}}`
}

/** Returns the canonical text of a value: sorted members, and numbers as JavaScript writes them. */
export function meaningOf(value: SlowValue): string {
  switch (value.kind) {
    case 'number':
      // Different long numbers may be the same double.
      if (value.text.length >= 16) return value.text
      return Object.is(value.number, -0) ? '-0' : String(value.number)
    case 'string':
      return JSON.stringify(value.string)
    case 'array':
      return `[${value.items.map(meaningOf).join()}]`
    case 'object':
      return `{${value.members
        .map(([key, member]) => `${JSON.stringify(key)}:${meaningOf(member)}`)
        .sort()
        .join()}}`
    default:
      return value.kind
  }
}

/** Returns the JSON Pointer of these steps, with long steps cut as in the API. */
export function pointerOf(steps: readonly string[]): string {
  return steps
    .slice(0, 64)
    .map((step) => (step.length > 64 ? `${step.slice(0, 64)}…` : step).toWellFormed())
    .map((step) => `/${step.replace(/~/g, '~0').replace(/\//g, '~1')}`)
    .join('')
}

const noJson = new Error('no JSON')

class Reader {
  readonly broken: string[] = []
  readonly #text: string
  #at = 0
  #path: string[] = []

  constructor(text: string) {
    this.#text = text
  }

  whole(): SlowValue {
    const value = this.#value()
    if (this.#at < this.#text.length) throw noJson
    return value
  }

  #value(): SlowValue {
    this.#skipSpace()
    const start = this.#text.charAt(this.#at)
    const value =
      start === '{'
        ? this.#object()
        : start === '['
          ? this.#array()
          : start === '"'
            ? this.#string()
            : (this.#word() ?? this.#number())
    this.#skipSpace()
    return value
  }

  #skipSpace(): void {
    while (['\t', '\n', '\r', ' '].includes(this.#text.charAt(this.#at))) this.#at++
  }

  #take(character: string): boolean {
    if (this.#text.charAt(this.#at) !== character) return false
    this.#at++
    return true
  }

  #expect(character: string): void {
    if (!this.#take(character)) throw noJson
  }

  #within<T>(step: string, read: () => T): T {
    this.#path.push(step)
    const result = read()
    this.#path.pop()
    return result
  }

  #break(): void {
    this.broken.push(pointerOf(this.#path))
  }

  #object(): SlowValue {
    this.#expect('{')
    this.#skipSpace()
    const members: [string, SlowValue][] = []
    const written: string[] = []
    const keys = new Set<string>()
    if (!this.#take('}')) {
      do {
        this.#skipSpace()
        if (this.#text.charAt(this.#at) !== '"') throw noJson
        const key = this.#string(true)
        this.#within(key.string, () => {
          if (keys.has(key.string) || !key.string.isWellFormed()) this.#break()
          keys.add(key.string)
          this.#skipSpace()
          this.#expect(':')
          const value = this.#value()
          members.push([key.string, value])
          written.push(`${key.text}:${value.text}`)
        })
      } while (this.#take(','))
      this.#expect('}')
    }
    return { kind: 'object', members, text: `{${written.join()}}` }
  }

  #array(): SlowValue {
    this.#expect('[')
    this.#skipSpace()
    const items: SlowValue[] = []
    if (!this.#take(']')) {
      do items.push(this.#within(String(items.length), () => this.#value()))
      while (this.#take(','))
      this.#expect(']')
    }
    return { kind: 'array', items, text: `[${items.map(({ text }) => text).join()}]` }
  }

  #string(isKey = false): { kind: 'string'; string: string; text: string } {
    const start = this.#at
    this.#expect('"')
    let string = ''
    while (!this.#take('"')) {
      const character = this.#text.charAt(this.#at++)
      if (character === '' || character < ' ') throw noJson
      string += character === '\\' ? this.#escape() : character
    }
    if (!isKey && !string.isWellFormed()) this.#break()
    return { kind: 'string', string, text: this.#text.slice(start, this.#at) }
  }

  #escape(): string {
    const letter = this.#text.charAt(this.#at++)
    if (letter === 'u') {
      const digits = this.#text.slice(this.#at, this.#at + 4)
      if (!/^[0-9a-f]{4}$/i.test(digits)) throw noJson
      this.#at += 4
      return String.fromCharCode(Number.parseInt(digits, 16))
    }
    const meant = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }[letter]
    if (meant === undefined) throw noJson
    return meant
  }

  #word(): SlowValue | undefined {
    const kind = (['null', 'true', 'false'] as const).find((word) => this.#text.startsWith(word, this.#at))
    if (kind !== undefined) this.#at += kind.length
    return kind && { kind, text: kind }
  }

  #number(): SlowValue {
    const [text, sign = '', whole, fraction = ''] =
      /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE][+-]?[0-9]+)?/.exec(this.#text.slice(this.#at)) ?? []
    if (text === undefined || whole === undefined) throw noJson
    this.#at += text.length
    const number = Number(text)
    const isRight =
      text === sign + whole ? isDouble(BigInt(whole), number) : isPrecise(whole + fraction, number)
    if (!isRight) this.#break()
    return { kind: 'number', number: sign === '-' && number === 0 ? -0 : number, text }
  }
}

/** Returns true if a double holds the integer. */
function isDouble(integer: bigint, double: number): boolean {
  return Number.isFinite(double) && BigInt(Math.abs(double)) === integer
}

/** Returns true if a number has at most 17 significant digits and neither overflows nor becomes 0. */
function isPrecise(digits: string, double: number): boolean {
  const significant = BigInt(digits).toString().replace(/0+$/, '')
  return Number.isFinite(double) && significant.length <= 17 && (significant === '') === (double === 0)
}
