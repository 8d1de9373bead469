import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Client } from 'pg'
import type { DataSource, Schema } from '../../../src/domain/data-source/data-source.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroup, UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import { migratedDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { eachLoss, losing, type Lose } from './losing-connections.ts'
import {
  created,
  creation,
  openPostgres,
  openProxied,
  rowsOf,
  setForDatabase,
  statements,
  waitingForLocks,
} from './postgres-support.ts'
import { Registry } from '../contract/registry.ts'
import { deletion, freshKey, referenceOf, actor } from '../contract/store-fixtures.ts'

const tenantScope = { workspaceId: 1, environment: 'Customer' } as const
const mapping = '{"sales":"eu"}'

interface Registered {
  readonly own: Registry
  readonly schema: Schema
  readonly dataSource: DataSource
}

async function register(store: Store): Promise<Registered> {
  const own = new Registry(store, tenantScope)
  const schema = await own.createSchema({ providedId: 'sales' })
  return { own, schema, dataSource: await own.createDataSource(schema, { providedId: 'eu' }) }
}

it('PostgreSQL: a mapping may name ids of 16 digits', async (t) => {
  const url = await migratedDatabase(t)
  const session = await openSession(t, url)
  const first = Number.MAX_SAFE_INTEGER - 1
  for (const [table, column] of Object.entries({ schema: 'schema_id', data_source: 'data_source_id' }))
    await session.query(`ALTER TABLE ${table} ALTER ${column} RESTART WITH ${first}`)
  const store = await openPostgres(t, url)
  const { schema, dataSource } = await register(store)
  assert.deepEqual([schema.id, dataSource.id], [first, first])
  const group = await created(store, { change: { name: 'A', mapping: `{"${first}":"${first}"}` } })
  const owner = await store.userGroups.findByToken(1, 'Customer', referenceOf(group.token), 1)
  assert.deepEqual(
    owner?.dataSources.map((entry) => [entry.schemaKey, entry.dataSource.id]),
    [[String(first), first]],
  )
})

describe('PostgreSQL: a mapping that is written while its data source is deleted', () => {
  const update = (store: Store, key: UserGroupKey) =>
    store.userGroups.update({ key, change: { mapping }, mappingMode: 'registered', ...actor, now: 2000 })
  const getOrCreate = (store: Store, key: UserGroupKey) =>
    store.userGroups.getOrCreate(creation({ key, change: { name: 'A', mapping }, mappingMode: 'registered' }))

  interface Way {
    readonly prepare: (store: Store) => Promise<UserGroupKey>
    readonly write: typeof update | typeof getOrCreate
  }
  const ways: Record<string, Way> = {
    created: { prepare: () => Promise.resolve(freshKey()), write: getOrCreate },
    'changed by get or create': { prepare: (store) => created(store), write: getOrCreate },
    updated: { prepare: (store) => created(store), write: update },
  }

  for (const [way, { prepare, write }] of Object.entries(ways)) {
    for (const isolation of ['read committed', 'repeatable read']) {
      it(`is refused after the deletion commits (${way}, default isolation ${isolation})`, async (t) => {
        const { store: removing, proxy, url } = await openProxied(t)
        await setForDatabase(t, url, `default_transaction_isolation = '${isolation}'`)
        const { own, schema, dataSource } = await register(removing)
        const writing = await openPostgres(t, url)
        const session = await openSession(t, url)
        const key = await prepare(writing)
        const next = proxy.next(statements.commit)
        const removal = own.deleteDataSource(dataSource)
        const commit = await next
        const written = write(writing, key)
        await waitingForLocks(session)
        commit.pass()
        assert.equal(await removal, 'deleted')
        const entries = [
          { schemaKey: 'sales', schema: { id: schema.id, providedId: 'sales' }, dataSource: null },
        ]
        assert.deepEqual(await written, { outcome: 'mapping_refused', entries })
        assert.equal((await writing.userGroups.find(key))?.mapping ?? null, null)
        assert.equal(await rowsOf(url, 'mapping_entry'), 0)
      })
    }
  }

  it('prevents the deletion when the mapping was written first and is not yet committed', async (t) => {
    const { store, url, session, lock } = await twoStores(t)
    const { own, dataSource } = await register(store)
    const key = await created(store)
    const release = await lock(key.teamId)
    const written = update(await openPostgres(t, url), key)
    await waitingForLocks(session, { count: 1 })
    const removal = own.deleteDataSource(dataSource)
    await waitingForLocks(session, { count: 2 })
    await release()
    assert.equal((await written).outcome, 'updated')
    assert.equal(await removal, 'in_use')
  })
})

