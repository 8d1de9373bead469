/** True in `npm run test:soak`. */
export const isLong = process.env.LONG_TESTS === 'true'

/** Returns the number of rounds or cases of a test, which is greater in `npm run test:soak`. */
export function cases(short: number): number {
  return isLong ? 10 * short : short
}

/**
 * Returns some of the values, for a test of every operation with every value: each turn gets the next ones. In `npm run test:soak`,
 * each turn gets all.
 */
export function shareOf<T>(values: readonly T[], turn: number, count: number): readonly T[] {
  if (isLong || count >= values.length) return values
  return Array.from({ length: count }, (_, i) => values[(turn * count + i) % values.length] as T)
}
