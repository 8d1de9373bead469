import { checkArguments } from './arguments.ts'
import { TemplateError } from './template-error.ts'
import type { VariableSource } from './user-group.ts'
import { readVariable, resolveVariable, type Variable } from './variables.ts'

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

/** Literal braces, written as in Jinja and Go templates. */
const literalBraces = /\{\{[ \t\r\n]*"\{\{"[ \t\r\n]*\}\}/y

/**
 * Replaces the variables in a text by the user group's values, escaped for HTML. Leaves the rest of the text as it is,
 * and never interprets a value as a template.
 *
 * Use it for the content of elements and for quoted attributes. It is not safe for `<script>`, `<style>`, comments,
 * unquoted attributes, event handlers (`onclick`), URLs (`href`, `src`: escaping does not stop `javascript:`) or
 * templates that a framework compiles in the browser.
 *
 * A value must be a string, a finite number or a boolean. `{{ "{{" }}` produces two braces.
 * @throws TemplateError for a variable that is unset, null, an array or an object
 * @throws TypeError for a userGroup that introspect did not return
 */
export function renderText(template: string, userGroup: VariableSource): string {
  checkArguments(template, userGroup)
  let text = ''
  let end = 0
  for (let start = template.indexOf('{{'); start !== -1; start = template.indexOf('{{', end)) {
    text += template.slice(end, start)
    literalBraces.lastIndex = start
    if (literalBraces.test(template)) {
      text += '{{'
      end = literalBraces.lastIndex
    } else {
      const variable = readVariable(template, start, '{{ "{{" }}')
      text += escapeHtml(textOf(variable, userGroup))
      end = variable.end
    }
  }
  return text + template.slice(end)
}

function textOf(variable: Variable, userGroup: VariableSource): string {
  const value = resolveVariable(variable, userGroup)
  if (typeof value === 'string') return value
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value)))
    return String(value)
  throw new TemplateError(
    'unusable_value',
    `${variable.name} cannot be used in a text: only strings, finite numbers and booleans can`,
    variable,
    variable.name,
  )
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => entities[character] ?? '')
}
