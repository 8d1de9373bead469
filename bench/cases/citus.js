import pg from 'pg'
import { compare } from '../lib/compare.js'
import { startDatabase } from '../lib/postgres.js'
import { seconds } from '../lib/rounds.js'
import { migrate } from '../lib/service.js'
import { startWorker } from '../lib/worker.js'

/** @typedef {import('../processes/store-load.js').StoreOperation} StoreOperation */
/** @typedef {import('../processes/store-load.js').StoreFigures} StoreFigures */

/** @type {readonly StoreOperation[]} */
const operations = ['read', 'introspect', 'create', 'change', 'rotate']
const loads = [
  { workspaces: 1, callers: 32 },
  { workspaces: 1, callers: 256 },
  { workspaces: 1000, callers: 256 },
]
/** Number of user groups that are read, changed and rotated. */
const userGroups = 10_000

/**
 * Compares each operation of the store on a Citus cluster with plain PostgreSQL, with one workspace and with 1,000. `BENCH_CITUS_URLS`
 * names the nodes of an empty cluster, the coordinator first, separated by spaces.
 * @type {import('../run.js').Case}
 */
export async function citus() {
  const [coordinator] = (process.env.BENCH_CITUS_URLS ?? '').split(' ')
  if (!coordinator) throw new Error('Set BENCH_CITUS_URLS to the URLs of the nodes of a cluster.')
  const plain = await startDatabase()
  const cluster = new pg.Client(coordinator)
  await cluster.connect()
  try {
    await migrate({ DATABASE_URL: coordinator })
    await cluster.query(`ALTER DATABASE ${cluster.database} SET citus.enable_stat_counters = on`)
    const { rows: shards } = await cluster.query(
      "SELECT 1 FROM pg_dist_shard WHERE logicalrelid = 'user_group'::regclass",
    )
    const rows = []
    for (const load of loads) rows.push(...(await measure(plain.url, coordinator, cluster, load)))
    const title = `The store on Citus with ${shards.length} shards and on PostgreSQL ${plain.version}`
    return { title, rows }
  } finally {
    await cluster.end()
    await plain.stop()
  }
}

/**
 * @param {string} plainUrl
 * @param {string} clusterUrl
 * @param {pg.Client} cluster
 * @param {{ workspaces: number, callers: number }} size
 */
async function measure(plainUrl, clusterUrl, cluster, { workspaces, callers }) {
  // Separate processes, so that one contestant's optimizations do not affect another.
  const stores = [
    { store: 'PostgreSQL', url: plainUrl, worker: startWorker('store-load.js') },
    { store: 'Citus', url: clusterUrl, worker: startWorker('store-load.js'), cluster },
  ]
  const load = { workspaces, perWorkspace: userGroups / workspaces, callers, seconds }
  try {
    for (const { url, worker } of stores) await worker.ask({ ...load, url, operation: 'prepare' })
    const rows = []
    for (const operation of operations) {
      const nameOf = (/** @type {string} */ store) =>
        `${operation}, ${callers} callers, ${workspaces} workspaces, ${store}`
      const compared = await compare(
        stores.map(({ store, url, worker, cluster }) => ({
          name: nameOf(store),
          round: async () => {
            const before = cluster && (await commandsOf(cluster))
            const figures = /** @type {StoreFigures} */ (await worker.ask({ ...load, url, operation }))
            if (!cluster || !before) return figuresOf(figures)
            const after = await commandsOf(cluster)
            return {
              ...figuresOf(figures),
              'commands/operation': (after.toOne - before.toOne) / figures.operations,
              'commands to several shards/operation':
                (after.toSeveral - before.toSeveral) / figures.operations,
            }
          },
        })),
        { baselines: [nameOf('PostgreSQL')] },
      )
      rows.push(...compared.rows)
    }
    return rows
  } finally {
    for (const { worker } of stores) await worker.stop()
  }
}

/** @param {StoreFigures} figures */
function figuresOf({ operations: done, seconds: took, p50Ms, p99Ms, cpuMicroseconds }) {
  return { 'operations/s': done / took, 'p50, ms': p50Ms, 'p99, ms': p99Ms, 'CPU, µs': cpuMicroseconds }
}

/**
 * Returns how many commands the coordinator has sent to one shard, and to several.
 * @param {pg.Client} cluster
 * @returns {Promise<{ toOne: number, toSeveral: number }>}
 */
async function commandsOf(cluster) {
  const { rows } = /** @type {pg.QueryResult<{ toOne: number, toSeveral: number }>} */ (
    await cluster.query(
      `SELECT query_execution_single_shard::float AS "toOne", query_execution_multi_shard::float AS "toSeveral"
     FROM citus_stat_counters WHERE name = current_database()`,
    )
  )
  return rows[0] ?? { toOne: 0, toSeveral: 0 }
}
