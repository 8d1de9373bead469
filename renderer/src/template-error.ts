import { RendererError } from './renderer-error.ts'

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
  /** A variable that is only a part of a row count, as in `LIMIT {{ … }} + 1`. */
  | 'variable_in_row_count'
  /** An optional clause, `[[ … ]]`, that is malformed, holds a variable of the user group or viewer, or can never be absent. */
  | 'invalid_optional_clause'
  /** A value that is not in the list of names allowed for `{{ identifier … }}`. */
  | 'identifier_not_allowed'
  /** A statement whose rows are not limited to a variable that `checkTemplate` requires. */
  | 'missing_variable'
  /** A text of the user group or viewer where the database may convert it or merge it with others. */
  | 'inexact_comparison'
  /** An object, a nested array, or a value that the database cannot store. */
  | 'unusable_value'
  | 'too_many_values'

/** A position in a template. */
export interface Position {
  readonly template: string
  readonly offset: number
}

/** A refused template. The message names variables and never holds a value. */
export class TemplateError extends RendererError {
  override readonly name = 'TemplateError'
  readonly code: TemplateErrorCode
  /** Starts at 1. */
  readonly line: number
  /** Starts at 1, in UTF-16 code units. */
  readonly column: number
  /** The variable as written in the template: `user_group.properties.region`. */
  readonly variable: string | undefined

  constructor(code: TemplateErrorCode, message: string, position: Position, variable?: string) {
    const { line, column } = positionOf(position)
    super(`${message} (line ${line}, column ${column})`)
    this.code = code
    this.line = line
    this.column = column
    this.variable = variable
  }
}

/** Returns the line and the column, both from 1. */
export function positionOf({ template, offset }: Position): { line: number; column: number } {
  const before = template.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}
