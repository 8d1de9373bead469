import { isDeepStrictEqual } from 'node:util'

/** A JSON value as the client sent it, without insignificant white space. Stored and returned unchanged. */
export type JsonText = string

/**
 * Returns true if two texts have the same JSON value. The order of members and the spelling of values do not matter, except that
 * numbers of 16 characters and more are compared as written: different ones may be the same double.
 */
export function sameJson(a: JsonText | null, b: JsonText | null): boolean {
  if (a === b) return true
  return a !== null && b !== null && isDeepStrictEqual(parsed(a), parsed(b))
}

/** Parses long numbers to strings with U+0000, which no stored string contains. */
function parsed(text: JsonText): unknown {
  return JSON.parse(
    text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[-\d][-+.\deE]{15,}/g, (token) =>
      token.startsWith('"') ? token : `"\\u0000${token}"`,
    ),
  )
}
