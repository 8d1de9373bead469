import { TemplateError } from '../template-error.ts'
import type { Variable } from '../variables.ts'
import { Brackets } from './brackets.ts'
import { findConditions, type Conditions } from './conditions.ts'
import type { Dialect } from './dialects.ts'
import { RowCounts } from './row-counts.ts'
import type { Token } from './scanner.ts'
import { statementsOf, type Statement } from './tokens.ts'

/** A variable in a statement, and how it may be bound there. */
export interface Place {
  readonly variable: Variable
  readonly kind: 'value' | 'identifier' | 'row count' | 'item' | 'array'
}

/** A statement of a template without optional clauses. */
export interface StatementPlaces extends Conditions {
  readonly statement: Statement
  readonly places: readonly Place[]
}

/**
 * Finds the variables of a template.
 * @throws TemplateError if one is where no value is possible
 */
export function findPlaces(template: string, dialect: Dialect): StatementPlaces[] {
  return statementsOf(template, dialect).map((statement) => ({
    statement,
    places: placesOf(statement, dialect),
    ...findConditions(statement, dialect),
  }))
}

function placesOf({ tokens }: Statement, dialect: Dialect): Place[] {
  const brackets = new Brackets()
  const rowCounts = new RowCounts()
  const places: Place[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.variable !== undefined)
      places.push({
        variable: token.variable,
        kind: kindOf(token.variable, tokens[index + 1], dialect, brackets, rowCounts),
      })
    brackets.take(token)
    rowCounts.take(token)
  }
  return places
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
