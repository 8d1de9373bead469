import type { Token } from './scanner.ts'
import { endsExpression, reserved, type Comparison } from './comparisons.ts'
import type { Dialect } from './dialects.ts'
import { queryWords, type Statement } from './tokens.ts'

/** Conditions joined by AND. */
interface Conjunction {
  /** The current condition. */
  condition: 'nothing' | 'limit' | 'other'
  hasLimit: boolean
  /** OR joins conditions, too, or another clause may have begun. */
  hasOr: boolean
  /** Number of BETWEEN that lack their AND. */
  betweens: number
}

/** One branch of a UNION. */
interface Branch {
  clause: 'start' | 'list' | 'from' | 'on' | 'where' | 'other'
  /** Only ALL or DISTINCT was before. */
  isEmpty: boolean
  hasLimitInWhere: boolean
  hasLimitInOn: boolean
  hasOuterJoin: boolean
  /** The next token begins a table or a subquery of FROM. */
  expectsSource: boolean
  hasSource: boolean
  /** A table or subquery of FROM is not limited. */
  hasUnlimitedSource: boolean
}

/** A query in brackets, or a whole statement. */
interface Query extends Conjunction {
  readonly kind: 'query'
  branch: Branch
  areOtherBranchesLimited: boolean
  /** The table expressions of WITH, and whether each is limited. */
  readonly expressions: Map<string, boolean>
  /** The name that the next query in brackets defines. */
  defines: string | undefined
  /** The name before the last brackets. */
  nameBeforeBrackets: string
}

/** Brackets that are no query, or a CASE. */
interface Group extends Conjunction {
  readonly kind: 'group' | 'case'
  /** The brackets are a whole condition of a conjunction. */
  readonly isCondition: boolean
}

const setOperations = new Set(['union', 'intersect', 'except', 'minus'])
/** Words before JOIN that keep rows which do not meet the condition. Some are names in some databases. */
const outerJoins = new Set(['left', 'right', 'full', 'outer', 'anti', 'semi', 'asof', 'any'])
const joins = new Set(['join', 'straight_join', 'apply'])
/** Words after a condition that begin another clause, and the word after them. Some are names in some databases. */
const laterClauses = new Map<string, string | undefined>([
  ...['for', 'into', 'qualify', 'returning', 'select', 'set', 'window'].map(
    (word) => [word, undefined] as const,
  ),
  ...['connect', 'cluster', 'sort', 'distribute'].map((word) => [word, 'by'] as const),
  ['start', 'with'],
])
/** Functions in FROM that return no rows of tables. */
const generators = new Set(['generate_series', 'unnest'])

/**
 * Decides whether a statement returns only rows that meet one of some comparisons: each branch of a UNION has one in its
 * WHERE or in the ON of an inner join, joined by AND, or reads only subqueries and table expressions that have one. Returns
 * false if that is not certain.
 */
export class Restriction {
  readonly #statement: Statement
  readonly #limits: ReadonlyMap<number, Comparison>
  readonly #dialect: Dialect
  /** Number of table expressions by name, whatever the case and the quotes. */
  readonly #definitions = new Map<string, number>()
  /** Names of values that the statement computes. Some databases read them in WHERE. */
  readonly #computed = new Set<string>()
  /** Names of constants among them. */
  readonly #constants = new Set<string>()
  /** Index after the last limit. */
  #endOfLimit = 0
  readonly #levels: [Query, ...(Query | Group)[]] = [newQuery()]

  constructor(statement: Statement, limits: readonly Comparison[], dialect: Dialect) {
    this.#statement = statement
    this.#dialect = dialect
    for (const index of statement.words.keys()) this.#takeName(index)
    this.#limits = new Map(
      limits.filter((limit) => this.#isWholeColumn(limit)).map((limit) => [limit.from, limit]),
    )
  }

  isMet(): boolean {
    const { words } = this.#statement
    // The WHERE of ON CONFLICT and of MERGE limits no rows that are inserted.
    const inserts = /^(?:on (?:conflict|duplicate)|when (?:not|matched))$/
    if (words.some((word, index) => inserts.test(`${word} ${words[index + 1] ?? ''}`))) return false
    for (let index = 0; index < words.length; index++) {
      const limit = this.#limits.get(index)
      if (limit !== undefined && this.#isAtCondition()) {
        this.#level.condition = 'limit'
        this.#endOfLimit = limit.to
        index = limit.to - 1
        continue
      }
      const level = this.#level
      const endOfRows =
        level.kind === 'query' && level.branch.expectsSource ? this.#endOfRows(index) : undefined
      if (level.kind === 'query' && endOfRows !== undefined) {
        takeSource(level.branch, true)
        index = endOfRows
      } else this.#take(index, words[index] ?? '')
    }
    return this.#levels.length === 1 && endQuery(this.#levels[0])
  }

