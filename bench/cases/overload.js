import { setTimeout as sleep } from 'node:timers/promises'
import { bodySizes } from '../lib/bodies.js'
import { freshIds, knownIds } from '../lib/ids.js'
import { withDatabase } from '../lib/postgres.js'
import { createGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'
import { startWorker } from '../lib/worker.js'

/**
 * Requests at a fixed rate, independent of the responses.
 * @typedef {object} Overload
 * @property {string} origin
 * @property {string} token
 * @property {number} pid of the server
 * @property {import('../lib/bodies.js').BodySize} size
 * @property {import('../lib/ids.js').Ids} ids
 * @property {'random' | 'once'} order
 * @property {string} expected text that each good response must contain
 * @property {number} requestsPerSecond
 * @property {number} connections maximum number; a request waits for a free one
 * @property {number} seconds
 */

/** @typedef {{ count: number, p50: number, p99: number, max: number }} Times milliseconds */

/**
 * @typedef {object} OverloadResult
 * @property {number} offered requests sent or waiting
 * @property {number} waiting requests that got no connection before the end
 * @property {number} failures missing responses, and responses that were neither good nor 503 with `Retry-After`
 * @property {Times} good
 * @property {Times} shed 503
 * @property {Times} health
 * @property {number} peakMemory resident bytes of the server
 */

const rounds = 5
/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'
const peakConnections = 64
/** Offered load, as a multiple of the peak. */
const times = 3
const connections = [512, 1024, 2048]

/** @type {import('../run.js').Case} */
export const overload = () => overloaded({})

/** @type {import('../run.js').Case} */
export const postgresOverload = () => withDatabase(({ url }) => overloaded({ databaseUrl: url }))

/**
 * Measures the goodput under three times the peak load: first the peak, then the overload, then the peak again after two
 * seconds.
 * @param {{ databaseUrl?: string }} store
 * @returns {Promise<import('../run.js').Report>}
 */
async function overloaded({ databaseUrl }) {
  const service = await startService(databaseUrl)
  const worker = startWorker('overload.js')
  try {
    await createGroups(service, size, knownIds)
    const kinds = {
      'GET, unchanged': () => ({ ids: knownIds, order: 'random', expected: '"new_user_group":false' }),
      'GET that creates': () => ({ ids: freshIds(), order: 'once', expected: '"new_user_group":true' }),
    }
    const rows = []
    for (const [kind, requests] of Object.entries(kinds)) {
      /** @type {(load: Pick<Overload, 'requestsPerSecond' | 'connections' | 'seconds'>) => Promise<OverloadResult>} */
      const run = async (load) => {
        const { origin, token, pid } = service
        const result = /** @type {OverloadResult} */ (
          await worker.ask({ origin, token, pid, size, ...requests(), ...load })
        )
        if (result.failures > 0) throw new Error(`${result.failures} requests failed`)
        return result
      }
      // A rate that no server reaches, so that the connections are the limit.
      const peak = async () =>
        (await run({ requestsPerSecond: 1e6, connections: peakConnections, seconds: 3 })).good.count / 3
      await peak()
      for (const open of connections) {
        const results = []
        for (let round = 0; round < rounds; round++) {
          const before = await peak()
          const load = { requestsPerSecond: times * before, connections: open, seconds: 5 }
          const { good, shed, health, peakMemory } = await run(load)
          await sleep(2000)
          const after = await peak()
          results.push({
            'goodput ÷ peak': good.count / 5 / before,
            'peak, requests/s': before,
            'good, p50, ms': good.p50,
            'good, p99, ms': good.p99,
            '503, share': shed.count / (good.count + shed.count),
            ...(shed.count > 0 && { '503, p50, ms': shed.p50, '503, p99, ms': shed.p99 }),
            '/healthz, p99, ms': health.p99,
            'memory, MB': peakMemory / 1e6,
            'peak two seconds later ÷ before': after / before,
          })
        }
        rows.push({ name: `${kind}, ${open} connections`, figures: summaries(results) })
      }
    }
    return { title: `${times} times the peak (body of ${bodySizes[size]})`, rows }
  } finally {
    await worker.stop()
    await service.stop()
  }
}
