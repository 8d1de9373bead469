/**
 * Requests of one operation since the service started, as Prometheus reads them.
 * @typedef {object} Scrape
 * @property {number} at time of the scrape, in milliseconds
 * @property {number} count
 * @property {{ bound: number, count: number }[]} buckets cumulative, with bounds in seconds
 */

/**
 * @param {string} url
 * @param {string} operation whose responses with status 200 are counted
 * @returns {Promise<Scrape>}
 */
export async function scrape(url, operation) {
  const at = performance.now()
  const text = await (await fetch(url)).text()
  const labels = `operation="${operation}",status="200"`
  const buckets = [
    ...text.matchAll(
      new RegExp(`^ugs_http_request_duration_seconds_bucket{${labels},le="(.*)"} (\\d+)$`, 'gm'),
    ),
  ].map(([, bound = '', count]) => ({
    bound: Number(bound.replace('+Inf', 'Infinity')),
    count: Number(count),
  }))
  return { at, count: buckets.at(-1)?.count ?? 0, buckets }
}

/**
 * Computes `rate` and `histogram_quantile` of two scrapes as Prometheus does, with linear interpolation within a bucket.
 * @param {Scrape} before
 * @param {Scrape} after
 */
export function between(before, after) {
  const buckets = after.buckets.map(({ bound, count }, i) => ({
    bound,
    count: count - (before.buckets[i]?.count ?? 0),
  }))
  const count = after.count - before.count
  const quantile = (/** @type {number} */ share) => {
    const rank = share * count
    const i = buckets.findIndex((bucket) => bucket.count >= rank)
    const lower = buckets[i - 1] ?? { bound: 0, count: 0 }
    const upper = buckets[i] ?? { bound: NaN, count: NaN }
    return (
      1000 *
      (lower.bound + ((upper.bound - lower.bound) * (rank - lower.count)) / (upper.count - lower.count))
    )
  }
  return {
    count,
    requestsPerSecond: (count / (after.at - before.at)) * 1000,
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    p99Ms: quantile(0.99),
  }
}
