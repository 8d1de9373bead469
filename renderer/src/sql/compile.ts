import { checkArguments } from '../arguments.ts'
import { TemplateError, type TemplateErrorCode } from '../template-error.ts'
import type { Json, VariableSource } from '../user-group.ts'
import { isList, resolveVariable, type Variable } from '../variables.ts'
import { Brackets } from './brackets.ts'
import { dialects, type Dialect, type SqlDialect } from './dialects.ts'
import { Scanner, type Token } from './scanner.ts'

export type SqlValue = string | number | boolean | null

/** A statement, as a driver takes it. */
export interface CompiledSql {
  /** The template, with a placeholder in place of each variable. */
  readonly text: string
  /** What the placeholders stand for, in their order. */
  readonly values: SqlValue[]
}

/**
 * Binds the user group's variables in a statement. Each occurrence of a variable becomes a placeholder with a value of
 * its own. The text depends on the template, and on which variables are lists and how long these are: on nothing else.
 *
 * - Strings, finite numbers and booleans are bound as they are (booleans as 1 and 0 for SQLite, whose drivers take
 *   none). Null is bound as NULL, which equals nothing.
 * - Where rows are counted (`LIMIT`, `OFFSET`, `FETCH`), a value is a whole number from 0, or such a number as a text.
 * - A list stands as an item of `IN ( … )` or `NOT IN ( … )` only, and becomes its elements. An empty one becomes NULL:
 *   then neither `IN` nor `NOT IN` is true because of it. A null in a list makes `NOT IN` match nothing, as ever in SQL.
 * - The template comes from someone who may write SQL; what it says besides variables reaches the database as it is.
 *
 * @throws TemplateError for a variable that is unset, that stands where no value can (in a literal, a quoted identifier
 * or a comment, or touching a word), for a value that cannot be bound, and for a template that may be read differently
 * by the database
 * @throws TypeError for arguments of another kind: a userGroup that introspect did not return, an unknown dialect
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
      `dialect must be one of ${names}: pass { dialect: 'postgresql' }, or another, as the third argument`,
    )
  }
  return dialects[dialect as SqlDialect]
}

/** Refuses what some databases take for no limit: null (PostgreSQL), '' (Snowflake), a number below zero (SQLite). */
function checkCount(value: Json, variable: Variable, brackets: Brackets, next: Token | undefined): void {
  if (isList(value)) return
  if (value === null && brackets.makesNullCount(next)) {
    throw refused(
      'unusable_value',
      variable,
      'is null where rows are counted (LIMIT, OFFSET, FETCH), and some databases take that for all rows: ' +
        `set a number, or, where an expression may stand there, write COALESCE({{ ${variable.name} }}, 100)`,
    )
  }
  if (value !== null && brackets.isCount() && !isRowCount(value)) {
    throw refused(
      'unusable_value',
      variable,
      'stands where rows are counted (LIMIT, OFFSET, FETCH), and must be a whole number there, 0 or more: ' +
        'some databases take another value for all rows',
    )
  }
}

/** As a text too: what a driver sends for a number, MySQL may refuse there. */
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

  /** Adds the value, and returns its placeholder. */
  bind(value: Json, variable: Variable): string {
    const { maxValues, placeholder } = this.#dialect
    if (this.values.length >= maxValues) {
      throw refused('too_many_values', variable, `is one value too many: the database takes ${maxValues}`)
    }
    this.values.push(this.#bindable(value, variable))
    return placeholder(this.values.length)
  }

  bindList(list: readonly Json[], variable: Variable, isItem: boolean): string {
    if (!isItem) {
      throw refused(
        'list_outside_in',
        variable,
        `is a list, and stands only between the parentheses and commas of IN: region IN ({{ ${variable.name} }})`,
      )
    }
    if (list.length === 0) return 'NULL'
    // Array.from, unlike map, sees the holes of an array.
    return Array.from(list, (item) => this.bind(item, variable)).join(', ')
  }

  #bindable(value: Json, variable: Variable): SqlValue {
    switch (typeof value) {
      case 'string':
        return this.#bindableText(value, variable)
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
      'holds what cannot be bound: only strings, finite numbers, booleans, null and lists of these can',
    )
  }

  #bindableText(text: string, variable: Variable): string {
    if (this.#dialect.refusesNul && text.includes('\0')) {
      throw refused('unusable_value', variable, 'holds U+0000, which the database has no place for')
    }
    if (!text.isWellFormed()) {
      // Drivers would replace it, and two values would be the same.
      throw refused('unusable_value', variable, 'holds half of a character (a lone surrogate)')
    }
    return text
  }
}

function refused(code: TemplateErrorCode, variable: Variable, what: string): TemplateError {
  return new TemplateError(code, `${variable.name} ${what}`, variable, variable.name)
}
