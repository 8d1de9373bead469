import { checkTemplateArgument } from './arguments.ts'
import { positionOf } from './template-error.ts'
import { literalBraces, readVariable, type Form, type Variable } from './variables.ts'

/** An occurrence of a variable in a template. */
export interface TemplateVariable {
  /** The variable as written, without braces and form: `user_group.properties.region`. */
  readonly name: string
  /** `['user_group', 'properties', 'region']` */
  readonly path: readonly string[]
  readonly form: Form | undefined
  /** Starts at 1. */
  readonly line: number
  /** Starts at 1, in UTF-16 code units. */
  readonly column: number
}

/**
 * Returns the variables of a template for `compileSql` or `renderText`, in their order.
 * @throws TemplateError for braces that contain no variable
 */
export function variablesOf(template: string): TemplateVariable[] {
  checkTemplateArgument(template)
  return [...piecesOf(template, '{ { in SQL, {{ "{{" }} in text')].flatMap((piece) =>
    typeof piece === 'string'
      ? []
      : [{ name: piece.name, path: piece.path, form: piece.form, ...positionOf(piece) }],
  )
}

/** Splits a template into its variables and the text between them, in which literal braces are replaced. */
export function* piecesOf(template: string, braces: string): Generator<string | Variable> {
  let end = 0
  for (let start = template.indexOf('{{'); start !== -1; start = template.indexOf('{{', end)) {
    yield template.slice(end, start)
    literalBraces.lastIndex = start
    if (literalBraces.test(template)) {
      yield '{{'
      end = literalBraces.lastIndex
    } else {
      const variable = readVariable(template, start, braces)
      yield variable
      end = variable.end
    }
  }
  yield template.slice(end)
}
