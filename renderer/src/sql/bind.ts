import { TemplateError, type TemplateErrorCode } from '../template-error.ts'
import type { Json } from '../user-group.ts'
import { isList, type Variable } from '../variables.ts'
import type { Dialect } from './dialects.ts'
import { literalOf, type SqlValue } from './literals.ts'
import type { TemplateRules } from './options.ts'
import type { Place } from './places.ts'

/** Values are bound to placeholders, or written as literals. */
export type SqlOutput = 'bound' | 'literal'

/** Collects the bound values of a statement, and returns the text that replaces each variable. */
export class Binder {
  readonly values: (SqlValue | SqlValue[])[] = []
  readonly #dialect: Dialect
  readonly #identifiers: TemplateRules['identifiers']
  readonly #output: SqlOutput

  constructor({ dialect, identifiers }: TemplateRules, output: SqlOutput) {
    this.#dialect = dialect
    this.#identifiers = identifiers
    this.#output = output
  }

  /**
   * Returns the text that replaces the variable.
   * @param isGuarded set if an exact comparison of the same value follows, so that no collation is needed
   */
  bind({ variable, kind }: Place, value: Json, isGuarded = false): string {
    if (kind === 'identifier') return this.#quote(value, variable)
    if (kind === 'item' && this.#dialect.ignoresNullItems) refuseNullItems(value, variable)
    if (kind === 'array') return this.#array(isList(value) ? value : [value], variable)
    if (isList(value)) return this.#items(value, variable, kind === 'item', isGuarded)
    if (kind === 'row count') return this.#rowCount(value, variable)
    if (kind === 'null test') return this.#nullTest(value, variable)
    return this.#scalar(value, variable, isGuarded)
  }

  /** Returns the items of a list in `IN ( … )`. */
  bindItems(items: readonly Json[], variable: Variable): string {
    return this.#items(items, variable, true, false)
  }

  /** Returns the value for an exact comparison with the text of an expression. */
  bindText(value: Json, variable: Variable): string {
    if (value === null && this.#dialect.ignoresNullItems) refuseNullItems(value, variable)
    const placeholder = this.#add(this.#check(value, variable), variable)
    return this.#dialect.exactness.value?.(placeholder) ?? placeholder
  }

  /** Returns the array for exact comparisons with the text of an expression. */
  bindTexts(values: readonly Json[], variable: Variable): string {
    const { write } = this.#dialect.arrays ?? {}
    if (write !== undefined) return write(values.map((value) => this.bindText(value, variable)))
    const placeholder = this.#add(
      values.map((value) => this.#check(value, variable)),
      variable,
    )
    return this.#dialect.exactness.array?.(placeholder) ?? placeholder
  }

  /** Returns the number for an exact comparison with an expression as a decimal. */
  bindDecimal(value: Json, variable: Variable): string {
    const placeholder = this.#add(numberOf(value, variable), variable)
    return this.#dialect.exactness.decimal?.(placeholder) ?? placeholder
  }

  #scalar(value: Json, variable: Variable, isGuarded: boolean): string {
    if (variable.form === 'number') {
      const number = numberOf(value, variable)
      return this.#dialect.number(this.#add(number, variable), !number?.includes('.'))
    }
    const placeholder = this.#add(this.#check(value, variable), variable)
    const { date, collate } = this.#dialect
    if (variable.form === 'date') {
      if (value === null || isDate(value)) return date(placeholder)
      throw refused('unusable_value', variable, 'must be a date such as 2026-01-31')
    }
    return isGuarded ? placeholder : (collate?.(placeholder) ?? placeholder)
  }

  #nullTest(value: Json, variable: Variable): string {
    const { nullTest } = this.#dialect
    if (nullTest === undefined || variable.form !== undefined) return this.#scalar(value, variable, false)
    return nullTest(this.#add(this.#check(value, variable), variable))
  }

  #items(list: readonly Json[], variable: Variable, isItem: boolean, isGuarded: boolean): string {
    if (!isItem) {
      const { arrays } = this.#dialect
      const words = arrays ? `, or of ${arrays.words.join(', ').toUpperCase()}` : ''
      throw refused(
        'list_outside_in',
        variable,
        `is a list, and must be directly between the parentheses and commas of IN${words}: ` +
          `region IN ({{ ${variable.name} }})`,
      )
    }
    if (list.length === 0) return 'NULL'
    // Array.from visits holes; map does not.
    return Array.from(list, (item) => this.#scalar(item, variable, isGuarded)).join(', ')
  }

  /** An empty list becomes one null, so that neither `= ANY` nor `<> ALL` is true because of it. */
  #array(list: readonly Json[], variable: Variable): string {
    const { write } = this.#dialect.arrays ?? {}
    const items = list.length === 0 ? [null] : Array.from(list, (item) => this.#check(item, variable))
    if (write === undefined) return this.#add(items, variable)
    if (list.length === 0) return write(['NULL'])
    return write(items.map((item) => this.#add(item, variable)))
  }

  /**
   * Refuses values that some databases interpret as all rows: null (PostgreSQL), '' (Snowflake), negative numbers
   * (SQLite).
   */
  #rowCount(value: Json, variable: Variable): string {
    if (isRowCount(value)) return this.#output === 'literal' ? String(value) : this.#add(value, variable)
    const is = value === null ? 'is null in' : 'is'
    throw refused(
      'unusable_value',
      variable,
      `${is} a row count (LIMIT, OFFSET, FETCH, TOP) and must be an integer, 0 or more: ` +
        'some databases interpret other values as all rows',
    )
  }

  #quote(value: Json, variable: Variable): string {
    const allowed = this.#identifiers.get(variable.key)
    if (allowed === undefined) throw missingNames(variable)
    if (typeof value !== 'string' || !allowed.includes(value)) {
      throw refused(
        'identifier_not_allowed',
        variable,
        'has a value that is not in its list of `identifiers`',
      )
    }
    return this.quoteName(value, variable)
  }

  /** Returns the allowed name in the quotes of the dialect. */
  quoteName(name: string, variable: Variable): string {
    const { name: quotes, placeholdersEverywhere } = this.#dialect
    const { open, close, doubled } = quotes
    const isUnusable =
      name === '' ||
      /[\0\ud800-\udfff]/.test(name.replace(/[\ud800-\udbff][\udc00-\udfff]/g, '')) ||
      (placeholdersEverywhere === true && name.includes('?')) ||
      (doubled !== true && (name.includes(close) || name.includes('\\')))
    if (isUnusable) {
      throw refused('identifier_not_allowed', variable, 'has a name in `identifiers` that cannot be quoted')
    }
    return open + name.replaceAll(close, close + close) + close
  }

  #add(value: SqlValue | SqlValue[], variable: Variable): string {
    const { maxValues, placeholder, literals } = this.#dialect
    if (this.#output === 'literal') {
      const literal = literalOf(value, literals)
      if (literal !== undefined) return literal
      throw refused(
        'unusable_value',
        variable,
        'cannot be a literal of this database with certainty: only texts of ASCII letters, digits, spaces, dots, ' +
          'underscores and single hyphens can. Bind it, without output',
      )
    }
    if (this.values.length >= maxValues) {
      throw refused('too_many_values', variable, `exceeds the ${maxValues} values that the database accepts`)
    }
    this.values.push(value)
    return placeholder(this.values.length, value)
  }

