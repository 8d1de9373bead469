import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { setImmediate as eventLoopTick, setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { generateSecretKey, Keyring } from '../../../src/domain/secret-key/keyring.ts'
import type { Store } from '../../../src/domain/store.ts'
import { hashToken, parseUserGroupToken } from '../../../src/domain/token/token.ts'
import { UserGroupService } from '../../../src/domain/user-group/user-group-service.ts'
import type { StoreOptions } from '../../../src/store/open-store.ts'
import type { MigrationProgress } from '../../../src/store/postgres/bucket-backfill.ts'
import { isContract, readMigrations } from '../../../src/store/migrations.ts'
import { contractNoticedMs } from '../../../src/store/postgres/migrate.ts'
import { migratedDatabase } from '../../support/database.ts'
import { DatabaseProxy } from '../../support/database-proxy.ts'
import { freshRole } from '../../support/role.ts'
import type { Scope } from '../../support/scope.ts'
import { openSession } from '../../support/session.ts'
import { actor } from '../contract/store-fixtures.ts'
import { previousDatabase, PreviousRelease, type PreviousUserGroup } from './previous-release.ts'
import {
  assertPlaceRefused,
  caughtInTurn,
  created,
  openPostgres,
  rotation,
  statements,
  takes,
  valueOf,
} from './postgres-support.ts'

const latest = readMigrations('postgres').findLast((migration) => !isContract(migration))?.version

const bucketed = [
  'user_group',
  'deleted_user_group',
  'superseded_token',
  'mapping_entry',
  'user_group_version',
  'last_introspection',
  'idempotency_key',
  'audit_event',
] as const

/** Returns the tables that have rows with a wrong bucket. */
async function wrongBuckets(session: Client): Promise<string[]> {
  const wrong: string[] = []
  for (const table of bucketed) {
    const condition = `row.bucket IS DISTINCT FROM (
      SELECT user_group_bucket(workspace_id, environment, provided_id) FROM (
        SELECT workspace_id, team_id, environment, provided_id FROM user_group
        UNION SELECT workspace_id, team_id, environment, provided_id FROM deleted_user_group
      ) AS owner
      WHERE owner.workspace_id = row.workspace_id AND owner.team_id = row.team_id
    )`
    const count = await valueOf(session, `SELECT count(*)::int FROM ${table} AS row WHERE ${condition}`)
    if (count !== 0) wrong.push(table)
  }
  return wrong
}

/** Returns the ids of the user groups that the service finds by these tokens. */
async function foundBy(store: Store, tokens: readonly Buffer[]): Promise<(number | undefined)[]> {
  const ids: (number | undefined)[] = []
  for (const hash of tokens) {
    const location = await store.userGroups.locateLegacyToken(hash)
    const owner = location && (await store.userGroups.findByToken(1, 'Customer', { ...location, hash }, 2000))
    ids.push(owner?.userGroup.teamId)
  }
  return ids
}

const restoration = (teamId: number) => ({
  ...{ ...actor, workspaceId: 1, environment: 'Customer' as const, teamId, deletedAfter: 0, now: 9000 },
})

/** Adds this number of user groups. */
async function addMany(session: Client, count: number): Promise<void> {
  await session.query(
    `INSERT INTO user_group (workspace_id, token_issued_at, created_at, updated_at, environment, provided_id, name, token_hash,
                             token_key_id, token_sealed)
     SELECT 1, 1, 1, 1, 'Customer', 'many-' || i, 'A', sha256(i::text::bytea), 'test', decode(repeat('00', 79), 'hex')
     FROM generate_series(1, $1::int) AS i`,
    [count],
  )
}

async function migrated(url: string, over: Partial<StoreOptions> = {}): Promise<void> {
  const store = await openPostgres({ after: () => undefined }, url, over)
  await store.close()
}

const steps = {
  fill: /^WITH batch AS MATERIALIZED/,
  createKey: /^CREATE UNIQUE INDEX CONCURRENTLY/,
}

describe('PostgreSQL: the migration to buckets', () => {
  it('keeps all user groups and tokens while the previous release changes them', async (t) => {
    const { url, release } = await previousDatabase(t)
    await addMany(release.session, 2500)
    const groups: PreviousUserGroup[] = []
    for (let i = 0; i < 20; i++) groups.push(await release.populate())
    const [first, second, third] = groups as [PreviousUserGroup, PreviousUserGroup, PreviousUserGroup]
    await release.delete(first)
    const proxy = await DatabaseProxy.start(t, url)
    const filling = proxy.next(steps.fill)
    const opening = openPostgres(t, proxy.url)
    const caught = await filling
    // The tables are expanded and not filled.
    const old = await release.rotate(second)
    await release.delete(third)
    groups.push(await release.populate())
    caught.pass()
    const store = await opening
    assert.deepEqual(await wrongBuckets(release.session), [])
    for (const { teamId } of [first, third]) {
      assert.equal((await store.userGroups.restore(restoration(teamId))).outcome, 'restored')
    }
    const all = groups.map(({ hash }) => hash)
    assert.deepEqual(
      await foundBy(store, [...all, old]),
      [...groups, second].map(({ teamId }) => teamId),
    )
    assert.equal(await valueOf(release.session, 'SELECT count(*)::int FROM user_group'), 2500 + groups.length)
  })

  it('reports its progress in each table', async (t) => {
    const { url, release } = await previousDatabase(t)
    await addMany(release.session, 2500)
    await release.populate()
    const reports: MigrationProgress[] = []
    await openPostgres(t, url, { onMigration: (progress) => reports.push(progress) })
    assert.deepEqual(
      reports.filter(({ table }) => table === 'user_group').map(({ done, total }) => [done, total]),
      [
        [0, 2501],
        [1000, 2501],
        [2000, 2501],
        [2501, 2501],
      ],
    )
    assert.deepEqual(new Set(reports.map(({ table }) => table)), new Set(bucketed))
  })

  for (const [name, statement] of Object.entries(steps)) {
    it(`continues after an interruption in "${name}"`, async (t) => {
      const { url, release } = await previousDatabase(t)
      await addMany(release.session, 2500)
      const group = await release.populate()
      const proxy = await DatabaseProxy.start(t, url)
      const next = proxy.next(statement)
      const opening = assert.rejects(openPostgres(t, proxy.url), { name: 'StoreError' })
      ;(await next).drop()
      await opening
      await release.rotate(group)
      const store = await openPostgres(t, url)
      assert.deepEqual(await wrongBuckets(release.session), [])
      assert.deepEqual(await foundBy(store, [group.hash]), [group.teamId])
    })
  }

  it('creates a key again that an interruption left invalid', async (t) => {
    const { url, release } = await previousDatabase(t)
    await release.populate()
    const proxy = await DatabaseProxy.start(t, url)
    const next = proxy.next(steps.createKey)
    const opening = openPostgres(t, proxy.url)
    const caught = await next
    await release.session.query(
      `CREATE UNIQUE INDEX user_group_location ON user_group (workspace_id, team_id, bucket);
       UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'user_group_location'::regclass`,
    )
    caught.drop()
    await assert.rejects(opening, { name: 'StoreError' })
    await migrated(url)
    const isValid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'user_group_location'::regclass"
    assert.equal(await valueOf(release.session, isValid), true)
  })

  it('is done once by several processes with two connections each', async (t) => {
    const { url, release } = await previousDatabase(t)
    await addMany(release.session, 2500)
    await release.populate()
    const proxy = await DatabaseProxy.start(t, url)
    const next = proxy.next(steps.createKey)
    const first = openPostgres(t, proxy.url, { poolSize: 2 })
    const caught = await next
    const waiting = await DatabaseProxy.start(t, url)
    const attempts = caughtInTurn(waiting, statements.lockMigrations, 4)
    const others = [1, 2].map(() => openPostgres(t, waiting.url, { poolSize: 2 }))
    // They wait, and hold nothing that the creation of the key waits for.
    await attempts
    caught.pass()
    for (const store of await Promise.all([first, ...others])) await created(store)
    assert.equal(await valueOf(release.session, 'SELECT max(version) FROM schema_migration'), latest)
  })

  it('lets requests pass while it cannot lock a table', async (t) => {
    const { url, release } = await previousDatabase(t)
    const reader = await openSession(t, url)
    await reader.query('BEGIN; SELECT FROM user_group')
    const opening = openPostgres(t, url)
    await release.session.query("SET lock_timeout = '2s'")
    const until = performance.now() + 2500
    while (performance.now() < until) await release.create()
    await reader.query('COMMIT')
    await created(await opening)
    assert.deepEqual(await wrongBuckets(release.session), [])
  })

  it('waits half a second for all locks together, and reports each retry', async (t) => {
    const { url } = await previousDatabase(t)
    const request = await openSession(t, url)
    // The migration locks the tables in this order. Each is free before half a second has passed.
    const readers: Client[] = []
    for (const table of ['superseded_token', 'mapping_entry', 'user_group_version', 'deleted_user_group']) {
      const reader = await openSession(t, url)
      await reader.query(`BEGIN; SELECT FROM ${table}`)
      readers.push(reader)
    }
    let retries = 0
    const opening = openPostgres(t, url, { onLocked: () => retries++ })
    const ends = Promise.all(
      readers.map((reader, i) => sleep(400 * (i + 1)).then(() => reader.query('COMMIT'))),
    )
    let longest = 0
    let isOver = false
    void ends.then(() => (isOver = true))
    const isRunning = () => !isOver
    while (isRunning())
      longest = Math.max(longest, await takes(() => request.query('SELECT FROM user_group')))
    await opening
    assert.ok(retries > 0)
    assert.ok(longest < 1200, String(longest))
  })

  it('keeps the permissions of the role of the service', async (t) => {
    const { url, release } = await previousDatabase(t)
    const role = await freshRole(t, url)
    const name = new URL(role).username
    await release.session.query(
      `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${name}`,
    )
    const previous = new PreviousRelease(await openSession(t, role))
    for (const migrate of ['auto', 'contract'] as const) {
      await migrated(url, { migrate })
      const store = await openPostgres(t, role, { migrate: 'check' })
      const { token } = await created(store)
      assert.equal((await store.userGroups.rotate(rotation(token))).outcome, 'rotated')
      if (migrate === 'auto') await previous.populate()
    }
    await release.session.query(`REVOKE ALL ON SEQUENCE user_group_team_id_seq FROM ${name}`)
    await assertPlaceRefused(
      openPostgres(t, role),
      url,
      'the role lacks rights; grant it USAGE on SEQUENCE user_group_team_id_seq (42501)',
    )
  })
})

function serviceOf(store: Store): UserGroupService {
  const keyring = new Keyring([generateSecretKey('k1')])
  return new UserGroupService({ store, keyring, clock: { now: () => 1000 }, mappingMode: 'free' })
}

/** Opens a store of this release on expanded tables, which the previous release uses too. */
async function expanded(t: Scope) {
  const { url, release } = await previousDatabase(t)
  const group = await release.populate()
  return { url, release, group, store: await openPostgres(t, url) }
}

describe('PostgreSQL: expanded tables', () => {
  it('serve the previous release and this one', async (t) => {
    const { release, store } = await expanded(t)
    const group = await release.populate()
    const deleted = await release.populate()
    await release.delete(deleted)
    const old = await release.rotate(group)
    const own = await created(store)
    const mine = { teamId: own.teamId, providedId: own.providedId, hash: Buffer.alloc(0) }
    await release.update(mine)
    await release.introspect(mine)
    await release.delete(mine)
    await release.restore(mine)
    assert.deepEqual(await wrongBuckets(release.session), [])
    assert.equal((await store.userGroups.restore(restoration(deleted.teamId))).outcome, 'restored')
    assert.deepEqual(await foundBy(store, [group.hash, old, deleted.hash]), [
      ...[group.teamId, group.teamId, deleted.teamId],
    ])
    assert.equal((await store.userGroups.find(own))?.revision, 3)
    assert.equal(new Set([group.teamId, deleted.teamId, own.teamId]).size, 3)
  })

  it('get tokens without a locator, which the previous release accepts, until the contract', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const { url, release, store } = await expanded(t)
    const issue = async (issuer: Store, environment: 'Customer' | 'Testing') => {
      const service = serviceOf(issuer)
      const caller = { workspaceId: 1, environment, ...actor }
      const { userGroup } = await service.getOrCreate(
        caller,
        randomBytes(8).toString('hex'),
        { name: 'A' },
        true,
      )
      const rotation = { target: { currentToken: userGroup.token }, gracePeriodSeconds: 60 }
      const { token } = await service.rotate(caller, rotation)
      for (const text of [userGroup.token, token]) {
        assert.equal((await service.introspect(caller, text))?.userGroup.teamId, userGroup.teamId)
      }
      const recorded = await valueOf(
        release.session,
        'SELECT count(*)::int FROM legacy_token WHERE token_hash = ANY ($1)',
        [[userGroup.token, token].map(hashToken)],
      )
      return { hasLocator: parseUserGroupToken(token)?.locator !== null, recorded }
    }
    for (const environment of ['Customer', 'Testing'] as const) {
      assert.deepEqual(await issue(store, environment), { hasLocator: false, recorded: 2 })
    }
    await migrated(url, { migrate: 'contract' })
    // A process that runs issues such tokens until it notices the contract.
    assert.deepEqual(await issue(store, 'Customer'), { hasLocator: false, recorded: 2 })
    t.mock.timers.tick(contractNoticedMs / 2)
    while (!store.issuesLocators) await eventLoopTick()
    for (const environment of ['Customer', 'Testing'] as const) {
      assert.deepEqual(await issue(store, environment), { hasLocator: true, recorded: 0 })
    }
  })

  it('keep the bucket of an expired idempotency key that the previous release reuses', async (t) => {
    const { release } = await expanded(t)
    const [one, two] = [await release.create(), await release.create()]
    const key = randomBytes(32)
    await release.rotate(one, key, 500)
    await release.rotate(two, key)
    assert.deepEqual(await wrongBuckets(release.session), [])
    const owner = await valueOf(release.session, 'SELECT team_id FROM idempotency_key WHERE key_hash = $1', [
      key,
    ])
    assert.equal(Number(owner), two.teamId)
  })

  it('keep the record of the later rotation if two user groups use one idempotency key', async (t) => {
    const { store } = await expanded(t)
    const idempotency = { keyHash: randomBytes(32), fingerprint: randomBytes(32), expiresAt: 1e12 }
    const [one, two] = [await created(store), await created(store)]
    for (const { token } of [one, two]) {
      assert.equal((await store.userGroups.rotate(rotation(token, { idempotency }))).outcome, 'rotated')
    }
    assert.equal((await store.userGroups.rotate(rotation(two.token, { idempotency }))).outcome, 'replayed')
    assert.equal((await store.userGroups.rotate(rotation(one.token, { idempotency }))).outcome, 'superseded')
  })

  it('are accepted and left as they are in the modes auto and check', async (t) => {
    const { url, release } = await expanded(t)
    for (const migrate of ['auto', 'check'] as const) await created(await openPostgres(t, url, { migrate }))
    assert.equal(await valueOf(release.session, 'SELECT max(version) FROM schema_migration'), latest)
    await release.populate()
  })

  it('cannot be distributed', async (t) => {
    const { url } = await expanded(t)
    await assertPlaceRefused(
      openPostgres(t, url, { distribute: 'required' }),
      url,
      'the tables can be distributed once no process of the previous release uses them: stop those, then run `ugs migrate --contract`',
    )
    await assertPlaceRefused(
      openPostgres(t, url, { migrate: 'contract', distribute: 'required' }),
      url,
      'the tables can be distributed once every process has noticed the contract: run `ugs migrate --citus on` again in a minute',
    )
  })
})

