/** `%.17g` writes any double with so many digits, and they identify it. */
const maxDigits = 17

/**
 * Returns true if the contract accepts a JSON number ("Input"). An integer must equal an IEEE double. Any other number may have 17
 * significant digits, and must neither overflow nor become 0. True for `0.1`, `1.0`, `123e45` and 2 to the 60th in full; false for
 * `12345678901234567890`, `0.12345678901234567890` and `1e400`.
 */
export function isAcceptedNumber(text: string): boolean {
  const read = Number(text)
  if (!Number.isFinite(read)) return false
  if (/^-?\d+$/.test(text)) return BigInt(text) === BigInt(read)
  const digits = significantDigits(text)
  return digits <= maxDigits && (read !== 0 || digits === 0)
}

/** Returns the number of digits, without zeros at either end. Uses a loop because `/0+$/` takes quadratic time on a million zeros. */
function significantDigits(text: string): number {
  const digits = text
    .replace(/[eE].*/, '')
    .replace(/[-.]/g, '')
    .replace(/^0+/, '')
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return end
}
