import type { Token } from './scanner.ts'

/** Words that make parentheses a query, whose items are columns. */
const queryWords = new Set(['select', 'with', 'values', 'table', 'from'])

/** Words that introduce a row count. SQL Server's TOP is missing because it refuses null and negative numbers. */
const countWords = new Set(['limit', 'offset', 'fetch'])
/** Words that may appear between such a word, or `(`, and the number. */
const beforeCount = new Set(['first', 'next', 'cast', 'coalesce', 'ifnull'])
/** Functions that replace null by their next argument. */
const nullHandlers = new Set(['coalesce', 'ifnull'])
/** Words that follow a column, and never precede a row count. */
const afterColumn = new Set(['in', 'not', 'and', 'or', 'is', 'between', 'like', 'as', 'desc'])

interface Bracket {
  /** The word before it. */
  readonly head: string | undefined
  /** True inside a `LIMIT`, `OFFSET` or `FETCH`. */
  readonly isInCount: boolean
  /** True if its direct, comma-separated contents are the items of an `IN ( … )`. */
  holdsItems: boolean
  /** True while a `LIMIT`, `OFFSET` or `FETCH` directly inside it continues. */
  counts: boolean
}

/** Tracks the brackets of a statement, to recognize items of `IN ( … )` and row counts. */
export class Brackets {
  readonly #open: [Bracket, ...Bracket[]] = [
    { head: undefined, isInCount: false, holdsItems: false, counts: false },
  ]
  #beforeLast: Token | undefined
  #last: Token | undefined
  #isAtCount = false

  /** Returns true if the position before `next` is a whole item of an `IN ( … )`. */
  isItem(next: Token | undefined): boolean {
    return this.#current.holdsItems && isOneOf('(,', this.#last) && isOneOf(',)', next)
  }

  /** Returns true if a row count begins at the current position. */
  isCount(): boolean {
    return this.#isAtCount
  }

  /** Returns true if null at the current position could become the row count. */
  makesNullCount(next: Token | undefined): boolean {
    const { head, isInCount, counts } = this.#current
    return (isInCount || counts) && !(nullHandlers.has(head ?? '') && isOneOf(',', next))
  }

  take(token: Token): void {
    const current = this.#current
    this.#followCount(token, current)
    if (isOneOf('([{', token)) {
      this.#open.push({
        head: this.#last?.text,
        isInCount: current.isInCount || current.counts,
        holdsItems: token.text === '(' && this.#isAfterIn(current),
        counts: false,
      })
    } else if (isOneOf(')]}', token)) {
      if (this.#open.length > 1) this.#open.pop()
    } else if (queryWords.has(token.text)) current.holdsItems = false
    this.#beforeLast = this.#last
    this.#last = token
  }

  get #current(): Bracket {
    return this.#open.at(-1) ?? this.#open[0]
  }

  #followCount(token: Token, current: Bracket): void {
    const { text } = token
    if (countWords.has(text) && !['.', 'as', 'with'].includes(this.#last?.text ?? '')) {
      current.counts = true
      this.#isAtCount = true
      return
    }
    if (current.counts && this.#endsCount(token)) current.counts = false
    const isNextArgument =
      text === ',' && (current.counts || (current.isInCount && nullHandlers.has(current.head ?? '')))
    const isStillBefore = this.#isAtCount && (text === '(' || beforeCount.has(text))
    this.#isAtCount = (current.counts || current.isInCount) && (isNextArgument || isStillBefore)
  }

  #endsCount({ text }: Token): boolean {
    if (queryWords.has(text) || [';', '|', 'where'].includes(text)) return true
    // Some databases allow a column with that name.
    return countWords.has(this.#last?.text ?? '') && (/^[^\w(]/.test(text) || afterColumn.has(text))
  }

  /** `IN` is not an operator in `position(a IN b)`, nor as a name after a dot. */
  #isAfterIn(around: Bracket): boolean {
    return this.#last?.text === 'in' && this.#beforeLast?.text !== '.' && around.head !== 'position'
  }
}

function isOneOf(characters: string, token: Token | undefined): boolean {
  return token?.text.length === 1 && characters.includes(token.text)
}
