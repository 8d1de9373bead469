import assert from 'node:assert/strict'
import { bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { freshIds, manyKnownIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { pgbenchRound } from '../lib/pgbench.js'
import { findPgbench, startDatabase } from '../lib/postgres.js'
import { createGroups } from '../lib/seed.js'
import { startBareFastify, startService } from '../lib/service.js'
import { startStore, storeRound } from '../lib/store.js'
import { countRows, insertUserGroups, readColumns, typicalRow, writtenColumns } from '../lib/user-groups.js'

const seconds = 4
/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'

/**
 * Reading. pgbench selects, one a transaction, the very rows that the service reads, by the key that it reads them by. The
 * bare route shows what HTTP leaves to be reached.
 * @type {import('../run.js').Case}
 */
export async function postgresGetUnchanged() {
  return onDatabase(async ({ database, service, workers, store }) => {
    await createGroups(service, size, manyKnownIds)
    await database.client.query('VACUUM (ANALYZE) user_group')
    const select = `SELECT ${readColumns} FROM user_group WHERE workspace_id = 1 AND environment = 'Testing' AND provided_id`
    const { first, count } = manyKnownIds
    const { rows } = await database.client.query(`EXPLAIN ${select} = '${first}'`)
    assert.match(JSON.stringify(rows), /Index Scan using user_group_workspace_id_environment_provided_id_key/)

    const script = `\\set id random(${first}, ${first + count - 1})\n${select} = :id;\n`
    const load = /** @type {const} */ ({ size, ids: manyKnownIds, order: 'random', seconds })
    const expected = '"new_user_group":false'
    const bare = await startBareFastify()
    try {
      const contestants = [
        ...pgbenches((threads) => pgbenchRound(database, { script, clients: connections, threads, seconds })),
        serviceContestant('service', database, () => loadRound(service, { ...load, expected })),
        serviceContestant(workersName, database, () => loadRound(workers, { ...load, expected })),
        storeContestant(database, () =>
          storeRound(store, { ...load, url: database.url, expected: 'unchanged' }),
        ),
        {
          name: 'bare Fastify route',
          round: async () => httpFigures(await loadRound(bare, { ...load, expected })),
        },
      ]
      const report = await compare(contestants, { baselines: pgbenchNames })
      return {
        title: `GET of ${count} user groups that exist and stay as they are (body of ${bodySizes[size]})`,
        ...report,
      }
    } finally {
      await bare.stop()
    }
  })
}

/**
 * Creating. pgbench inserts, one a transaction, the rows that the service writes, into a table with the same columns and
 * indexes. Both tables start with 100,000 rows.
 * @type {import('../run.js').Case}
 */
export async function postgresGetCreate() {
  return onDatabase(async ({ database, service, workers, store }) => {
    const { client, url } = database
    await client.query('CREATE TABLE baseline (LIKE user_group INCLUDING ALL)')
    for (const table of ['user_group', 'baseline']) {
      await insertUserGroups(client, manyKnownIds, { table })
      await client.query(`VACUUM (ANALYZE) ${table}`)
    }
    let inserted = manyKnownIds.count
    let created = manyKnownIds.count

    // Every client counts on from a number of its own, as every connection of the load does. The hash, which no two rows
    // share, is the one value that the server has to make.
    const script = `\\set n :n + 1
\\set id :first + :client_id * 300000 + :n
INSERT INTO baseline (workspace_id, environment, ${writtenColumns})
VALUES (1, 'Testing', :id, :name, :mapping, :properties, sha256(int8send(:id)), :keyId, :sealed, :now, :now, :now);
`
    const load = () => /** @type {const} */ ({ size, ids: freshIds(), order: 'once', seconds })
    const contestants = [
      ...pgbenches(async (threads) => {
        const variables = { ...typicalRow, n: 0, first: freshIds().first, now: Date.now() }
        const run = { script, variables, clients: connections, threads, seconds }
        const round = await pgbenchRound(database, run)
        inserted += round.transactions
        return round
      }),
      ...[
        { name: 'service', server: service },
        { name: workersName, server: workers },
      ].map(({ name, server }) =>
        serviceContestant(name, database, async () => {
          const round = await loadRound(server, { ...load(), expected: '"new_user_group":true' })
          created += round.answers
          return round
        }),
      ),
      storeContestant(database, async () => {
        const round = await storeRound(store, { ...load(), url, expected: 'created' })
        created += round.calls
        return round
      }),
    ]
    // Otherwise one contestant's round would pay for the pages that another one changed.
    const report = await compare(contestants, {
      baselines: pgbenchNames,
      beforeEach: () => client.query('CHECKPOINT'),
    })
    assert.equal(await countRows(client, 'baseline'), inserted)
    assert.equal(await countRows(client, 'user_group'), created)
    return {
      title: `GET that creates a user group, each with an id of its own (body of ${bodySizes[size]})`,
      ...report,
    }
  })
}

/**
 * @typedef {object} Running
 * @property {import('../lib/postgres.js').Database} database
 * @property {import('../lib/service.js').Server} service
 * @property {import('../lib/service.js').Server} workers the same, with a worker for each core
 * @property {import('../lib/worker.js').Worker} store
 */

/**
 * @param {(running: Running) => Promise<import('../run.js').Report>} measure
 * @returns {Promise<import('../run.js').Report>}
 */
async function onDatabase(measure) {
  // Said before anything is started, where there is none.
  findPgbench()
  const database = await startDatabase()
  try {
    const service = await startService(database.url)
    const workers = await startService(database.url, ['--workers', 'auto'])
    const store = startStore()
    try {
      const report = await measure({ database, service, workers, store })
      return { ...report, notes: [`PostgreSQL ${database.version}, ${connections} connections each.`] }
    } finally {
      await store.stop()
      await workers.stop()
      await service.stop()
    }
  } finally {
    await database.stop()
  }
}

const workersName = 'service --workers auto'
const baselines = [1, 2].map((threads) => ({ name: `pgbench -j ${threads}`, threads }))
const pgbenchNames = baselines.map(({ name }) => name)

/**
 * Two baselines: pgbench with one thread, which is its default, and with two, where its own CPU time is no limit.
 * @param {(threads: number) => Promise<import('../lib/pgbench.js').PgbenchRound>} run
 * @returns {import('../lib/compare.js').Contestant[]}
 */
function pgbenches(run) {
  return baselines.map(({ name, threads }) => ({
    name,
    round: async () => {
      const round = await run(threads)
      return {
        'transactions/s': round.transactionsPerSecond,
        'average, ms': round.averageMs,
        'CPU/transaction, µs': round.cpuMicroseconds,
        'PostgreSQL, µs': round.serverCpuMicroseconds,
      }
    },
  }))
}

/**
 * @param {string} name
 * @param {import('../lib/postgres.js').Database} database
 * @param {() => Promise<import('../lib/load.js').Round>} run
 * @returns {import('../lib/compare.js').Contestant}
 */
function serviceContestant(name, database, run) {
  return {
    name,
    round: async () => {
      const before = database.cpuTime()
      const round = await run()
      return { ...httpFigures(round), 'PostgreSQL, µs': (database.cpuTime() - before) / round.answers }
    },
  }
}

/**
 * @param {import('../lib/postgres.js').Database} database
 * @param {() => Promise<import('../lib/store.js').StoreRound>} run
 * @returns {import('../lib/compare.js').Contestant}
 */
function storeContestant(database, run) {
  return {
    name: 'store alone',
    round: async () => {
      const before = database.cpuTime()
      const round = await run()
      return {
        'calls/s': round.callsPerSecond,
        'p50, ms': round.p50Ms,
        'p99, ms': round.p99Ms,
        'CPU/call, µs': round.cpuMicroseconds,
        'PostgreSQL, µs': (database.cpuTime() - before) / round.calls,
      }
    },
  }
}