  #takeName(index: number): void {
    const { words, tokens } = this.#statement
    // SQLite and MySQL also take a literal as a name here.
    if (!this.#statement.isName(index) && !isLiteral(tokens[index])) return
    const name = this.#statement.nameAt(index)
    const as = words[index + 1] === '(' ? this.#statement.closing(index + 1) + 1 : index + 1
    if (words[as] === 'as' && /^(?:\(|not|materialized)$/.test(words[as + 1] ?? ''))
      this.#definitions.set(name, (this.#definitions.get(name) ?? 0) + 1)
    const beforeAs = words[index - 1] === 'as' ? index - 2 : index - 1
    const before = words[beforeAs - 1] === 'collate' ? beforeAs - 2 : beforeAs
    const isConstant = /^(?:\d|null$|true$|false$)/.test(words[before] ?? '') || isLiteral(tokens[before])
    const isComputed = /^(?:[)\]}]|end$)/.test(words[before] ?? '') || tokens[before]?.variable !== undefined
    if (isConstant) this.#constants.add(name)
    if (isConstant || isComputed) this.#computed.add(name)
  }

  /** Returns true unless the comparison is with a part of a column, or may be with a value that the statement computes. */
  #isWholeColumn({ from, to, operand }: Comparison): boolean {
    const { words, tokens } = this.#statement
    let isQualified = false
    const names: string[] = []
    for (let index = from; index < to; index++) {
      const start = tokens[index]?.start ?? 0
      if (start < operand.start || start >= operand.end) continue
      const isMember = tokens[index + 1]?.quotes?.holds === 'literal' && words[index + 2] === ']'
      if (words[index] === '[' && !isMember) return false
      isQualified ||= (words[index] ?? '').startsWith('.')
      names.push(this.#statement.nameAt(index))
    }
    if (names.some((name) => this.#constants.has(name))) return false
    return isQualified || !names.some((name) => this.#computed.has(name))
  }

  get #level(): Query | Group {
    return this.#levels.at(-1) ?? this.#levels[0]
  }

  /** Returns true if a condition of a conjunction begins here. */
  #isAtCondition(): boolean {
    const level = this.#level
    if (level.condition !== 'nothing') return false
    return level.kind === 'query' ? ['where', 'on'].includes(level.branch.clause) : level.isCondition
  }

  #take(index: number, word: string): void {
    const level = this.#level
    if (word === '(' || word === '[' || word === '{') this.#open(index, word)
    else if (word === ')' || word === ']' || word === '}') this.#close(index)
    else if (word === 'case') this.#levels.push({ kind: 'case', isCondition: false, ...newConjunction() })
    else if (word === 'end' && level.kind === 'case') {
      this.#levels.pop()
      setOther(this.#level)
    } else if (word === 'between') {
      level.betweens++
      setOther(level)
    } else if (word === 'and' && level.betweens > 0) level.betweens--
    else if (word === 'and') {
      level.hasLimit ||= level.condition === 'limit'
      level.condition = 'nothing'
    } else if (word === 'or' || word === 'xor' || this.#isOrOperator(index)) level.hasOr = true
    else if (level.kind === 'query') this.#takeInQuery(index, word, level)
    else setOther(level)
  }

  #isOrOperator(index: number): boolean {
    const { words } = this.#statement
    return this.#dialect.pipesMeanOr === true && words[index] === '|' && words[index + 1] === '|'
  }

  #open(index: number, word: string): void {
    const level = this.#level
    const isQuery = word === '(' && queryWords.has(this.#statement.words[index + 1] ?? '')
    const isCondition = word === '(' && this.#isAtCondition()
    if (level.kind === 'query') {
      level.nameBeforeBrackets = this.#key(index - 1)
      if (!isQuery) takeSource(level.branch, false)
    }
    this.#levels.push(isQuery ? newQuery() : { kind: 'group', isCondition, ...newConjunction() })
  }

  #close(index: number): void {
    // CASE may be a name, which no END follows.
    while (this.#level.kind === 'case') this.#levels.pop()
    if (this.#levels.length === 1) return
    const closed = this.#levels.pop() as Query | Group
    const level = this.#level
    const isLimited = closed.kind === 'query' ? endQuery(closed) : endConjunction(closed)
    if (closed.kind === 'group' && closed.isCondition && isLimited && this.#endsCondition(index + 1))
      level.condition = 'limit'
    else setOther(level)
    if (level.kind === 'query') {
      if (closed.kind === 'query') takeQuery(level, isLimited)
      level.branch.isEmpty = false
    }
  }

  #endsCondition(index: number): boolean {
    const { words } = this.#statement
    return index >= words.length || endsExpression(words[index] ?? '')
  }

  #takeInQuery(index: number, word: string, level: Query): void {
    const { branch } = level
    const { words } = this.#statement
    // Any word may be an alias after AS.
    if (words[index - 1] === 'as' && branch.clause !== 'start') return
    if (setOperations.has(word) && !this.#statement.isColumnExclusion(index)) {
      endBranch(level)
      level.branch = newBranch()
    } else if (this.#endsClause(index)) {
      endClause(level)
      branch.clause = 'other'
    } else if (word === 'where' || (word === 'prewhere' && this.#dialect.prewhere)) {
      endClause(level)
      branch.clause = 'where'
    } else if (word === 'on' && branch.hasSource) {
      endClause(level)
      branch.clause = 'on'
    } else if (['where', 'on'].includes(branch.clause) && this.#isLaterClause(index)) {
      if (this.#endsOperand(index - 1)) {
        endClause(level)
        branch.clause = 'other'
      } else level.hasOr = true
    } else if (joins.has(word) || (word === ',' && isInFrom(branch))) {
      endClause(level)
      // The WHERE before a JOIN does not limit the rows of the joined table.
      branch.hasLimitInWhere = false
      branch.clause = 'from'
      branch.expectsSource = true
    } else if (word === 'from' && words[index - 1] !== 'distinct') {
      endClause(level)
      branch.clause = 'from'
      branch.expectsSource = true
    } else if (outerJoins.has(word) && isInFrom(branch)) branch.hasOuterJoin = true
    else if (branch.expectsSource) {
      if (word !== 'lateral') takeSource(branch, this.#isLimitedExpression(index))
    } else if (branch.clause === 'start') this.#takeAtStart(index, word, level)
    else setOther(level)
  }

  #takeAtStart(index: number, word: string, level: Query): void {
    const { branch } = level
    if (word === 'all' || word === 'distinct') return
    branch.isEmpty = false
    if (word === 'select' || word === 'values') {
      branch.clause = 'list'
      branch.hasLimitInWhere = false
      level.defines = undefined
    } else if (word === 'as') {
      const isList = this.#statement.words[index - 1] === ')'
      level.defines = isList ? level.nameBeforeBrackets : this.#key(index - 1)
    }
  }

  /** Returns the closing bracket of a source that reads no table: a call of a generator, or VALUES. */
  #endOfRows(index: number): number | undefined {
    const { words } = this.#statement
    const isValues = words[index] === '(' && words[index + 1] === 'values'
    if (!isValues && !(generators.has(words[index] ?? '') && words[index + 1] === '(')) return undefined
    const end = this.#statement.closing(isValues ? index : index + 1)
    const hasQuery = words.slice(index + 2, end).some((word) => queryWords.has(word))
    return end < words.length && !hasQuery ? end : undefined
  }

  #isLaterClause(index: number): boolean {
    const { words } = this.#statement
    const word = words[index] ?? ''
    return laterClauses.has(word) && [undefined, words[index + 1]].includes(laterClauses.get(word))
  }

  /** Returns true if the token certainly ends an operand, so that the next word is neither an operand nor an operator. */
  #endsOperand(index: number): boolean {
    const { words, tokens } = this.#statement
    const word = words[index] ?? ''
    if (index === this.#endOfLimit - 1 || tokens[index]?.variable !== undefined) return true
    if (tokens[index]?.quotes !== undefined || /^(?:[)\]\d.]|null$|true$|false$)/.test(word)) return true
    return this.#statement.isName(index) && !reserved.has(word) && /^[=<>]$/.test(words[index - 1] ?? '')
  }

  /** Returns true for words that end FROM and WHERE. No database accepts them as names here. */
  #endsClause(index: number): boolean {
    const { words, tokens } = this.#statement
    const next = words[index + 1] ?? ''
    switch (words[index]) {
      case 'group':
      case 'order':
        return next === 'by'
      case 'limit':
        return /^\d/.test(next) || tokens[index + 1]?.variable !== undefined
      default:
        return words[index] === 'having' || words[index] === '|>'
    }
  }

  /** Returns true if the name at the index is a table expression of WITH that is limited. */
  #isLimitedExpression(index: number): boolean {
    const next = this.#statement.words[index + 1]
    if (next === '.' || next === '(') return false
    // Databases disagree about the scope of a name that is defined twice, and about the case of letters beyond ASCII.
    const name = this.#statement.nameAt(index)
    if (this.#definitions.get(name) !== 1 || /[^\0-\x7f]/.test(name)) return false
    const key = this.#key(index)
    for (const level of this.#levels.toReversed()) {
      if (level.kind !== 'query') continue
      const isLimited = level.expressions.get(key)
      if (isLimited !== undefined) return isLimited
      // In an expression of a nested WITH, MariaDB reads tables instead of the expressions of an outer WITH.
      if (level.defines !== undefined) return false
    }
    return false
  }

  /** Names with and without quotes differ, because databases disagree about their case. */
  #key(index: number): string {
    const isQuoted = this.#statement.tokens[index]?.quotes !== undefined
    return isQuoted ? this.#statement.sourceAt(index) : this.#statement.nameAt(index)
  }
}

