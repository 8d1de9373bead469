import { isDeepStrictEqual } from 'node:util'

/** A JSON value as the client sent it, without insignificant white space. Stored and returned unchanged. */
export type JsonText = string

/** Returns true if two texts have the same JSON value. The order of members and the spelling of values do not matter. */
export function sameJson(a: JsonText | null, b: JsonText | null): boolean {
  if (a === b) return true
  return a !== null && b !== null && isDeepStrictEqual(JSON.parse(a), JSON.parse(b))
}
