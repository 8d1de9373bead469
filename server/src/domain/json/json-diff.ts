import { isDeepStrictEqual } from 'node:util'
import { jsonPointer } from './json-pointer.ts'

/** A path at which two JSON values differ. A side without a value there is left out. */
export interface JsonDifference {
  /** A JSON Pointer (RFC 6901). */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/** Returns the differences of two JSON values. Objects are compared member by member, other values as a whole. */
export function jsonDiff(before: unknown, after: unknown, path: readonly string[] = []): JsonDifference[] {
  if (isDeepStrictEqual(before, after)) return []
  if (!isObject(before) || !isObject(after)) return [{ path: jsonPointer(path), before, after }]
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key): JsonDifference[] => {
    const at = [...path, key]
    if (!Object.hasOwn(after, key)) return [{ path: jsonPointer(at), before: before[key] }]
    if (!Object.hasOwn(before, key)) return [{ path: jsonPointer(at), after: after[key] }]
    return jsonDiff(before[key], after[key], at)
  })
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
