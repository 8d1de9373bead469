import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DataSource, Schema } from '../../../src/domain/data-source/data-source.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroup, UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate, keyIn, mapped } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { deletion, referenceOf, mint, origin } from './store-fixtures.ts'

/** Tests the deletion of data sources that mappings use. */
export function describeMappedDataSources(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: a mapped data source`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const set = async (key: UserGroupKey, mapping: string | null) => {
      assert.equal(
        (await store.userGroups.update({ key, change: { mapping }, ...origin, now: 2000 })).outcome,
        'updated',
      )
    }
    const ends: Record<string, (group: UserGroup) => Promise<unknown>> = {
      'the mapping was changed': (group) => set(group, '{"sales":"us"}'),
      'the mapping was changed by get or create': (group) =>
        getOrCreate(store, group, { change: { mapping: '{"a":"b"}' } }),
      'the mapping was cleared': (group) => set(group, null),
      'the user group was deleted': (group) => store.userGroups.delete(deletion(group)),
    }
    const spellings: Record<string, (schema: Schema, dataSource: DataSource) => string> = {
      'provided ids': () => '{"sales":"eu"}',
      'the id of the schema': ({ id }) => `{"${id}":"eu"}`,
      'the id of the data source': (_, { id }) => `{"sales":"${id}"}`,
      ids: (schema, { id }) => `{"${schema.id}":"${id}"}`,
      'escape sequences, next to other entries': () =>
        '{"a":"b", "s\\u0061les" : "\\u0065u","z\\u0000":"\\u0000"}',
    }
    for (const [spelling, mappingTo] of Object.entries(spellings)) {
      for (const [end, change] of Object.entries(ends)) {
        it(`by ${spelling}, cannot be deleted until ${end}`, async () => {
          const own = await Registry.fresh(store)
          const schema = await own.createSchema({ providedId: 'sales' })
          const dataSource = await own.createDataSource(schema, { providedId: 'eu' })
          const group = await mapped(store, keyIn(own), mappingTo(schema, dataSource))
          assert.equal(await own.deleteDataSource(dataSource), 'in_use')
          assert.deepEqual(await own.dataSources(), [dataSource])
          await change(group)
          assert.equal(await own.deleteDataSource(dataSource), 'deleted')
          assert.deepEqual(await own.dataSources(), [])
        })
      }
    }

    it('cannot be deleted while one of several user groups maps to it', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const dataSource = await own.createDataSource(schema, { providedId: 'eu' })
      const groups = await Promise.all(
        Array.from({ length: 4 }, (_, i) =>
          mapped(store, keyIn(own), {
            [i < 2 ? 'sales' : schema.id]: i % 2 === 0 ? 'eu' : String(dataSource.id),
          }),
        ),
      )
      for (const group of groups) {
        assert.equal(await own.deleteDataSource(dataSource), 'in_use')
        await set(group, null)
      }
      assert.equal(await own.deleteDataSource(dataSource), 'deleted')
    })

    it('can be deleted after its user group with a mapping of maximum size', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const dataSource = await own.createDataSource(schema, { providedId: 'eu' })
      const large = (mark: string) => ({
        sales: 'eu',
        ...Object.fromEntries(
          Array.from({ length: 999 }, (_, i) => [`${mark}${i}`.padEnd(255, '"'), '\\'.repeat(255)]),
        ),
      })
      const group = await mapped(store, keyIn(own), large('a'))
      await set(group, JSON.stringify(large('b')))
      assert.equal(await own.deleteDataSource(dataSource), 'in_use')
      assert.equal(await store.userGroups.delete(deletion(group)), 'deleted')
      assert.equal(await own.deleteDataSource(dataSource), 'deleted')
    })

    it('cannot be deleted after other changes of the user group', async () => {
      const own = await Registry.fresh(store)
      const dataSource = await own.createDataSource(await own.createSchema({ providedId: 'sales' }), {
        providedId: 'eu',
      })
      const group = await mapped(store, keyIn(own), { sales: 'eu', a: 'b' })
      const { workspaceId, environment } = own.tenantScope
      await store.userGroups.update({
        key: group,
        change: { name: 'B', properties: '{"a":1}' },
        ...origin,
        now: 2000,
      })
      await store.userGroups.rotate({
        ...origin,
        ...{ workspaceId, environment, target: { token: referenceOf(group.token) } },
        ...{ oldTokenValidUntil: 2000, issueToken: mint, now: 2000 },
      })
      await set(group, '{"c":"d","sales":"eu"}')
      assert.equal(await own.deleteDataSource(dataSource), 'in_use')
    })

    it('can be deleted when the same keys are mapped elsewhere', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const dataSource = await own.createDataSource(schema, { providedId: 'eu' })
      const mapping = { sales: 'eu', [schema.id]: String(dataSource.id) }
      await mapped(store, keyIn(new Registry(store, { ...own.tenantScope, environment: 'Testing' })), mapping)
      await mapped(store, keyIn(await Registry.fresh(store)), mapping)
      await own.createSchema({ providedId: 'other' })
      await mapped(store, keyIn(own), { other: 'eu', eu: 'sales' })
      assert.equal(await own.deleteDataSource(dataSource), 'deleted')
    })

    it('is found by its provided id if that equals the id of another data source', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const byId = await own.createDataSource(schema, { providedId: 'eu' })
      const byProvidedId = await own.createDataSource(schema, { providedId: String(byId.id) })
      const group = await mapped(store, keyIn(own), { sales: String(byId.id) })
      assert.equal(await own.deleteDataSource(byProvidedId), 'in_use')
      assert.equal(await own.deleteDataSource(byId), 'deleted')
      await set(group, null)
      assert.equal(await own.deleteDataSource(byProvidedId), 'deleted')
    })

    it('is found by the provided id of its schema if that equals the id of another schema', async () => {
      const own = await Registry.fresh(store)
      const byId = await own.createSchema({ providedId: 'sales' })
      const byProvidedId = await own.createSchema({ providedId: String(byId.id) })
      const other = await own.createDataSource(byId, { providedId: 'eu' })
      const dataSource = await own.createDataSource(byProvidedId, { providedId: 'eu' })
      await mapped(store, keyIn(own), { [byId.id]: 'eu' })
      assert.equal(await own.deleteDataSource(dataSource), 'in_use')
      assert.equal(await own.deleteDataSource(other), 'deleted')
    })
  })
}
