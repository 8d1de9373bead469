import type { Enclosure } from '../enclosed.ts'
import { exactness, type Exactness } from './exactness.ts'
import { literals, type Literals, type SqlValue } from './literals.ts'

/** A supported database. */
export type SqlDialect = keyof typeof dialects

/** Notation of arrays. */
interface Arrays {
  /** Words before the parentheses that may hold an array. */
  readonly words: readonly string[]
  /** Returns the array as an expression. If it is not set, the whole array is one value. */
  readonly write?: (placeholders: readonly string[]) => string
}

/** Delimiters of a literal or an identifier. */
export interface Quotes extends Enclosure {
  readonly holds: 'literal' | 'identifier'
  readonly open: string
  /** Set if versions or settings of the database disagree whether a backslash escapes. */
  readonly ambiguousBackslash?: true
}

/**
 * The lexical rules of a database: enough to separate code from literals, identifiers and comments, and to bind values.
 * All patterns are sticky.
 */
export interface Dialect {
  /** Returns the placeholder of the nth value, from 1. */
  readonly placeholder: (position: number, value: SqlValue | readonly SqlValue[]) => string
  /** Maximum number of values that the protocol, or the database by default, accepts. */
  readonly maxValues: number
  /** Set if its drivers do not accept booleans. */
  readonly booleansAsNumbers?: true
  /** Set if a string cannot contain U+0000. */
  readonly refusesNul?: true
  readonly literals: Literals
  /** Notation of the exact comparisons with texts of the token. */
  readonly exactness: Exactness
  /** Returns the value with a collation for other comparisons. Set if the default collations merge different texts. */
  readonly collate?: (placeholder: string) => string
  /** Returns the placeholder as a date. */
  readonly date: (placeholder: string) => string
  /** Returns the placeholder of a text as a number. */
  readonly number: (placeholder: string, isInteger: boolean) => string
  /** Set if `IN` ignores a null among its items, so that `NOT IN (NULL)` is true. */
  readonly ignoresNullItems?: true
  /** Set if an array may be the argument of some functions or operators. */
  readonly arrays?: Arrays
  /** Quotes of the identifiers that `{{ identifier … }}` writes. */
  readonly name: Quotes
  /** Returns an expression that concatenates strings and returns null if one is null. */
  readonly concatenate: (...texts: string[]) => string
  /** Returns an expression that adds days to a date. Set if interval literals are common. */
  readonly addDays?: (variable: string) => string
  /** Tested in this order. */
  readonly quotes: readonly Quotes[]
  /** The mark that opens and closes a dollar-quoted literal. */
  readonly dollarQuote?: RegExp
  readonly lineComment: RegExp
  readonly nestedComments?: true
  /** Set if `|>` is the pipe operator between clauses. */
  readonly pipes?: true
  /** Set if `->` takes a part of a column. True if it also binds tighter than a comparison. */
  readonly arrows?: boolean
  /** Set if `name = value` in a SELECT list is an alias. */
  readonly aliasesByEquals?: true
  /** Set if `PREWHERE` filters rows like `WHERE`. */
  readonly prewhere?: true
  /** Returns the placeholder for `… IS NULL`. Set if the database must be told its type. */
  readonly nullTest?: (placeholder: string) => string
  /** Set if `||` is OR. */
  readonly pipesMeanOr?: true
  /** Set if a comment may stay open at the end of the statement. */
  readonly openComments?: true
  /** A name or a number, with everything that would join it. */
  readonly word: RegExp
  /** A parameter of the database that is not one of the bound values. */
  readonly ownPlaceholder: RegExp
  /**
   * Syntax that versions, settings or drivers of the database interpret differently: in code, in a word, in a comment.
   */
  readonly ambiguous?: RegExp
  readonly ambiguousWord?: RegExp
  readonly ambiguousComment?: RegExp
  /** Set if drivers replace `?` in literals, identifiers and comments too. */
  readonly placeholdersEverywhere?: true
}

const text: Quotes = { holds: 'literal', open: "'", close: "'", doubled: true }
const identifier: Quotes = { holds: 'identifier', open: '"', close: '"', doubled: true }
const rawText = { holds: 'literal', ambiguousBackslash: true } as const
const backticks: Quotes = { holds: 'identifier', open: '`', close: '`', doubled: true }
const squareBrackets: Quotes = { holds: 'identifier', open: '[', close: ']', doubled: true }
const escapingBackticks: Quotes = { holds: 'identifier', open: '`', close: '`', backslash: true }

