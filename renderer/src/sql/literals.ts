/** A value that a driver binds. */
export type SqlValue = string | number | boolean | null

/** Notation of values as SQL text, right with every setting of the database. */
export interface Literals {
  /** Returns a text that is not plain. Set if its escapes depend on no setting, character set or version. */
  readonly text?: (text: string) => string
  /** Written before the quote of a plain text. */
  readonly prefix?: string
  /** Set if drivers bind all values as texts whose type the database infers. A literal does the same. */
  readonly isUntyped?: true
  /** Set if drivers bind all numbers as floating-point numbers. */
  readonly doubles?: true
  readonly boolean?: (value: boolean) => string
}

/**
 * Texts that mean the same between single quotes in every database, and to programs that expand templates or placeholders in
 * SQL or remove its comments. Others are written without any character that means something to such programs, too.
 */
const plainText = /^(?:[\w. ]|-(?!-))*$/

/** Returns the value as SQL text that touches nothing around it, or undefined for a text that cannot be written with certainty. */
export function literalOf(value: SqlValue | readonly SqlValue[], literals: Literals): string | undefined {
  if (value === null) return 'NULL'
  if (typeof value === 'object') return literalOf(arrayText(value), literals)
  if (typeof value === 'string' || literals.isUntyped) return textLiteral(String(value), literals)
  if (typeof value === 'boolean') return literals.boolean?.(value) ?? String(value).toUpperCase()
  return numberLiteral(value, literals)
}

function textLiteral(text: string, { text: write, prefix = '' }: Literals): string | undefined {
  return plainText.test(text) ? `${prefix}'${text}'` : write?.(text)
}

function numberLiteral(value: number, { doubles }: Literals): string {
  const isInteger = doubles !== true && Number.isInteger(value) && Math.abs(value) < 2 ** 63
  // String(2 ** 62) has other last digits.
  const digits = isInteger ? String(BigInt(value)) : String(value)
  const text = isInteger || digits.includes('e') ? digits : `${digits}e0`
  // After a minus sign of the template, another would begin a comment.
  return value < 0 ? `(${text})` : text
}

/** Returns the text of an array of PostgreSQL. */
function arrayText(items: readonly SqlValue[]): string {
  const written = items.map((item) =>
    item === null ? 'NULL' : `"${String(item).replace(/["\\]/g, String.raw`\$&`)}"`,
  )
  return `{${written.join(',')}}`
}

/** Maximum number of arguments that every SQLite accepts, rounded. */
const maxArguments = 100

/** The parentheses also keep PostgreSQL from continuing the literal in the next one. */
const postgresql: Literals = { isUntyped: true, text: (text) => `(E'${withEscapes(text)}')` }
/** A hexadecimal literal has no escapes, which `NO_BACKSLASH_ESCAPES` would change. */
const mysql: Literals = { doubles: true, prefix: '_utf8mb4', text: (text) => `_utf8mb4 X'${hexOf(text)}'` }

export const literals = {
  postgresql,
  mysql,
  mariadb: mysql,
  // Not a blob: a cast would read it in the encoding of the database.
  sqlite: {
    doubles: true,
    text: (text) => {
      const codes = Array.from(text, (character) => character.codePointAt(0))
      const calls: string[] = []
      for (let start = 0; start < codes.length; start += maxArguments)
        calls.push(`char(${codes.slice(start, start + maxArguments).join(',')})`)
      return `(${calls.join('||')})`
    },
  },
  duckdb: { text: (text) => `decode(unhex('${hexOf(text)}'))` },
  sqlserver: {
    prefix: 'N',
    text: (text) => `CAST(0x${utf16HexOf(text)} AS nvarchar(max))`,
    boolean: (value) => `CAST(${Number(value)} AS bit)`,
  },
  bigquery: { text: (text) => `'${withEscapes(text)}'` },
  snowflake: { text: (text) => `HEX_DECODE_STRING('${hexOf(text)}')` },
  redshift: { isUntyped: true, text: (text) => `FROM_VARBYTE(FROM_HEX('${hexOf(text)}'), 'utf8')` },
  databricks: { text: (text) => `CAST(X'${hexOf(text)}' AS STRING)` },
  clickhouse: { text: (text) => `unhex('${hexOf(text)}')` },
  trino: { text: (text) => `from_utf8(X'${hexOf(text)}')` },
  // The character set of the database decides which characters a literal can have.
  oracle: {},
} satisfies Record<string, Literals>

function withEscapes(text: string): string {
  return text.replace(/[^\w. ]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16)
    return code.length > 4 ? String.raw`\U${code.padStart(8, '0')}` : String.raw`\u${code.padStart(4, '0')}`
  })
}

function hexOf(text: string): string {
  return Array.from(new TextEncoder().encode(text), hexOfByte).join('')
}

/** Little-endian. */
function utf16HexOf(text: string): string {
  return text
    .split('')
    .map((unit) => hexOfByte(unit.charCodeAt(0) & 0xff) + hexOfByte(unit.charCodeAt(0) >> 8))
    .join('')
}

function hexOfByte(byte: number): string {
  return byte.toString(16).padStart(2, '0')
}
