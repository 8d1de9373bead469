import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodySizes } from '../lib/bodies.js'
import { compare, httpFigures } from '../lib/compare.js'
import { changedIds, freshIds, manyKnownIds, rotatedIds, rotations } from '../lib/ids.js'
import { loadRound } from '../lib/load.js'
import { pgbenchFigures, pgbenchRound } from '../lib/pgbench.js'
import { findProgram, startDatabase } from '../lib/postgres.js'
import { seconds } from '../lib/rounds.js'
import { seedUserGroups } from '../lib/seed.js'
import { migrate, startBaseline, startService } from '../lib/service.js'
import { countRows, insertUserGroups, readColumns, typicalRow, writtenColumns } from '../lib/user-groups.js'

/** @type {import('../lib/bodies.js').BodySize} */
const size = 'typical'
const connectionCounts = [1, 32, 128]
/** Maximum duration of a load that sends each request once, in seconds. */
const longest = 600
/** PostgreSQL accepts 100 connections by default. */
const maxClients = 32

/** @typedef {import('../lib/compare.js').Contestant} Contestant */

/**
 * Compares each operation of the service with its baselines, on SQLite.
 * @type {import('../run.js').Case}
 */
export async function operations() {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  // Separate stores, so that creations do not enlarge the stores that are read.
  const read = await startService()
  const introspected = await startService()
  const changed = await startService()
  try {
    for (const { file } of [read, introspected]) await seedUserGroups(file, manyKnownIds)
    for (const ids of [changedIds, rotatedIds]) await seedUserGroups(changed.file, ids)
    await migrate({ UGS_DATA_DIR: folder })
    const { rows } = await measure({ read, introspected, changed }, { bareStore: join(folder, 'ugs.db') })
    return { title: `${title}, SQLite`, rows }
  } finally {
    for (const service of [read, introspected, changed]) await service.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * Compares each operation with its baselines and with pgbench, on PostgreSQL. pgbench selects or inserts the rows that the service
 * reads or writes, one per transaction.
 * @type {import('../run.js').Case}
 */
export async function postgresOperations() {
  // Fails early if pgbench is not installed.
  findProgram('pgbench')
  const database = await startDatabase()
  const { client, version } = database
  try {
    for (const ids of seeded) await seedUserGroups(client, ids)
    // Same number of rows and same indexes as the service's table.
    await client.query('CREATE TABLE baseline (LIKE user_group INCLUDING ALL)')
    for (const ids of seeded) await insertUserGroups(client, ids, { table: 'baseline' })
    await client.query('VACUUM (ANALYZE)')
    const service = await startService(database.url)
    const introspected = await startService(database.url)
    try {
      const pgbench = await preparePgbench(database)
      // Another database, so that the service does not index what the baseline writes.
      const bareStore = await database.createEmpty()
      await migrate({ DATABASE_URL: bareStore })
      const { rows, created } = await measure(
        { read: service, introspected, changed: service },
        { bareStore, database, pgbenches: pgbench.contestants },
      )
      const atFirst = seeded.reduce((sum, { count }) => sum + count, 0)
      assert.equal(await countRows(client, 'user_group'), atFirst + created)
      assert.equal(await countRows(client, 'baseline'), atFirst + pgbench.inserted())
      return { title: `${title}, PostgreSQL ${version}`, rows }
    } finally {
      for (const each of [service, introspected]) await each.stop()
    }
  } finally {
    await database.stop()
  }
}

const seeded = [manyKnownIds, changedIds, rotatedIds]
const title = `Each operation (body of ${bodySizes[size]}) and its baselines`

const reads = 'GET, unchanged'
const creations = 'GET that creates'
const bareCreations = 'bare Fastify that creates'

const known = /** @type {const} */ ({ ids: manyKnownIds, order: 'random' })
const unchanged = '"new_user_group":false'
const introspections = /** @type {const} */ ({ operation: 'introspect', expected: '"active":true' })

/** @typedef {import('../lib/service.js').Server} Server */
/** @typedef {import('../lib/service.js').Service} Service */
/** @typedef {import('../lib/postgres.js').Database} Database */

/**
 * Unchanged GETs and introspections use separate services, because one response cache does not hold the responses of both.
 * @param {Record<'read' | 'introspected' | 'changed', Service>} services
 * @param {{ bareStore: string, database?: Database, pgbenches?: Pgbenches }} comparisons
 */
async function measure(
  { read, introspected, changed },
  { bareStore, database, pgbenches = () => ({ select: [], insert: [] }) },
) {
  const renderer = { ...introspected, token: await introspected.createToken('introspect') }
  const baselines = {
    echo: await startBaseline('echo.js'),
    'bare Fastify': await startBaseline('bare-fastify.js'),
    'bare Fastify together': await startBaseline('bare-fastify.js', ['--together']),
  }
  const bareCreating = await startBaseline('bare-fastify.js', [`--store=${bareStore}`])
  const servers = { read, renderer, changed, baselines, bareCreating }
  const idsToRotate = rotations()
  // Otherwise a round would write the pages that another contestant changed.
  const checkpoint = database && { beforeEach: () => database.client.query('CHECKPOINT') }
  let created = 0
  const onCreated = (/** @type {number} */ count) => {
    created += count
  }
  try {
    await fillResponseCaches(read, renderer)
    const rows = []
    for (const connections of connectionCounts) {
      const contestants = contestantsOf(servers, {
        connections,
        database,
        idsToRotate,
        onCreated,
        pgbench: pgbenches(connections),
      })
      const compared = await compare(contestants, checkpoint)
      rows.push(...compared.rows.map(({ name, figures }) => ({ name: namedFor(name, connections), figures })))
    }
    return { rows, created }
  } finally {
    for (const server of [...Object.values(baselines), bareCreating]) await server.stop()
  }
}

/**
 * Requests everything twice, because the response cache keeps a response from its second request on. The case `rows` covers stores
 * that exceed it.
 * @param {Server} read
 * @param {Server} renderer
 */
async function fillResponseCaches(read, renderer) {
  for (const [server, load] of /** @type {const} */ ([
    [read, { expected: unchanged }],
    [renderer, introspections],
  ])) {
    for (let i = 0; i < 2; i++) {
      await loadRound(server, { size, ids: manyKnownIds, order: 'once', seconds: longest, ...load })
    }
  }
}

/**
 * Returns the operations, their baselines and pgbench, for one number of connections.
 * @param {{ read: Server, renderer: Server, changed: Server, bareCreating: Server, baselines: Record<string, Server> }} servers
 * @param {object} options
 * @param {number} options.connections
 * @param {Database | undefined} options.database
 * @param {Record<'select' | 'insert', Contestant[]>} options.pgbench
 * @param {() => import('../lib/ids.js').Ids} options.idsToRotate
 * @param {(count: number) => void} options.onCreated called with the number of created user groups
 * @returns {Contestant[]}
 */
function contestantsOf(
  { read, renderer, changed, bareCreating, baselines },
  { connections, database, pgbench: { select, insert }, idsToRotate, onCreated },
) {
  /** @type {(server: Server, load: OwnLoad) => Promise<import('../lib/load.js').Round>} */
  const runLoad = (server, load) => loadRound(server, { size, seconds, connections, ...load })
  /** @type {(name: string, load: () => OwnLoad, against?: readonly string[], server?: Server) => Contestant} */
  const operation = (name, load, against = [reads], server = changed) => ({
    name,
    against,
    round: async () => {
      const before = database?.cpuTime() ?? NaN
      const round = await runLoad(server, load())
      if (name === creations) onCreated(round.responses)
      const cpuOfDatabase = (database?.cpuTime() ?? NaN) - before
      return {
        ...httpFigures(round),
        ...(database && { 'PostgreSQL, µs': cpuOfDatabase / round.responses }),
      }
    },
  })
  /** @returns {OwnLoad} */
  const toCreate = () => ({ ids: freshIds(), order: 'once', expected: '"new_user_group":true' })
  return [
    ...select,
    operation(
      reads,
      () => ({ ...known, expected: unchanged }),
      [...Object.keys(baselines), ...namesOf(select)],
      read,
    ),
    ...Object.entries(baselines).map(([name, server]) => ({
      name,
      against: [],
      round: async () => httpFigures(await runLoad(server, { ...known, expected: unchanged })),
    })),
    operation(creations, toCreate, [bareCreations, ...namesOf(insert)]),
    operation(bareCreations, toCreate, [], bareCreating),
    ...insert,
    operation('introspection', () => ({ ...known, ...introspections }), [reads], renderer),
    operation('PUT that changes', () => ({
      operation: 'put',
      ids: changedIds,
      order: 'random',
      expected: unchanged,
    })),
    operation('POST that rotates', () => ({
      operation: 'rotate',
      ids: idsToRotate(),
      order: 'once',
      expected: '"token":"ugt_testing_',
    })),
  ]
}

/** @typedef {Pick<import('../lib/load.js').Load, 'operation' | 'ids' | 'order' | 'expected'>} OwnLoad */

/**
 * Returns the name of a row of these cases.
 * @param {string} name
 * @param {number} connections
 */
export function namedFor(name, connections) {
  return `${name}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`
}

/** @param {readonly Contestant[]} contestants */
function namesOf(contestants) {
  return contestants.map(({ name }) => name)
}

/** @typedef {(clients: number) => Record<'select' | 'insert', Contestant[]>} Pgbenches */

/**
 * Prepares pgbench with one thread, its default, and with two, so that its own CPU time is no limit.
 * @param {Database} database
 * @returns {Promise<{ contestants: Pgbenches, inserted: () => number }>}
 */
async function preparePgbench(database) {
  const { insert, ...selects } = await pgbenchScripts(database)
  let inserted = 0
  /** @type {Pgbenches} */
  const contestants = (clients) => {
    const threads = [1, 2].filter((threads) => threads <= clients && clients <= maxClients)
    return {
      select: Object.entries(selects).flatMap(([name, script]) =>
        threads.map((threads) => ({
          name: `pgbench ${name} -j ${threads}`,
          against: [],
          round: async () =>
            pgbenchFigures(await pgbenchRound(database, { script, clients, threads, seconds })),
        })),
      ),
      insert: threads.map((threads) => ({
        name: `pgbench insert -j ${threads}`,
        against: [],
        round: async () => {
          const variables = { ...typicalRow, n: 0, first: freshIds().first, now: Date.now() }
          const round = await pgbenchRound(database, {
            script: insert,
            variables,
            clients,
            threads,
            seconds,
          })
          inserted += round.transactions
          return pgbenchFigures(round)
        },
      })),
    }
  }
  return { contestants, inserted: () => inserted }
}

/**
 * Returns the transactions of pgbench. `select` reads by the key of a request that misses the response cache. `select 1` reads by the
 * key that confirms a cached response. `insert` writes to a table with the same columns and indexes.
 * @param {Database} database
 */
async function pgbenchScripts({ client }) {
  const { first, count } = manyKnownIds
  const where = "WHERE workspace_id = 1 AND environment = 'Testing' AND provided_id"
  const select = `SELECT ${readColumns} FROM user_group ${where}`
  const { rows } = await client.query(`EXPLAIN ${select} = '${first}'`)
  assert.match(JSON.stringify(rows), /Index Scan using user_group_provided_id /)
  /** @type {{ rows: { least: number, greatest: number }[] }} */
  const { rows: teamIds } = await client.query(
    `SELECT min(team_id)::int AS least, max(team_id)::int AS greatest FROM user_group ${where} BETWEEN $1 AND $2`,
    [String(first), String(first + count - 1)],
  )
  const { least = 0, greatest = 0 } = teamIds[0] ?? {}
  assert.equal(greatest - least, count - 1)
  return {
    select: `\\set id random(${first}, ${first + count - 1})\n${select} = :id;\n`,
    'select 1': `\\set id random(${least}, ${greatest})\nSELECT 1 FROM user_group WHERE workspace_id = 1 AND team_id = :id;\n`,
    // Every client counts up from a different number, like the connections of the load. The server computes only the hash,
    // which must be unique.
    insert: `\\set n :n + 1
\\set id :first + :client_id * 300000 + :n
INSERT INTO baseline (workspace_id, environment, ${writtenColumns})
VALUES (1, 'Testing', :id, :name, :mapping, :properties, sha256(int8send(:id)), :keyId, :sealed, :now, :now, :now);
`,
  }
}
