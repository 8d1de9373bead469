import type { Difference } from '../api/wire.ts'

/** Returns the differences of two JSON values as the service does: by member within objects, whole values otherwise. */
export function differencesOf(before: unknown, after: unknown, path = ''): Difference[] {
  if (isObject(before) && isObject(after)) {
    const keys = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...keys].flatMap((key): Difference[] => {
      const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (!Object.hasOwn(after, key)) return [{ path: at, before: before[key] }]
      if (!Object.hasOwn(before, key)) return [{ path: at, after: after[key] }]
      return differencesOf(before[key], after[key], at)
    })
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    const isSame = before.length === after.length && before.every((item, i) => isEqual(item, after[i]))
    return isSame ? [] : [{ path, before, after }]
  }
  return before === after ? [] : [{ path, before, after }]
}

function isEqual(one: unknown, other: unknown): boolean {
  return differencesOf(one, other).length === 0
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the steps of a JSON Pointer. */
export function stepsOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
