import { bodySizes } from '../lib/bodies.js'
import { knownIds } from '../lib/ids.js'
import { loadRound } from '../lib/load.js'
import { createGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'
import { startWorker } from '../lib/worker.js'

const rounds = 5

/**
 * Measures the CPU time that strict JSON reading adds to `JSON.parse`, as a share of the CPU time of an unchanged GET that misses
 * the response cache. The contract allows 5 %. The load sends PUTs that change nothing, which do the same work.
 * @type {import('../run.js').Case}
 */
export async function strictJson() {
  const rows = []
  for (const size of /** @type {import('../lib/bodies.js').BodySize[]} */ (Object.keys(bodySizes))) {
    rows.push({ name: bodySizes[size], figures: summaries(await measure(size)) })
  }
  return {
    title: 'Cost of strict JSON reading in an unchanged GET that misses the response cache',
    rows,
  }
}

/** @param {import('../lib/bodies.js').BodySize} size */
async function measure(size) {
  const service = await startService()
  const updating = { ...service, head: `PUT /api/user HTTP/1.1\r\nAuthorization: Token ${service.token}` }
  const reader = startWorker('json-reading.js')
  try {
    await createGroups(service, size, knownIds)
    const load = () =>
      loadRound(updating, {
        size,
        ids: knownIds,
        order: 'random',
        seconds: 2,
        expected: '"success":1',
      })
    const results = []
    for (let round = 0; round <= rounds; round++) {
      const { cpuMicroseconds } = await load()
      const { strict, plain } = /** @type {import('../processes/json-reading.js').ReadingCosts} */ (
        await reader.ask(size)
      )
      const added = strict - plain
      const figures = {
        'JSON.parse, µs': plain,
        'strict, µs': strict,
        'added, µs': added,
        'whole GET, µs': cpuMicroseconds,
        'added, %': (added / cpuMicroseconds) * 100,
      }
      // The first round is a warm-up.
      if (round > 0) results.push(figures)
    }
    return results
  } finally {
    await reader.stop()
    await service.stop()
  }
}
