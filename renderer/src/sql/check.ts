import { checkTemplateArgument } from '../arguments.ts'
import { TemplateError } from '../template-error.ts'
import { isUserGroupVariable, unknownVariable, type Variable } from '../variables.ts'
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
 * Checks a template without a user group: everything that `compileSql` refuses whatever the values are, with each optional
 * clause and without. Statements end with a semicolon.
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
  const variant = (isAbsent: (clause: OptionalClause) => boolean) =>
    findPlaces(withoutClauses(template, clauses, isAbsent), rules.dialect)

  const withAll = variant(() => false)
  for (const { places } of withAll) for (const { variable } of places) checkVariable(variable, rules, known)
  const variants = [
    withAll,
    ...clauses.flatMap((one) => [variant((clause) => clause === one), variant((clause) => clause !== one)]),
    variant(() => true),
  ]
  for (const [index, key] of requiredKeys.entries()) {
    for (const statement of variants.flat())
      checkRequired(template, statement, rules, key, required[index] ?? '')
  }
  for (const { places } of variants.flat()) {
    for (const { variable, isInexact } of places) {
      // Properties may be numbers.
      if (isInexact && variable.path[1] !== 'properties') throw inexactComparison(variable)
    }
  }
}

function checkVariable(variable: Variable, { identifiers }: TemplateRules, known: ReadonlySet<string>): void {
  if (!isUserGroupVariable(variable) && !known.has(variable.key)) throw unknownVariable(variable)
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
  if (new Restriction(statement, limits, dialect.pipesMeanOr === true).isMet()) return
  const written = `{{ ${name} }}`
  throw new TemplateError(
    'missing_variable',
    `The statement that begins here is not limited to ${name}: write customer = ${written}, ` +
      `customer IN (${written}) or customer = ANY(${written}) with a column, joined by AND, in the WHERE of each SELECT, or ` +
      'in the ON of a JOIN without outer joins, not under OR, NOT, CASE or a function. A SELECT that reads only limited ' +
      'subqueries needs none',
    { template, offset: statement.tokens[0]?.start ?? 0 },
    name,
  )
}
