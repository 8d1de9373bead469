import { rounds } from './rounds.js'
import { summaries } from './statistics.js'
import { rotated } from './turns.js'

/**
 * One of the things compared.
 * @typedef {object} Contestant
 * @property {string} name
 * @property {() => Promise<Record<string, number>>} round measures for some seconds and returns the figures, throughput first;
 * throws if a request failed
 * @property {readonly string[]} [against] names of the contestants it is compared with. Default is the baselines.
 */

/**
 * Runs the contestants alternately. The first round of each is a warm-up. Ratios are computed within a
 * round, so that a longer disturbance of the machine affects both sides.
 * @param {readonly Contestant[]} contestants
 * @param {object} [options]
 * @param {readonly string[]} [options.baselines] names of the contestants that the others are compared with
 * @param {() => Promise<unknown>} [options.beforeEach]
 * @returns {Promise<Pick<import('../run.js').Report, 'rows'>>}
 */
export async function compare(contestants, { baselines = [], beforeEach } = {}) {
  /** @type {Record<string, Record<string, number>[]>} */
  const results = Object.fromEntries(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const { name, round: run } of rotated(contestants, round)) {
      await beforeEach?.()
      const figures = await run()
      if (round > 0) results[name]?.push(figures)
    }
  }
  const compared = contestants.map(({ name, against }) => ({
    name,
    against: against ?? (baselines.includes(name) ? [] : baselines),
  }))
  return {
    rows: [
      ...contestants.map(({ name }) => ({ name, figures: summaries(results[name] ?? []) })),
      ...compared
        .filter(({ against }) => against.length > 0)
        .map(({ name, against }) => ({
          name: `${name}, ratios`,
          figures: summaries(
            (results[name] ?? []).map((figures, round) =>
              Object.fromEntries(against.flatMap((other) => ratios(figures, other, results[other]?.[round]))),
            ),
          ),
        })),
    ],
  }
}

/**
 * @param {Record<string, number>} figures
 * @param {string} other
 * @param {Record<string, number>} [otherFigures]
 * @returns {[name: string, ratio: number][]}
 */
function ratios(figures, other, otherFigures = {}) {
  const throughput = (/** @type {Record<string, number>} */ of) => Object.values(of)[0] ?? NaN
  const p50 = (/** @type {Record<string, number>} */ of) => of['p50, ms'] ?? NaN
  const all = /** @type {[string, number][]} */ ([
    [`throughput ÷ ${other}`, throughput(figures) / throughput(otherFigures)],
    [`p50 ÷ ${other}`, p50(figures) / p50(otherFigures)],
    [`CPU ÷ ${other}`, cpuOf(figures) / cpuOf(otherFigures)],
  ])
  return all.filter(([, ratio]) => !Number.isNaN(ratio))
}

/**
 * Returns the CPU time of an operation, in microseconds: that of the server, or of pgbench, and of the database. NaN if not measured.
 * @param {Record<string, number>} figures
 */
function cpuOf(figures) {
  const client = figures['CPU/request, µs'] ?? figures['CPU/transaction, µs'] ?? NaN
  return client + (figures['PostgreSQL, µs'] ?? 0)
}

/** @param {import('./load.js').Round} round */
export function httpFigures({
  requestsPerSecond,
  p50Ms,
  p99Ms,
  cpuMicroseconds,
  loadCpuMicroseconds,
  memoryBytes,
}) {
  return {
    'requests/s': requestsPerSecond,
    'p50, ms': p50Ms,
    'p99, ms': p99Ms,
    'CPU/request, µs': cpuMicroseconds,
    'load, µs': loadCpuMicroseconds,
    'memory, MB': memoryBytes / 1e6,
  }
}
