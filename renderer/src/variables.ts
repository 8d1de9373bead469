import { endOfEnclosed } from './enclosed.ts'
import { TemplateError } from './template-error.ts'
import { adviceFor } from './unsupported-syntax.ts'
import type { Json, VariableSource } from './user-group.ts'

/** Use of a variable for something else than a value: `{{ identifier … }}`, `{{ date … }}`, `{{ number … }}`. */
export type Form = 'identifier' | 'date' | 'number'

/** A variable in a template, such as `{{ user_group.properties.region }}`. */
export interface Variable {
  /** The variable as written between the braces, without its form. */
  readonly name: string
  readonly form: Form | undefined
  readonly path: readonly [root: string, ...keys: string[]]
  /** Equal for two notations of the same variable. */
  readonly key: string
  readonly template: string
  readonly offset: number
  /** Offset after the closing braces. */
  readonly end: number
}

/** The values of a template's variables. */
export interface Scope {
  readonly userGroup: VariableSource
  /** Values besides those of the token, by the first word of the variable. */
  readonly variables: Readonly<Record<string, unknown>>
}

type Fields = ReadonlyMap<string, (userGroup: VariableSource) => Json | undefined>

/** The variables whose values come from the token, by their first two words. */
const tokenVariables: ReadonlyMap<string, Fields> = new Map<string, Fields>([
  [
    'user_group',
    new Map<string, (userGroup: VariableSource) => Json | undefined>([
      ['provided_id', ({ providedId }) => providedId],
      ['name', ({ name }) => name],
      ['team_id', ({ teamId }) => teamId],
      ['environment', ({ environment }) => environment],
      ['properties', ({ properties }) => properties],
    ]),
  ],
  [
    'viewer',
    new Map<string, (userGroup: VariableSource) => Json | undefined>([
      ['id', ({ viewer }) => viewer?.id],
      ['name', ({ viewer }) => viewer?.name],
      ['properties', ({ viewer }) => viewer?.properties],
      ['time_zone', ({ viewer }) => viewer?.timeZone],
      ['locale', ({ viewer }) => viewer?.locale],
    ]),
  ],
])

/** Literal braces in a text, written as in Jinja and Go templates. */
export const literalBraces = /\{\{[ \t\r\n]*"\{\{"[ \t\r\n]*\}\}/y

const space = /[ \t\r\n]*/y
const formWord = /(?:identifier|date|number)[ \t\r\n]+(?=[A-Za-z_])/y
const rootWord = /[A-Za-z_]\w*/y
const stepOfPath = /\.[A-Za-z_]\w*|\["/y
const closingBracket = /\]/y
const closingBraces = /[ \t\r\n]*\}\}/y

/**
 * Reads the variable whose `{{` is at `offset`.
 * @param braces notation for literal braces in this kind of template
 */
export function readVariable(template: string, offset: number, braces: string): Variable {
  let end = offset + 2
  const take = (pattern: RegExp) => {
    pattern.lastIndex = end
    const taken = pattern.exec(template)?.[0] ?? ''
    end += taken.length
    return taken
  }
  take(space)
  const form = take(formWord).trim()
  const start = end
  const root = take(rootWord)
  const keys: string[] = []
  const name = () => template.slice(start, end)
  const notAVariable = () =>
    new TemplateError(
      'malformed_template',
      `What follows {{ is not a variable: ${adviceFor(template, offset)}; write literal braces as ${braces}`,
      { template, offset },
    )
  for (;;) {
    const step = take(stepOfPath)
    if (step === '') break
    if (step === '["') {
      const endOfKey = endOfEnclosed(template, end, { close: '"', backslash: true })
      const key = keyOf(template.slice(end - 1, endOfKey))
      end = endOfKey ?? end
      if (key === undefined || take(closingBracket) === '') throw notAVariable()
      keys.push(key)
    } else keys.push(step.slice(1))
  }
  const variable = {
    name: name(),
    form: form === '' ? undefined : (form as Form),
    path: [root, ...keys] as const,
    key: JSON.stringify([root, ...keys]),
  }
  if (root === '' || take(closingBraces) === '') throw notAVariable()
  const found = { ...variable, template, offset, end }
  if (tokenVariables.get(root)?.has(keys[0] ?? '') === false) throw unknownVariable(found)
  return found
}

function keyOf(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string
  } catch {
    return undefined
  }
}

export function unknownVariable(variable: Variable): TemplateError {
  const names = [...tokenVariables].flatMap(([root, fields]) =>
    [...fields.keys()].map((field) => `${root}.${field === 'properties' ? 'properties.…' : field}`),
  )
  return new TemplateError(
    'unknown_variable',
    `There is no variable ${variable.name}: use ${names.join(', ')}, ` +
      'or one of `variables`, such as filter.from',
    variable,
    variable.name,
  )
}

/**
 * Returns the variable's value.
 * @throws TemplateError `unset_variable` if there is none; there are no defaults
 */
export function resolveVariable(variable: Variable, scope: Scope): Json {
  const value = findValue(variable, scope)
  if (value === undefined) {
    if (!isTokenVariable(variable) && !Object.hasOwn(scope.variables, variable.path[0])) {
      throw unknownVariable(variable)
    }
    const reason =
      variable.path[0] === 'viewer' && !scope.userGroup.viewer
        ? ': the token is no viewer session. Ask the host for one'
        : ''
    throw new TemplateError('unset_variable', `${variable.name} is not set${reason}`, variable, variable.name)
  }
  return value
}

/** Returns the variable's value, or undefined if it is not set. */
export function findValue(variable: Variable, { userGroup, variables }: Scope): Json | undefined {
  const [root, field = '', ...keys] = variable.path
  const fields = tokenVariables.get(root)
  if (fields === undefined) return valueAt(variables as Json, variable.path)
  const value = valueAt(fields.get(field)?.(userGroup), keys)
  // A single property may be null. `properties` itself is null if there are none.
  return value === null && keys.length === 0 ? undefined : value
}

function valueAt(start: Json | undefined, keys: readonly string[]): Json | undefined {
  let value = start
  for (const key of keys) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  return value
}

/** Returns true for the variables of the user group and its viewer: `variables` never sets them. */
export function isTokenVariable({ path }: Pick<Variable, 'path'>): boolean {
  return tokenVariables.has(path[0])
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/** Returns false for arrays: their `length` is an own property but not a variable. */
function isObject(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