describe('PostgreSQL: resolving a mapping', () => {
  const find = (store: Store, { token }: UserGroup) =>
    store.userGroups.findByToken(1, 'Customer', referenceOf(token), 2000)
  const resolve = /WITH ORDINALITY AS entry/

  it('returns current data sources, whichever process registers or deletes them', async (t) => {
    const url = await migratedDatabase(t)
    const [store, other] = [await openPostgres(t, url), await openPostgres(t, url)]
    const group = await created(store, { change: { name: 'A', mapping } })
    const own = new Registry(other, tenantScope)
    const named = async () => (await find(store, group))?.dataSources.map(({ dataSource }) => dataSource.id)
    assert.deepEqual(await named(), [])
    const schema = await own.createSchema({ providedId: 'sales' })
    assert.deepEqual(await named(), [])
    const { id } = await own.createDataSource(schema, { providedId: 'eu' })
    assert.deepEqual([await named(), await named()], [[id], [id]])
    const unmapped = { key: group, change: { mapping: null }, ...actor, now: 2000 }
    await other.userGroups.update(unmapped)
    assert.equal(await own.deleteDataSource({ id }), 'deleted')
    await other.userGroups.update({ ...unmapped, change: { mapping } })
    assert.deepEqual(await named(), [])
  })

  it('returns mapping and data sources of the same point in time when both change', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const { own, dataSource } = await register(other)
    const group = await created(other, { change: { name: 'A', mapping } })
    const next = proxy.next(resolve)
    const found = find(store, group)
    const lookUp = await next
    await other.userGroups.update({ key: group, change: { mapping: '{"sales":"us"}' }, ...actor, now: 2000 })
    assert.equal(await own.deleteDataSource(dataSource), 'deleted')
    lookUp.pass()
    const owner = await found
    assert.deepEqual([owner?.userGroup.mapping, owner?.dataSources], ['{"sales":"us"}', []])
  })

  it('happens once until the registry changes', async (t) => {
    const { store, proxy } = await openProxied(t)
    const { dataSource } = await register(store)
    const group = await created(store, { change: { name: 'A', mapping } })
    for (let i = 0; i < 3; i++)
      assert.equal((await find(store, group))?.dataSources[0]?.dataSource.id, dataSource.id)
    assert.equal(proxy.count(resolve), 1)
  })
})

