import type { Enclosure } from '../enclosed.ts'

/** The databases that statements are compiled for. */
export type SqlDialect = keyof typeof dialects

/** How a literal or an identifier is enclosed. */
export interface Quotes extends Enclosure {
  readonly holds: 'literal' | 'identifier'
  readonly open: string
}

/**
 * What has to be known of a database to tell the code of a statement from what is enclosed in it, and to bind values.
 * All patterns are sticky: they are tried at one place.
 */
export interface Dialect {
  /** The placeholder of the nth value, from 1. */
  readonly placeholder: (position: number) => string
  /** How many values its protocol, or the database as it is shipped, takes. */
  readonly maxValues: number
  /** For drivers that take no booleans. */
  readonly booleansAsNumbers?: true
  /** U+0000 cannot be in a text. */
  readonly refusesNul?: true
  /** How texts are put together, so that null stays null. */
  readonly concatenate: (...texts: string[]) => string
  /** How a number of days is added to a date, where literals of an interval are usual. */
  readonly addDays?: (variable: string) => string
  /** In the order in which they are tried. */
  readonly quotes: readonly Quotes[]
  /** The mark that opens a dollar-quoted literal, and closes it. */
  readonly dollarQuote?: RegExp
  readonly lineComment: RegExp
  readonly nestedComments?: true
  /** A comment may stay open at the end of the statement. */
  readonly openComments?: true
  /** A name or a number, with all that would join it. */
  readonly word: RegExp
  /** What the database would take for a parameter beside those that are bound. */
  readonly ownPlaceholder: RegExp
  /** What the database's versions and settings, or its drivers, read differently: in code, in a word, in a comment. */
  readonly ambiguous?: RegExp
  readonly ambiguousWord?: RegExp
  readonly ambiguousComment?: RegExp
  /** Whether drivers look for `?` in literals, identifiers and comments too. */
  readonly placeholdersEverywhere?: true
}

const text: Quotes = { holds: 'literal', open: "'", close: "'", doubled: true }
const identifier: Quotes = { holds: 'identifier', open: '"', close: '"', doubled: true }
const backticks: Quotes = { holds: 'identifier', open: '`', close: '`', doubled: true }

/** Any character beyond ASCII counts as one of a word, as in PostgreSQL: so it is never mistaken for white space. */
const word = /[\w$\u0080-\uffff]+/y

const concatenate = (...texts: string[]) => texts.join(' || ')
const callConcat = (...texts: string[]) => `CONCAT(${texts.join(', ')})`
const interval = (variable: string) => `+ INTERVAL ${variable} DAY`
const questionMark = () => '?'

/** As it is since 9.1: with standard_conforming_strings on, a backslash escapes in E'…' only. */
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
  // What is left of $ here opens no literal: it is a parameter, or an error.
  ownPlaceholder: /\$\d*/y,
}

/** With its default sql_mode: a backslash escapes, and "…" is a literal. Without ANSI_QUOTES, NO_BACKSLASH_ESCAPES. */
const mysql: Dialect = {
  placeholder: questionMark,
  maxValues: 65_535,
  concatenate: callConcat,
  addDays: interval,
  quotes: [{ ...text, backslash: true }, { ...identifier, holds: 'literal', backslash: true }, backticks],
  // Two minus signs open a comment only before white space or a control character. A variable there is refused too.
  lineComment: /#|--(?=[\0- \x7f]|\{\{|$)/y,
  word,
  ownPlaceholder: /\?/y,
  // Beyond ASCII it depends on the connection's character set what is white space. What is in /*! … */ and /*M! … */ is
  // code or not by the server's version.
  ambiguous: /--[\u0080-\uffff]|\/\*M?!/iy,
  // The quotes of a hint may hold the end of the comment.
  ambiguousComment: /\/\*\+[^]*['"`]/y,
  // mysql, and query() of mysql2, replace every ? themselves: in a literal, the value would become code.
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
  // 2,100, less the two that sp_executesql takes for itself.
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
  // In raw literals a backslash stays, but a quote after it does not end them either. So the prefixes r and b change
  // nothing of where a literal ends.
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
  // Whether comments nest is not documented.
  ambiguousComment: /\/\*[^]*\/\*/y,
}

export const dialects = { postgresql, mysql, sqlite, sqlserver, bigquery, snowflake } satisfies Record<
  string,
  Dialect
>
