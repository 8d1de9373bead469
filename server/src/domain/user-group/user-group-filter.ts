import type { JsonText } from '../json/json-text.ts'

/** Returns a text in lower case and without accents, for comparisons that ignore both: "Müller" becomes "muller". */
export function foldText(text: string): string {
  // Convert each character alone: the lower case of "Σ" depends on its position in the word, which differs in a substring.
  const lower = Array.from(text, (character) => character.toLowerCase()).join('')
  return lower
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
}

/** Returns true if the property at a path equals `value` as a string, or as the number or boolean that it spells in JSON. */
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

/** Returns true if a mapping has a key. */
export function hasSchemaKey(mapping: JsonText | null, schemaKey: string): boolean {
  return mapping !== null && Object.hasOwn(JSON.parse(mapping) as object, schemaKey)
}

/** Parses a JSON number. Returns undefined for any other text. */
export function numberOf(text: string): number | undefined {
  return /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text) ? Number(text) : undefined
}

/** Returns the first text, by code points, after all texts that start with the prefix; null if none follows. */
export function endOfPrefix(prefix: string): string | null {
  const points = Array.from(prefix)
  while (points.length > 0) {
    const last = points.pop()?.codePointAt(0) ?? 0
    // Skip the surrogates, which are not characters.
    const next = last === 0xd7ff ? 0xe000 : last + 1
    if (next <= 0x10ffff) return points.join('') + String.fromCodePoint(next)
  }
  return null
}
