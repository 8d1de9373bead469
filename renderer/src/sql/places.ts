import { TemplateError } from '../template-error.ts'
import type { Variable } from '../variables.ts'
import { Brackets } from './brackets.ts'
import type { Dialect } from './dialects.ts'
import { RowCounts } from './row-counts.ts'
import { Scanner, type Token } from './scanner.ts'

/** A variable in a statement, and how it may be bound there. */
export interface Place {
  readonly variable: Variable
  readonly kind: 'value' | 'identifier' | 'row count' | 'item' | 'array'
  /** Number of the statement in the template, from 0. */
  readonly statement: number
}

/** The variables of a template without optional clauses, and the first token of each of its statements. */
export interface Places {
  readonly places: readonly Place[]
  readonly statements: readonly Token[]
}

/**
 * Finds the variables of a template.
 * @throws TemplateError if one is where no value is possible
 */
export function findPlaces(template: string, dialect: Dialect): Places {
  const scanner = new Scanner(template, dialect)
  const brackets = new Brackets()
  const rowCounts = new RowCounts()
  const places: Place[] = []
  const statements: Token[] = []
  let isStart = true
  let token = scanner.next()
  while (token !== undefined) {
    const next: Token | undefined = scanner.next()
    if (isStart && token.text !== ';') statements.push(token)
    isStart = token.text === ';'
    if (token.variable !== undefined) {
      const kind = kindOf(token.variable, next, dialect, brackets, rowCounts)
      places.push({ variable: token.variable, kind, statement: statements.length - 1 })
    }
    brackets.take(token)
    rowCounts.take(token)
    token = next
  }
  return { places, statements }
}

function kindOf(
  variable: Variable,
  next: Token | undefined,
  { arrays }: Dialect,
  brackets: Brackets,
  rowCounts: RowCounts,
): Place['kind'] {
  const rowCount = rowCounts.placeBefore(next)
  if (rowCount === 'part' || (rowCount === 'whole' && variable.form !== undefined)) {
    throw new TemplateError(
      'variable_in_row_count',
      `${variable.name} is part of a row count (LIMIT, OFFSET, FETCH, TOP): write only the variable, as in ` +
        `LIMIT {{ ${variable.name} }} or TOP ({{ ${variable.name} }}), and compute its value in code. ` +
        'If this is no row count but a column with such a name, quote the name',
      variable,
      variable.name,
    )
  }
  if (rowCount === 'whole') return 'row count'
  if (variable.form === 'identifier') return 'identifier'
  if (arrays && variable.form === undefined && brackets.isArgumentOf(arrays.words, next)) return 'array'
  return brackets.isItem(next) ? 'item' : 'value'
}
