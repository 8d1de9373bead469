import { endOfEnclosed } from './enclosed.ts'
import { TemplateError } from './template-error.ts'
import type { Json, VariableSource } from './user-group.ts'

/** `{{ user_group.properties.region }}`, as it stands in a template. */
export interface Variable {
  /** What is between the braces. */
  readonly name: string
  readonly path: readonly string[]
  readonly template: string
  readonly offset: number
  /** Where the template goes on. */
  readonly end: number
}

const fields = new Map<string, (userGroup: VariableSource) => Json | undefined>([
  ['provided_id', (userGroup) => userGroup.providedId],
  ['name', (userGroup) => userGroup.name],
  ['properties', (userGroup) => userGroup.properties],
])

/**
 * Reads the variable that begins here, with its `{{`.
 * @param literalBraces how braces that open no variable are written there
 */
export function readVariable(template: string, offset: number, literalBraces: string): Variable {
  const notAVariable = () =>
    new TemplateError(
      'malformed_template',
      'What follows {{ is not a variable: write {{ user_group.properties.region }}, or, for a key of any kind, ' +
        `{{ user_group.properties["sales region"] }}; two braces that open no variable, as ${literalBraces}`,
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
      `There is no variable ${name}: there are user_group.provided_id, user_group.name and user_group.properties.…`,
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
 * The variable's value for this user group.
 * @throws TemplateError `unset_variable` where there is none; nothing stands in for it.
 */
export function resolveVariable(variable: Variable, userGroup: VariableSource): Json {
  const [field = '', ...keys] = variable.path
  let value = fields.get(field)?.(userGroup)
  for (const key of keys) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  // A property of a user group may be null; the properties as a whole are null where there are none.
  if (value === undefined || (value === null && keys.length === 0)) {
    throw new TemplateError('unset_variable', `${variable.name} is not set`, variable, variable.name)
  }
  return value
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** An array is none: its `length` is an own property, but no variable. */
function isObject(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