  #check(value: Json, variable: Variable): SqlValue {
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

function refuseNullItems(value: Json, variable: Variable): void {
  const items = isList(value) ? value : [value]
  if (items.length > 0 && !items.includes(null)) return
  throw refused(
    'unusable_value',
    variable,
    'is an empty list or contains null, which the database ignores, so that NOT IN would match all rows',
  )
}

/** Accepts strings too: MySQL may refuse the numbers that a driver sends here. */
function isRowCount(value: Json): value is string | number {
  return typeof value === 'number'
    ? Number.isSafeInteger(value) && value >= 0
    : typeof value === 'string' && /^\d{1,16}$/.test(value)
}

function isDate(value: Json): boolean {
  if (typeof value !== 'string' || !/^\d{4}-\d\d-\d\d$/.test(value)) return false
  const date = new Date(`${value}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(value)
}

/** Returns the canonical spelling of a number, so that two different values are different numbers. */
function numberOf(value: Json, variable: Variable): string | null {
  if (value === null) return null
  const text = typeof value === 'number' ? String(value) : value
  const isCanonical =
    typeof text === 'string' && text !== '-0' && /^-?(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/.test(text)
  if (isCanonical && text.length < 40) {
    const isInRange = text.includes('.')
      ? text.replace(/[-.]/g, '').length <= 15
      : BigInt.asIntN(64, BigInt(text)) === BigInt(text)
    if (isInRange) return text
  }
  throw refused(
    'unusable_value',
    variable,
    'must be a number as 42 or -1.5: an integer of 64 bits, or a decimal number of up to 15 digits, without other zeros, ' +
      'spaces, a plus sign or an exponent',
  )
}

export function missingNames(variable: Variable): TemplateError {
  return refused(
    'identifier_not_allowed',
    variable,
    `needs a list of allowed names, for example identifiers: { '${variable.name}': ['eu', 'us'] }`,
  )
}

export function inexactComparison(variable: Variable): TemplateError {
  const { name } = variable
  const written = `{{ ${name} }}`
  return refused(
    'inexact_comparison',
    variable,
    'is a text of the user group or viewer where the database may convert it or merge it with others, so that two of them ' +
      `could get the same rows: write customer = ${written}, customer IN (${written}) or customer = ANY(${written}), or the same with ` +
      '<>, NOT IN or <> ALL, with parentheses around the comparison and around another expression than a column. ' +
      'For numbers and dates, write {{ number … }} or {{ date … }}. To return the text, select it without columns, and not ' +
      'in a subquery. For any other use, pass the value as one of `variables`',
  )
}

function refused(code: TemplateErrorCode, variable: Variable, problem: string): TemplateError {
  return new TemplateError(code, `${variable.name} ${problem}`, variable, variable.name)
}
