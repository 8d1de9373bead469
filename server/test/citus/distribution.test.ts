import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import { openStore } from '../../src/store/open-store.ts'
import { configureWorkers, freshDatabase, migratedDatabase } from '../support/database.ts'
import { DatabaseProxy } from '../support/database-proxy.ts'
import { runUgs, temporaryFolder } from '../support/service.ts'
import { openSession } from '../support/session.ts'
import { fill } from '../store/postgres/postgres-grown.ts'
import { created, openPostgres, useAll, valueOf } from '../store/postgres/postgres-support.ts'
import { referenceOf } from '../store/contract/store-fixtures.ts'
import { defaults } from '../store/store-options.ts'

const countShards = "SELECT count(*)::int FROM pg_dist_shard WHERE logicalrelid = 'user_group'::regclass"

describe('ugs migrate on Citus', () => {
  it('distributes an existing store only with --citus on, and says so', async (t) => {
    const DATABASE_URL = await freshDatabase(t)
    const settings = { DATABASE_URL, UGS_DATA_DIR: temporaryFolder(t) }
    const session = await openSession(t, DATABASE_URL)
    const migrate = async (...options: string[]) => {
      const { code, stderr } = await runUgs(['migrate', ...options], settings)
      assert.equal(code, 0, stderr)
      const isDistributed = (await valueOf(session, 'SELECT count(*)::int FROM pg_dist_partition')) !== 0
      return { isDistributed, hasHint: stderr.includes('run `ugs migrate --citus on`') }
    }
    assert.deepEqual(await migrate('--citus', 'off'), { isDistributed: false, hasHint: false })
    assert.deepEqual(await migrate(), { isDistributed: false, hasHint: true })
    assert.deepEqual(await migrate('--citus', 'on'), { isDistributed: true, hasHint: false })
    assert.deepEqual(await migrate(), { isDistributed: true, hasHint: false })
    assert.equal(await valueOf(session, countShards), 4, 'the setting of the database')
  })

  it('creates one shard per node unless the database has a setting', async (t) => {
    const DATABASE_URL = await freshDatabase(t)
    const session = await openSession(t, DATABASE_URL)
    await session.query(`ALTER DATABASE ${new URL(DATABASE_URL).pathname.slice(1)} RESET citus.shard_count`)
    const { code, stderr } = await runUgs(['migrate'], { DATABASE_URL, UGS_DATA_DIR: temporaryFolder(t) })
    assert.equal(code, 0, stderr)
    const countNodes = 'SELECT count(*)::int FROM pg_dist_node WHERE shouldhaveshards'
    assert.equal(await valueOf(session, countShards), await valueOf(session, countNodes))
  })
})

describe('Citus: a store that is open while its tables are distributed', () => {
  // Longer than a change of the distribution blocks statements.
  const timeouts = { lockTimeoutMs: 30_000, statementTimeoutMs: 30_000, deadlineMs: 60_000 }

  it('serves all operations meanwhile and goes on without a restart, also after a shard was split', async (t) => {
    const url = await freshDatabase(t)
    await (await openStore(parseDatabaseUrl(url), { ...defaults, distribute: 'never' })).close()
    const session = await openSession(t, url)
    // With statistics, connections keep generic plans, which Citus refuses.
    await session.query(`${fill(1100)}; ANALYZE; SELECT setval('user_group_team_id_seq', 10000)`)
    const store = await openPostgres(t, url, timeouts)
    const group = await created(store)
    let current = await useAll(store, group)
    let isDone = false
    const distributing = openPostgres(t, url, { ...timeouts, distribute: 'required' }).finally(
      () => (isDone = true),
    )
    const isRunning = () => !isDone
    while (isRunning()) current = await useAll(store, current)
    await distributing
    const shards = (await valueOf(session, countShards)) as number
    assert.ok(shards > 1)
    current = await useAll(store, current)

    const { bucket } = referenceOf(group.token)
    await session.query(
      `SELECT citus_split_shard_by_split_points(
         shardid, ARRAY[((shardminvalue::bigint + shardmaxvalue::bigint) / 2)::text],
         ARRAY[nodeid, nodeid]::integer[], 'block_writes')
       FROM pg_dist_shard JOIN pg_dist_placement USING (shardid) JOIN pg_dist_node USING (groupid)
       WHERE shardid = get_shard_id_for_distribution_column('user_group', $1::smallint) AND noderole = 'primary'`,
      [bucket],
    )
    assert.equal(await valueOf(session, countShards), shards + 1)
    const groups = await Promise.all(Array.from({ length: 20 }, () => created(store)))
    await Promise.all(groups.map((one) => useAll(store, one)))
    current = await useAll(store, current)
    assert.equal((await store.userGroups.find(group))?.name, current.name)
  })

  it('serves meanwhile although other transactions hold locks for long', async (t) => {
    const url = await freshDatabase(t)
    await (await openStore(parseDatabaseUrl(url), { ...defaults, distribute: 'never' })).close()
    const store = await openPostgres(t, url, { lockTimeoutMs: 10_000 })
    await created(store)
    const [writer, reader] = [await openSession(t, url), await openSession(t, url)]
    await writer.query('BEGIN; LOCK TABLE user_group IN ROW EXCLUSIVE MODE')
    await reader.query('BEGIN; SELECT FROM user_group')
    let retries = 0
    const distributing = openPostgres(t, url, { distribute: 'required', onLocked: () => retries++ })
    for (const session of [writer, reader]) {
      const end = retries + 2
      const isLocked = () => retries < end
      while (isLocked()) await created(store)
      await session.query('COMMIT')
    }
    await created(await distributing)
  })

  it('copies a table for longer than the workers allow statements of the role', async (t) => {
    const url = await freshDatabase(t)
    await (await openStore(parseDatabaseUrl(url), { ...defaults, distribute: 'never' })).close()
    const session = await openSession(t, url)
    // Each row takes a tenth of a second.
    await session.query(
      `INSERT INTO audit_event (workspace_id, environment, bucket, event_id, action, author)
       SELECT 1, 'Customer', 0, gen_random_uuid(), 'user_group.created', 'cli:somebody' FROM generate_series(1, 40);
       ALTER TABLE audit_event ADD CHECK (pg_sleep(0.1)::text IS NOT NULL) NOT VALID`,
    )
    await configureWorkers(url, "statement_timeout = '3s'")
    await openPostgres(t, url, { distribute: 'required' })
    assert.equal(await valueOf(session, 'SELECT count(*)::int FROM audit_event'), 40)
  })

  it('reads again which shard has each bucket', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const proxy = await DatabaseProxy.start(t, await migratedDatabase(t))
    const store = await openStore(parseDatabaseUrl(proxy.url), defaults)
    const reading = proxy.next(/get_shard_id_for_distribution_column/)
    t.mock.timers.tick(30_000)
    ;(await reading).pass()
    await store.close()
  })
})
