/**
 * Whether a JSON number keeps its value when it is read as an IEEE double and written again (RFC 7493, section 2.2):
 * true of `0.1`, `1.0` and `123e45`, false of `12345678901234567890`, `0.12345678901234567890` and `1e400`.
 */
export function isExactNumber(text: string): boolean {
  const read = Number(text)
  if (!Number.isFinite(read)) return false
  const sent = decimal(text)
  const kept = decimal(String(read))
  if (sent.digits === '') return true // zero, however it is written
  return sent.digits === kept.digits && sent.exponent === kept.exponent
}

/** A number's significant digits, without its sign, and the power of ten that its last one stands for. */
function decimal(text: string): { digits: string; exponent: number } {
  const [, whole = '', fraction = '', exponent = '0'] =
    /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? []
  const written = (whole + fraction).replace(/^0+/, '')
  const digits = withoutTrailingZeros(written)
  return { digits, exponent: Number(exponent) - fraction.length + (written.length - digits.length) }
}

/** By hand: `/0+$/` starts over at each zero, and a body may be a million of them and a one. */
function withoutTrailingZeros(digits: string): string {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return digits.slice(0, end)
}
