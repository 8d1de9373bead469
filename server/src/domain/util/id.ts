/** Reads an id: a whole number from 1 to 2^53 - 1. Returns null for any other text. */
export function parseId(text: string): number | null {
  const id = /^[1-9]\d{0,15}$/.test(text) ? Number(text) : NaN
  return Number.isSafeInteger(id) ? id : null
}