describe('PostgreSQL: the contract of the migration to buckets', () => {
  it('leaves the tables of a new store, but for tokens without a locator', async (t) => {
    const { url, release, store } = await expanded(t)
    const old = await release.populate()
    await migrated(url, { migrate: 'contract' })
    const fresh = await openSession(t, await migratedDatabase(t))
    assert.deepEqual(await shapeOf(release.session), await shapeOf(fresh))
    assert.deepEqual(await foundBy(store, [old.hash]), [old.teamId])
    await created(store)
    assert.deepEqual(await wrongBuckets(release.session), [])
  })

  it('excludes the previous release', async (t) => {
    const { url, release } = await expanded(t)
    await migrated(url, { migrate: 'contract' })
    await assert.rejects(release.create(), { code: '42P10' })
  })

  it('is not applied by the modes auto and check', async (t) => {
    const { url } = await previousDatabase(t)
    await assertPlaceRefused(
      openPostgres(t, url, { migrate: 'check' }),
      url,
      `the database has schema version 8, and this release needs ${latest}: run \`ugs migrate\`, or set UGS_MIGRATE=auto`,
    )
  })
})

/** Returns columns, keys and triggers of the large tables. */
async function shapeOf(session: Client): Promise<unknown[]> {
  const { rows } = await session.query(
    `SELECT attrelid::regclass::text AS table, attname AS name, format_type(atttypid, atttypmod) || attnotnull || coalesce(
              pg_get_expr(adbin, adrelid), '') AS definition
     FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
     WHERE attnum > 0 AND NOT attisdropped AND attrelid::regclass::text = ANY ($1)
     UNION ALL
     SELECT tablename, indexname, indexdef FROM pg_indexes WHERE tablename = ANY ($1)
     UNION ALL
     SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
     WHERE conrelid::regclass::text = ANY ($1)
     UNION ALL
     SELECT tgrelid::regclass::text, tgname, '' FROM pg_trigger
     WHERE NOT tgisinternal AND tgname <> 'note_legacy_token' AND tgrelid::regclass::text = ANY ($1)
     ORDER BY 1, 2, 3`,
    [bucketed],
  )
  return rows
}
