export const quote = 0x22
export const backslash = 0x5c
export const openBrace = 0x7b
export const closeBrace = 0x7d
export const openBracket = 0x5b
export const closeBracket = 0x5d
export const comma = 0x2c
export const colon = 0x3a
export const minus = 0x2d
export const plus = 0x2b
export const point = 0x2e
export const zero = 0x30
export const slash = 0x2f
/** A bit that makes a letter lower case. */
export const lowerCase = 0x20
export const smallE = 0x65

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

export function isWhiteSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}
