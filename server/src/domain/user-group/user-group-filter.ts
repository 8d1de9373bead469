import type { JsonText } from '../json/json-text.ts'
import type { UserGroupFilter } from './user-group-search-store.ts'

/** Letters without a decomposition into a base letter and a diacritic. */
const plainLetters: Readonly<Record<string, string>> = {
  ł: 'l',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ŧ: 't',
  æ: 'ae',
  œ: 'oe',
  þ: 'th',
  ς: 'σ',
}
const plainLetter = new RegExp(`[${Object.keys(plainLetters).join('')}]`, 'g')
/** Diacritics of all scripts whose letters they only modify, Hebrew points, and characters that have no width. */
const ignored =
  /(?=\p{M})\p{Script=Inherited}|[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]|\p{Default_Ignorable_Code_Point}/gu

/**
 * Returns a text for comparisons that ignore case, diacritics and compatibility forms: "Müller", "MÜLLER" and full-width "Ｍuller"
 * become "muller", "ß" becomes "ss".
 */
export function foldText(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.toLowerCase()
  return (
    text
      .normalize('NFKD')
      .replaceAll(ignored, '')
      // The upper case of "ß" is "SS" and that of dotless "ı" is "I", but "ẞ" has to be in lower case first.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll(plainLetter, (letter) => plainLetters[letter] ?? letter)
      // The case of a character may have a diacritic that the character lacks.
      .normalize('NFKD')
      .replaceAll(ignored, '')
      .normalize('NFC')
  )
}

/** Returns true if a user group has the parts of the filter, after folding. */
export function hasParts(
  { providedId, name }: { readonly providedId: string; readonly name: string },
  { namePart, textPart }: UserGroupFilter,
): boolean {
  const foldedName = foldText(name)
  if (namePart !== undefined && !foldedName.includes(foldText(namePart))) return false
  if (textPart === undefined) return true
  const part = foldText(textPart)
  return foldedName.includes(part) || foldText(providedId).includes(part)
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
