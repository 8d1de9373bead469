import { checkArguments } from '../arguments.ts'
import { TemplateError, type TemplateErrorCode } from '../template-error.ts'
import type { Json, VariableSource } from '../user-group.ts'
import { isList, resolveVariable, type Variable } from '../variables.ts'
import { Brackets } from './brackets.ts'
import { dialects, type Dialect, type SqlDialect } from './dialects.ts'
import { Scanner, type Token } from './scanner.ts'

export type SqlValue = string | number | boolean | null

/** A statement with its bound values, ready for a driver. */
export interface CompiledSql {
  /** The template with a placeholder instead of each variable. */
  readonly text: string
  /** The bound values, in the order of the placeholders. */
  readonly values: SqlValue[]
}

/**
 * Binds the user group's variables in a statement. Each occurrence of a variable becomes a placeholder with its own
 * value. The text depends only on the template, on which variables are arrays, and on their lengths.
 *
 * - Strings, finite numbers and booleans are bound as they are (booleans as 1 and 0 for SQLite, whose drivers do not
 * accept booleans). Null is bound as NULL, which equals nothing.
 * - A row count (`LIMIT`, `OFFSET`, `FETCH`) must be an integer, 0 or more, or such a number as a string.
 * - An array may only be an item of `IN ( … )` or `NOT IN ( … )`, and becomes its elements. An empty array becomes
 * NULL, so that neither `IN` nor `NOT IN` is true because of it. A null in an array makes `NOT IN` match nothing, as
 * usual in SQL.
 * - The author of a template may run any SQL: everything except variables reaches the database unchanged.
 *
 * @throws TemplateError for an unset variable, for a variable where no value is possible (in a literal, a quoted
 * identifier or a comment, or touching a word), for a value that cannot be bound, and for a template that the database
 * may interpret differently
 * @throws TypeError for a userGroup that introspect did not return, or an unknown dialect
 */
export function compileSql(
  template: string,
  userGroup: VariableSource,
  options: { readonly dialect: SqlDialect },
): CompiledSql {
  checkArguments(template, userGroup)
  const dialect = readDialect(options)
  const scanner = new Scanner(template, dialect)
  const binder = new Binder(dialect)
  const brackets = new Brackets()
  let text = ''
  let copied = 0
  let token = scanner.next()
  while (token !== undefined) {
    const next: Token | undefined = scanner.next()
    if (token.variable !== undefined) {
      const value = resolveVariable(token.variable, userGroup)
      checkCount(value, token.variable, brackets, next)
      const placeholders = isList(value)
        ? binder.bindList(value, token.variable, brackets.isItem(next))
        : binder.bind(value, token.variable)
      text += template.slice(copied, token.start) + placeholders
      copied = token.end
    }
    brackets.take(token)
    token = next
  }
  return { text: text + template.slice(copied), values: binder.values }
}

function readDialect(options: unknown): Dialect {
  const { dialect } = (options ?? {}) as { dialect?: unknown }
  if (typeof dialect !== 'string' || !Object.hasOwn(dialects, dialect)) {
    const names = Object.keys(dialects).join(', ')
    throw new TypeError(
      `dialect must be one of ${names}: pass it as the third argument, for example { dialect: 'postgresql' }`,
    )
  }
  return dialects[dialect as SqlDialect]
}

/**
 * Refuses values that some databases interpret as "no limit": null (PostgreSQL), '' (Snowflake), negative numbers
 * (SQLite).
 */
function checkCount(value: Json, variable: Variable, brackets: Brackets, next: Token | undefined): void {
  if (isList(value)) return
  if (value === null && brackets.makesNullCount(next)) {
    throw refused(
      'unusable_value',
      variable,
      'is null in a row count (LIMIT, OFFSET, FETCH), which some databases interpret as all rows: ' +
        `set a number, or, where an expression is allowed, write COALESCE({{ ${variable.name} }}, 100)`,
    )
  }
  if (value !== null && brackets.isCount() && !isRowCount(value)) {
    throw refused(
      'unusable_value',
      variable,
      'is a row count (LIMIT, OFFSET, FETCH) and must be an integer, 0 or more: ' +
        'some databases interpret other values as all rows',
    )
  }
}

/** Accepts strings too: MySQL may refuse the numbers that a driver sends here. */
function isRowCount(value: Json): boolean {
  return typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= 0
    : typeof value === 'string' && /^\d{1,16}$/.test(value)
}

class Binder {
  readonly values: SqlValue[] = []
  readonly #dialect: Dialect

  constructor(dialect: Dialect) {
    this.#dialect = dialect
  }

  /** Adds the value and returns its placeholder. */
  bind(value: Json, variable: Variable): string {
    const { maxValues, placeholder } = this.#dialect
    if (this.values.length >= maxValues) {
      throw refused('too_many_values', variable, `exceeds the ${maxValues} values that the database accepts`)
    }
    this.values.push(this.#checkValue(value, variable))
    return placeholder(this.values.length)
  }

  bindList(list: readonly Json[], variable: Variable, isItem: boolean): string {
    if (!isItem) {
      throw refused(
        'list_outside_in',
        variable,
        `is a list, and must be directly between the parentheses and commas of IN: region IN ({{ ${variable.name} }})`,
      )
    }
    if (list.length === 0) return 'NULL'
    // Array.from visits holes; map does not.
    return Array.from(list, (item) => this.bind(item, variable)).join(', ')
  }

  #checkValue(value: Json, variable: Variable): SqlValue {
    switch (typeof value) {
      case 'string':
        return this.#checkString(value, variable)
      case 'boolean':
        return this.#dialect.booleansAsNumbers ? Number(value) : value
      case 'number':
        if (Number.isFinite(value)) return value
        break
      case 'object':
        if (value === null) return value
    }
    throw refused(
      'unusable_value',
      variable,
      'cannot be bound: only strings, finite numbers, booleans, null and lists of these can',
    )
  }

  #checkString(text: string, variable: Variable): string {
    if (this.#dialect.refusesNul && text.includes('\0')) {
      throw refused('unusable_value', variable, 'contains U+0000, which the database cannot store')
    }
    if (!text.isWellFormed()) {
      // Drivers would replace it, so that two values would become equal.
      throw refused('unusable_value', variable, 'contains half of a character (a lone surrogate)')
    }
    return text
  }
}

function refused(code: TemplateErrorCode, variable: Variable, problem: string): TemplateError {
  return new TemplateError(code, `${variable.name} ${problem}`, variable, variable.name)
}
