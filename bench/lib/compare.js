import { summaries } from './statistics.js'
import { rotated } from './turns.js'

const rounds = 5

/**
 * One of those that are compared.
 * @typedef {object} Contestant
 * @property {string} name
 * @property {() => Promise<Record<string, number>>} round the figures of some seconds, throughput first; throws where
 * anything failed
 */

/**
 * In turns; the first round of each warms up. Ratios of throughput are taken within a round, so that what disturbs the
 * machine for longer disturbs both sides.
 * @param {readonly Contestant[]} contestants
 * @param {object} options
 * @param {readonly string[]} options.baselines the names of those that the others are measured against
 * @param {() => Promise<unknown>} [options.beforeEach]
 * @returns {Promise<Pick<import('../run.js').Report, 'rows'>>}
 */
export async function compare(contestants, { baselines, beforeEach }) {
  /** @type {Record<string, Record<string, number>[]>} */
  const results = Object.fromEntries(contestants.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const { name, round: run } of rotated(contestants, round)) {
      await beforeEach?.()
      const figures = await run()
      if (round > 0) results[name]?.push(figures)
    }
  }
  const throughputs = (/** @type {string} */ name) =>
    (results[name] ?? []).map((figures) => Object.values(figures)[0] ?? NaN)
  const compared = contestants.filter(({ name }) => !baselines.includes(name))
  return {
    rows: [
      ...contestants.map(({ name }) => ({ name, figures: summaries(results[name] ?? []) })),
      ...compared.map(({ name }) => ({
        name: `${name}, throughput`,
        figures: summaries(
          throughputs(name).map((value, round) =>
            Object.fromEntries(
              baselines.map((baseline) => [`÷ ${baseline}`, value / (throughputs(baseline)[round] ?? NaN)]),
            ),
          ),
        ),
      })),
    ],
  }
}

/** @param {import('./load.js').Round} round */
export function httpFigures({ requestsPerSecond, p50Ms, p99Ms, cpuMicroseconds, loadCpuMicroseconds }) {
  return {
    'requests/s': requestsPerSecond,
    'p50, ms': p50Ms,
    'p99, ms': p99Ms,
    'CPU/request, µs': cpuMicroseconds,
    'load, µs': loadCpuMicroseconds,
  }
}