/** Every character beyond ASCII belongs to a word, as in PostgreSQL, so that none is mistaken for white space. */
const word = /[\w$\u0080-\uffff]+/y

const concatenate = (...texts: string[]) => texts.join(' || ')
const callConcat = (...texts: string[]) => `CONCAT(${texts.join(', ')})`
const interval = (variable: string) => `+ INTERVAL ${variable} DAY`
const questionMark = () => '?'
const castToText = (placeholder: string) => `CAST(${placeholder} AS text)`
const castToDate = (placeholder: string) => `CAST(${placeholder} AS date)`
const castToNumber =
  (integer: string, decimal: string): Dialect['number'] =>
  (placeholder, isInteger) =>
    `CAST(${placeholder} AS ${isInteger ? integer : decimal})`
const brackets = (placeholders: readonly string[]) => `[${placeholders.join(', ')}]`

/** White space to some databases, and part of a word to others. U+FEFF is white space even to SQLite. */
export const unicodeSpace =
  /.*[\u0085\u00a0\u1680\u180e\u2000-\u200f\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]/y
/** Sources do not say whether comments of these databases nest. */
const nestedComment = /\/\*[^]*\/\*/y

/** PostgreSQL from 9.1, with standard_conforming_strings on: a backslash escapes in E'…' only. */
const postgresql: Dialect = {
  number: castToNumber('bigint', 'numeric'),
  nullTest: castToText,
  exactness: exactness.postgresql,
  literals: literals.postgresql,
  placeholder: (position) => `$${position}`,
  maxValues: 65_535,
  refusesNul: true,
  date: castToDate,
  arrays: { words: ['any', 'some', 'all', 'unnest'] },
  arrows: true,
  name: identifier,
  concatenate,
  addDays: (variable) => `+ ${variable} * INTERVAL '1 day'`,
  quotes: [
    { ...text, open: "e'", backslash: true },
    { ...text, open: "E'", backslash: true },
    text,
    identifier,
  ],
  dollarQuote: /\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$/y,
  lineComment: /--/y,
  nestedComments: true,
  word,
  // Dollar quotes are matched first. Any other $ is a parameter or an error.
  ownPlaceholder: /\$\d*/y,
}

/**
 * MySQL with its default sql_mode: a backslash escapes and "…" is a literal. Not with ANSI_QUOTES or
 * NO_BACKSLASH_ESCAPES.
 */
