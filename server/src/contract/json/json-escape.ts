// Escapes of JSON strings, such as \\u00e9.

const backslash = 0x5c
const smallU = 0x75
/** The characters that may follow a backslash, except `u`. */
const shortEscapes = new Set(Buffer.from('"\\/bfnrt'))
/** The control characters with an escape of two characters. */
const shortControls = new Set(Buffer.from('\b\t\n\f\r'))

/** The values of hexadecimal digits by their byte, and -1. */
const digits = new Int8Array(256).fill(-1)
for (const digit of '0123456789abcdefABCDEF') digits[digit.charCodeAt(0)] = parseInt(digit, 16)

export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff
}

export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** Returns true if a backslash and this byte are an escape. */
export function isShortEscape(byte: number | undefined): boolean {
  return shortEscapes.has(byte as number)
}

/** Returns the UTF-16 code unit whose `\\u` escape is at an offset of a JSON text, or a negative number if there is none. */
export function escapedUnit(text: Buffer, offset: number): number {
  if (offset + 6 > text.length || text[offset] !== backslash || text[offset + 1] !== smallU) return -1
  let unit = 0
  // A shifted -1 stays negative.
  for (let i = offset + 2; i < offset + 6; i++) unit = (unit << 4) | (digits[text[i] as number] as number)
  return unit
}

/** Returns the number of bytes of a UTF-16 code unit in a JSON string, escaped only if JSON requires it. */
export function requiredBytes(unit: number): number {
  if (unit < 0x20) return shortControls.has(unit) ? 2 : 6
  if (unit < 0x80) return unit === 0x22 || unit === backslash ? 2 : 1
  if (unit < 0x800) return 2
  // A surrogate is half of a character of four bytes.
  return isHighSurrogate(unit) || isLowSurrogate(unit) ? 2 : 3
}
