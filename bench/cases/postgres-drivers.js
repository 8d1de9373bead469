import { cpuTime } from '../lib/cpu.js'
import { freshIds, manyKnownIds } from '../lib/ids.js'
import { connections } from '../lib/load.js'
import { startDatabase } from '../lib/postgres.js'
import { summaries } from '../lib/statistics.js'
import { insertUserGroups } from '../lib/user-groups.js'
import { rotated } from '../lib/turns.js'
import { startWorker } from '../lib/worker.js'

const rounds = 5
const seconds = 1.5
/** Rows of a statement that coalesces the requests of all connections. */
const rowsTogether = 32
/** Default pool size of the service. */
const poolSize = 10

/** Ways to send statements; `mode` is the option of `pg`. */
const shapes = /** @type {const} */ ([
  { name: '1 statement', rows: rowsTogether, inFlight: 1, connections: 1, mode: undefined },
  { name: '2 statements', rows: rowsTogether, inFlight: 2, connections: 2, mode: undefined },
  { name: '2 on 1 connection', rows: rowsTogether, inFlight: 2, connections: 1, mode: 'pipeline' },
  { name: 'one per request', rows: 1, inFlight: connections, connections: poolSize, mode: 'pool' },
])

/**
 * @param {'select' | 'insert'} statement
 * @returns {(Pick<import('../processes/driver.js').DriverLoad, 'statement' | 'setting' | 'rows' | 'inFlight'> & { name: string })[]}
 */
function setupsOf(statement) {
  return shapes.flatMap(({ name, rows, inFlight, connections, mode }) => {
    /** @type {(driver: string, setting: import('../processes/driver.js').DriverSetting) => ReturnType<typeof setupsOf>[0]} */
    const setup = (driver, setting) => ({
      name: `${statement}, ${name}: ${driver}`,
      statement,
      rows,
      inFlight,
      setting,
    })
    const setups = [
      setup('pg', { driver: 'pg', connections, ...(mode && { mode }) }),
      setup('postgres', { driver: 'postgres', connections }),
    ]
    if (statement === 'select' && mode === undefined)
      setups.splice(1, 0, setup('pg, binary', { driver: 'pg', connections, mode: 'binary' }))
    return setups
  })
}

/**
 * Compares two PostgreSQL drivers with the prepared statements of the store, coalesced and one per request.
 * @type {import('../run.js').Case}
 */
export async function postgresDrivers() {
  const database = await startDatabase()
  try {
    await insertUserGroups(database.client, manyKnownIds)
    await database.client.query('VACUUM (ANALYZE) user_group')
    return {
      title: `The drivers, ${rowsTogether} rows a statement or 1, for ${connections} callers with ${poolSize} connections`,
      rows: [...(await measure(database, 'select')), ...(await measure(database, 'insert'))],
    }
  } finally {
    await database.stop()
  }
}

/**
 * @param {import('../lib/postgres.js').Database} database
 * @param {'select' | 'insert'} statement
 */
async function measure(database, statement) {
  // Separate processes, so that one contestant's optimizations do not affect another.
  const contestants = setupsOf(statement).map(({ name, ...setup }) => ({
    name,
    setup,
    worker: startWorker('driver.js'),
    results: /** @type {Record<string, number>[]} */ ([]),
  }))
  try {
    for (let round = 0; round <= rounds; round++) {
      for (const { setup, worker, results } of rotated(contestants, round)) {
        await database.client.query('CHECKPOINT')
        const ids = statement === 'select' ? manyKnownIds : freshIds()
        const before = cpuTime(worker.pid)
        const result = await worker.ask({ ...setup, url: database.url, ids, seconds })
        const cpu = cpuTime(worker.pid) - before
        const { rows, seconds: took } = /** @type {import('../processes/driver.js').DriverResult} */ (result)
        // The first round is a warm-up.
        if (round > 0) results.push({ 'rows/s': rows / took, 'CPU/row, µs': cpu / rows })
      }
    }
  } finally {
    for (const { worker } of contestants) await worker.stop()
  }
  return contestants.map(({ name, results }) => ({ name, figures: summaries(results) }))
}
