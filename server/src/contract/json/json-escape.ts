// Escapes of JSON strings, such as \\u00e9.

const backslash = 0x5c
const smallU = 0x75
/** The control characters with an escape of two characters. */
const shortEscapes = ['\b', '\t', '\n', '\f', '\r'].map((character) => character.charCodeAt(0))

export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/**
 * Returns the UTF-16 code unit whose `\\u` escape is at an offset of a JSON text, or -1 if there is none. Digits that are not hexadecimal
 * result in any number.
 */
export function escapedUnit(text: string, offset: number): number {
  if (text.charCodeAt(offset) !== backslash || text.charCodeAt(offset + 1) !== smallU) return -1
  let unit = 0
  for (let i = offset + 2; i < offset + 6; i++) {
    const char = text.charCodeAt(i)
    // The low four bits of a letter, in either case, are 1 for A.
    unit = unit * 16 + (char & 0xf) + (char >> 6) * 9
  }
  return unit
}

/** Returns the number of bytes of a UTF-16 code unit in a JSON string, escaped only if JSON requires it. */
export function requiredBytes(unit: number): number {
  if (unit < 0x20) return shortEscapes.includes(unit) ? 2 : 6
  if (unit < 0x80) return unit === 0x22 || unit === backslash ? 2 : 1
  if (unit < 0x800) return 2
  // A surrogate is half of a character of four bytes.
  return isHighSurrogate(unit) || isLowSurrogate(unit) ? 2 : 3
}
