import { bodySizes } from '../lib/bodies.js'
import { manyKnownIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { startDatabase } from '../lib/postgres.js'
import { rounds } from '../lib/rounds.js'
import { seedUserGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'

/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'
const ids = { ...manyKnownIds, count: 20_000 }
const seconds = 10

/**
 * Compares the first seconds after a start with the next ones.
 * @type {import('../run.js').Case}
 */
export async function postgresColdStart() {
  const database = await startDatabase()
  try {
    await seedUserGroups(database.client, ids)
    await database.client.query('VACUUM (ANALYZE)')
    const results = []
    for (let round = 0; round < rounds; round++) {
      const service = await startService(database.url)
      try {
        const read = () =>
          loadRound(service, { size, ids, order: 'random', seconds, expected: '"new_user_group":false' })
        const first = await read()
        const warm = await read()
        results.push({
          'first, requests/s': first.requestsPerSecond,
          'warm, requests/s': warm.requestsPerSecond,
          'first ÷ warm': first.requestsPerSecond / warm.requestsPerSecond,
          'first, CPU/request, µs': first.cpuMicroseconds,
          'warm, CPU/request, µs': warm.cpuMicroseconds,
        })
      } finally {
        await service.stop()
      }
    }
    return {
      title: `Unchanged GET (body of ${bodySizes[size]}) of ${ids.count} user groups in the first ${seconds} s after a start and in the next, ${connections} connections, PostgreSQL ${database.version}`,
      rows: [{ name: 'service', figures: summaries(results) }],
    }
  } finally {
    await database.stop()
  }
}
