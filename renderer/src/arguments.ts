/**
 * Checks arguments of untyped callers. Without it, a value that is not a user group would look like one whose
 * properties are not set, and the error would mislead.
 */
export function checkArguments(template: unknown, userGroup: unknown): void {
  if (typeof template !== 'string') throw new TypeError('template must be a string')
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
