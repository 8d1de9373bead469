import type { Token } from './scanner.ts'

/** What makes of parentheses a query, whose items are columns. */
const queryWords = new Set(['select', 'with', 'values', 'table', 'from'])

interface Bracket {
  /** The word before it. */
  readonly head: string | undefined
  /** Whether what stands directly in it, between commas, are the items of an `IN ( … )`. */
  holdsItems: boolean
}

/** Follows the brackets of a statement, to tell where the items of an `IN ( … )` are. */
export class Brackets {
  readonly #open: Bracket[] = []
  #beforeLast: Token | undefined
  #last: Token | undefined

  /** Whether the place after the tokens so far, with `next` behind it, is an item of an `IN ( … )` as a whole. */
  isItem(next: Token | undefined): boolean {
    const { holdsItems = false } = this.#open.at(-1) ?? {}
    return holdsItems && isOneOf('(,', this.#last) && isOneOf(',)', next)
  }

  take(token: Token): void {
    const current = this.#open.at(-1)
    if (isOneOf('([{', token)) {
      this.#open.push({
        head: this.#last?.text,
        holdsItems: token.text === '(' && this.#isAfterIn(current),
      })
    } else if (isOneOf(')]}', token)) this.#open.pop()
    else if (current && queryWords.has(token.text)) current.holdsItems = false
    this.#beforeLast = this.#last
    this.#last = token
  }

  /** `IN` is no operator in `position(a IN b)`, and a name after a dot. */
  #isAfterIn(around: Bracket | undefined): boolean {
    return this.#last?.text === 'in' && this.#beforeLast?.text !== '.' && around?.head !== 'position'
  }
}

function isOneOf(characters: string, token: Token | undefined): boolean {
  return token?.text.length === 1 && characters.includes(token.text)
}
