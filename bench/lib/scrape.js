/**
 * The calls of one kind that a service has answered so far, as Prometheus learns of them.
 * @typedef {object} Scrape
 * @property {number} at when it was asked, in milliseconds
 * @property {number} count
 * @property {{ bound: number, count: number }[]} buckets in seconds, each with all that is below
 */

/**
 * @param {string} url
 * @param {string} operation of the answers of 200
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
 * What Prometheus makes of two of them: `rate` and `histogram_quantile`, in the middle of a bucket as if it were even.
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
