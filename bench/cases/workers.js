import { loadavg } from 'node:os'
import { bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { freshIds, manyKnownIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { findProgram, withDatabase } from '../lib/postgres.js'
import { seedUserGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'

const seconds = 3
/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'
const counts = ['1', '2']
const warmUpSeconds = 10

const kinds = {
  unchanged: () => ({
    ...{ ids: manyKnownIds, order: /** @type {const} */ ('random') },
    expected: '"new_user_group":false',
  }),
  create: () => ({
    ...{ ids: freshIds(), order: /** @type {const} */ ('once') },
    expected: '"new_user_group":true',
  }),
}

/**
 * Measures the gain of a second process for unchanged GETs and creations.
 * @type {import('../run.js').Case}
 */
export const workers = () => compareCounts(undefined)

/** @type {import('../run.js').Case} */
export async function postgresWorkers() {
  // Fails early if pgbench is not installed.
  findProgram('pgbench')
  return withDatabase(compareCounts)
}

/**
 * @param {import('../lib/postgres.js').Database | undefined} database shared by the services; with SQLite each has a separate file
 * @returns {ReturnType<import('../run.js').Case>}
 */
async function compareCounts(database) {
  const servers = []
  try {
    for (const count of counts)
      servers.push({ count, server: await startService(database?.url, ['--workers', count]) })
    for (const store of database ? [database.client] : servers.map(({ server }) => server.file))
      await seedUserGroups(store, manyKnownIds)
    await database?.client.query('VACUUM (ANALYZE)')
    // Fills the response cache.
    for (const { server } of servers)
      await loadRound(server, { size, ...kinds.unchanged(), seconds: warmUpSeconds })
    const rows = []
    for (const [kind, load] of Object.entries(kinds)) {
      const contestants = servers.map(({ count, server }) => ({
        name: nameOf(kind, count),
        round: async () => httpFigures(await loadRound(server, { size, seconds, ...load() })),
      }))
      rows.push(...(await compare(contestants, { baselines: [nameOf(kind, '1')] })).rows)
    }
    return {
      title: `Unchanged GET of ${manyKnownIds.count} user groups, and GET that creates one (body of ${bodySizes[size]}), ${connections} connections`,
      rows,
      notes: [`The load runs in a separate process. Load average at the end: ${loadavg()[0]?.toFixed(1)}.`],
    }
  } finally {
    for (const { server } of servers) await server.stop()
  }
}

/**
 * @param {string} kind
 * @param {string} count
 */
function nameOf(kind, count) {
  return `${kind}, --workers ${count}`
}
