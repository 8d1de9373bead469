import type { Token } from './scanner.ts'

/** What makes of parentheses a query, whose items are columns. */
const queryWords = new Set(['select', 'with', 'values', 'table', 'from'])

/** What says how many rows there are. SQL Server's TOP is none of them: it refuses null and what is below zero. */
const countWords = new Set(['limit', 'offset', 'fetch'])
/** What may stand between such a word, or `(`, and the number. */
const beforeCount = new Set(['first', 'next', 'cast', 'coalesce', 'ifnull'])
/** Give the next of their arguments in place of null. */
const nullHandlers = new Set(['coalesce', 'ifnull'])
/** What comes after a column, and never before a number of rows. */
const afterColumn = new Set(['in', 'not', 'and', 'or', 'is', 'between', 'like', 'as', 'desc'])

interface Bracket {
  /** The word before it. */
  readonly head: string | undefined
  /** Whether it stands in a `LIMIT`, `OFFSET` or `FETCH`. */
  readonly isInCount: boolean
  /** Whether what stands directly in it, between commas, are the items of an `IN ( … )`. */
  holdsItems: boolean
  /** Whether a `LIMIT`, `OFFSET` or `FETCH` stands directly in it, and goes on. */
  counts: boolean
}

/** Follows the brackets of a statement, to tell where the items of an `IN ( … )` are, and where rows are counted. */
export class Brackets {
  readonly #open: [Bracket, ...Bracket[]] = [
    { head: undefined, isInCount: false, holdsItems: false, counts: false },
  ]
  #beforeLast: Token | undefined
  #last: Token | undefined
  #isAtCount = false

  /** Whether the place after the tokens so far, with `next` behind it, is an item of an `IN ( … )` as a whole. */
  isItem(next: Token | undefined): boolean {
    return this.#current.holdsItems && isOneOf('(,', this.#last) && isOneOf(',)', next)
  }

  /** Whether a number of rows begins at the place after the tokens so far. */
  isCount(): boolean {
    return this.#isAtCount
  }

  /** Whether null at that place could become the number of rows. */
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
    // Some databases allow a column of that name.
    return countWords.has(this.#last?.text ?? '') && (/^[^\w(]/.test(text) || afterColumn.has(text))
  }

  /** `IN` is no operator in `position(a IN b)`, and a name after a dot. */
  #isAfterIn(around: Bracket): boolean {
    return this.#last?.text === 'in' && this.#beforeLast?.text !== '.' && around.head !== 'position'
  }
}

function isOneOf(characters: string, token: Token | undefined): boolean {
  return token?.text.length === 1 && characters.includes(token.text)
}
