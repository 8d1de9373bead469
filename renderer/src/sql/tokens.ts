import type { Variable } from '../variables.ts'
import type { Dialect } from './dialects.ts'
import { Scanner, type Token } from './scanner.ts'

/** Words that make parentheses a query. */
export const queryWords = new Set(['select', 'with', 'values', 'table', 'from'])

/** The tokens of one statement, with what the passes over them share. The numbers of tokens are indexes. */
export class Statement {
  readonly tokens: readonly Token[]
  /**
   * The text of each token. It is empty for variables and quoted text, and has a dot before a name that follows a dot:
   * such a name is never a keyword.
   */
  readonly words: readonly string[]
  /** By the index of an opening bracket: the index of its closing bracket, or the number of tokens. */
  readonly #closing = new Map<number, number>()

  readonly #template: string

  constructor(template: string, tokens: readonly Token[]) {
    this.#template = template
    this.tokens = tokens
    const open: number[] = []
    this.words = tokens.map(({ text }, index) => {
      if (text === '(' || text === '[' || text === '{') {
        open.push(index)
        this.#closing.set(index, tokens.length)
      } else if (text === ')' || text === ']' || text === '}') {
        const opening = open.pop()
        if (opening !== undefined) this.#closing.set(opening, index)
      } else if (isAfterDot(tokens, index) && /^\w/.test(text)) return `.${text}`
      return text
    })
  }

  /** Returns the index of the bracket that closes the one at the index. */
  closing(index: number): number {
    return this.#closing.get(index) ?? this.tokens.length
  }

  /** Returns the name of the token without its quotes. Databases disagree about its case. */
  nameAt(index: number): string {
    const { start, end, text, quotes } = this.tokens[index] ?? { start: 0, end: 0, text: '' }
    return quotes === undefined
      ? text
      : this.#template.slice(start + quotes.open.length, end - quotes.close.length).toLowerCase()
  }

  /** Returns the text of the token in the template, with quotes. */
  sourceAt(index: number): string {
    const { start, end } = this.tokens[index] ?? { start: 0, end: 0 }
    return this.#template.slice(start, end)
  }

  /** Returns true for EXCEPT that excludes columns, as in `SELECT * EXCEPT (a)`. */
  isColumnExclusion(index: number): boolean {
    const { words } = this
    return words[index - 1] === '*' && words[index + 1] === '(' && !queryWords.has(words[index + 2] ?? '')
  }

  /** Returns true for a name, quoted or not. Keywords are names too. */
  isName(index: number): boolean {
    const token = this.tokens[index]
    if (token?.quotes?.holds === 'identifier' || token?.variable?.form === 'identifier') return true
    return /^\.?(?:[^\W\d]|[\u0080-\uffff])/.test(this.words[index] ?? '')
  }

  variable(index: number): Variable | undefined {
    return this.tokens[index]?.variable
  }

  /** Returns true if nothing, not even white space, is between the token and the next. */
  touchesNext(index: number): boolean {
    return this.tokens[index]?.end === this.tokens[index + 1]?.start
  }
}

/** Splits a template into its statements. A semicolon ends a statement and belongs to none. */
export function statementsOf(template: string, dialect: Dialect): Statement[] {
  const scanner = new Scanner(template, dialect)
  const statements: Statement[] = []
  let tokens: Token[] = []
  const end = () => {
    if (tokens.length > 0) statements.push(new Statement(template, tokens))
    tokens = []
  }
  for (let token = scanner.next(); token !== undefined; token = scanner.next()) {
    if (token.text === ';') end()
    else tokens.push(token)
  }
  end()
  return statements
}

/** Returns true for the name after the dot of `a.b`, not for what follows a number such as `1.`. */
function isAfterDot(tokens: readonly Token[], index: number): boolean {
  return tokens[index - 1]?.text === '.' && !/^\d/.test(tokens[index - 2]?.text ?? '')
}

/** Returns the words of a text. */
export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/))
}
