import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { DataSource, MappingEntry, Schema } from '../../../src/domain/data-source/data-source.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate, keyIn, mapped } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { deletion, actor } from './store-fixtures.ts'

/** Tests what a store returns about mapping entries, shared data sources and introspection times. */
export function describeEntries(name: string, openFreshStore: () => Promise<Store>): void {
  let store: Store
  const open = () => {
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())
  }

  describe(`${name}: counts of mapping entries`, () => {
    open()
    const counted = async ({ tenantScope }: Registry, after: MappingEntry | null = null) => {
      const { counts, isEnd } = await store.userGroupSearch.countEntries({ ...tenantScope, after })
      assert.equal(isEnd, true)
      return counts.map(({ entry, count }) => [...entry, count])
    }

    it('are sorted by code point', async () => {
      const own = await Registry.fresh(store)
      assert.deepEqual(await counted(own), [])
      const mappings = [
        '{"b":"1","a":"2"}',
        '{"\\u0062":"1","a":"10"}',
        '{"b":"1","a":"2","😀":"1","\ufffd":"1","é":"1","B":"1","":""}',
        '{"a\\u0000":"1"}',
        '{}',
      ]
      for (const mapping of mappings) await mapped(store, keyIn(own), mapping)
      const all = [
        ['', '', 1],
        ['B', '1', 1],
        ['a', '10', 1],
        ['a', '2', 2],
        ['b', '1', 3],
        ['é', '1', 1],
        ['\ufffd', '1', 1],
        ['😀', '1', 1],
      ]
      // `after` cannot select the entry with an empty key and value, which the service never accepts.
      assert.deepEqual((await counted(own)).slice(-7), all.slice(-7))
      assert.deepEqual(await counted(own, ['a', '2']), all.slice(4))
      assert.deepEqual(await counted(own, ['a', '1']), all.slice(2))
      assert.deepEqual(await counted(own, ['a', '3']), all.slice(4))
      assert.deepEqual(await counted(own, ['\u{10ffff}', '']), [])
    })

    it('cover the current mappings of one workspace and environment', async () => {
      const own = await Registry.fresh(store)
      const group = await mapped(store, keyIn(own), { a: 'b' })
      const other = await mapped(store, keyIn(own), { a: 'b', c: 'd' })
      await mapped(store, { ...keyIn(own), environment: 'Testing' }, { a: 'b' })
      assert.deepEqual(await counted(own), [
        ['a', 'b', 2],
        ['c', 'd', 1],
      ])
      await getOrCreate(store, group, { change: { mapping: '{"c":"d"}' } })
      await store.userGroups.delete(deletion(other))
      assert.deepEqual(await counted(own), [['c', 'd', 1]])
      await store.userGroups.restore({
        ...actor,
        now: 9000,
        ...own.tenantScope,
        teamId: other.teamId,
        deletedAfter: 0,
      })
      assert.deepEqual(await counted(own), [
        ['a', 'b', 1],
        ['c', 'd', 2],
      ])
    })
  })

  describe(`${name}: resolving mapping entries`, () => {
    open()
    const resolve = ({ tenantScope }: Registry, entries: readonly MappingEntry[]) =>
      store.dataSources.resolveEntries(tenantScope, entries)

    it('returns one result per entry, in the given order, including duplicates', async () => {
      const own = await Registry.fresh(store)
      const sales = await own.createSchema({ providedId: 'sales' })
      const empty = await own.createSchema({ providedId: 'empty' })
      const { id, providedId, name } = await own.createDataSource(sales, { providedId: 'eu', name: 'Näme' })
      const dataSource = { id, providedId, name }
      const entries: (readonly [...MappingEntry, schema: Schema | null, isNamed: boolean])[] = [
        ['sales', 'eu', sales, true],
        ['nothing', 'eu', null, false],
        ['sales', 'us', sales, false],
        [String(sales.id), String(id), sales, true],
        ['sales', 'eu', sales, true],
        ['empty', 'eu', empty, false],
        ['sales\0', 'eu', null, false],
        ['sales', 'eu\0', sales, false],
        ['__proto__', 'eu', null, false],
        ['sales', String(id), sales, true],
        ['nothing', 'eu', null, false],
        ['', '', null, false],
      ]
      const queried = entries.map(([schemaKey, key]) => [schemaKey, key] as const)
      const expected = entries.map(([schemaKey, , schema, isNamed]) => ({
        schemaKey,
        schema: schema && { id: schema.id, providedId: schema.providedId },
        dataSource: isNamed ? dataSource : null,
      }))
      assert.deepEqual(await resolve(own, queried), expected)
      assert.deepEqual(await resolve(own, queried.toReversed()), expected.toReversed())
      assert.deepEqual(await resolve(own, []), [])
      const many = Array.from({ length: 2000 }, (_, i) => i % queried.length)
      assert.deepEqual(
        await resolve(
          own,
          many.map((i) => queried[i] as MappingEntry),
        ),
        many.map((i) => expected[i]),
      )
    })

    it('finds only current entries of the same workspace and environment', async () => {
      const own = await Registry.fresh(store)
      const schema = await own.createSchema({ providedId: 'sales' })
      const eu = await own.createDataSource(schema, { providedId: 'eu' })
      const entries = [['sales', 'eu'] as const, [String(schema.id), String(eu.id)] as const]
      for (const other of [
        new Registry(store, { ...own.tenantScope, environment: 'Testing' }),
        await Registry.fresh(store),
      ])
        for (const entry of await resolve(other, entries))
          assert.deepEqual([entry.schema, entry.dataSource], [null, null])
      await own.deleteDataSource(eu)
      for (const entry of await resolve(own, entries))
        assert.deepEqual([entry.schema?.id, entry.dataSource], [schema.id, null])
    })
  })

  describe(`${name}: shared data sources`, () => {
    open()
    const shared = async ({ tenantScope }: Registry) => {
      const { dataSources, afterId } = await store.dataSources.listShared({ ...tenantScope, afterId: null })
      assert.equal(afterId, null)
      return dataSources
    }

    it('are those that several user groups map to, by any of their keys', async () => {
      const own = await Registry.fresh(store)
      const sales = await own.createSchema({ providedId: 'sales' })
      const support = await own.createSchema({ providedId: 'support' })
      const created: DataSource[] = []
      for (const providedId of ['two', 'mixed', 'once', 'one', 'none'])
        created.push(await own.createDataSource(sales, { providedId, name: `Näme of ${providedId}` }))
      const elsewhere = await own.createDataSource(support, { providedId: 'two' })
      const [two, mixed, once] = created as [DataSource, DataSource, DataSource]
      const group = await mapped(store, keyIn(own), { sales: 'two' })
      await mapped(store, keyIn(own), { sales: 'two' })
      await mapped(store, keyIn(own), { sales: 'mixed' })
      await mapped(store, keyIn(own), { [sales.id]: String(mixed.id), support: 'two' })
      // Only one user group maps to it, by two keys.
      await mapped(store, keyIn(own), { sales: 'once', [sales.id]: String(once.id) })
      await mapped(store, keyIn(own), { sales: 'one' })
      await mapped(store, { ...keyIn(own), environment: 'Testing' }, { sales: 'one' })
      const withSchema = (...dataSources: DataSource[]) =>
        dataSources.map((one) => ({ ...one, schemaProvidedId: 'sales' }))
      assert.deepEqual(await shared(own), withSchema(two, mixed))
      await store.userGroups.delete(deletion(group))
      assert.deepEqual(await shared(own), withSchema(mixed))
      await mapped(store, keyIn(own), { support: String(elsewhere.id) })
      assert.deepEqual(await shared(own), [
        ...withSchema(mixed),
        { ...elsewhere, schemaProvidedId: 'support' },
      ])
      for (const other of [
        new Registry(store, { ...own.tenantScope, environment: 'Testing' }),
        await Registry.fresh(store),
      ])
        assert.deepEqual(await shared(other), [])
    })
  })

  describe(`${name}: the last introspection of a user group`, () => {
    open()
    const create = async (count: number): Promise<UserGroup[]> => {
      const own = await Registry.fresh(store)
      return Promise.all(Array.from({ length: count }, () => mapped(store, keyIn(own), {})))
    }
    const at = (group: UserGroup, introspectedAt: number) => ({
      ...{ workspaceId: group.workspaceId, ...locationOf(group), introspectedAt },
    })
    const find = (groups: readonly [UserGroup, ...UserGroup[]], { workspaceId } = groups[0]) =>
      store.introspections.findLast(workspaceId, groups.map(locationOf))

    it('is the latest recorded time, in any order', async () => {
      const [a, b, never] = (await create(3)) as [UserGroup, UserGroup, UserGroup]
      const times = () => find([b, never, a])
      assert.deepEqual(await times(), [null, null, null])
      await store.introspections.record([at(a, 60_000), at(b, 120_000)])
      assert.deepEqual(await times(), [120_000, null, 60_000])
      await store.introspections.record([at(b, 60_000), at(a, 180_000)])
      assert.deepEqual(await times(), [120_000, null, 180_000])
      await store.introspections.record([])
      const [elsewhere] = (await create(1)) as [UserGroup]
      assert.deepEqual(await find([b, never, a], elsewhere), [null, null, null])
      assert.deepEqual(await store.introspections.findLast(1, []), [])
    })

    it('is the latest of several times recorded together', async () => {
      const [group] = (await create(1)) as [UserGroup]
      const times = [at(group, 60_000), at(group, 180_000), at(group, 120_000)]
      const { workspaceId: elsewhere } = (await Registry.fresh(store)).tenantScope
      await store.introspections.record([...times, { ...at(group, 1), workspaceId: elsewhere }])
      assert.deepEqual(await find([group]), [180_000])
      assert.deepEqual(await store.introspections.findLast(elsewhere, [locationOf(group)]), [null])
    })

    it('is the latest of many times recorded simultaneously', async () => {
      const groups = (await create(200)) as [UserGroup, ...UserGroup[]]
      await Promise.all(
        Array.from({ length: 24 }, (_, i) =>
          store.introspections.record(
            (i % 2 === 0 ? groups : groups.toReversed()).map((group) =>
              at(group, 1 + ((i * 7 + group.teamId) % 24)),
            ),
          ),
        ),
      )
      assert.deepEqual(
        await find(groups),
        groups.map(() => 24),
      )
    })
  })
}
