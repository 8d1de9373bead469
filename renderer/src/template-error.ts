/** Reason why a template is refused. */
export type TemplateErrorCode =
  /**
   * An unclosed literal, comment or variable, or syntax that versions or settings of the database interpret
   * differently.
   */
  | 'malformed_template'
  /** No user group can have this variable. */
  | 'unknown_variable'
  /** This user group has no such property. */
  | 'unset_variable'
  | 'variable_in_literal'
  | 'variable_in_identifier'
  | 'variable_in_comment'
  /** The adjacent text could form one token with the variable. */
  | 'variable_touches_text'
  /** The template contains a placeholder (`?`, `$1`). */
  | 'placeholder_in_template'
  /** An array outside the parentheses of `IN ( … )`. */
  | 'list_outside_in'
  /** An object, a nested array, or a value that the database cannot store. */
  | 'unusable_value'
  | 'too_many_values'

/** A position in a template. */
export interface Position {
  readonly template: string
  readonly offset: number
}

/** A refused template. The message names variables and never holds a value. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  readonly code: TemplateErrorCode
  /** Starts at 1. */
  readonly line: number
  /** Starts at 1, in UTF-16 code units. */
  readonly column: number
  /** The variable as written in the template: `user_group.properties.region`. */
  readonly variable: string | undefined

  constructor(code: TemplateErrorCode, message: string, { template, offset }: Position, variable?: string) {
    const before = template.slice(0, offset)
    const line = before.split('\n').length
    const column = offset - before.lastIndexOf('\n')
    super(`${message} (line ${line}, column ${column})`)
    this.code = code
    this.line = line
    this.column = column
    this.variable = variable
  }
}
