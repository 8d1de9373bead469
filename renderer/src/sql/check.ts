import { checkTemplateArgument } from '../arguments.ts'
import { TemplateError } from '../template-error.ts'
import { isTokenVariable, unknownVariable, type Variable } from '../variables.ts'
import { inexactComparison, missingNames } from './bind.ts'
import { findOptionalClauses, withoutClauses, type OptionalClause } from './optional-clauses.ts'
import { keysOf, readOptions, type TemplateOptions, type TemplateRules } from './options.ts'
import { findPlaces, type StatementPlaces } from './places.ts'
import { Restriction } from './restriction.ts'

export interface CheckOptions extends TemplateOptions {
  /**
   * Variables that must limit the rows of every statement, outside optional clauses, as `customer = {{ … }}`,
   * `customer IN ({{ … }})` or `customer = ANY({{ … }})`: `['user_group.provided_id']`.
   */
  readonly require?: readonly string[] | undefined
  /** Names of the variables that the renderer passes to `compileSql`, besides those in `optional`. */
  readonly variables?: readonly string[] | undefined
}

/**
 * Checks a template without a user group, with each combination of its optional clauses. If it passes, `compileSql` refuses only
 * values that cannot be bound where they are, such as an object or a text in `{{ number … }}`. Properties may be texts.
 * Statements end with a semicolon.
 * @throws TemplateError for the first problem
 * @throws TypeError for options that are not valid
 */
export function checkTemplate(template: string, options: CheckOptions): void {
  checkTemplateArgument(template)
  const rules = readOptions(options)
  const required = options.require ?? []
  const requiredKeys = keysOf('require', required)
  const known = new Set([...rules.optional, ...keysOf('variables', options.variables ?? [])])
  const clauses = findOptionalClauses(template, rules.dialect, rules.optional)
  for (const variant of variantsOf(template, clauses, rules.optional)) {
    const statements = findPlaces(variant, rules.dialect)
    const places = statements.flatMap((statement) => statement.places)
    for (const { variable } of places) checkVariable(variable, rules, known)
    for (const [index, key] of requiredKeys.entries()) {
      for (const statement of statements)
        checkRequired(template, statement, rules, key, required[index] ?? '')
    }
    for (const { variable, isInexact } of places) if (isInexact) throw inexactComparison(variable)
  }
}

const maxGroups = 10

/** Yields the template with each combination of its optional clauses. Clauses with the same variables are absent together. */
function* variantsOf(
  template: string,
  clauses: readonly OptionalClause[],
  optional: ReadonlySet<string>,
): Generator<string> {
  const groupOf = ({ variables }: OptionalClause) =>
    [...new Set(variables.map(({ key }) => key).filter((key) => optional.has(key)))].sort().join()
  const groups = [...new Set(clauses.map(groupOf))]
  const next = clauses.find((clause) => groupOf(clause) === groups[maxGroups])
  if (next !== undefined) {
    throw new TemplateError(
      'invalid_optional_clause',
      `checkTemplate checks every combination of optional clauses, and a template can have ${maxGroups} of them with ` +
        'different optional variables: write several conditions in one clause, or several templates',
      { template, offset: next.start },
    )
  }
  for (let absent = 0; absent < 2 ** groups.length; absent++)
    yield withoutClauses(
      template,
      clauses,
      (clause) => ((absent >> groups.indexOf(groupOf(clause))) & 1) === 1,
    )
}

function checkVariable(variable: Variable, { identifiers }: TemplateRules, known: ReadonlySet<string>): void {
  if (!isTokenVariable(variable) && !known.has(variable.key)) throw unknownVariable(variable)
  if (variable.form === 'identifier' && !identifiers.has(variable.key)) throw missingNames(variable)
}

function checkRequired(
  template: string,
  { statement, comparisons }: StatementPlaces,
  { dialect }: TemplateRules,
  key: string,
  name: string,
): void {
  const limits = comparisons.filter(
    ({ isColumn, isEqual, variables, otherItems }) =>
      isColumn && isEqual && otherItems.length === 0 && variables.every((variable) => variable.key === key),
  )
  if (new Restriction(statement, limits, dialect).isMet()) return
  const written = `{{ ${name} }}`
  throw new TemplateError(
    'missing_variable',
    `The statement that begins here is not limited to ${name}: write customer = ${written}, ` +
      `customer IN (${written}) or customer = ANY(${written}) with a column or a part of one, such as ` +
      `(data->>'customer') or JSON_VALUE(data, '$.customer'), joined by AND, in the WHERE of each SELECT, or ` +
      'in the ON of a JOIN without outer joins, not under OR, NOT, CASE or a function. A SELECT that reads only limited ' +
      'subqueries needs none',
    { template, offset: statement.tokens[0]?.start ?? 0 },
    name,
  )
}
