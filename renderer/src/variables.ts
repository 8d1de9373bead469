import { endOfEnclosed } from './enclosed.ts'
import { TemplateError } from './template-error.ts'
import type { Json, VariableSource } from './user-group.ts'

/** A variable in a template, such as `{{ user_group.properties.region }}`. */
export interface Variable {
  /** The text between the braces. */
  readonly name: string
  readonly path: readonly string[]
  readonly template: string
  readonly offset: number
  /** Offset after the closing braces. */
  readonly end: number
}

const fields = new Map<string, (userGroup: VariableSource) => Json | undefined>([
  ['provided_id', (userGroup) => userGroup.providedId],
  ['name', (userGroup) => userGroup.name],
  ['properties', (userGroup) => userGroup.properties],
])

/**
 * Reads the variable whose `{{` is at `offset`.
 * @param literalBraces notation for literal braces in this kind of template
 */
export function readVariable(template: string, offset: number, literalBraces: string): Variable {
  const notAVariable = () =>
    new TemplateError(
      'malformed_template',
      'What follows {{ is not a variable: write {{ user_group.properties.region }}, or, for any other key, ' +
        `{{ user_group.properties["sales region"] }}; write literal braces as ${literalBraces}`,
      { template, offset },
    )
  let end = offset + 2
  const take = (pattern: RegExp) => {
    pattern.lastIndex = end
    const taken = pattern.exec(template)?.[0] ?? ''
    end += taken.length
    return taken
  }
  take(/[ \t\r\n]*/y)
  const start = end
  const root = take(/[A-Za-z_]\w*/y)
  const path: string[] = []
  for (;;) {
    const step = take(/\.[A-Za-z_]\w*|\["/y)
    if (step === '') break
    if (step === '["') {
      const endOfKey = endOfEnclosed(template, end, { close: '"', backslash: true })
      const key = keyOf(template.slice(end - 1, endOfKey))
      end = endOfKey ?? end
      if (key === undefined || take(/\]/y) === '') throw notAVariable()
      path.push(key)
    } else path.push(step.slice(1))
  }
  const name = template.slice(start, end)
  if (name === '' || take(/[ \t\r\n]*\}\}/y) === '') throw notAVariable()
  if (root !== 'user_group' || !fields.has(path[0] ?? '')) {
    throw new TemplateError(
      'unknown_variable',
      `There is no variable ${name}: use user_group.provided_id, user_group.name or user_group.properties.…`,
      { template, offset },
      name,
    )
  }
  return { name, path, template, offset, end }
}

function keyOf(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}

/**
 * Returns the variable's value for this user group.
 * @throws TemplateError `unset_variable` if there is none; there are no defaults
 */
export function resolveVariable(variable: Variable, userGroup: VariableSource): Json {
  const [field = '', ...keys] = variable.path
  let value = fields.get(field)?.(userGroup)
  for (const key of keys) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  // A single property may be null. `properties` itself is null if there are none.
  if (value === undefined || (value === null && keys.length === 0)) {
    throw new TemplateError('unset_variable', `${variable.name} is not set`, variable, variable.name)
  }
  return value
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** Returns false for arrays: their `length` is an own property but not a variable. */
function isObject(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