describe('PostgreSQL: two processes that change one user group at once', () => {
  const entries = async (session: Client) => {
    const { rows } = await session.query<{ entry: string }>(
      "SELECT concat_ws(' ', schema_key, data_source_key) AS entry FROM mapping_entry",
    )
    return rows.map(({ entry }) => entry)
  }

  /** Lets both operations read and wait for the user group, and then continue one after the other. */
  async function inTurn<First, Second>(
    { session, lock }: Awaited<ReturnType<typeof twoStores>>,
    teamId: number,
    first: () => Promise<First>,
    second: () => Promise<Second>,
  ): Promise<[First, Second]> {
    const release = await lock(teamId)
    const ofFirst = first()
    await waitingForLocks(session, { count: 1 })
    const ofSecond = second()
    await waitingForLocks(session, { count: 2 })
    await release()
    return Promise.all([ofFirst, ofSecond])
  }

  it('store all entries of the final mapping', async (t) => {
    const stores = await twoStores(t)
    const { store, other, session } = stores
    const key = await created(store, { change: { name: 'A', mapping: '{"a":"1"}' } })
    const results = await inTurn(
      stores,
      key.teamId,
      () => store.userGroups.update({ key, change: { mapping: '{"a":"2","b":"1"}' }, ...actor, now: 2000 }),
      () =>
        other.userGroups.update({
          key,
          change: { mapping: '{"a":"1","b":"1","c":"1"}' },
          ...actor,
          now: 2000,
        }),
    )
    for (const { outcome } of results) assert.equal(outcome, 'updated')
    const found = await store.userGroups.find(key)
    const kept = await entries(session)
    for (const entry of Object.entries(JSON.parse(found?.mapping ?? '{}') as object)) {
      assert.ok(kept.includes(entry.join(' ')), entry.join(' '))
    }
  })

  it('allow the deletion of a data source that the final mapping does not use', async (t) => {
    const stores = await twoStores(t)
    const { store, other } = stores
    const { own, dataSource } = await register(store)
    const key = await created(store, { change: { name: 'A', mapping: '{"a":"1"}' } })
    await inTurn(
      stores,
      key.teamId,
      () => store.userGroups.update({ key, change: { mapping }, ...actor, now: 2000 }),
      () => other.userGroups.update({ key, change: { mapping: '{"sales":"us"}' }, ...actor, now: 2000 }),
    )
    const isMapped = (await store.userGroups.find(key))?.mapping === mapping
    assert.equal(await own.deleteDataSource(dataSource), isMapped ? 'in_use' : 'deleted')
  })

  it('keep a data source that the final mapping uses', async (t) => {
    const stores = await twoStores(t)
    const { store, other } = stores
    const { own, dataSource } = await register(store)
    const key = await created(store, { change: { name: 'A', mapping } })
    const again = '{"sales":"eu","a":"1"}'
    await inTurn(
      stores,
      key.teamId,
      () => store.userGroups.update({ key, change: { mapping: '{"a":"1"}' }, ...actor, now: 2000 }),
      () => other.userGroups.update({ key, change: { mapping: again }, ...actor, now: 2000 }),
    )
    const isMapped = (await store.userGroups.find(key))?.mapping === again
    assert.equal(await own.deleteDataSource(dataSource), isMapped ? 'in_use' : 'deleted')
  })

  it('allow the deletion of a data source when one of them deletes the user group', async (t) => {
    const stores = await twoStores(t)
    const { store, other } = stores
    const { own, dataSource } = await register(store)
    const key = await created(store, { change: { name: 'A', mapping: '{"a":"1"}' } })
    const [{ outcome }, deleted] = await inTurn(
      stores,
      key.teamId,
      () => store.userGroups.update({ key, change: { mapping }, ...actor, now: 2000 }),
      () => other.userGroups.delete(deletion(key)),
    )
    assert.ok(['updated', 'not_found'].includes(outcome), outcome)
    assert.equal(deleted, 'deleted')
    assert.equal(await store.userGroups.find(key), null)
    assert.equal(await own.deleteDataSource(dataSource), 'deleted')
    // A new user group with this id has no mapping.
    await created(store, { key })
    assert.deepEqual((await store.userGroups.find(key))?.mapping, null)
  })
})

/** Opens two stores on one database, with a function that locks a user group until it is released. */
async function twoStores(t: TestContext) {
  const url = await migratedDatabase(t)
  const longTimeouts = { lockTimeoutMs: 20_000, statementTimeoutMs: 20_000 }
  const [store, other] = [await openPostgres(t, url, longTimeouts), await openPostgres(t, url, longTimeouts)]
  const session = await openSession(t, url)
  const locker = await openSession(t, url)
  const lock = async (teamId: number) => {
    await locker.query('BEGIN')
    await locker.query('SELECT 1 FROM user_group WHERE team_id = $1 FOR UPDATE', [teamId])
    return () => locker.query('COMMIT')
  }
  return { url, store, other, session, lock }
}

