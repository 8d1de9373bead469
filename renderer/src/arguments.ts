/**
 * For callers whose arguments no compiler has checked. What is not a user group would look like one whose properties are
 * not set, and that message would send its reader to the wrong place.
 */
export function checkArguments(template: unknown, userGroup: unknown): void {
  if (typeof template !== 'string') throw new TypeError('template must be a string')
  if (userGroup === null) {
    throw new TypeError('userGroup is null: the token is not active, and there is nothing to show')
  }
  if (!isVariableSource(userGroup)) {
    throw new TypeError(
      'userGroup must have providedId, name and properties: pass what IntrospectionClient.introspect returned, ' +
        'and not its promise, nor the JSON that the service answers (which has sub in place of providedId)',
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
