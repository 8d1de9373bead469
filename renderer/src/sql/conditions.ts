import { isTokenVariable, type Variable } from '../variables.ts'
import { ComparisonReader, reserved, type Comparison } from './comparisons.ts'
import type { Dialect } from './dialects.ts'
import { wordsOf, type Statement } from './tokens.ts'

/** The uses of the variables of a statement. */
export interface Conditions {
  /** In the order of their first tokens. */
  readonly comparisons: readonly Comparison[]
  /** The variables of the user group that the statement only returns or stores. */
  readonly returned: ReadonlySet<Variable>
  /** The variables before `IS NULL` and `IS NOT NULL`. */
  readonly nullTests: ReadonlySet<Variable>
}

const none: Conditions = { comparisons: [], returned: new Set(), nullTests: new Set() }

/** Decides whether `name = value` after a comma or a bracket can be a comparison. */
type List = 'expressions' | 'conditions' | 'aliases' | 'assignments'

/** Lists that begin with a word. */
const lists = new Map(
  Object.entries({
    expressions: 'select by returning values',
    conditions: 'where on having qualify prewhere',
    assignments: 'set update with settings option options from join apply using into |>',
  }).flatMap(([list, words]) => [...wordsOf(words)].map((word) => [word, list as List])),
)

/** Finds the comparisons of a statement, and the variables that it only returns or stores. */
export function findConditions(statement: Statement, dialect: Dialect): Conditions {
  const { words, tokens } = statement
  if (!tokens.some(({ variable }) => variable !== undefined)) return none
  const reader = new ComparisonReader(statement, dialect, isGuarded)
  const returned = new ReturnedValues(statement, dialect.pipesMeanOr ? /^[\d(),:.[\]]/ : /^[\d(),:.|[\]]/)
  const comparisons: Comparison[] = []
  const nullTests = new Set<Variable>()
  // For each open bracket and each open CASE: how many BETWEEN lack their AND.
  const levels: Level[] = [{ isCase: false, betweens: 0, list: 'assignments' }]
  let mayBegin = true
  for (const [index, word] of words.entries()) {
    const level = levels.at(-1) ?? { isCase: false, betweens: 0, list: 'assignments' }
    if (mayBegin) {
      const comparison = reader.read(index)
      if (comparison !== undefined) comparisons.push(comparison)
      const variable = statement.variable(index)
      if (variable !== undefined && reader.isNullTest(index)) nullTests.add(variable)
    }
    level.list = listAfter(word, level.list, dialect)
    if (word === '(' || word === '[' || word === '{') {
      const holdsExpressions = mayBegin || level.list !== 'assignments'
      levels.push({ isCase: false, betweens: 0, list: holdsExpressions ? 'expressions' : 'assignments' })
    } else if (word === ')' || word === ']' || word === '}') {
      // CASE may be a name, which no END follows.
      while (levels.length > 1 && levels.pop()?.isCase);
    } else if (word === 'case') levels.push({ isCase: true, betweens: 0, list: 'conditions' })
    else if (word === 'end' && level.isCase) levels.pop()
    else if (word === 'between') level.betweens++
    mayBegin = reader.isBeforeExpression(index)
    if (word === 'and' && level.betweens > 0) {
      level.betweens--
      mayBegin = false
    } else if (word === ',' || word === '(') mayBegin = levels.at(-1)?.list === 'expressions'
    else if (word === 'select' || word === 'distinct' || word === 'all') mayBegin &&= level.list !== 'aliases'
    if (levels.length === 1) returned.take(index)
  }
  return { comparisons, returned: returned.end(), nullTests }
}

interface Level {
  readonly isCase: boolean
  betweens: number
  list: List
}

function listAfter(word: string, list: List, { aliasesByEquals }: Dialect): List {
  if (word === ',' && list === 'conditions') return 'assignments'
  return word === 'select' && aliasesByEquals ? 'aliases' : (lists.get(word) ?? list)
}

/** Returns true for variables whose texts must be compared exactly, because they tell user groups apart. */
export function isComparedExactly(variable: Variable): boolean {
  return isTokenVariable(variable) && variable.form === undefined && variable.path[1] !== 'team_id'
}

/** Returns true for variables whose comparisons are made exact: texts that tell user groups apart, and their numbers. */
export function isGuarded(variable: Variable): boolean {
  return isComparedExactly(variable) || (isTokenVariable(variable) && variable.form === 'number')
}

/** Statements that return or store the items of their lists. */
const firstWords = new Set(['select', 'with', 'values', 'from', 'insert', 'explain', '('])
/** Words that end a list of returned or stored items. */
const listEnds = wordsOf(`
  from into where group having qualify window order limit offset fetch union intersect except minus on set returning
  |> prewhere settings format
`)
/** Functions that read no rows. Others may compare their arguments with columns, or run them as SQL. */
const pureFunctions = wordsOf(`
  cast coalesce concat concat_ws format ifnull initcap isnull json_build_object json_object jsonb_build_object left
  length lower ltrim nvl replace right rtrim set_config substr substring to_json to_jsonb to_variant trim try_cast
  unnest upper
`)
/** Words before a literal that belong to it. */
const prefixes = /^(?:date|time|timestamp|timestamptz|datetime|interval|[nrbxe]|_\w+)$/
/** Words after the first of a type. */
const typeWords = /^(?:precision|varying|with|without|time|zone|integer|character|char|set|utf8\w*)$/
/** Words without quotes that are no columns. */
const noColumns =
  /^(?:null|true|false|distinct|all|top|as|collate|at|time|zone|current_date|current_time|current_timestamp)$/

