import type { Token } from './scanner.ts'

/** Words that make parentheses a query, whose items are columns. */
const queryWords = new Set(['select', 'with', 'values', 'table', 'from'])

interface Bracket {
  /** The word before it. */
  readonly head: string
  /** True if its direct, comma-separated contents are the items of an `IN ( … )`. */
  holdsItems: boolean
}

/** Tracks the brackets of a statement, to recognize items of `IN ( … )` and arguments that may be arrays. */
export class Brackets {
  readonly #open: [Bracket, ...Bracket[]] = [{ head: '', holdsItems: false }]
  #beforeLast: Token | undefined
  #last: Token | undefined

  /** Returns true if the position before `next` is a whole item of an `IN ( … )`. */
  isItem(next: Token | undefined): boolean {
    return this.#current.holdsItems && isOneOf('(,', this.#last) && isOneOf(',)', next)
  }

  /** Returns true if the position before `next` is the only argument of one of the words, perhaps with a `::type`. */
  isArgumentOf(words: readonly string[], next: Token | undefined): boolean {
    return words.includes(this.#current.head) && isOneOf('(', this.#last) && isOneOf(':)', next)
  }

  take(token: Token): void {
    const current = this.#current
    if (isOneOf('([{', token)) {
      this.#open.push({
        head: token.text === '(' ? (this.#last?.text ?? '') : '',
        holdsItems: token.text === '(' && this.#isAfterIn(current),
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

  /** `IN` is not an operator in `position(a IN b)`, nor as a name after a dot. */
  #isAfterIn(around: Bracket): boolean {
    return this.#last?.text === 'in' && this.#beforeLast?.text !== '.' && around.head !== 'position'
  }
}

function isOneOf(characters: string, token: Token | undefined): boolean {
  return token?.text.length === 1 && characters.includes(token.text)
}
