/** What is wrong with a template, or with the value that a variable has. */
export type TemplateErrorCode =
  /** Not closed (a literal, a comment, a variable), or not read alike by all versions and settings of the database. */
  | 'malformed_template'
  /** There is no such variable, whatever the user group. */
  | 'unknown_variable'
  /** This user group has no such property. */
  | 'unset_variable'
  | 'variable_in_literal'
  | 'variable_in_identifier'
  | 'variable_in_comment'
  /** The variable touches what could make one token with it. */
  | 'variable_touches_text'
  /** The template has a placeholder (`?`, `$1`) of its own. */
  | 'placeholder_in_template'
  /** An array anywhere but directly in the parentheses of `IN ( … )`. */
  | 'list_outside_in'
  /** An object, a list in a list, or what the database cannot hold. */
  | 'unusable_value'
  | 'too_many_values'

/** A place in a template. */
export interface Place {
  readonly template: string
  readonly offset: number
}

/** A template that is refused. The message names variables, and never holds the value of one. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  readonly code: TemplateErrorCode
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 code units, as JavaScript counts. */
  readonly column: number
  /** As the template has it: `user_group.properties.region`. */
  readonly variable: string | undefined

  constructor(code: TemplateErrorCode, message: string, { template, offset }: Place, variable?: string) {
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