const mysql: Dialect = {
  placeholder: questionMark,
  maxValues: 65_535,
  // The default collations ignore case, accents and, before MySQL 8, trailing spaces. With an explicit collation, MySQL
  // compares a number with a text as texts.
  number: castToNumber('SIGNED', 'DECIMAL(30, 15)'),
  exactness: exactness.mysql,
  literals: literals.mysql,
  collate: exactness.mysql.value,
  date: castToDate,
  arrows: true,
  pipesMeanOr: true,
  name: backticks,
  concatenate: callConcat,
  addDays: interval,
  quotes: [{ ...text, backslash: true }, { ...identifier, holds: 'literal', backslash: true }, backticks],
  // Two minus signs open a comment only before white space or a control character. A variable after them is refused
  // too.
  lineComment: /#|--(?=[\0- \x7f]|\{\{|$)/y,
  word,
  ownPlaceholder: /\?/y,
  // The connection's character set decides which characters beyond ASCII are white space. The server's version decides
  // whether /*! … */ and /*M! … */ contain code.
  ambiguous: /--[\u0080-\uffff]|\/\*M?!/iy,
  // The quotes of a hint may contain the end of the comment.
  ambiguousComment: /\/\*\+[^]*['"`]/y,
  // mysql, and query() of mysql2, replace every ? themselves. In a literal, the value would become code.
  placeholdersEverywhere: true,
}

/** MariaDB has other names for its collations. */
const mariadb: Dialect = {
  ...mysql,
  exactness: exactness.mariadb,
  literals: literals.mariadb,
  collate: exactness.mariadb.value,
}

const sqlite: Dialect = {
  number: castToNumber('INTEGER', 'REAL'),
  exactness: exactness.sqlite,
  literals: literals.sqlite,
  placeholder: questionMark,
  maxValues: 32_766,
  booleansAsNumbers: true,
  date: (placeholder) => `date(${placeholder})`,
  arrows: true,
  // "…" that names no column is a literal.
  name: backticks,
  concatenate,
  quotes: [text, identifier, backticks, { holds: 'identifier', open: '[', close: ']' }],
  lineComment: /--/y,
  openComments: true,
  word,
  ownPlaceholder: /[?:@$#]\w*/y,
}

const sqlserver: Dialect = {
  number: castToNumber('bigint', 'decimal(30, 15)'),
  exactness: exactness.sqlserver,
  literals: literals.sqlserver,
  placeholder: (position) => `@p${position}`,
  // 2,100, minus two that sp_executesql uses.
  maxValues: 2_098,
  date: castToDate,
  name: squareBrackets,
  aliasesByEquals: true,
  concatenate: (...texts) => texts.join(' + '),
  quotes: [text, identifier, squareBrackets],
  lineComment: /--/y,
  nestedComments: true,
  word: /[\w$@#\u0080-\uffff]+/y,
  ownPlaceholder: /@p\d+(?![\w$@#\u0080-\uffff])/iy,
}

const bigquery: Dialect = {
  number: castToNumber('INT64', 'BIGNUMERIC'),
  exactness: exactness.bigquery,
  literals: literals.bigquery,
  placeholder: questionMark,
  maxValues: 10_000,
  date: castToDate,
  arrays: { words: ['unnest'], write: brackets },
  name: escapingBackticks,
  pipes: true,
  concatenate: callConcat,
  addDays: interval,
  // In raw literals a backslash is kept, but a quote after it does not end them either. So the prefixes r and b do not
  // change where a literal ends.
  quotes: [
    { holds: 'literal', open: "'''", close: "'''", backslash: true },
    { holds: 'literal', open: '"""', close: '"""', backslash: true },
    { holds: 'literal', open: "'", close: "'", backslash: true },
    { holds: 'literal', open: '"', close: '"', backslash: true },
    escapingBackticks,
  ],
  lineComment: /--|#/y,
  word,
  ownPlaceholder: /\?|(?<!@)@(?!@)\w*/y,
}

const snowflake: Dialect = {
  number: castToNumber('NUMBER(38, 0)', 'NUMBER(38, 15)'),
  exactness: exactness.snowflake,
  literals: literals.snowflake,
  placeholder: questionMark,
  // The longest list of IN.
  maxValues: 16_384,
  date: castToDate,
  name: identifier,
  concatenate,
  addDays: (variable) => `DATEADD(day, ${variable}, …)`,
  quotes: [{ ...text, backslash: true }, identifier],
  dollarQuote: /\$\$/y,
  lineComment: /--|\/\//y,
  word,
  ownPlaceholder: /\?|:\d+/y,
  ambiguous: /`/y,
  ambiguousWord: /.*\$\$/y,
  ambiguousComment: nestedComment,
}

/** The lexer is that of PostgreSQL, after Unicode white space is replaced. */
const duckdb: Dialect = {
  ...postgresql,
  number: castToNumber('BIGINT', 'DECIMAL(38, 15)'),
  exactness: exactness.duckdb,
  literals: literals.duckdb,
  arrows: false,
  arrays: { words: ['any', 'all', 'unnest'], write: brackets },
  dollarQuote: /\$(?:[A-Za-z_]\w*)?\$/y,
  ownPlaceholder: /\$\w*|\?/y,
}

/** PostgreSQL 8.0 and what Amazon changed. */
const redshift: Dialect = {
  number: castToNumber('bigint', 'decimal(30, 15)'),
  nullTest: castToText,
  exactness: exactness.redshift,
  literals: literals.redshift,
  placeholder: (position) => `$${position}`,
  maxValues: 32_767,
  refusesNul: true,
  date: castToDate,
  name: identifier,
  concatenate,
  addDays: (variable) => `+ ${variable} * INTERVAL '1 day'`,
  quotes: [{ ...text, backslash: true, ambiguousBackslash: true }, identifier],
  dollarQuote: /\$(?:[A-Za-z_]\w*)?\$/y,
  lineComment: /--/y,
  word,
  ownPlaceholder: /\$\d*|\?/y,
  ambiguousComment: nestedComment,
}

const clickhouse: Dialect = {
  number: (placeholder, isInteger) =>
    isInteger ? `toInt64(${placeholder})` : `toDecimal128(${placeholder}, 15)`,
  exactness: exactness.clickhouse,
  literals: literals.clickhouse,
  placeholder: (position, value) => `{p${position}:${clickhouseType(value)}}`,
  maxValues: 10_000,
  date: (placeholder) => `toDate(${placeholder})`,
  name: escapingBackticks,
  concatenate: callConcat,
  addDays: interval,
  quotes: [
    { ...text, backslash: true },
    { ...identifier, backslash: true },
    { ...backticks, backslash: true },
  ],
  dollarQuote: /\$\w*\$/y,
  lineComment: /--|#|\/\//y,
  ignoresNullItems: true,
  prewhere: true,
  word,
  ownPlaceholder: /\{[ \t\r\n]*\w+[ \t\r\n]*:|\?|\$/y,
  // Versions disagree on $ in a word, and newer ones read typographic quotes and the minus sign U+2212 like ASCII.
  ambiguousWord: /.*[$\u2018-\u201f\u2212]/y,
  ambiguousComment: nestedComment,
}

function clickhouseType(value: SqlValue | readonly SqlValue[]): string {
  if (typeof value === 'boolean') return 'Bool'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'Int64' : 'Float64'
  return value === null ? 'Nullable(String)' : 'String'
}

/** A setting decides whether "…" is a literal or an identifier. Raw literals, r'…', have no escapes. */
const databricks: Dialect = {
  number: castToNumber('BIGINT', 'DECIMAL(30, 15)'),
  exactness: exactness.databricks,
  literals: literals.databricks,
  placeholder: questionMark,
  maxValues: 255,
  date: castToDate,
  name: backticks,
  pipes: true,
  concatenate,
  addDays: interval,
  quotes: [
    { ...rawText, open: "r'", close: "'" },
    { ...rawText, open: "R'", close: "'" },
    { ...rawText, open: 'r"', close: '"' },
    { ...rawText, open: 'R"', close: '"' },
    { ...text, backslash: true },
    { ...text, open: '"', close: '"', backslash: true, ambiguousBackslash: true },
    backticks,
  ],
  lineComment: /--/y,
  nestedComments: true,
  word,
  // A colon after a value extracts a part of it.
  ownPlaceholder: /\?|(?<![\w:)\]`]):[A-Za-z_]\w*/y,
  // A backslash before the line break continues the comment. The quotes of a hint may contain the end of the comment.
  ambiguousComment: /--[^]*\\\r?$|\/\*\+[^]*['"`]/y,
}

const trino: Dialect = {
  number: castToNumber('bigint', 'decimal(30, 15)'),
  exactness: exactness.trino,
  literals: literals.trino,
  placeholder: questionMark,
  maxValues: 10_000,
  date: castToDate,
  name: identifier,
  concatenate,
  addDays: (variable) => `+ ${variable} * INTERVAL '1' DAY`,
  quotes: [text, identifier],
  lineComment: /--/y,
  word,
  ownPlaceholder: /\?/y,
  ambiguous: /`/y,
  ambiguousComment: nestedComment,
}

const oracle: Dialect = {
  number: (placeholder, isInteger) =>
    isInteger
      ? `TO_NUMBER(${placeholder})`
      : `TO_NUMBER(${placeholder}, '999999999999999D999999999999999', 'NLS_NUMERIC_CHARACTERS=''.,''')`,
  exactness: exactness.oracle,
  literals: literals.oracle,
  placeholder: (position) => `:${position}`,
  maxValues: 65_535,
  booleansAsNumbers: true,
  date: (placeholder) => `TO_DATE(${placeholder}, 'YYYY-MM-DD')`,
  name: { holds: 'identifier', open: '"', close: '"' },
  concatenate,
  addDays: (variable) => `+ ${variable}`,
  quotes: [text, identifier],
  lineComment: /--/y,
  word: /[\w$#\u0080-\uffff]+/y,
  ownPlaceholder: /:[ \t\r\n]*[\w"]|\?/y,
  // Quotes with a delimiter of their own: q'[…]'.
  ambiguous: /n?q'/iy,
  ambiguousComment: nestedComment,
}

export const dialects = {
  postgresql,
  mysql,
  mariadb,
  sqlite,
  duckdb,
  sqlserver,
  bigquery,
  snowflake,
  redshift,
  databricks,
  clickhouse,
  trino,
  oracle,
} satisfies Record<string, Dialect>
