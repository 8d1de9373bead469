import { isTokenVariable } from './variables.ts'

/**
 * Checks arguments of untyped callers. Without it, a value that is not a user group would look like one whose
 * properties are not set, and the error would mislead.
 */
export function checkArguments(template: unknown, userGroup: unknown): void {
  checkTemplateArgument(template)
  if (userGroup === null) {
    throw new TypeError('userGroup is null: the token is inactive. Show no dashboard.')
  }
  if (!isVariableSource(userGroup)) {
    throw new TypeError(
      'userGroup must have providedId, name and properties: pass what IntrospectionClient.introspect returned, ' +
        'not its promise and not the JSON response of the service (which has sub instead of providedId)',
    )
  }
}

export function checkTemplateArgument(template: unknown): void {
  if (typeof template !== 'string') throw new TypeError('template must be a string')
}

/** Checks the values besides those of the user group. */
export function checkVariables(variables: unknown = {}): Readonly<Record<string, unknown>> {
  if (typeof variables !== 'object' || variables === null || Array.isArray(variables)) {
    throw new TypeError('variables must be an object, for example { filter: { from: "2026-01-01" } }')
  }
  const refused = Object.keys(variables).find((name) => isTokenVariable({ path: [name] }))
  if (refused !== undefined) {
    throw new TypeError(`variables cannot contain ${refused}: its values come from the token`)
  }
  return variables as Readonly<Record<string, unknown>>
}

function isVariableSource(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { providedId, name, properties } = value as Record<string, unknown>
  return (
    typeof providedId === 'string' &&
    typeof name === 'string' &&
    typeof properties === 'object' &&
    !Array.isArray(properties)
  )
}
