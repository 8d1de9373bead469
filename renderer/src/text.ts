import { checkArguments, checkVariables } from './arguments.ts'
import { TemplateError } from './template-error.ts'
import type { Json, VariableSource } from './user-group.ts'
import { isList, resolveVariable, type Variable } from './variables.ts'
import { piecesOf } from './variables-of.ts'

/** The kind of text, which decides how values are escaped. */
export type TextFormat = 'html' | 'text' | 'markdown' | 'json'

export interface TextOptions {
  /** `html` by default. */
  readonly format?: TextFormat | undefined
  /** Values besides those of the token: `{ filter: { from: '2026-01-01' } }` is `{{ filter.from }}`. */
  readonly variables?: object | undefined
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

const escapes: Readonly<Record<Exclude<TextFormat, 'json'>, (text: string) => string>> = {
  html: (text) => text.replace(/[&<>"'`]/g, (character) => entities[character] ?? ''),
  text: (text) => text,
  // CommonMark allows a backslash before all ASCII punctuation, but not in HTML. A line break could begin a heading.
  markdown: (text) =>
    text
      .replace(/\s+/g, ' ')
      .replace(/[!-/:-@[-`{-~]/g, (character) => entities[character] ?? `\\${character}`),
}

/**
 * Replaces the variables in a text by their values, escaped for the format. Leaves the rest of the text as it is, and
 * never interprets a value as a template.
 *
 * - `html`: for the content of elements and for quoted attributes. It is not safe for `<script>`, `<style>`, comments,
 * unquoted attributes, event handlers (`onclick`), URLs (`href`, `src`: escaping does not stop `javascript:`) or
 * templates that a framework compiles in the browser.
 * - `text`: not escaped, for `textContent`, mails or file names.
 * - `markdown`: without formatting, links and line breaks. Not for code spans, code blocks and link targets.
 * - `json`: a string in a string of the template, and elsewhere any JSON value. It is safe in `<script>`.
 *
 * A value must be a string, a finite number or a boolean, or a list of these, which is joined with commas. `{{ "{{" }}`
 * produces two braces.
 * @throws TemplateError for a variable that is unset, null or an object, except in `json`
 * @throws TypeError for a userGroup that introspect did not return, or options that are not valid
 */
export function renderText(template: string, userGroup: VariableSource, options: TextOptions = {}): string {
  checkArguments(template, userGroup)
  const { format = 'html' } = options
  if (format !== 'json' && !Object.hasOwn(escapes, format)) {
    throw new TypeError('format must be one of html, text, markdown, json')
  }
  const scope = { userGroup, variables: checkVariables(options.variables) }
  let text = ''
  let isInString = false
  let isEscaped = false
  for (const piece of piecesOf(template, '{{ "{{" }}')) {
    if (typeof piece === 'string') {
      text += piece
      const unescaped = piece.replace(/\\[^]/g, '')
      isEscaped = unescaped.endsWith('\\')
      if (unescaped.split('"').length % 2 === 0) isInString = !isInString
    } else {
      if (piece.form !== undefined) throw refused(piece, `cannot be used as ${piece.form} in a text`)
      const value = resolveVariable(piece, scope)
      if (format === 'json' && isEscaped) throw refused(piece, 'follows a backslash, which would escape it')
      text += format === 'json' ? jsonOf(value, piece, isInString) : escapes[format](textOf(value, piece))
    }
  }
  return text
}

function textOf(value: Json, variable: Variable): string {
  if (isList(value)) return value.map((item) => scalarOf(item, variable)).join(', ')
  return scalarOf(value, variable)
}

function scalarOf(value: Json, variable: Variable): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
    return String(value)
  throw refused(
    variable,
    'cannot be used in a text: only strings, finite numbers, booleans and lists of these can',
  )
}

function jsonOf(value: Json, variable: Variable, isInString: boolean): string {
  const json = isInString
    ? JSON.stringify(textOf(value, variable)).slice(1, -1)
    : (JSON.stringify(value) as string | undefined)
  if (json === undefined) throw refused(variable, 'is no JSON value')
  // Inside <script>, "</script>" and "<!--" would end or extend it. Older JavaScript refuses the line separators.
  return json.replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

function refused(variable: Variable, problem: string): TemplateError {
  return new TemplateError('unusable_value', `${variable.name} ${problem}`, variable, variable.name)
}
