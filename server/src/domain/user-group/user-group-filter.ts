import type { JsonText } from '../json/json-text.ts'

/** A text in which letters that differ by case alone are the same. */
export function withoutCase(text: string): string {
  // Character by character: what "Σ" becomes depends on where the word ends, and a part may end elsewhere.
  return Array.from(text, (character) => character.toLowerCase()).join('')
}

/** Whether the value at a place of the properties is this string, or the number or boolean that it spells in JSON. */
export function hasProperty(properties: JsonText | null, path: readonly string[], value: string): boolean {
  if (properties === null) return false
  let found = JSON.parse(properties) as unknown
  for (const key of path) {
    if (typeof found !== 'object' || found === null || Array.isArray(found) || !Object.hasOwn(found, key))
      return false
    found = (found as Record<string, unknown>)[key]
  }
  if (typeof found === 'number') return found === numberOf(value)
  return typeof found === 'boolean' ? String(found) === value : found === value
}

/** The number that a text spells as JSON would; undefined where it spells none. */
export function numberOf(text: string): number | undefined {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined
}

/** The first text after all those that start with the prefix, in the order of code points; null where there is none. */
export function endOfPrefix(prefix: string): string | null {
  const points = Array.from(prefix)
  while (points.length > 0) {
    const last = points.pop()?.codePointAt(0) ?? 0
    // No text holds half of a surrogate pair.
    const next = last === 0xd7ff ? 0xe000 : last + 1
    if (next <= 0x10ffff) return points.join('') + String.fromCodePoint(next)
  }
  return null
}