/**
 * Finds the items of a statement's SELECT list or VALUES that contain variables of the token and no column. Nothing
 * in such an item can be compared with a column, unless another part of the statement names it.
 */
class ReturnedValues {
  readonly #statement: Statement
  readonly #symbols: RegExp
  readonly #returned = new Set<Variable>()
  readonly #named: { readonly name: string; readonly variables: readonly Variable[] }[] = []
  readonly #isUsable: boolean
  /** The first token of the item, if the position is in a list. */
  #start: number | undefined
  #mayCompare = false

  /** @param symbols numbers and symbols that neither compare nor convert */
  constructor(statement: Statement, symbols: RegExp) {
    this.#statement = statement
    this.#symbols = symbols
    this.#isUsable = firstWords.has(statement.words[0] ?? '')
  }

  /** Takes a token outside brackets and CASE, or one that closes the last bracket or CASE. */
  take(index: number): void {
    const { words } = this.#statement
    const word = words[index] ?? ''
    // What another statement stores can be compared later.
    if (word === 'into' && words[0] !== 'insert') this.#mayCompare = true
    // INSERT OR REPLACE, ON CONFLICT and ON DUPLICATE KEY compare with the stored rows.
    if (word === 'or' || word === 'conflict' || word === 'duplicate')
      this.#mayCompare ||= words[0] === 'insert'
    if (
      word === 'intersect' ||
      word === 'minus' ||
      (word === 'except' && !this.#statement.isColumnExclusion(index))
    )
      this.#mayCompare = true
    if (word === ',' || listEnds.has(word)) {
      this.#finishItem(index)
      if (word !== ',') this.#start = undefined
    } else if (word === 'select' || word === 'values') this.#start = index + 1
  }

  end(): ReadonlySet<Variable> {
    const { words, tokens } = this.#statement
    this.#finishItem(tokens.length)
    if (this.#mayCompare || !this.#isUsable) return new Set()
    if (this.#named.length > 0) {
      const uses = new Map<string, number>()
      for (const index of words.keys()) {
        const name = this.#statement.nameAt(index)
        uses.set(name, (uses.get(name) ?? 0) + 1)
      }
      for (const { name, variables } of this.#named)
        if ((uses.get(name) ?? 0) > 1) for (const variable of variables) this.#returned.delete(variable)
    }
    return this.#returned
  }

  #finishItem(end: number): void {
    if (this.#start === undefined) return
    const start = this.#start
    this.#start = end + 1
    const { words } = this.#statement
    const variables: Variable[] = []
    let alias: string | undefined
    let isType = false
    let endOfArguments = start
    for (let index = start; index < end; index++) {
      const variable = this.#statement.variable(index)
      const word = words[index] ?? ''
      // The argument of a function. The words before other brackets, such as IN, count too.
      if (
        word === '(' &&
        index > start &&
        this.#statement.isName(index - 1) &&
        !pureFunctions.has(words[index - 1] ?? '')
      )
        endOfArguments = Math.max(endOfArguments, this.#statement.closing(index))
      if (variable !== undefined && isComparedExactly(variable)) {
        if (index < endOfArguments) return
        variables.push(variable)
      }
      const isName = this.#statement.isName(index)
      if (!isName && word !== '' && !this.#symbols.test(word)) return
      // The words of a type follow `::` or AS.
      isType = isName && ([':', 'as'].includes(words[index - 1] ?? '') || (isType && typeWords.test(word)))
      const isLast = index === end - 1 && index > start
      if (isLast && (isName || this.#isLiteral(index)) && this.#isAlias(index))
        alias = this.#statement.nameAt(index)
      else if (isName && !isType && !noColumns.test(word) && !this.#isPrefix(index)) return
    }
    for (const variable of variables) this.#returned.add(variable)
    if (alias !== undefined && variables.length > 0) this.#named.push({ name: alias, variables })
  }

  /** Returns true for the name of a function, and for the type of a literal. */
  #isPrefix(index: number): boolean {
    const word = this.#statement.words[index] ?? ''
    if (this.#isLiteral(index + 1)) return prefixes.test(word)
    return this.#statement.words[index + 1] === '(' && (!reserved.has(word) || pureFunctions.has(word))
  }

  /** Returns true for the name after an expression that is its alias, perhaps a literal. */
  #isAlias(index: number): boolean {
    const { words, tokens } = this.#statement
    if (words[index - 1] === 'as') return true
    const { variable, quotes } = tokens[index - 1] ?? {}
    return (
      words[index - 1] === ')' ||
      variable !== undefined ||
      quotes !== undefined ||
      this.#statement.isName(index - 1)
    )
  }

  #isLiteral(index: number): boolean {
    return this.#statement.tokens[index]?.quotes?.holds === 'literal'
  }
}
