import { checkTemplateArgument } from '../arguments.ts'
import { TemplateError } from '../template-error.ts'
import { isUserGroupVariable, unknownVariable, type Variable } from '../variables.ts'
import { missingNames } from './bind.ts'
import { findOptionalClauses, withoutClauses, type OptionalClause } from './optional-clauses.ts'
import { keysOf, readOptions, type TemplateOptions, type TemplateRules } from './options.ts'
import { findPlaces, type Places } from './places.ts'

export interface CheckOptions extends TemplateOptions {
  /** Variables that every statement must contain outside optional clauses: `['user_group.provided_id']`. */
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
  const places = (isAbsent: (clause: OptionalClause) => boolean) =>
    findPlaces(withoutClauses(template, clauses, isAbsent), rules.dialect)

  for (const { variable } of places(() => false).places) checkVariable(variable, rules, known)
  for (const one of clauses) {
    places((clause) => clause === one)
    places((clause) => clause !== one)
  }
  const always = places(() => true)
  for (const [index, key] of requiredKeys.entries()) {
    checkRequired(template, always, key, required[index] ?? '')
  }
}

function checkVariable(variable: Variable, { identifiers }: TemplateRules, known: ReadonlySet<string>): void {
  if (!isUserGroupVariable(variable) && !known.has(variable.key)) throw unknownVariable(variable)
  if (variable.form === 'identifier' && !identifiers.has(variable.key)) throw missingNames(variable)
}

function checkRequired(template: string, { places, statements }: Places, key: string, name: string): void {
  for (const [index, { start }] of statements.entries()) {
    const isNamed = places.some(
      ({ variable, statement, kind }) =>
        statement === index && variable.key === key && kind !== 'identifier' && kind !== 'row count',
    )
    if (isNamed) continue
    throw new TemplateError(
      'missing_variable',
      `The statement that begins here does not contain ${name}: add a condition such as customer = {{ ${name} }}`,
      { template, offset: start },
      name,
    )
  }
}
