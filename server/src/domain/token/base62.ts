const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const base = alphabet.length
const wordValues = 2 ** 32
/** The digit of each character code; undefined for all other characters. */
const digitOfCode: readonly (number | undefined)[] = Array.from({ length: 128 }, (_, code) => {
  const digit = alphabet.indexOf(String.fromCharCode(code))
  return digit < 0 ? undefined : digit
})

export const base62Pattern = /^[0-9A-Za-z]+$/

/** Returns the digit of a number below 62. */
export function base62Digit(value: number): string {
  return alphabet.charAt(value)
}

/** Writes 16 bytes as one unsigned number, most significant digit first, padded with zeros to `length` digits. */
export function toBase62(bytes: Buffer, length: number): string {
  // Long division by words of 32 bits, because BigInt takes five times as long.
  const words = [0, 4, 8, 12].map((offset) => bytes.readUInt32BE(offset))
  let digits = ''
  for (let i = 0; i < length; i++) {
    let remainder = 0
    for (let w = 0; w < words.length; w++) {
      const value = remainder * wordValues + (words[w] as number)
      const quotient = Math.floor(value / base)
      words[w] = quotient
      remainder = value - quotient * base
    }
    digits = alphabet.charAt(remainder) + digits
  }
  return digits
}

/** Reads 16 bytes that `toBase62` wrote. Returns null if the text has another character, or a number of more than 16 bytes. */
export function fromBase62(digits: string): Buffer | null {
  const words = [0, 0, 0, 0]
  for (let i = 0; i < digits.length; i++) {
    let carry = digitOfCode[digits.charCodeAt(i)]
    if (carry === undefined) return null
    for (let w = words.length - 1; w >= 0; w--) {
      const value = (words[w] as number) * base + carry
      carry = Math.floor(value / wordValues)
      words[w] = value - carry * wordValues
    }
    if (carry > 0) return null
  }
  const bytes = Buffer.alloc(16)
  for (let w = 0; w < words.length; w++) bytes.writeUInt32BE(words[w] as number, 4 * w)
  return bytes
}
