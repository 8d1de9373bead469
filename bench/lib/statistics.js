/**
 * A figure over several rounds. The median is robust against single disturbed rounds; the lowest and highest rounds show the
 * spread.
 * @typedef {{ median: number, min: number, max: number }} Summary
 */

/**
 * @param {readonly number[]} values at least one
 * @param {number} share from 0 to 1: 0.5 is the median, 0.99 the 99th percentile
 * @returns {number}
 */
export function quantile(values, share) {
  const sorted = Float64Array.from(values).sort()
  const position = share * (sorted.length - 1)
  const below = sorted[Math.floor(position)]
  const above = sorted[Math.ceil(position)]
  if (below === undefined || above === undefined) throw new RangeError('there are no values')
  return below + (above - below) * (position % 1)
}

/**
 * @param {readonly number[]} milliseconds response times
 * @returns {{ p50: number, p95: number, p99: number }}
 */
export function percentiles(milliseconds) {
  if (milliseconds.length === 0) return { p50: NaN, p95: NaN, p99: NaN }
  return {
    p50: quantile(milliseconds, 0.5),
    p95: quantile(milliseconds, 0.95),
    p99: quantile(milliseconds, 0.99),
  }
}

/**
 * @param {readonly number[]} values at least one
 * @returns {Summary}
 */
function summary(values) {
  return { median: quantile(values, 0.5), min: quantile(values, 0), max: quantile(values, 1) }
}

/**
 * Summarizes each figure over the rounds.
 * @param {readonly Record<string, number>[]} rounds at least one, all with the same names
 * @returns {Record<string, Summary>}
 */
export function summaries(rounds) {
  return Object.fromEntries(
    Object.keys(rounds[0] ?? {}).map((name) => [name, summary(rounds.map((round) => round[name] ?? NaN))]),
  )
}
