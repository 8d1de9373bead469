import { bodySizes } from '../lib/bodies.js'
import { freshIds, knownIds } from '../lib/ids.js'
import { loadRound } from '../lib/load.js'
import { createGroups } from '../lib/seed.js'
import { startBareFastify, startService } from '../lib/service.js'
import { quantile, summaries } from '../lib/statistics.js'

const rounds = 5
/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'

/** @type {import('../run.js').Case} */
export const getUnchanged = () =>
  sideBySide('unchanged', 'GET of user groups that exist and stay as they are')

/** @type {import('../run.js').Case} */
export const getCreate = () =>
  sideBySide('create', 'GET that creates a user group, each with an id of its own')

/**
 * The service and a bare Fastify route under the same load, in turns. Both run all the time, the one that is not loaded
 * idle.
 * @param {'unchanged' | 'create'} kind
 * @param {string} title
 * @returns {Promise<import('../run.js').Report>}
 */
async function sideBySide(kind, title) {
  const bare = await startBareFastify()
  const service = await startService()
  try {
    if (kind === 'unchanged') await createGroups(service, size, knownIds)
    /** @param {import('../lib/service.js').Server} server */
    const load = (server) =>
      loadRound(server, {
        size,
        ...(kind === 'unchanged' ? { ids: knownIds, order: 'random' } : { ids: freshIds(), order: 'once' }),
        seconds: 3,
        expected: `"new_user_group":${kind === 'create' && server === service}`,
      })
    await load(service)
    await load(bare)
    /** @type {{ service: import('../lib/load.js').Round, bare: import('../lib/load.js').Round }[]} */
    const results = []
    for (let round = 0; round < rounds; round++) {
      // Who comes first takes turns too.
      const serviceFirst = round % 2 === 0 ? await load(service) : undefined
      const bareRound = await load(bare)
      results.push({ service: serviceFirst ?? (await load(service)), bare: bareRound })
    }
    const ratio = (/** @type {'requestsPerSecond' | 'cpuMicroseconds'} */ figure) =>
      quantile(
        results.map((result) => result.service[figure] / result.bare[figure]),
        0.5,
      )
    return {
      title: `${title} (body of ${bodySizes[size]})`,
      rows: [
        { name: 'service', figures: summaries(results.map((result) => figuresOf(result.service))) },
        { name: 'bare Fastify route', figures: summaries(results.map((result) => figuresOf(result.bare))) },
      ],
      notes: [
        `The service has ${ratio('requestsPerSecond').toFixed(2)} of the bare route's throughput and takes ${ratio('cpuMicroseconds').toFixed(2)} of its CPU time for each request.`,
      ],
    }
  } finally {
    await service.stop()
    await bare.stop()
  }
}

/** @param {import('../lib/load.js').Round} round */
function figuresOf({ requestsPerSecond, p50Ms, p99Ms, cpuMicroseconds, cpuShare, loadCpuMicroseconds }) {
  return {
    'requests/s': requestsPerSecond,
    'p50, ms': p50Ms,
    'p99, ms': p99Ms,
    'CPU/request, µs': cpuMicroseconds,
    'CPU, % of a core': cpuShare * 100,
    'load CPU/request, µs': loadCpuMicroseconds,
  }
}
