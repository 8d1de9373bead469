import { endOfEnclosed } from '../enclosed.ts'
import { TemplateError, type TemplateErrorCode } from '../template-error.ts'
import { unsupportedOpening } from '../unsupported-syntax.ts'
import { readVariable, type Variable } from '../variables.ts'
import { unicodeSpace, type Dialect, type Quotes } from './dialects.ts'

/** A token of a statement's code. White space and comments are not tokens. */
export interface Token {
  readonly start: number
  readonly end: number
  /** A word in lower case, `[[`, `|>` where it is an operator, or any other single character. Empty for enclosed text and for variables. */
  readonly text: string
  readonly quotes?: Quotes
  readonly variable?: Variable
}

/** Characters that may touch a variable: none of them can form one token with a placeholder or a value. */
const mayPrecede = /[ \t\r\n(),;=<>+\-*/%|&^~![\]]/
const mayFollow = /[ \t\r\n(),;=<>+\-*/%|&^~![\]:]/
/** Characters that may touch an identifier. Others could form a prefix such as `U&`. */
const mayPrecedeIdentifier = /[ \t\r\n(,.]/
const mayFollowIdentifier = /[ \t\r\n(),.;=<>+\-*/%|]/

/**
 * Splits a template into tokens by the lexical rules of one dialect, in one pass. It need not understand the statement,
 * but must never be wrong about where a literal, an identifier or a comment begins and ends. Refuses syntax that
 * versions or settings of the database interpret differently.
 */
export class Scanner {
  readonly #template: string
  readonly #dialect: Dialect
  #offset = 0
  #last: Token | undefined

  constructor(template: string, dialect: Dialect) {
    this.#template = template
    this.#dialect = dialect
    const nul = template.indexOf('\0')
    if (nul !== -1) {
      throw this.#error('malformed_template', 'A statement cannot contain U+0000: remove it', nul)
    }
    // On the wire all of them become one character, so two different dollar quotes would become equal.
    const half = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.exec(template)
    if (half !== null) {
      throw this.#error(
        'malformed_template',
        'A statement cannot contain half of a character (a lone surrogate): remove it',
        half.index,
      )
    }
  }

  /** Returns the next token, or undefined at the end. */
  next(): Token | undefined {
    this.#skipToCode()
    if (this.#offset >= this.#template.length) return undefined
    this.#refuseUnsupported()
    const token =
      this.#variable() ??
      this.#clauseOpening() ??
      this.#dollarQuoted() ??
      this.#quoted() ??
      this.#word() ??
      this.#character()
    this.#offset = token.end
    this.#last = token
    return token
  }

  /** Skips white space and comments. */
  #skipToCode(): void {
    const { lineComment } = this.#dialect
    for (; this.#offset < this.#template.length; this.#offset++) {
      if (/[ \t\r\n\f\v]/.test(this.#template.charAt(this.#offset))) continue
      this.#refuseAmbiguous(this.#dialect.ambiguous, this.#template, this.#offset)
      if (this.#match(lineComment) !== undefined) this.#skipLineComment()
      else if (this.#template.startsWith('/*', this.#offset)) this.#skipBlockComment()
      else break
      // Compensates for the increment of the loop.
      this.#offset--
    }
  }

  #skipLineComment(): void {
    const start = this.#offset
    const newline = this.#template.indexOf('\n', start)
    this.#offset = newline === -1 ? this.#template.length : newline
    const other = /\r(?!$)|[\v\f\u0085\u2028\u2029]/.exec(this.#template.slice(start, this.#offset))
    if (other !== null) {
      throw this.#error(
        'malformed_template',
        'The comment contains a line break that ends it only in some databases: write a line feed',
        start + other.index,
      )
    }
    this.#checkEnclosed('comment', start, this.#offset)
    this.#refuseAmbiguous(this.#dialect.ambiguousComment, this.#template.slice(start, this.#offset), 0)
  }

  #skipBlockComment(): void {
    const { nestedComments = false, openComments = false, ambiguousComment } = this.#dialect
    const start = this.#offset
    const marks = nestedComments ? /\/\*|\*\//g : /\*\//g
    marks.lastIndex = start + 2
    let depth = 1
    while (depth > 0) {
      const mark = marks.exec(this.#template)?.[0]
      if (mark === undefined) {
        if (!openComments) throw this.#unterminated('comment', start)
        marks.lastIndex = this.#template.length
        depth = 0
      } else depth += mark === '/*' ? 1 : -1
    }
    const end = marks.lastIndex
    this.#refuseAmbiguous(ambiguousComment, this.#template.slice(start, end), 0)
    this.#checkEnclosed('comment', start, end)
    this.#offset = end
  }

  #variable(): Token | undefined {
    const template = this.#template
    const start = this.#offset
    if (!template.startsWith('{{', start)) return undefined
    const variable = readVariable(template, start, '{ {')
    const { name, end } = variable
    if (this.#touches(variable)) {
      throw this.#error(
        'variable_touches_text',
        `${name} touches text that could form one token with it: put white space or parentheses around ${written(variable)}`,
        start,
        name,
      )
    }
    return { start, end, text: '', variable }
  }

  #touches({ offset: start, end, form }: Variable): boolean {
    const template = this.#template
    const { quotes } = this.#dialect
    const [before, after] =
      form === 'identifier' ? [mayPrecedeIdentifier, mayFollowIdentifier] : [mayPrecede, mayFollow]
    if (start > 0 && !before.test(template.charAt(start - 1))) return true
    if (end < template.length && !after.test(template.charAt(end))) return true
    // [ and ] are quotes in some dialects and operators in others.
    if (this.#last?.quotes !== undefined && this.#last.end === start) return true
    return quotes.some(({ open }) => template.startsWith(open, end))
  }

  /** `[[` opens an optional clause in every dialect, before any other meaning of brackets. */
  #clauseOpening(): Token | undefined {
    const start = this.#offset
    return this.#template.startsWith('[[', start) ? { start, end: start + 2, text: '[[' } : undefined
  }

  #dollarQuoted(): Token | undefined {
    const { dollarQuote } = this.#dialect
    const mark = dollarQuote && this.#match(dollarQuote)
    if (mark === undefined) return undefined
    return this.#enclosed({ holds: 'literal', open: mark, close: mark })
  }

  #quoted(): Token | undefined {
    const quotes = this.#dialect.quotes.find(({ open }) => this.#template.startsWith(open, this.#offset))
    if (quotes === undefined) return undefined
    const before = this.#last?.quotes
    // PostgreSQL continues E'…' in the next '…' after a line break, by the rules of the first.
    if (before?.holds === 'literal' && quotes.holds === 'literal' && before.backslash !== quotes.backslash) {
      throw this.#error(
        'malformed_template',
        'This literal continues the one before it, by different rules: write both as one',
      )
    }
    if (quotes.ambiguousBackslash) this.#refuseAmbiguousEnd(quotes)
    return this.#enclosed(quotes)
  }

  /** Refuses enclosed text that ends at another place depending on whether a backslash escapes. */
  #refuseAmbiguousEnd({ open, close, doubled }: Quotes): void {
    const start = this.#offset + open.length
    const rules = { close, ...(doubled && { doubled }) }
    const end = endOfEnclosed(this.#template, start, rules)
    if (end === endOfEnclosed(this.#template, start, { ...rules, backslash: true })) return
    throw this.#error(
      'malformed_template',
      'Versions or settings of the database disagree whether a backslash escapes the quote: write it in another way',
    )
  }

  #enclosed(quotes: Quotes): Token {
    const start = this.#offset
    const end = endOfEnclosed(this.#template, start + quotes.open.length, quotes)
    if (end === undefined) throw this.#unterminated(quotes.holds, start)
    this.#checkEnclosed(quotes.holds, start, end)
    return { start, end, text: '', quotes }
  }

  #word(): Token | undefined {
    this.#refuseOwnPlaceholder()
    const word = this.#match(this.#dialect.word)
    if (word === undefined) return undefined
    const start = this.#offset
    const end = start + word.length
    this.#refuseAmbiguous(this.#dialect.ambiguousWord, word, 0)
    this.#refuseAmbiguous(unicodeSpace, word, 0)
    const touched = this.#template.charAt(end)
    if (/^\d/.test(word) && (/['"`]/.test(touched) || touched === '$' || word.includes('$'))) {
      throw this.#error('malformed_template', 'Put white space between the number and what follows')
    }
    return { start, end, text: word.toLowerCase() }
  }

  #character(): Token {
    const start = this.#offset
    if (this.#template.startsWith('}}', start)) {
      throw this.#error('malformed_template', '}} does not close a variable: write literal braces as } }')
    }
    const isPipe = this.#dialect.pipes && this.#template.startsWith('|>', start)
    const text = isPipe ? '|>' : this.#template.charAt(start)
    return { start, end: start + text.length, text }
  }

  #refuseUnsupported(): void {
    const advice = unsupportedOpening(this.#template, this.#offset)
    if (advice !== undefined) throw this.#error('malformed_template', advice)
  }

  #refuseOwnPlaceholder(): void {
    const own = this.#match(this.#dialect.ownPlaceholder)
    if (own === undefined) return
    throw this.#error(
      'placeholder_in_template',
      `${own} is a placeholder of the database and would be confused with those of the variables: ` +
        'write a variable, or the value itself',
    )
  }

  #refuseAmbiguous(pattern: RegExp | undefined, text: string, offset: number): void {
    if (pattern === undefined) return
    pattern.lastIndex = offset
    if (!pattern.test(text)) return
    throw this.#error(
      'malformed_template',
      'Versions or settings of the database interpret this differently: write it in another way, or remove it',
    )
  }

  /** Refuses variables in a literal, an identifier or a comment. */
  #checkEnclosed(what: 'literal' | 'identifier' | 'comment', start: number, end: number): void {
    const enclosed = this.#template.slice(start, end)
    const braces = enclosed.indexOf('{{')
    if (braces !== -1) {
      const name = nameAt(this.#template, start + braces)
      throw this.#error(`variable_in_${what}`, this.#remedy(what, name), start + braces, name)
    }
    if (this.#dialect.placeholdersEverywhere && enclosed.includes('?')) {
      throw this.#error(
        'placeholder_in_template',
        `Some drivers replace every ?, in ${what === 'identifier' ? 'an' : 'a'} ${what} too: ` +
          (what === 'literal' ? 'write CHAR(63) and concatenate with CONCAT' : 'remove it'),
        start + enclosed.indexOf('?'),
      )
    }
  }

  #remedy(what: 'literal' | 'identifier' | 'comment', name: string | undefined): string {
    if (name === undefined) return this.#remedyForBraces(what)
    const variable = `{{ ${name} }}`
    if (what === 'comment') return `${variable} is in a comment: remove it`
    if (what === 'identifier') {
      return `${variable} is in a quoted identifier: write the name, CASE over variables, or {{ identifier ${name} }} without quotes`
    }
    const { concatenate, addDays } = this.#dialect
    const type = this.#last?.text ?? ''
    if (type === 'interval' && addDays) {
      return `${variable} is in a literal: bind only the number, as in ${addDays(variable)}`
    }
    if (/^(date|time|datetime|timestamp|timestamptz)$/.test(type)) {
      const typed = type === 'date' ? `{{ date ${name} }}` : `CAST(${variable} AS ${type})`
      return `${variable} is in a literal: write ${typed} instead of ${type} '…'`
    }
    return (
      `${variable} is in a literal: write it without the quotes, as in region = ${variable}; ` +
      `for a pattern, LIKE ${concatenate("'%'", variable, "'%'")}; write literal braces as { {`
    )
  }

  #remedyForBraces(what: 'literal' | 'identifier' | 'comment'): string {
    const place = what === 'identifier' ? 'quoted identifier' : what
    const opens = `{{ opens a variable, in a ${place} too, but none follows`
    if (what === 'comment') return `${opens}: write { {`
    if (what === 'identifier') return `${opens}: use a name without {{`
    return (
      `${opens}: put white space between the braces if that changes nothing, as in '{ {1,2},{3,4}}', ` +
      `or concatenate the literal, as in ${this.#dialect.concatenate("'{'", "'{1,2}'")}`
    )
  }

  #unterminated(what: string, start: number): TemplateError {
    return this.#error('malformed_template', `The ${what} that begins here is not closed`, start)
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#offset
    return pattern.exec(this.#template)?.[0]
  }

  #error(code: TemplateErrorCode, message: string, offset = this.#offset, variable?: string): TemplateError {
    return new TemplateError(code, message, { template: this.#template, offset }, variable)
  }
}

function written({ name, form }: Variable): string {
  return form === undefined ? `{{ ${name} }}` : `{{ ${form} ${name} }}`
}

function nameAt(template: string, offset: number): string | undefined {
  try {
    return readVariable(template, offset, '{ {').name
  } catch (error) {
    // Name an unknown variable too, if it is well-formed.
    return error instanceof TemplateError ? error.variable : undefined
  }
}
