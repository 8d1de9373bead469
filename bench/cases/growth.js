import { bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { freshIds, knownIds, manyKnownIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { startDatabase } from '../lib/postgres.js'
import { seconds } from '../lib/rounds.js'
import { createGroups, seedUserGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'
import { namedFor } from './operations.js'

/** @typedef {Partial<import('../lib/load.js').Load>} OwnLoad */

/** @type {import('../lib/bodies.js').BodySize} */
const typical = 'typical'
const fewest = 10_000
const warmUpSeconds = 10
const most = Number(process.env.BENCH_USER_GROUPS ?? 10_000_000)

/** @type {import('../run.js').Case} */
export const rows = () => byRows([fewest, 100_000, 1_000_000])

/**
 * Reads without a response cache, because it would hold all responses of the smaller store. Needs about 8 GB of disk. Set
 * `BENCH_USER_GROUPS` to use fewer user groups.
 * @type {import('../run.js').Case}
 */
export const rowsLarge = () => byRows([fewest, most], { environment: { UGS_RESPONSE_CACHE_MB: '0' } })

/** @type {import('../run.js').Case} */
export const postgresRows = () => byRows([fewest, 100_000, 1_000_000], { onPostgres: true })

/**
 * Runs the same load on stores of different sizes, each with a separate service. The load reads random user groups.
 * @param {readonly number[]} counts
 * @param {{ onPostgres?: boolean, environment?: Record<string, string> }} [options]
 * @returns {Promise<import('../run.js').Report>}
 */
async function byRows(counts, { onPostgres = false, environment = {} } = {}) {
  /** @type {{ stop: () => Promise<void> }[]} */
  const running = []
  try {
    const contestants = []
    for (const count of counts) {
      const database = onPostgres ? await startDatabase() : undefined
      if (database) running.unshift(database)
      const service = await startService(database?.url, [], [], environment)
      running.unshift(service)
      const ids = idsOf(count)
      await seedUserGroups(database?.client ?? service.file, ids)
      await database?.client.query('VACUUM (ANALYZE)')
      // Fills the response cache.
      await unchanged(service, { ids, seconds: warmUpSeconds })()
      contestants.push({ name: named(count), round: unchanged(service, { ids }) })
    }
    return {
      title: `Unchanged GET (body of ${bodySizes[typical]}) by the number of user groups, ${connections} connections, ${[onPostgres ? 'PostgreSQL' : 'SQLite', ...Object.entries(environment).map((setting) => setting.join('='))].join(', ')}`,
      ...(await compare(contestants, { baselines: [named(fewest)] })),
    }
  } finally {
    for (const one of running) await one.stop()
  }
}

/**
 * Measures the memory of a service with 1,000,000 user groups that serves reads and creations.
 * @type {import('../run.js').Case}
 */
export async function memory() {
  const count = 1_000_000
  const service = await startService()
  try {
    const ids = idsOf(count)
    await seedUserGroups(service.file, ids)
    const create = creations(service, {})
    const contestants = [
      { name: 'GET, unchanged', round: unchanged(service, { ids }) },
      { name: 'GET that creates', round: create },
    ]
    return {
      title: `Memory with ${named(count)}, ${connections} connections, SQLite`,
      ...(await compare(contestants)),
    }
  } finally {
    await service.stop()
  }
}

/** @type {import('../run.js').Case} */
export async function byConnections() {
  const service = await startService()
  try {
    await seedUserGroups(service.file, manyKnownIds)
    // The service sheds requests that would wait too long.
    const contestants = [1, 32, 128, 512].flatMap((connections) => {
      const load = { connections, mayBeShed: true }
      return [
        {
          name: namedFor('GET, unchanged', connections),
          round: unchanged(service, { ids: manyKnownIds, ...load }),
        },
        { name: namedFor('GET that creates', connections), round: creations(service, load) },
      ]
    })
    return { title: 'GET by the number of connections, SQLite', ...(await compare(contestants)) }
  } finally {
    await service.stop()
  }
}

/** @type {import('../run.js').Case} */
export async function byBodySize() {
  /** @type {import('../lib/service.js').Service[]} */
  const services = []
  try {
    const contestants = []
    for (const size of /** @type {import('../lib/bodies.js').BodySize[]} */ (Object.keys(bodySizes))) {
      const service = await startService()
      services.push(service)
      await createGroups(service, size, knownIds)
      contestants.push(
        { name: `GET, unchanged, ${bodySizes[size]}`, round: unchanged(service, { size, ids: knownIds }) },
        { name: `GET that creates, ${bodySizes[size]}`, round: creations(service, { size }) },
      )
    }
    return {
      title: `GET by the size of the body, ${connections} connections, SQLite`,
      ...(await compare(contestants)),
    }
  } finally {
    for (const service of services) await service.stop()
  }
}

/**
 * @param {import('../lib/service.js').Server} service
 * @param {Pick<import('../lib/load.js').Load, 'ids'> & OwnLoad} load
 */
function unchanged(service, load) {
  return async () =>
    figuresOf(
      await loadRound(service, {
        size: typical,
        order: 'random',
        seconds,
        expected: '"new_user_group":false',
        ...load,
      }),
    )
}

/**
 * @param {import('../lib/service.js').Server} service
 * @param {OwnLoad} load
 */
function creations(service, load) {
  return async () =>
    figuresOf(
      await loadRound(service, {
        size: typical,
        ids: freshIds(),
        order: 'once',
        seconds,
        expected: '"new_user_group":true',
        ...load,
      }),
    )
}

/** @param {import('../lib/load.js').Round} round */
function figuresOf(round) {
  return { ...httpFigures(round), '503, %': round.shedShare * 100 }
}

/**
 * @param {number} count
 * @returns {import('../lib/ids.js').Ids}
 */
function idsOf(count) {
  return { prefix: '', first: 100_000_000, count }
}

/** @param {number} count */
function named(count) {
  return `${count.toLocaleString('en')} user groups`
}
