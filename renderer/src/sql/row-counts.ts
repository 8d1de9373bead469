import type { Token } from './scanner.ts'
import { wordsOf } from './tokens.ts'

/** Words that introduce a row count. */
const countWords = new Set(['limit', 'offset', 'fetch', 'top'])
/** After these, such a word is a name. PostgreSQL accepts none of the words as a column alias without AS. */
const beforeName = new Set([':', '(', '[', '=', '<', '/', '+', '-', 'as', 'where', 'on', 'having'])
/** Before these, such a word is a name: none of them begins an expression, also not as the name of a function. */
const afterName = new Set(['=', '<', '>', ',', ')', 'in', 'and', 'or', 'between', 'as'])
/** Words that end a row count. They are reserved, and no expression contains them outside parentheses. */
const ends = new Set([';', '|>', 'select', 'union', 'intersect', 'except', 'from', 'where'])
/** Tokens that may follow a row count. None of them is an operator. */
const afterCount = wordsOf(`
  ; |> ) , limit offset fetch row rows with by for union intersect except lock settings format into on returning
`)

interface Level {
  /** The whole bracket is part of a row count. */
  readonly isInside: boolean
  /** The bracket after TOP. */
  readonly isTop: boolean
  /** The word whose row count, directly inside this bracket, continues. */
  count: string | undefined
}

/**
 * Finds row counts (`LIMIT`, `OFFSET`, `FETCH`, `TOP`). Databases interpret null, negative numbers or '' there as all rows, and
 * an expression can turn any value into one of these. So a variable must be the whole row count, and its value a number.
 */
export class RowCounts {
  readonly #levels: [Level, ...Level[]] = [{ isInside: false, isTop: false, count: undefined }]
  #beforeLast: Token | undefined
  #last: Token | undefined
  /** The last token introduces a row count. */
  #isAfterWord = false
  /** The count that continued before the last word. */
  #before: string | undefined

  /** Returns whether a variable between the tokens so far and `next` is a whole row count, or part of one. */
  placeBefore(next: Token | undefined): 'whole' | 'part' | undefined {
    const { isInside, isTop, count } = this.#level
    const last = this.#last?.text
    if (!isInside && count === undefined && !this.#isAfterWord) return undefined
    if (isTop) return last === '(' && next?.text === ')' ? 'whole' : 'part'
    if (isInside || last === 'top' || (next !== undefined && !afterCount.has(next.text))) return 'part'
    if (count === 'fetch') {
      const isFirst = last === 'first' || last === 'next'
      return isFirst && this.#beforeLast?.text === 'fetch' ? 'whole' : 'part'
    }
    return (this.#isAfterWord && last !== '!') || (count === 'limit' && last === ',') ? 'whole' : 'part'
  }

  take(token: Token): void {
    const { text } = token
    const level = this.#level
    const wasAfterWord = this.#isAfterWord
    if (wasAfterWord && this.#provesName(text)) level.count = this.#before
    // IS DISTINCT FROM is an operator, and after a dot every word is a name.
    const isPart = this.#last?.text === '.' || (text === 'from' && this.#last?.text === 'distinct')
    if (ends.has(text) && !isPart) level.count = undefined
    // The first half of `!=`.
    this.#isAfterWord = wasAfterWord && text === '!'
    if (this.#introduces(text)) this.#introduce(text, level)
    else this.#followBrackets(text, level, wasAfterWord)
    this.#beforeLast = this.#last
    this.#last = token
  }

  get #level(): Level {
    return this.#levels.at(-1) ?? this.#levels[0]
  }

  #provesName(text: string): boolean {
    return this.#last?.text === '!' ? text === '=' : afterName.has(text)
  }

  #introduces(text: string): boolean {
    if (!countWords.has(text)) return false
    const last = this.#last?.text ?? ''
    if (text === 'top') return ['select', 'distinct', 'all'].includes(last)
    // Not the dot of a number such as `1.`.
    const isQualified = last === '.' && !/^\d/.test(this.#beforeLast?.text ?? '')
    // After these, reserved words are names, as in `ORDER BY a.on LIMIT 1`.
    const isLastName = ['.', 'as'].includes(this.#beforeLast?.text ?? '')
    return !isQualified && (isLastName || !beforeName.has(last))
  }

  #introduce(text: string, level: Level): void {
    this.#before = level.count
    this.#isAfterWord = true
    // TOP ends with its bracket or with the next token.
    if (text !== 'top') level.count = text
  }

  #followBrackets(text: string, { isInside, count }: Level, isAfterWord: boolean): void {
    if (text === '(' || text === '[' || text === '{') {
      const isInCount = isInside || count !== undefined
      const isTop = isAfterWord && this.#last?.text === 'top'
      this.#levels.push({ isInside: isInCount || isTop, isTop: isTop && !isInCount, count: undefined })
    } else if ((text === ')' || text === ']' || text === '}') && this.#levels.length > 1) this.#levels.pop()
  }
}
