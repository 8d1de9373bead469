import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { findMoveProblems } from '../../src/store/postgres/doctor/cluster.ts'
import { freshCitusDatabase } from '../support/citus-database.ts'
import { commandIn, examine, examineOne, statusesOf } from '../support/doctor.ts'
import { runUgs, temporaryFolder } from '../support/service.ts'
import { openSession } from '../support/session.ts'

/** Creates a store on a Citus cluster. Returns undefined without a cluster. */
async function storeOnCitus(t: TestContext, ...migrateOptions: string[]) {
  const database = await freshCitusDatabase(t)
  if (database === undefined) return undefined
  const settings = { DATABASE_URL: database.urls[0], UGS_DATA_DIR: temporaryFolder(t) }
  await database.query(
    `ALTER DATABASE ${new URL(database.urls[0]).pathname.slice(1)} SET citus.shard_count = 4`,
  )
  const { code, stderr } = await runUgs(['migrate', ...migrateOptions], settings)
  assert.equal(code, 0, stderr)
  /** Runs the statements of a remedy one by one. */
  const runRemedy = async (command: string, node = 0) => {
    for (const statement of command.split('; ')) await database.query(statement, node)
  }
  /** Sets whether the node may hold shards. */
  const setShards = (node: number, should: boolean) => {
    const { hostname, port } = new URL(database.urls[node] ?? '')
    return database.query(
      `SELECT citus_set_node_property('${hostname}', ${port}, 'shouldhaveshards', ${should})`,
    )
  }
  const nodeOf = (number: number) => new URL(database.urls[number] ?? '').host
  return { ...database, settings, runRemedy, setShards, nodeOf }
}

