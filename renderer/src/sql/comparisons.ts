import type { Variable } from '../variables.ts'
import type { Dialect } from './dialects.ts'
import { queryWords, wordsOf, type Statement } from './tokens.ts'

/** Offsets in the template. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** A comparison of variables with an expression that has none: `customer = {{ … }}`. */
export interface Comparison extends Range {
  /** The expression, usually a column. */
  readonly operand: Range
  /** Set if the expression is a column, or a part or the text of one, and no constant. */
  readonly isColumn: boolean
  /** True for `=`, `IN` and `= ANY`, false for `<>`, `NOT IN` and `<> ALL`. */
  readonly isEqual: boolean
  /** One value, the items of `IN ( … )`, an array as in `= ANY( … )`, or an element as in `{{ … }} = ANY(column)`. */
  readonly shape: 'value' | 'items' | 'array' | 'element'
  readonly variables: readonly Variable[]
  /** Items of `IN ( … )` that are more than a variable. None contains a variable of the token. */
  readonly otherItems: readonly Range[]
  /** From the operator to the value, to the column of an array, or to the opening bracket of the items. */
  readonly operator: Range
  /** The variable with its `::type` and the parentheses around it, if the shape is not `items`. */
  readonly value: Range
  /** Indexes of the first token, and after the last token. */
  readonly from: number
  readonly to: number
}

/** Words after which an expression begins, so that no operator before them can bind what follows. */
const beforeExpression = wordsOf(`
  where on having qualify prewhere and or xor not when then else case select distinct all by returning ( ,
`)

/** Reserved tokens that end an expression, because no operator begins with them. */
const ends = wordsOf(`
  ) , ] } |> and or xor when then else end as asc desc nulls from where on group having qualify window order limit
  offset fetch for union intersect except minus select join inner left right full cross natural lateral straight_join
  returning into set with
`)

/** Words that end an expression after an operand. Before an operator they are names. */
const namesThatEnd = wordsOf(`
  settings format prewhere option outer lock using tablesample sample start connect cluster sort distribute asof semi
  anti any all array positional pivot unpivot rows range groups separator do
`)

/** Returns true if no operator begins with the word, so that it ends the expression before it. */
export function endsExpression(word: string): boolean {
  return ends.has(word) || namesThatEnd.has(word)
}

/** Words that cannot begin an expression that is compared. */
export const reserved = new Set([
  ...beforeExpression,
  ...ends,
  ...wordsOf('any some exists between in is like ilike interval values collate binary prior connect_by_root'),
])

/** Functions that take a part of a column, like the path in `data->>'customer'`. */
const pathFunctions =
  /^(?:json_(?:value|extract|extract_string|extract_scalar|extract_path_text|unquote)|jsonb_extract_path_text|get_json_object|jsonextractstring)$/

/** Words without quotes that look like columns and are constants. */
const constants =
  /^(?:null|true|false|default|user|(?:current|session|system)_\w+|localtime|localtimestamp|sysdate|rownum)$/
/** Parentheses and calls that are looked into, so that the time does not depend on how deep a template nests them. */
const maxDepth = 4
const textTypes = new Set(['text', 'varchar', 'string', 'nvarchar', 'clob'])

interface Expression {
  /** Index after its last token. */
  readonly to: number
  readonly isColumn: boolean
}

interface Operator {
  readonly isEqual: boolean
  /** Index after its last token. */
  readonly to: number
}

/** Reads the comparisons of a statement. Each call looks at every token only once, and skips brackets. */
export class ComparisonReader {
  readonly #statement: Statement
  readonly #arrows: boolean | undefined
  readonly #hasElements: boolean
  readonly #arrayWords: readonly string[]
  /** Number of variables before each token: all that are values, and those of the token among them. */
  readonly #values: number[] = [0]
  readonly #ofToken: number[] = [0]

  /** @param isOfToken returns true for variables whose comparisons are made exact */
  constructor(statement: Statement, dialect: Dialect, isOfToken: (variable: Variable) => boolean) {
    this.#statement = statement
    this.#arrows = dialect.arrows
    this.#hasElements = dialect.exactness.elementsOf !== undefined
    this.#arrayWords = dialect.arrays?.words ?? []
    let values = 0
    let ofToken = 0
    for (const { variable } of statement.tokens) {
      if (variable !== undefined && variable.form !== 'identifier') {
        values++
        if (isOfToken(variable)) ofToken++
      }
      this.#values.push(values)
      this.#ofToken.push(ofToken)
    }
  }