describe('PostgreSQL: schemas and data sources, when the connection is lost', () => {
  const change = {
    createSchema: /^INSERT INTO schema /,
    deleteSchema: /^DELETE FROM schema /,
    createDataSource: /^INSERT INTO data_source /,
    commit: statements.commit,
    lock: /^SELECT pg_advisory_xact_lock/,
    lockMappings: /^LOCK TABLE/,
  }

  eachLoss('a schema is registered once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const own = new Registry(store, tenantScope)
    // The retry waits for the lock until the lost transaction ends.
    const created = await losing(
      proxy,
      change.createSchema,
      lose,
      () => own.createSchema({ providedId: 'a' }),
      change.lock,
    )
    assert.deepEqual(await own.schemas(), [created])
    assert.equal(
      await store.dataSources.createSchema({
        ...actor,
        ...tenantScope,
        providedId: 'a',
        name: 'A',
        createdAt: 2,
      }),
      'provided_id_taken',
    )
  })

  eachLoss('a data source is registered once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const own = new Registry(store, tenantScope)
    const schema = await own.createSchema({ providedId: 'a' })
    const created = await losing(
      proxy,
      change.createDataSource,
      lose,
      () => own.createDataSource(schema, { providedId: 'a' }),
      change.lock,
    )
    assert.deepEqual(await own.dataSources(), [created])
  })

  const runWithoutResult: Lose = async (caught) => {
    await caught.run()
    caught.cutOff()
  }

  it('the registration of another process is not reported as its own', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = new Registry(await openPostgres(t, url), tenantScope)
    const schema = await other.createSchema({ providedId: 'a', createdAt: 7 })
    const dropped: Lose = async (caught) => {
      await other.createDataSource(schema, { providedId: 'a', createdAt: 7 })
      caught.drop()
    }
    const dataSource = { schemaId: schema.id, providedId: 'a', name: 'A', createdAt: 1 }
    const taken = await losing(proxy, change.lock, dropped, () =>
      store.dataSources.create({ workspaceId: 1, environment: 'Customer', ...actor, ...dataSource }),
    )
    assert.equal(taken, 'provided_id_taken')
    const taking: Lose = async (caught) => {
      await other.createSchema({ providedId: 'c', createdAt: 7 })
      caught.drop()
    }
    const result = await losing(proxy, change.lock, taking, () =>
      store.dataSources.createSchema({ ...actor, ...tenantScope, providedId: 'c', name: 'A', createdAt: 1 }),
    )
    assert.equal(result, 'provided_id_taken')
  })

  eachLoss('a data source is deleted, and this is reported', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { own, dataSource } = await register(store)
    // The retry waits here until the commit.
    const outcome = await losing(
      proxy,
      change.commit,
      lose,
      () => own.deleteDataSource(dataSource),
      change.lock,
    )
    assert.equal(outcome, 'deleted')
    assert.deepEqual(await own.dataSources(), [])
    assert.equal(await own.deleteDataSource(dataSource), 'not_found')
  })

  eachLoss('a schema is deleted, and this is reported', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const own = new Registry(store, tenantScope)
    const { id } = await own.createSchema({ providedId: 'a' })
    const outcome = await losing(
      proxy,
      change.deleteSchema,
      lose,
      () =>
        store.dataSources.deleteSchema({ workspaceId: 1, environment: 'Customer', ...actor, id, now: 9000 }),
      change.lock,
    )
    assert.equal(outcome, 'deleted')
    assert.equal(
      await store.dataSources.deleteSchema({
        workspaceId: 1,
        environment: 'Customer',
        ...actor,
        id,
        now: 9000,
      }),
      'not_found',
    )
  })

  it('a mapped data source is not deleted when the connection is lost', async (t) => {
    const { store, proxy } = await openProxied(t)
    const { own, dataSource } = await register(store)
    await created(store, { change: { name: 'A', mapping } })
    const outcome = await losing(proxy, change.lockMappings, runWithoutResult, () =>
      own.deleteDataSource(dataSource),
    )
    assert.equal(outcome, 'in_use')
    assert.deepEqual(await own.dataSources(), [dataSource])
  })
})