describe('ugs doctor on Citus', () => {
  it('finds nothing wrong in a new store', async (t) => {
    const store = await storeOnCitus(t)
    if (store === undefined) return
    const args = ['doctor', '--strict', '--json', '--skip', 'durability,disk']
    const { code, stdout } = await runUgs(args, store.settings)
    assert.equal(code, 0, stdout)
    const statuses = statusesOf(stdout)
    for (const name of ['nodes', 'distribution', 'shards']) assert.equal(statuses.get(name), 'passed')
  })

  it('finds prepared transactions on every node, and who ends them', async (t) => {
    const store = await storeOnCitus(t)
    if (store === undefined) return
    const find = () => examine(store.settings, 'prepared-transactions')
    const prepare = (name: string, node: number) =>
      store.query(`BEGIN; CREATE TABLE "${name}" (); PREPARE TRANSACTION '${name}'`, node)
    assert.deepEqual(await find(), [])

    await prepare('foreign', 1)
    // No node has the group 99, so no node recovers it.
    await prepare('citus_99_1_1_1', 2)
    const strange = (await find()).sort((one, other) => (one.problem < other.problem ? -1 : 1))
    assert.deepEqual(
      strange.map(({ severity, problem }) => `${severity}: ${problem.replace(/\d+ s/, 'N s')}`),
      [
        `error: The prepared transaction citus_99_1_1_1 on ${store.nodeOf(2)} has held its locks for N s.`,
        `error: The prepared transaction foreign on ${store.nodeOf(1)} has held its locks for N s.`,
      ],
    )
    for (const [index, finding] of strange.entries()) await store.runRemedy(commandIn(finding), 2 - index)
    assert.deepEqual(await find(), [])

    // Keeps Citus from recovering transactions meanwhile.
    const session = await openSession({ after: () => undefined }, store.urls[0])
    await session.query('BEGIN; LOCK TABLE pg_dist_transaction IN ROW EXCLUSIVE MODE')
    const [first] = await store.query('SELECT groupid FROM pg_dist_node WHERE groupid > 0 ORDER BY groupid')
    await prepare('citus_0_1_1_1', 1)
    await prepare('citus_0_1_2_1', 1)
    await store.query(`INSERT INTO pg_dist_transaction VALUES (${first.groupid}, 'citus_0_1_2_1')`)
    const own = await find()
    assert.deepEqual(
      own.map(({ severity, problem }) => [severity, problem.slice(problem.indexOf(' s. ') + 4)]),
      [
        ['warning', 'Citus rolls back it at its next recovery.'],
        ['warning', 'Citus commits it at its next recovery.'],
      ],
    )
    await session.query('COMMIT')
    await session.end()
    for (const finding of own) await store.runRemedy(commandIn(finding))
    assert.deepEqual(await find(), [])
    const left = await store.query(
      "SELECT to_regclass('citus_0_1_1_1') AS one, to_regclass('citus_0_1_2_1') AS two",
      1,
    )
    assert.deepEqual(left, [{ one: null, two: 'citus_0_1_2_1' }])
  })

  it('reports that Citus recovers nothing', async (t) => {
    const store = await storeOnCitus(t)
    if (store === undefined) return
    const reset = async () => {
      const { href } = Object.assign(new URL(store.urls[1] ?? ''), { pathname: 'postgres' })
      const session = await openSession({ after: () => undefined }, href)
      await session.query('ALTER SYSTEM RESET citus.recover_2pc_interval')
      await session.query('SELECT pg_reload_conf()')
      await session.end()
    }
    t.after(reset)
    await store.query('ALTER SYSTEM SET citus.recover_2pc_interval = -1', 1)
    await store.query('SELECT pg_reload_conf()', 1)
    const finding = await examineOne(store.settings, 'prepared-transactions')
    await store.runRemedy(commandIn(finding), 1)
    assert.equal(finding.problem, `Citus recovers no prepared transactions on ${store.nodeOf(1)}.`)
    assert.match(finding.remedy, new RegExp(`^Run as a superuser on ${store.nodeOf(1)}: `))
  })

  it('reports tables that are not distributed, and the commands distribute them', async (t) => {
    const store = await storeOnCitus(t, '--citus', 'off')
    if (store === undefined) return
    const local = await examineOne(store.settings, 'distribution')
    assert.equal(local.severity, 'warning')
    assert.match(local.problem, /the tables are on the coordinator only/)
    assert.equal(local.remedy, 'Run `ugs migrate --citus on`. Writes wait while it copies their tables.')
    assert.equal((await runUgs(['migrate', '--citus', 'on'], store.settings)).code, 0)
    assert.deepEqual(await examine(store.settings, 'distribution'), [])
    await store.query("SELECT undistribute_table('audit_event')")
    await store.query("SELECT undistribute_table('registry')")
    for (const table of ['mapping_entry', 'retired_secret_key'])
      await store.query(`SELECT undistribute_table('${table}')`)
    await store.query("SELECT create_distributed_table('retired_secret_key', 'key_id')")
    await store.query(
      "SELECT create_distributed_table('mapping_entry', 'workspace_id', colocate_with => 'none')",
    )
    await store.query(
      `UPDATE pg_dist_object SET distribution_argument_index = NULL
       WHERE objid = (SELECT oid FROM pg_proc WHERE proname = 'delete_user_group')`,
    )
    const findings = await examine(store.settings, 'distribution')
    assert.deepEqual(
      findings.map(({ severity, problem }) => `${severity}: ${problem}`),
      [
        'error: The table mapping_entry is not distributed as the others are.',
        'error: The table retired_secret_key is not distributed as the others are.',
        'error: The distribution was interrupted: registry, audit_event, delete_user_group are on the coordinator only.',
      ],
    )
    const interrupted = findings.pop()
    for (const finding of findings) await store.runRemedy(commandIn(finding))
    assert.match(interrupted?.remedy ?? '', /^Run `ugs migrate --citus on` again\./)
    assert.equal((await runUgs(['migrate', '--citus', 'on'], store.settings)).code, 0)
    assert.deepEqual(await examine(store.settings, 'distribution'), [])
  })

  it('reports shards without a placement or without their table, and nodes without shards', async (t) => {
    const store = await storeOnCitus(t, '--citus', 'off')
    if (store === undefined) return
    await store.setShards(2, false)
    assert.equal((await runUgs(['migrate', '--citus', 'on'], store.settings)).code, 0)
    await store.setShards(2, true)
    const empty = await examineOne(store.settings, 'shards')
    assert.equal(empty.severity, 'warning')
    assert.equal(empty.problem, `The node ${store.nodeOf(2)} holds no user groups.`)
    assert.equal(commandIn(empty), 'SELECT citus_rebalance_start()')
    await store.setShards(2, false)

    const shards = await store.query(
      "SELECT shardid::text AS id, shard_name(logicalrelid, shardid) AS name FROM pg_dist_shard WHERE logicalrelid = 'user_group'::regclass ORDER BY shardid",
    )
    const [one, two] = shards as { id: string; name: string }[]
    await store.query(`SET citus.enable_manual_changes_to_shards = on; DROP TABLE ${one?.name}`, 1)
    const lost = await examineOne(store.settings, 'shards')
    assert.equal(lost.problem, `The node ${store.nodeOf(1)} lacks the tables of shards: ${one?.name}.`)
    await store.query(`DELETE FROM pg_dist_placement WHERE shardid IN (${one?.id}, ${two?.id})`)
    const homeless = await examineOne(store.settings, 'shards')
    assert.equal(homeless.severity, 'error')
    assert.equal(
      homeless.problem,
      `Shards without a placement: ${one?.name}, ${two?.name}. Requests for their buckets fail.`,
    )
    const nodes = await store.query(commandIn(homeless).replaceAll(String(one?.name), String(two?.name)))
    assert.deepEqual(nodes.map(({ result }) => result).sort(), ['', two?.name])
  })

  it('reports servers that cannot move shards', () => {
    const node = 'worker.example:5432'
    const settings = (wal_level: string, plugins: string | null) => [{ node, rows: [{ wal_level, plugins }] }]
    assert.deepEqual(findMoveProblems(settings('logical', null)), [])
    assert.deepEqual(findMoveProblems(settings('logical', 'pgoutput, test_decoding, citus')), [])
    assert.deepEqual(
      findMoveProblems(settings('replica', 'pgoutput')).map(({ remedy }) => remedy),
      ["wal_level = 'logical'", 'output_plugin_libraries = pgoutput, test_decoding, citus'].map(
        (setting) =>
          `Run as a superuser on ${node}: \`ALTER SYSTEM SET ${setting}\`. Then restart PostgreSQL there.`,
      ),
    )
  })

  it('reports nodes that are inactive or cannot be reached, and a worker in DATABASE_URL', async (t) => {
    const store = await storeOnCitus(t, '--citus', 'off')
    if (store === undefined) return
    // Citus disables only a node without shards.
    await store.setShards(2, false)
    assert.equal((await runUgs(['migrate', '--citus', 'on'], store.settings)).code, 0)
    const worker = { ...store.settings, DATABASE_URL: store.urls[1] ?? '' }
    const wrong = await examineOne(worker, 'nodes')
    assert.equal(wrong.problem, 'DATABASE_URL names a worker of the Citus cluster.')

    const { hostname, port } = new URL(store.urls[2] ?? '')
    await store.query(`SELECT citus_disable_node('${hostname}', ${port}, true)`)
    const inactive = await examineOne(store.settings, 'nodes')
    assert.equal(inactive.problem, `The node ${store.nodeOf(2)} is not active.`)
    await store.runRemedy(commandIn(inactive))
    assert.deepEqual(await examine(store.settings, 'nodes'), [])

    const name = new URL(store.urls[2] ?? '').pathname.slice(1)
    const server = await openSession(
      { after: () => undefined },
      Object.assign(new URL(store.urls[2] ?? ''), { pathname: 'postgres' }).href,
    )
    await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`)
    const { stdout } = await runUgs(['doctor', '--json', '--skip', 'durability,disk'], store.settings)
    await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`)
    await server.end()
    const { findings } = JSON.parse(stdout)
    assert.deepEqual(
      findings.map(({ check, problem }: { check: string; problem: string }) => `${check}: ${problem}`),
      [`nodes: The node ${store.nodeOf(2)} cannot be reached. Requests for its user groups get 503.`],
    )
  })
})
