/**
 * Returns true if a JSON number keeps its value as an IEEE double (RFC 7493, section 2.2): it equals the double, or is the
 * double's shortest decimal form. True for `0.1`, `1.0`, `123e45` and 2 to the 60th in full; false for
 * `12345678901234567890`, `0.12345678901234567890` and `1e400`.
 */
export function isExactNumber(text: string): boolean {
  const read = Number(text)
  if (!Number.isFinite(read)) return false
  const sent = decimal(text)
  const kept = decimal(String(read))
  if (sent.digits === '') return true // zero, however it is written
  if (read === 0) return false // too small for a double
  return (sent.digits === kept.digits && sent.exponent === kept.exponent) || isDouble(sent, Math.abs(read))
}

interface Decimal {
  /** The significant digits, without sign and without zeros at either end. */
  readonly digits: string
  /** The power of ten of the last digit. */
  readonly exponent: number
}

function decimal(text: string): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const allDigits = (whole + fraction).replace(/^0+/, '')
  const digits = withoutTrailingZeros(allDigits)
  return { digits, exponent: Number(exponent) - fraction.length + (allDigits.length - digits.length) }
}

/** Uses a loop because `/0+$/` takes quadratic time on a million zeros followed by a one. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}

/** Maximum number of significant decimal digits of a double. */
const maxDigits = 767

/** Returns true if a decimal is exactly equal to its double. */
function isDouble({ digits, exponent }: Decimal, read: number): boolean {
  if (digits.length > maxDigits) return false
  const [significand, power] = binary(read)
  // digits × 10^exponent = significand × 2^power, with the negative powers on the other side.
  const left = BigInt(digits) * 10n ** positive(exponent) * 2n ** positive(-power)
  const right = significand * 2n ** positive(power) * 10n ** positive(-exponent)
  return left === right
}

function positive(power: number): bigint {
  return BigInt(Math.max(0, power))
}

/** Returns a positive double as an integer times a power of two. */
function binary(double: number): [significand: bigint, power: number] {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, double)
  const bits = view.getBigUint64(0)
  const exponent = Number(bits >> 52n)
  const fraction = bits & 0xfffffffffffffn
  return exponent === 0 ? [fraction, -1074] : [fraction | 0x10000000000000n, exponent - 1075]
}
