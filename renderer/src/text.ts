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

/** Two braces that open no variable, as Jinja, Go and others write them. */
const literalBraces = /\{\{[ \t\r\n]*"\{\{"[ \t\r\n]*\}\}/y

/**
 * Puts the user group's variables into a text, escaped for HTML. The rest of the text stays as it is, and a value is
 * never read as a template.
 *
 * For the content of elements, and for attributes in quotes. Not for `<script>`, `<style>`, comments, attributes without
 * quotes, event handlers (`onclick`), URLs (`href`, `src`: escaping leaves `javascript:` as it is) or what a framework
 * compiles as a template in the browser: there, other characters mean something.
 *
 * A value is a string, a finite number or a boolean. `{{ "{{" }}` stands for two braces.
 * @throws TemplateError for a variable that is unset, null, a list or an object
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
    `${variable.name} is no text: only a string, a finite number or a boolean can stand in a text`,
    variable,
    variable.name,
  )
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"'`]/g, (character) => entities[character] ?? '')
}
