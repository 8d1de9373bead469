import { bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { freshIds, knownIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { withDatabase } from '../lib/postgres.js'
import { between, scrape } from '../lib/scrape.js'
import { createGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'

/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'
const measured = { UGS_METRICS_PORT: '0' }

/** @type {import('../run.js').Case} */
export const metrics = () => cost(undefined)

/** @type {import('../run.js').Case} */
export const metricsCheck = () => check(undefined)

/** @type {import('../run.js').Case} */
export const postgresMetrics = () => withDatabase(({ url }) => cost(url))

/** @type {import('../run.js').Case} */
export const postgresMetricsCheck = () => withDatabase(({ url }) => check(url))

/**
 * Measures the cost of metrics: the service with and without UGS_METRICS_PORT.
 * @param {string | undefined} databaseUrl
 * @returns {Promise<import('../run.js').Report>}
 */
async function cost(databaseUrl) {
  const without = await startService(databaseUrl)
  const measuring = await startService(databaseUrl, [], [], measured)
  try {
    await createGroups(without, size, knownIds)
    if (databaseUrl === undefined) await createGroups(measuring, size, knownIds)
    const load = /** @type {const} */ ({ size, ids: knownIds, order: 'random', seconds: 3 })
    const contestant = (
      /** @type {string} */ name,
      /** @type {import('../lib/service.js').Service} */ service,
    ) => ({
      name,
      round: async () =>
        httpFigures(await loadRound(service, { ...load, expected: '"new_user_group":false' })),
    })
    return {
      title: `Unchanged GET (body of ${bodySizes[size]}), ${connections} connections`,
      ...(await compare([contestant('without', without), contestant('with metrics', measuring)], {
        baselines: ['without'],
      })),
    }
  } finally {
    await without.stop()
    await measuring.stop()
  }
}

const rounds = 5
const seconds = 5

/**
 * Compares the difference of two scrapes with the load's own measurements.
 * @param {string | undefined} databaseUrl
 * @returns {Promise<import('../run.js').Report>}
 */
async function check(databaseUrl) {
  const service = await startService(databaseUrl, [], [], measured)
  const url = service.metricsUrl ?? ''
  /** @type {Record<string, { isNew: boolean, pauseMs?: number }>} */
  const loads = {
    'GET, unchanged, one after another': { isNew: false },
    'GET, unchanged, with pauses of 50 ms': { isNew: false, pauseMs: 50 },
    'GET that creates, one after another': { isNew: true },
    'GET that creates, with pauses of 100 ms': { isNew: true, pauseMs: 100 },
  }
  try {
    await createGroups(service, size, knownIds)
    /** @type {import('../run.js').Report['rows']} */
    const rows = []
    for (const [name, { isNew, ...pause }] of Object.entries(loads)) {
      /** @type {Record<string, number>[]} */
      const results = []
      for (let round = 0; round <= rounds; round++) {
        const before = await scrape(url, 'getOrCreate')
        const seen = await loadRound(service, {
          size,
          seconds,
          ...pause,
          expected: `"new_user_group":${isNew}`,
          ...(isNew ? { ids: freshIds(), order: 'once' } : { ids: knownIds, order: 'random' }),
        })
        const reported = between(before, await scrape(url, 'getOrCreate'))
        if (reported.count !== seen.responses)
          throw new Error(`${reported.count} of ${seen.responses} responses were counted`)
        if (round > 0) results.push(comparison(seen, reported))
      }
      rows.push({ name, figures: summaries(results) })
    }
    return { title: `Figures from two scrapes ÷ figures of the load, ${connections} connections`, rows }
  } finally {
    await service.stop()
  }
}

/**
 * @param {import('../lib/load.js').Round} seen
 * @param {ReturnType<typeof between>} reported
 */
function comparison(seen, reported) {
  return {
    'requests/s, seen': seen.requestsPerSecond,
    'requests/s, reported ÷ seen': reported.requestsPerSecond / seen.requestsPerSecond,
    'p50, ms, seen': seen.p50Ms,
    'p50, reported ÷ seen': reported.p50Ms / seen.p50Ms,
    'p95, ms, seen': seen.p95Ms,
    'p95, reported ÷ seen': reported.p95Ms / seen.p95Ms,
    'p99, ms, seen': seen.p99Ms,
    'p99, reported ÷ seen': reported.p99Ms / seen.p99Ms,
  }
}