function setOther(level: Conjunction): void {
  // After a whole condition, only AND and OR continue the conjunction.
  if (level.condition === 'nothing') level.condition = 'other'
}

function isInFrom({ clause }: Branch): boolean {
  return clause === 'from' || clause === 'on'
}

function takeSource(branch: Branch, isLimited: boolean): void {
  if (!branch.expectsSource) return
  branch.expectsSource = false
  branch.hasSource = true
  branch.hasUnlimitedSource ||= !isLimited
}

/** Takes a query in brackets: a table expression, a branch of a UNION, or a source of FROM. */
function takeQuery(level: Query, isLimited: boolean): void {
  const { branch, defines } = level
  if (branch.clause === 'start' && defines !== undefined) level.expressions.set(defines, isLimited)
  else if (branch.clause === 'start') branch.hasLimitInWhere = isLimited && branch.isEmpty
  else takeSource(branch, isLimited)
  level.defines = undefined
}

function newConjunction(): Conjunction {
  return { condition: 'nothing', hasLimit: false, hasOr: false, betweens: 0 }
}

function endConjunction(level: Conjunction): boolean {
  const isLimited = (level.hasLimit || level.condition === 'limit') && !level.hasOr
  Object.assign(level, newConjunction())
  return isLimited
}

function newQuery(): Query {
  return {
    kind: 'query',
    branch: newBranch(),
    areOtherBranchesLimited: true,
    expressions: new Map(),
    defines: undefined,
    nameBeforeBrackets: '',
    ...newConjunction(),
  }
}

function newBranch(): Branch {
  return {
    clause: 'start',
    isEmpty: true,
    hasLimitInWhere: false,
    hasLimitInOn: false,
    hasOuterJoin: false,
    expectsSource: false,
    hasSource: false,
    hasUnlimitedSource: false,
  }
}

function endClause(level: Query): void {
  const { branch } = level
  const isLimited = endConjunction(level)
  takeSource(branch, false)
  if (branch.clause === 'where') branch.hasLimitInWhere ||= isLimited
  if (branch.clause === 'on') branch.hasLimitInOn ||= isLimited
}

function endBranch(level: Query): void {
  endClause(level)
  const { hasLimitInWhere, hasLimitInOn, hasOuterJoin, hasSource, hasUnlimitedSource } = level.branch
  level.areOtherBranchesLimited &&=
    hasLimitInWhere || (hasLimitInOn && !hasOuterJoin) || (hasSource && !hasUnlimitedSource)
}

function endQuery(level: Query): boolean {
  endBranch(level)
  return level.areOtherBranchesLimited
}

function isLiteral(token: Token | undefined): boolean {
  return token?.quotes?.holds === 'literal'
}
