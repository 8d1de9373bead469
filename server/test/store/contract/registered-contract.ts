import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  mappingModes,
  type DataSource,
  type MappingMode,
  type Schema,
} from '../../../src/domain/data-source/data-source.ts'
import type { IssueToken } from '../../../src/domain/user-group/user-group-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroupChange } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate, keyIn, mapped, type Mapping } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { freshKey, actor, plain } from './store-fixtures.ts'

/** Tests the registered mode, in which mappings must name registered data sources. */
export function describeRegisteredMappings(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: mappings in registered mode`, () => {
    let store: Store
    let own: Registry
    let schema: Schema
    let dataSource: DataSource
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
      schema = await own.createSchema({ providedId: 'sales' })
      dataSource = await own.createDataSource(schema, { providedId: 'eu' })
      await own.createDataSource(await own.createSchema({ providedId: '__proto__' }), { providedId: 'eu' })
      await own.createSchema({ providedId: 'empty' })
    })
    after(() => store.close())

    const mappingMode: MappingMode = 'registered'
    const noToken: IssueToken = () => assert.fail('a token was issued')

    /** Operations that write a mapping. Each returns its result and the user group before it. */
    const ways = {
      'a creation': async (mapping: string | null, mappingMode: MappingMode = 'registered') => {
        const key = keyIn(own)
        return {
          key,
          before: null,
          result: await getOrCreate(store, key, { change: { name: 'B', mapping }, mappingMode }),
        }
      },
      'an update by get or create': async (
        mapping: string | null,
        mappingMode: MappingMode = 'registered',
      ) => {
        const before = await mapped(store, keyIn(own), '{"before":"1"}')
        const change = { name: 'B', properties: '{"a":1}', mapping }
        const result = await getOrCreate(store, before, {
          change,
          mappingMode,
          issueToken: noToken,
          now: 2000,
        })
        return { key: before, before, result }
      },
      'an update': async (mapping: string | null, mappingMode: MappingMode = 'registered') => {
        const before = await mapped(store, keyIn(own), '{"before":"1"}')
        const change = { name: 'B', properties: '{"a":1}', mapping }
        const result = await store.userGroups.update({
          key: before,
          change,
          mappingMode,
          ...actor,
          now: 2000,
        })
        return { key: before, before, result }
      },
    }

    const registered: Record<string, () => Mapping | string | null> = {
      'provided ids': () => ({ sales: 'eu' }),
      ids: () => ({ [schema.id]: String(dataSource.id) }),
      'ids and provided ids of two schemas': () => `{"sales":"${dataSource.id}","__proto__":"eu"}`,
      'nothing, as null': () => null,
      'nothing, as an object': () => '{}',
    }
    const unregistered: Record<
      string,
      { mapping: () => Mapping | string; hasSchema: Record<string, boolean> }
    > = {
      'an unknown schema': { mapping: () => ({ nothing: 'eu' }), hasSchema: { nothing: false } },
      'an unknown data source': { mapping: () => ({ sales: 'nothing' }), hasSchema: { sales: true } },
      'a data source of another schema': {
        mapping: () => ({ empty: 'eu', sales: 'eu' }),
        hasSchema: { empty: true },
      },
      'a data source of another schema, by its id': {
        mapping: () => ({ empty: String(dataSource.id) }),
        hasSchema: { empty: true },
      },
      'several unknown entries': {
        mapping: () => ({ sales: 'no', a: 'eu', b: 'c' }),
        hasSchema: { sales: true, a: false, b: false },
      },
      'names of built-in properties': {
        mapping: () => '{"__proto__":"no","constructor":"eu","toString":"valueOf"}',
        hasSchema: JSON.parse('{"__proto__":true,"constructor":false,"toString":false}') as Record<
          string,
          boolean
        >,
      },
      '1,000 entries, the last one wrong': {
        mapping: () =>
          Object.fromEntries([
            ...Array.from({ length: 999 }, (_, i) => [`no ${i}`, 'eu']),
            ['sales', 'no'],
          ]) as Mapping,
        hasSchema: Object.fromEntries([
          ...Array.from({ length: 999 }, (_, i) => [`no ${i}`, false]),
          ['sales', true],
        ]) as Record<string, boolean>,
      },
    }

    for (const [way, write] of Object.entries(ways)) {
      for (const [title, mapping] of Object.entries(registered)) {
        it(`${way} accepts ${title}`, async () => {
          const sent = mapping()
          const text = typeof sent === 'object' && sent !== null ? JSON.stringify(sent) : sent
          const { key, before, result } = await write(text)
          assert.equal(result.outcome, before === null ? 'created' : 'updated')
          assert.equal((await store.userGroups.find(key))?.mapping, text)
        })
      }

      for (const [title, { mapping, hasSchema }] of Object.entries(unregistered)) {
        it(`${way} with ${title} is refused with all such entries, and nothing is written`, async () => {
          const sent = mapping()
          const { key, before, result } = await write(typeof sent === 'string' ? sent : JSON.stringify(sent))
          assert.ok(result.outcome === 'mapping_refused', result.outcome)
          assert.deepEqual(Object.keys(result).sort(), ['entries', 'outcome'])
          const named = [...result.entries].sort((a, b) => (a.schemaKey < b.schemaKey ? -1 : 1))
          const expected = Object.entries(hasSchema).sort(([a], [b]) => (a < b ? -1 : 1))
          assert.deepEqual(
            named.map((entry) => [entry.schemaKey, entry.schema !== null, entry.dataSource]),
            expected.map(([schemaKey, has]) => [schemaKey, has, null]),
          )
          assert.deepEqual(plain(await store.userGroups.find(key)), plain(before))
        })
      }
    }

    for (const mode of mappingModes) {
      for (const [way, write] of Object.entries(ways)) {
        it(`${way} that names a schema by both ids is refused with both keys in mode ${mode}`, async () => {
          const { id } = schema
          for (const values of [
            ['eu', 'eu'],
            ['eu', String(dataSource.id)],
            ['eu', 'nothing'],
          ]) {
            const mapping = JSON.stringify({ sales: values[0], [id]: values[1] })
            const { key, before, result } = await write(mapping, mode)
            assert.ok(result.outcome === 'mapping_refused', result.outcome)
            assert.deepEqual(result.entries.map(({ schemaKey, schema }) => [schemaKey, schema?.id]).sort(), [
              [String(id), id],
              ['sales', id],
            ])
            assert.deepEqual(plain(await store.userGroups.find(key)), plain(before))
          }
        })
      }
    }

    it('free mode accepts numeric keys that name different schemas or none', async () => {
      for (const mapping of [
        '{"99999":"a","sales":"b"}',
        `{"${schema.id}":"a","99999":"b"}`,
        '{"1":"a","01":"b"}',
      ]) {
        const result = await getOrCreate(store, keyIn(own), {
          change: { name: 'A', mapping },
          mappingMode: 'free',
        })
        assert.equal(result.outcome, 'created', mapping)
      }
    })

    it('a refused creation issues no token', async () => {
      const change = { name: 'A', mapping: '{"nothing":"eu"}' }
      const result = await getOrCreate(store, keyIn(own), { change, mappingMode, issueToken: noToken })
      assert.equal(result.outcome, 'mapping_refused')
    })

    it('an unchanged mapping is not checked', async () => {
      const mapping = '{"é":"1","nothing":"2"}'
      const group = await mapped(store, keyIn(own), mapping)
      for (const same of [mapping, '{ "nothing": "2", "\\u00e9": "1" }']) {
        const change = { name: 'A', mapping: same }
        assert.equal((await getOrCreate(store, group, { change, mappingMode })).outcome, 'unchanged')
        const updated = await store.userGroups.update({
          key: group,
          change,
          mappingMode,
          ...actor,
          now: 2000,
        })
        assert.equal(updated.outcome, 'unchanged')
      }
      const change: UserGroupChange = { name: 'B', properties: '{"a":1}' }
      const updated = await store.userGroups.update({ key: group, change, mappingMode, ...actor, now: 2000 })
      assert.equal(updated.outcome, 'updated')
      assert.equal(
        (await getOrCreate(store, group, { change: { name: 'C' }, mappingMode })).outcome,
        'updated',
      )
      assert.equal((await store.userGroups.find(group))?.mapping, mapping)
    })

    it('missing scope, name and user group are reported before unregistered entries', async () => {
      const mapping = '{"nothing":"eu"}'
      const key = keyIn(own)
      const reading = { mayWrite: false, issueToken: noToken, mappingMode }
      assert.deepEqual(await getOrCreate(store, key, { ...reading, change: { name: 'A', mapping } }), {
        outcome: 'write_required',
      })
      assert.deepEqual(
        await getOrCreate(store, key, { mappingMode, issueToken: noToken, change: { mapping } }),
        {
          outcome: 'name_required',
        },
      )
      assert.deepEqual(
        await store.userGroups.update({ key, change: { mapping }, mappingMode, ...actor, now: 1 }),
        {
          outcome: 'not_found',
        },
      )
      const group = await mapped(store, key, { sales: 'eu' })
      assert.deepEqual(await getOrCreate(store, key, { ...reading, change: { mapping } }), {
        outcome: 'write_required',
      })
      assert.deepEqual(plain(await store.userGroups.find(key)), plain(group))
    })

    it('entries of another workspace or environment do not count as registered', async () => {
      const change = { name: 'A', mapping: '{"sales":"eu"}' }
      for (const tenantScope of [
        { ...own.tenantScope, environment: 'Testing' as const },
        (await Registry.fresh(store)).tenantScope,
      ]) {
        const key = { ...tenantScope, providedId: freshKey().providedId }
        const result = await getOrCreate(store, key, { change, mappingMode, issueToken: noToken })
        assert.equal(result.outcome, 'mapping_refused')
      }
    })

    for (const mode of ['free', undefined] as const) {
      it(`any mapping is accepted when the mode is ${mode ?? 'omitted'}`, async () => {
        const free = mode === undefined ? {} : { mappingMode: mode }
        const key = keyIn(own)
        const change = { name: 'A', mapping: '{"nothing":"eu"}' }
        assert.equal((await getOrCreate(store, key, { change, ...free })).outcome, 'created')
        const other = { key, change: { mapping: '{"sales":"no"}' }, ...actor, now: 2000, ...free }
        assert.equal((await store.userGroups.update(other)).outcome, 'updated')
      })
    }
  })
}
