import { isDeepStrictEqual } from 'node:util'

/** A JSON value as the text that was sent, less insignificant white space: what is kept is what was sent. */
export type JsonText = string

/** Whether two texts mean the same JSON value: the order of an object's members and the way of writing do not count. */
export function sameJson(a: JsonText | null, b: JsonText | null): boolean {
  if (a === b) return true
  return a !== null && b !== null && isDeepStrictEqual(JSON.parse(a), JSON.parse(b))
}
