import type { Enclosure } from '../enclosed.ts'

/** A supported database. */
export type SqlDialect = keyof typeof dialects

/** Delimiters of a literal or an identifier. */
export interface Quotes extends Enclosure {
  readonly holds: 'literal' | 'identifier'
  readonly open: string
}

/**
 * The lexical rules of a database: enough to separate code from literals, identifiers and comments, and to bind values.
 * All patterns are sticky.
 */
export interface Dialect {
  /** Returns the placeholder of the nth value, from 1. */
  readonly placeholder: (position: number) => string
  /** Maximum number of values that the protocol, or the database by default, accepts. */
  readonly maxValues: number
  /** Set if its drivers do not accept booleans. */
  readonly booleansAsNumbers?: true
  /** Set if a string cannot contain U+0000. */
  readonly refusesNul?: true
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
const backticks: Quotes = { holds: 'identifier', open: '`', close: '`', doubled: true }

/** Every character beyond ASCII belongs to a word, as in PostgreSQL, so that none is mistaken for white space. */
const word = /[\w$\u0080-\uffff]+/y

const concatenate = (...texts: string[]) => texts.join(' || ')
const callConcat = (...texts: string[]) => `CONCAT(${texts.join(', ')})`
const interval = (variable: string) => `+ INTERVAL ${variable} DAY`
const questionMark = () => '?'

/** PostgreSQL from 9.1, with standard_conforming_strings on: a backslash escapes in E'…' only. */
const postgresql: Dialect = {
  placeholder: (position) => `$${position}`,
  maxValues: 65_535,
  refusesNul: true,
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

const sqlite: Dialect = {
  placeholder: questionMark,
  maxValues: 32_766,
  booleansAsNumbers: true,
  concatenate,
  quotes: [text, identifier, backticks, { holds: 'identifier', open: '[', close: ']' }],
  lineComment: /--/y,
  openComments: true,
  word,
  ownPlaceholder: /[?:@$#]\w*/y,
}

const sqlserver: Dialect = {
  placeholder: (position) => `@p${position}`,
  // 2,100, minus two that sp_executesql uses.
  maxValues: 2_098,
  concatenate: (...texts) => texts.join(' + '),
  quotes: [text, identifier, { holds: 'identifier', open: '[', close: ']', doubled: true }],
  lineComment: /--/y,
  nestedComments: true,
  word: /[\w$@#\u0080-\uffff]+/y,
  ownPlaceholder: /@p\d+(?![\w$@#\u0080-\uffff])/iy,
}

const bigquery: Dialect = {
  placeholder: questionMark,
  maxValues: 10_000,
  concatenate: callConcat,
  addDays: interval,
  // In raw literals a backslash is kept, but a quote after it does not end them either. So the prefixes r and b do not
  // change where a literal ends.
  quotes: [
    { holds: 'literal', open: "'''", close: "'''", backslash: true },
    { holds: 'literal', open: '"""', close: '"""', backslash: true },
    { holds: 'literal', open: "'", close: "'", backslash: true },
    { holds: 'literal', open: '"', close: '"', backslash: true },
    { holds: 'identifier', open: '`', close: '`', backslash: true },
  ],
  lineComment: /--|#/y,
  word,
  ownPlaceholder: /\?|(?<!@)@(?!@)\w*/y,
}

const snowflake: Dialect = {
  placeholder: questionMark,
  // The longest list of IN.
  maxValues: 16_384,
  concatenate,
  addDays: (variable) => `DATEADD(day, ${variable}, …)`,
  quotes: [{ ...text, backslash: true }, identifier],
  dollarQuote: /\$\$/y,
  lineComment: /--|\/\//y,
  word,
  ownPlaceholder: /\?|:\d+/y,
  ambiguous: /`/y,
  ambiguousWord: /.*\$\$/y,
  // The documentation does not say whether comments nest.
  ambiguousComment: /\/\*[^]*\/\*/y,
}

export const dialects = { postgresql, mysql, sqlite, sqlserver, bigquery, snowflake } satisfies Record<
  string,
  Dialect
>
