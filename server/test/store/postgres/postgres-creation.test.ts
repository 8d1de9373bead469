import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { migratedDatabase } from '../../support/database.ts'
import { actor, freshKey } from '../contract/store-fixtures.ts'
import { Registry } from '../contract/registry.ts'
import { created, creation, openPostgres, openProxied, statements } from './postgres-support.ts'

const tenantScope = { workspaceId: 1, environment: 'Customer' } as const
const resolve = /WITH ORDINALITY AS entry/

const create = (store: Store, mapping: string) =>
  store.userGroups.getOrCreate(creation({ change: { name: 'A', mapping }, mappingMode: 'free' }))
const update = async (store: Store, mapping: string) =>
  store.userGroups.update({
    ...{ key: await created(store), change: { mapping }, mappingMode: 'free', ...actor, now: 2000 },
  })

describe('PostgreSQL: a mapping whose schemas an earlier statement looked up', () => {
  it('is written without looking them up again', async (t) => {
    const { store, proxy } = await openProxied(t)
    const own = new Registry(store, tenantScope)
    for (const prepare of [() => undefined, () => own.createSchema({ providedId: 'sales' })]) {
      await prepare()
      await create(store, '{"sales":"eu","other":"1"}')
      const before = proxy.count(resolve)
      assert.equal((await create(store, '{"other":"2"}')).outcome, 'created')
      assert.equal((await update(store, '{"sales":"us"}')).outcome, 'updated')
      assert.equal(proxy.count(resolve), before)
      await create(store, '{"new":"1"}')
    }
  })

  for (const [way, write] of Object.entries({ created: create, updated: update }))
    for (const isEmpty of [true, false])
      it(`is refused if another process registers a schema that it names twice (${way}, ${isEmpty ? 'the first' : 'another'} schema)`, async (t) => {
        const url = await migratedDatabase(t)
        const [store, other] = [await openPostgres(t, url), await openPostgres(t, url)]
        const registry = new Registry(other, tenantScope)
        if (!isEmpty) await registry.createSchema({ providedId: 'first' })
        const id = isEmpty ? 1 : 2
        const mapping = `{"${id}":"eu","sales":"us"}`
        assert.match((await write(store, mapping)).outcome, /^(created|updated)$/)
        assert.equal((await registry.createSchema({ providedId: 'sales' })).id, id)
        assert.equal((await write(store, mapping)).outcome, 'mapping_refused')
      })
})

describe('PostgreSQL: while most requests create user groups', () => {
  const open = async (...args: Parameters<typeof openProxied>) => {
    const proxied = await openProxied(...args)
    await Promise.all(Array.from({ length: 300 }, () => created(proxied.store)))
    return proxied
  }

  it('one is created without a look-up', async (t) => {
    const { store, proxy } = await open(t)
    const before = proxy.count(statements.find)
    await created(store)
    assert.equal(proxy.count(statements.find), before)
  })

  it('an existing one is unchanged or changed, and may have a mapping that a new one may not have', async (t) => {
    const { store } = await open(t)
    const key = freshKey()
    const change = { name: 'A', mapping: '{"unregistered":"1"}' }
    const first = await store.userGroups.getOrCreate(creation({ key, change }))
    const repeated = await store.userGroups.getOrCreate(creation({ key, change, mappingMode: 'registered' }))
    assert.deepEqual([first.outcome, repeated.outcome], ['created', 'unchanged'])
    const renamed = await store.userGroups.getOrCreate(creation({ key, change: { name: 'B' } }))
    assert.equal(renamed.outcome, 'updated')
    const without = await store.userGroups.getOrCreate(creation({ change: {} }))
    const reading = await store.userGroups.getOrCreate(creation({ mayWrite: false }))
    assert.deepEqual([without.outcome, reading.outcome], ['name_required', 'write_required'])
  })

  it('of simultaneous requests for one id, one creates it', async (t) => {
    const { store } = await open(t)
    const key = freshKey()
    const results = await Promise.all(
      Array.from({ length: 50 }, () => store.userGroups.getOrCreate(creation({ key }))),
    )
    assert.equal(results.filter(({ outcome }) => outcome === 'created').length, 1)
    assert.equal(new Set(results.map((result) => 'userGroup' in result && result.userGroup.teamId)).size, 1)
  })

  it('requests for existing ones soon look them up again', async (t) => {
    const { store, proxy } = await open(t)
    const key = await created(store)
    for (let i = 0; i < 30; i++) await store.userGroups.getOrCreate(creation({ key }))
    const before = proxy.count(statements.createUserGroup)
    await store.userGroups.getOrCreate(creation({ key }))
    assert.equal(proxy.count(statements.createUserGroup), before)
  })
})
