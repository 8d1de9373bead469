import { TemplateError } from '../template-error.ts'
import type { Variable } from '../variables.ts'
import { Brackets } from './brackets.ts'
import type { Comparison } from './comparisons.ts'
import { findConditions, isComparedExactly, isGuarded, type Conditions } from './conditions.ts'
import type { Dialect } from './dialects.ts'
import { RowCounts } from './row-counts.ts'
import type { Token } from './scanner.ts'
import { statementsOf, type Statement } from './tokens.ts'

/** A variable in a statement, and how it may be bound there. */
export interface Place {
  readonly variable: Variable
  readonly kind: 'value' | 'identifier' | 'row count' | 'item' | 'array' | 'null test'
  /** The comparison that can be made exact, in the first of its places. */
  readonly comparison: Comparison | undefined
  /** Set if a text of the token could be converted or merged with others here. */
  readonly isInexact: boolean
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
  return statementsOf(template, dialect).map((statement) => {
    const conditions = findConditions(statement, dialect)
    return { statement, ...conditions, places: placesOf(statement, dialect, conditions) }
  })
}

function placesOf(
  { tokens }: Statement,
  dialect: Dialect,
  { comparisons, returned, nullTests }: Conditions,
): Place[] {
  const brackets = new Brackets()
  const rowCounts = new RowCounts()
  const places: Place[] = []
  const exact = comparisons.filter(({ variables }) => variables.some(isGuarded))
  let next = 0
  let compared: Comparison | undefined
  for (const [index, token] of tokens.entries()) {
    const { variable } = token
    if (variable !== undefined) {
      const found = kindOf(variable, tokens[index + 1], dialect, brackets, rowCounts)
      const kind = found === 'value' && nullTests.has(variable) ? 'null test' : found
      const following = exact[next]
      const begins = following !== undefined && token.start >= following.start
      if (begins) {
        compared = following
        next++
      }
      places.push({
        variable,
        kind,
        comparison: begins ? compared : undefined,
        isInexact:
          isComparedExactly(variable) &&
          kind !== 'identifier' &&
          kind !== 'null test' &&
          // Properties may be integers.
          !(kind === 'row count' && variable.path[1] === 'properties') &&
          !compared?.variables.includes(variable) &&
          !returned.has(variable),
      })
    }
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