  /** Returns true if an expression may begin after the token. The caller excludes the AND of BETWEEN. */
  isBeforeExpression(index: number): boolean {
    const { words } = this.#statement
    const word = words[index] ?? ''
    return index < 0 || (beforeExpression.has(word) && !(word === 'not' && words[index - 1] === 'is'))
  }

  /** Returns the comparison that begins at the token, if there is one. */
  read(from: number): Comparison | undefined {
    const reversed = this.#readReversed(from)
    if (reversed !== undefined) return reversed
    const operand = this.#expression(from)
    if (operand === undefined) return undefined
    return this.#readScalar(from, operand) ?? this.#readIn(from, operand)
  }

  /** Returns true for `{{ … }} IS NULL` and `{{ … }} IS NOT NULL`. */
  isNullTest(from: number): boolean {
    const { words, tokens } = this.#statement
    if (!this.#isValue(from)) return false
    const at = this.#type(from + 1)
    const end = words[at + 1] === 'not' ? at + 3 : at + 2
    if (words[at] !== 'is' || words[end - 1] !== 'null') return false
    return end === tokens.length || endsExpression(words[end] ?? '')
  }

  /** `{{ … }} = customer`, `{{ … }} = ANY(customers)` */
  #readReversed(from: number): Comparison | undefined {
    const value = this.#value(from)
    const operator = value && this.#operator(value.to)
    if (value === undefined || operator === undefined) return undefined
    const array = this.#arrayOperand(operator, value.variable)
    const start = array === undefined ? operator.to : operator.to + 2
    const operand = array ?? this.#expression(operator.to)
    if (operand === undefined) return undefined
    const [shape, to] =
      array === undefined ? (['value', operand.to] as const) : (['element', operand.to + 1] as const)
    return this.#comparison(shape, operator.isEqual, from, to, {
      operand: [start, operand.to],
      isColumn: operand.isColumn,
      operator: [value.to, start],
      value: [from, value.to],
      variables: [value.variable],
    })
  }

  /** Reads the column of `= ANY(customers)` and `<> ALL(customers)`. */
  #arrayOperand({ isEqual, to: at }: Operator, variable: number): Expression | undefined {
    const { words } = this.#statement
    const expected = isEqual ? /^(?:any|some)$/ : /^all$/
    if (!this.#hasElements || !expected.test(words[at] ?? '') || words[at + 1] !== '(') return undefined
    const operand = this.#expression(at + 2)
    const isElement = operand?.isColumn === true && words[operand.to] === ')'
    return isElement && this.#statement.variable(variable)?.form === undefined ? operand : undefined
  }

  /** `customer = {{ … }}`, `customer = ANY({{ … }})` */
  #readScalar(from: number, operand: Expression): Comparison | undefined {
    const operator = this.#operator(operand.to)
    if (operator === undefined) return undefined
    const isArray = this.#isArrayWord(operator.to) && this.#statement.words[operator.to + 1] === '('
    return this.#readValue(
      from,
      operand,
      operator.isEqual,
      isArray ? operator.to + 2 : operator.to,
      isArray ? 1 : 0,
    )
  }

  /** `customer IN ( … )`, `customer IN UNNEST( … )`, `customer IN (SELECT unnest( … ))` */
  #readIn(from: number, operand: Expression): Comparison | undefined {
    const { words } = this.#statement
    const isEqual = words[operand.to] !== 'not'
    const after = isEqual ? operand.to : operand.to + 1
    if (words[after] !== 'in') return undefined
    const startsWith = (...expected: string[]) =>
      expected.every((word, index) => words[after + 1 + index] === word)
    const isUnnest = this.#isArrayWord(after + 1) || this.#isArrayWord(after + 3)
    // position(a IN b)
    if (words[from - 1] === '(' && words[from - 2] === 'position') return undefined
    if (isUnnest && startsWith('unnest', '(')) return this.#readValue(from, operand, isEqual, after + 3, 1)
    if (isUnnest && startsWith('(', 'select', 'unnest', '('))
      return this.#readValue(from, operand, isEqual, after + 5, 2)
    if (!startsWith('(') || queryWords.has(words[after + 2] ?? '')) return undefined
    return this.#readItems(from, operand, isEqual, after + 1)
  }

  /** Reads one value and the brackets that close after it. */
  #readValue(
    from: number,
    operand: Expression,
    isEqual: boolean,
    at: number,
    brackets: number,
  ): Comparison | undefined {
    const value = this.#value(at)
    if (value === undefined || (brackets > 0 && value.variable > at)) return undefined
    for (let index = 0; index < brackets; index++)
      if (this.#statement.words[value.to + index] !== ')') return undefined
    return this.#comparison(brackets > 0 ? 'array' : 'value', isEqual, from, value.to + brackets, {
      operand: [from, operand.to],
      isColumn: operand.isColumn,
      operator: [operand.to, at],
      value: [at, value.to],
      variables: [value.variable],
    })
  }

  /** Reads a variable, perhaps with types and in parentheses. */
  #value(from: number): { readonly variable: number; readonly to: number } | undefined {
    const { words } = this.#statement
    let variable = from
    while (words[variable] === '(' && variable - from < maxDepth) variable++
    if (!this.#isValue(variable)) return undefined
    let to = this.#type(variable + 1)
    for (let index = from; index < variable; index++) {
      if (words[to] !== ')') return undefined
      to = this.#type(to + 1)
    }
    return { variable, to }
  }

  #readItems(from: number, operand: Expression, isEqual: boolean, open: number): Comparison | undefined {
    const { words } = this.#statement
    const close = this.#statement.closing(open)
    const variables: number[] = []
    const others: Range[] = []
    for (let at = open + 1; at < close; at++) {
      const start = at
      while (at < close && words[at] !== ',')
        at = '([{'.includes(words[at] === '' ? ' ' : (words[at] ?? ' '))
          ? this.#statement.closing(at) + 1
          : at + 1
      const isAlone = this.#isValue(start) && at === start + 1
      const hasUserGroup = this.#count(this.#ofToken, start, at) > 0
      if (hasUserGroup && !isAlone) return undefined
      if (isAlone) variables.push(start)
      else if (at > start) others.push(this.#range(start, at))
    }
    if (variables.length === 0) return undefined
    return this.#comparison('items', isEqual, from, close + 1, {
      operand: [from, operand.to],
      isColumn: operand.isColumn,
      operator: [operand.to, open],
      value: [open, close + 1],
      variables,
      others,
    })
  }

  #comparison(
    shape: Comparison['shape'],
    isEqual: boolean,
    from: number,
    to: number,
    parts: {
      readonly operand: readonly [number, number]
      readonly isColumn: boolean
      readonly operator: readonly [number, number]
      readonly value: readonly [number, number]
      readonly variables: readonly number[]
      readonly others?: readonly Range[]
    },
  ): Comparison | undefined {
    const { words, tokens } = this.#statement
    if (to > tokens.length || (to < tokens.length && !endsExpression(words[to] ?? ''))) return undefined
    if (this.#count(this.#values, parts.operand[0], parts.operand[1]) > 0) return undefined
    const variables: Variable[] = []
    for (const index of parts.variables) {
      const variable = this.#statement.variable(index)
      if (variable !== undefined) variables.push(variable)
    }
    // No spread: it would take most of the time.
    return {
      start: this.#start(from),
      end: this.#end(to),
      operand: this.#range(parts.operand[0], parts.operand[1]),
      isColumn: parts.isColumn,
      isEqual,
      shape,
      variables,
      otherItems: parts.others ?? [],
      operator: { start: this.#start(parts.operator[0]), end: this.#start(parts.operator[1]) },
      value: this.#range(parts.value[0], parts.value[1]),
      from,
      to,
    }
  }

  /** Reads `=`, `==`, `<>` or `!=`. */
  #operator(at: number): Operator | undefined {
    const { words } = this.#statement
    const first = words[at] ?? ''
    const pair = this.#statement.touchesNext(at) ? first + (words[at + 1] ?? '') : first
    if (pair === '<>' || pair === '!=') return { isEqual: false, to: at + 2 }
    if (pair === '==') return { isEqual: true, to: at + 2 }
    return first === '=' ? { isEqual: true, to: at + 1 } : undefined
  }

  /**
   * Reads an expression whose parts bind tighter than any comparison: a name, a literal, a call or brackets, perhaps with a
   * type, a collation, or the path to a part of it.
   * @param depth number of brackets and calls around it
   */
  #expression(from: number, depth = 0): Expression | undefined {
    const { words, tokens } = this.#statement
    const word = words[from] ?? ''
    let isColumn = this.#isName(from) && !constants.test(word)
    let at = from + 1
    if (word === '(') {
      at = this.#statement.closing(from) + 1
      isColumn = this.#columnsEnd(from + 1, depth + 1) === at - 1
    } else if (!this.#isName(from) && tokens[from]?.quotes === undefined && !/^\d/.test(word))
      return undefined
    for (;;) {
      const next = words[at] ?? ''
      const isPair = this.#statement.touchesNext(at)
      if (next === '.' && (this.#isName(at + 1) || /^[.\d]/.test(words[at + 1] ?? ''))) at += 2
      else if (next === '(' && this.#isName(at - 1)) {
        isColumn = at === from + 1 && pathFunctions.test(word) && this.#isPath(at, depth + 1)
        at = this.#statement.closing(at) + 1
      } else if (next === '[') at = this.#statement.closing(at) + 1
      else if (next === ':' && words[at + 1] === ':' && isPair) {
        const to = this.#type(at)
        if (to === at) return undefined
        isColumn &&= to === at + 3 && textTypes.has(words[at + 2] ?? '')
        at = to
      } else if (next === ':' && this.#isName(at + 1)) at += 2
      else if (next === '-' && words[at + 1] === '>' && isPair && this.#hasArrows(depth)) {
        at += words[at + 2] === '>' ? 3 : 2
        if (tokens[at]?.quotes === undefined && !/^\d/.test(words[at] ?? '')) return undefined
        at++
      } else if (next === 'collate' && (this.#isName(at + 1) || tokens[at + 1]?.quotes !== undefined)) at += 2
      else break
      if (at > tokens.length) return undefined
    }
    return { to: at, isColumn }
  }

  /** Returns the index after the column that begins here. */
  #columnsEnd(from: number, depth: number): number | undefined {
    if (depth > maxDepth) return undefined
    const expression = this.#expression(from, depth)
    return expression?.isColumn === true ? expression.to : undefined
  }

  /** Returns true if the arguments of a function are a column and literals. */
  #isPath(open: number, depth: number): boolean {
    const { words, tokens } = this.#statement
    let at = this.#columnsEnd(open + 1, depth)
    if (at === undefined) return false
    while (words[at] === ',' && tokens[at + 1]?.quotes?.holds === 'literal') at += 2
    return words[at] === ')'
  }

  #hasArrows(depth: number): boolean {
    return this.#arrows === true || (this.#arrows === false && depth > 0)
  }

  /** Skips types written as `::type`, and returns the index after them. */
  #type(from: number): number {
    const { words } = this.#statement
    let at = from
    while (words[at] === ':' && words[at + 1] === ':' && this.#isName(at + 2)) {
      at += 3
      while (words[at] === '(' || words[at] === '[') at = this.#statement.closing(at) + 1
    }
    return at
  }

  #isArrayWord(index: number): boolean {
    return this.#arrayWords.includes(this.#statement.words[index] ?? '')
  }

  #isName(index: number): boolean {
    return this.#statement.isName(index) && !reserved.has(this.#statement.words[index] ?? '')
  }

  #isValue(index: number): boolean {
    const variable = this.#statement.variable(index)
    return variable !== undefined && variable.form !== 'identifier'
  }

  #count(before: readonly number[], from: number, to: number): number {
    return (before[to] ?? 0) - (before[from] ?? 0)
  }

  #range(from: number, to: number): Range {
    return { start: this.#start(from), end: this.#end(to) }
  }

  #end(to: number): number {
    return this.#statement.tokens[to - 1]?.end ?? 0
  }

  #start(index: number): number {
    return this.#statement.tokens[index]?.start ?? 0
  }
}
