import type { Json } from '../user-group.ts'
import { isList, resolveVariable, type Scope, type Variable } from '../variables.ts'
import { Binder, inexactComparison, type SqlOutput } from './bind.ts'
import type { Comparison, Range } from './comparisons.ts'
import { isComparedExactly, isGuarded } from './conditions.ts'
import type { SqlValue } from './literals.ts'
import type { TemplateRules } from './options.ts'
import type { Place } from './places.ts'

/** A statement with its bound values, ready for a driver. */
export interface CompiledSql {
  /** The template with a placeholder or literal instead of each variable. */
  readonly text: string
  /** The bound values, in the order of the placeholders. Empty for literals. Only PostgreSQL has arrays, for `= ANY ( … )`. */
  readonly values: (SqlValue | SqlValue[])[]
}

/** The kind of exact comparison that a value needs. */
type Guard = 'none' | 'text' | 'number'

/** Writes the statements of a template, with placeholders instead of variables and exact comparisons. */
export class Writer {
  readonly #template: string
  readonly #places: readonly Place[]
  readonly #rules: TemplateRules
  readonly #scope: Scope
  readonly #binder: Binder

  constructor(
    template: string,
    places: readonly Place[],
    rules: TemplateRules,
    scope: Scope,
    output: SqlOutput,
  ) {
    this.#template = template
    this.#places = places
    this.#rules = rules
    this.#scope = scope
    this.#binder = new Binder(rules, output)
  }

  write(): CompiledSql {
    const text = this.#range({ start: 0, end: this.#template.length }, ({ comparison }) =>
      comparison !== undefined && this.#needsGuard(comparison) ? comparison : undefined,
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
    if (isInexact && hasText(value)) throw inexactComparison(variable)
    return this.#binder.bind(place, value, isGuarded && isComparedExactly(variable))
  }

  /**
   * Returns the comparison as written, so that the database can use an index, and the exact comparison. Instead of a
   * negated comparison, only the exact one.
   */
  #exact(comparison: Comparison): string {
    const { isEqual, operand, operator, shape, value, end } = comparison
    const written = isEqual ? `${this.#range(comparison)} AND ` : ''
    if (shape === 'items') return `(${written}${this.#items(comparison)})`
    const [exact = ''] = comparison.variables.map((variable) => {
      const bound = this.#value(variable)
      const guard = this.#guardOf(variable, bound)
      if (shape === 'element') return this.#element(comparison, bound, variable)
      const compared = this.#convert(guard, operand)
      if (shape === 'value')
        return `${compared} ${isEqual ? '=' : '<>'} ${this.#bindFor(guard, bound, variable)}`
      const array = this.#binder.bindTexts(isList(bound) ? bound : [bound], variable)
      const words = this.#slice(operator)
      return `${compared} ${words}${array}${this.#template.slice(value.end, end)}`
    })
    return `(${written}${exact})`
  }

  /** `{{ … }} = ANY(column)` */
  #element({ operand, operator, end }: Comparison, value: Json, variable: Variable): string {
    const bound = this.#binder.bindText(value, variable)
    const elements = this.#rules.dialect.exactness.elementsOf?.(this.#range(operand)) ?? ''
    return `${bound} ${this.#slice(operator)}${elements}${this.#template.slice(operand.end, end)}`
  }

  #slice({ start, end }: Range): string {
    return this.#template.slice(start, end)
  }

  /** Compares each item in its own way: as a text, as a number, or as written. */
  #items(comparison: Comparison): string {
    const { isEqual, operand, operator, variables, otherItems } = comparison
    const words = this.#slice(operator)
    const items: Record<Guard, { readonly item: Json; readonly variable: Variable }[]> = {
      none: [],
      text: [],
      number: [],
    }
    const hasText = variables.some((variable) => this.#guardOf(variable, this.#value(variable)) === 'text')
    for (const variable of variables) {
      const value = this.#value(variable)
      if (!isList(value)) items[this.#guardOf(variable, value)].push({ item: value, variable })
      // A null makes the comparison unknown, in each of its parts.
      else
        for (const item of value.length === 0 ? [null] : value)
          items[item === null && hasText ? 'text' : this.#guardOf(variable, item)].push({ item, variable })
    }
    const parts: string[] = []
    for (const [guard, of] of Object.entries(items) as [Guard, typeof items.none][]) {
      const others = guard === 'none' ? otherItems.map((item) => this.#range(item)) : []
      if (of.length + others.length === 0) continue
      const compared = this.#convert(guard, operand)
      const bound = of.map(({ item, variable }) => this.#bindFor(guard, item, variable))
      parts.push(`${compared} ${words}(${[...others, ...bound].join(', ')})`)
    }
    if (!isEqual) return parts.join(' AND ')
    return parts.length === 1 ? parts.join('') : `(${parts.join(' OR ')})`
  }

  /** Returns the operand as it is compared exactly. */
  #convert(guard: Guard, operand: Range): string {
    const { textOf, decimal } = this.#rules.dialect.exactness
    const expression = this.#range(operand)
    if (guard === 'text') return textOf(expression)
    return guard === 'number' ? (decimal?.(expression) ?? expression) : expression
  }

  #bindFor(guard: Guard, value: Json, variable: Variable): string {
    if (guard === 'text') return this.#binder.bindText(value, variable)
    return guard === 'number'
      ? this.#binder.bindDecimal(value, variable)
      : this.#binder.bindItems([value], variable)
  }

  #guardOf(variable: Variable, value: Json): Guard {
    if (isComparedExactly(variable) && hasText(value)) return 'text'
    const { decimal } = this.#rules.dialect.exactness
    return isGuarded(variable) && variable.form === 'number' && decimal !== undefined && value !== null
      ? 'number'
      : 'none'
  }

  /** Returns true if a variable of the comparison needs an exact comparison. */
  #needsGuard({ shape, variables }: Comparison): boolean {
    return variables.some((variable) => {
      const value = this.#value(variable)
      // A list that is no item is refused when it is bound.
      return (
        this.#guardOf(variable, value) !== 'none' && !(/^(?:value|element)$/.test(shape) && isList(value))
      )
    })
  }

  #value(variable: Variable): Json {
    return resolveVariable(variable, this.#scope)
  }
}

function hasText(value: Json): boolean {
  return typeof value === 'string' || (isList(value) && value.some((item) => typeof item === 'string'))
}
