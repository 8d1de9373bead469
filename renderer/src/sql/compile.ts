import { checkArguments, checkVariables } from '../arguments.ts'
import type { VariableSource } from '../user-group.ts'
import { findValue, resolveVariable, type Scope } from '../variables.ts'
import type { SqlOutput } from './bind.ts'
import { findOptionalClauses, withoutClauses } from './optional-clauses.ts'
import { readOptions, type TemplateOptions } from './options.ts'
import { findPlaces } from './places.ts'
import { Writer, type CompiledSql } from './writer.ts'

export interface CompileOptions extends TemplateOptions {
  /** Values besides those of the token: `{ filter: { from: '2026-01-01' } }` is `{{ filter.from }}`. */
  readonly variables?: object | undefined
  /**
   * `literal` writes the values into the text, for programs that accept nothing but SQL text. The text then differs for each
   * user group. Default: `bound`.
   */
  readonly output?: SqlOutput | undefined
}

/**
 * Binds the variables of a statement. Each occurrence of a variable becomes a placeholder with its own value, or two in an
 * exact comparison. The text depends only on the template, on which variables are arrays, on their lengths, on which
 * optional variables are absent, on the allowed names of identifiers, on which values of the token are texts, on which
 * numbers are integers and, for ClickHouse, on the types of values.
 *
 * - A text of the user group or viewer equals only the same text: `customer = {{ … }}`, `IN`, `= ANY` and their negations compare the
 * text of the column code point by code point. Any other comparison of it is refused.
 * - Strings, finite numbers and booleans are bound as they are (booleans as 1 and 0 if the drivers accept no booleans).
 * Null is bound as NULL, which equals nothing.
 * - A row count (`LIMIT`, `OFFSET`, `FETCH`, `TOP`) must be one variable, and an integer, 0 or more, or such a number as a
 * string.
 * - An array may only be an item of `IN ( … )` or `NOT IN ( … )`, and becomes its elements. An empty array becomes
 * NULL, so that neither `IN` nor `NOT IN` is true because of it. A null in an array makes `NOT IN` match nothing, as
 * usual in SQL. Some databases also accept it in `= ANY ( … )` or `UNNEST( … )`.
 * - `{{ date … }}` binds a date, `{{ number … }}` a number in its canonical spelling, and `{{ identifier … }}` writes one
 * of the names in `identifiers`.
 * - `[[ … ]]` is dropped if one of its variables that are listed in `optional` is absent.
 * - A literal selects the same rows as the bound value. A text is written in ASCII, without characters that template engines, or
 * other programs on its way, replace.
 * - The author of a template may run any SQL: everything except variables reaches the database unchanged.
 *
 * @throws TemplateError for an unset variable, for a variable where no value is possible (in a literal, a quoted
 * identifier or a comment, or touching a word), for a value that cannot be bound, and for a template that the database
 * may interpret differently
 * @throws TypeError for a userGroup that introspect did not return, or options that are not valid
 */
export function compileSql(
  template: string,
  userGroup: VariableSource,
  options: CompileOptions,
): CompiledSql {
  checkArguments(template, userGroup)
  const rules = readOptions(options)
  const { output = 'bound' } = options
  if (!/^(?:bound|literal)$/.test(output)) throw new TypeError('output must be bound or literal')
  const scope = { userGroup, variables: checkVariables(options.variables) }
  const statement = withoutAbsentClauses(template, rules, scope)
  const places = findPlaces(statement, rules.dialect).flatMap(({ places }) => places)
  return new Writer(statement, places, rules, scope, output).write()
}

function withoutAbsentClauses(
  template: string,
  { dialect, optional }: ReturnType<typeof readOptions>,
  scope: Scope,
): string {
  const clauses = findOptionalClauses(template, dialect, optional)
  return withoutClauses(template, clauses, ({ variables }) => {
    // The others must be set, also if the clause is dropped.
    for (const variable of variables) if (!optional.has(variable.key)) resolveVariable(variable, scope)
    return variables.some((variable) => findValue(variable, scope) === undefined)
  })
}
