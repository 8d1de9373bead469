import type { Json } from '../user-group.ts'
import { isList, resolveVariable, type Scope, type Variable } from '../variables.ts'
import { Binder, inexactComparison } from './bind.ts'
import type { Comparison, Range } from './comparisons.ts'
import type { CompiledSql } from './compile.ts'
import { isComparedExactly } from './conditions.ts'
import type { TemplateRules } from './options.ts'
import type { Place } from './places.ts'

/** Writes the statements of a template, with placeholders instead of variables and exact comparisons. */
export class Writer {
  readonly #template: string
  readonly #places: readonly Place[]
  readonly #rules: TemplateRules
  readonly #scope: Scope
  readonly #binder: Binder

  constructor(template: string, places: readonly Place[], rules: TemplateRules, scope: Scope) {
    this.#template = template
    this.#places = places
    this.#rules = rules
    this.#scope = scope
    this.#binder = new Binder(rules)
  }

  write(): CompiledSql {
    const text = this.#range({ start: 0, end: this.#template.length }, ({ comparison }) =>
      comparison !== undefined && this.#hasText(comparison) ? comparison : undefined,
    )
    return { text, values: this.#binder.values }
  }

  /**
   * Returns a part of the template with its variables bound.
   * @param exactOf returns the comparison to write instead of a place and the following places in it. Without it, the part
   * belongs to an exact comparison
   */
  #range(range: Range, exactOf?: (place: Place) => Comparison | undefined): string {
    let text = ''
    let copied = range.start
    for (let index = this.#indexFrom(range.start); index < this.#places.length; index++) {
      const place = this.#places[index]
      if (place === undefined || place.variable.offset >= range.end) break
      // A place in a comparison that is written already.
      if (place.variable.offset < copied) continue
      const comparison = exactOf?.(place)
      text += this.#template.slice(copied, comparison?.start ?? place.variable.offset)
      text += comparison === undefined ? this.#bind(place, exactOf === undefined) : this.#exact(comparison)
      copied = comparison?.end ?? place.variable.end
    }
    return text + this.#template.slice(copied, range.end)
  }

  /** Returns the index of the first place from the offset on. */
  #indexFrom(offset: number): number {
    let low = 0
    let high = this.#places.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#places[middle]?.variable.offset ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low
  }

  #bind(place: Place, isGuarded: boolean): string {
    const { variable, isInexact } = place
    const value = this.#value(variable)
    const bound = this.#binder.bind(place, value, isGuarded && isComparedExactly(variable))
    if (isInexact && hasText(value)) throw inexactComparison(variable)
    return bound
  }

  /**
   * Returns the comparison as written, so that the database can use an index, and the comparison of the texts. Instead of
   * a negated comparison, only that of the texts.
   */
  #exact(comparison: Comparison): string {
    const { isEqual, operand, operator, shape, value, end } = comparison
    const written = isEqual ? `${this.#range(comparison)} AND ` : ''
    const text = this.#rules.dialect.exactness.textOf(this.#range(operand))
    if (shape === 'items') return `(${written}${this.#items(comparison, text)})`
    const bound = comparison.variables.map((variable) => {
      const texts = this.#value(variable)
      if (shape === 'value') return `${isEqual ? '=' : '<>'} ${this.#binder.bindText(texts, variable)}`
      const array = this.#binder.bindTexts(isList(texts) ? texts : [texts], variable)
      return this.#template.slice(operator.start, operator.end) + array + this.#template.slice(value.end, end)
    })
    return `(${written}${text} ${bound.join(' ')})`
  }

  /** Compares texts of the user group, and null, with the text of the operand, and the other items as written. */
  #items(comparison: Comparison, text: string): string {
    const { isEqual, operand, operator, variables, otherItems } = comparison
    const words = this.#template.slice(operator.start, operator.end)
    const others = otherItems.map((item) => this.#range(item))
    const texts: { readonly item: Json; readonly variable: Variable }[] = []
    for (const variable of variables) {
      const value = this.#value(variable)
      const items = isList(value) ? value : [value]
      const isText = (item: Json) =>
        isComparedExactly(variable) && (typeof item === 'string' || item === null)
      const rest = items.filter((item) => !isText(item))
      if (rest.length > 0 || items.length === 0) others.push(this.#binder.bindItems(rest, variable))
      texts.push(...items.filter(isText).map((item) => ({ item, variable })))
    }
    const compared = others.length === 0 ? '' : `${this.#range(operand)} ${words}(${others.join(', ')})`
    const bound = texts.map(({ item, variable }) => this.#binder.bindText(item, variable)).join(', ')
    const guard = `${text} ${words}(${bound})`
    if (compared === '') return guard
    return isEqual ? `(${compared} OR ${guard})` : `${compared} AND ${guard}`
  }

  #hasText({ shape, variables }: Comparison): boolean {
    return variables.some((variable) => {
      if (!isComparedExactly(variable)) return false
      const value = this.#value(variable)
      // A list that is no item is refused when it is bound.
      return hasText(value) && !(shape === 'value' && isList(value))
    })
  }

  #value(variable: Variable): Json {
    return resolveVariable(variable, this.#scope)
  }
}

function hasText(value: Json): boolean {
  return typeof value === 'string' || (isList(value) && value.some((item) => typeof item === 'string'))
}
