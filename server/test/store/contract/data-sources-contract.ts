import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Schema } from '../../../src/domain/data-source/data-source.ts'
import type { Environment } from '../../../src/domain/environment.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import { Registry } from './registry.ts'
import { mint, actor } from './store-fixtures.ts'

/** Tests the schemas and data sources of a store. */
export function describeDataSources(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: schemas and data sources`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const registry = () => Registry.fresh(store)

    const simultaneously = <T>(work: () => Promise<T>) => Promise.all(Array.from({ length: 24 }, work))

    it('registers schemas and data sources, and lists them in the order of their ids', async () => {
      const { tenantScope, createSchema, createDataSource, schemas, dataSources } = await registry()
      const { workspaceId, environment } = tenantScope
      const [z, a] = [
        await createSchema({ providedId: 'z', name: 'Näme 😀', createdAt: 1000 }),
        await createSchema({ providedId: 'a', name: 'A', createdAt: 999 }),
      ]
      assert.ok(Number.isSafeInteger(z.id) && z.id > 0 && a.id > z.id)
      const { id, ...rest } = z
      assert.deepEqual(rest, { ...tenantScope, providedId: 'z', name: 'Näme 😀', createdAt: 1000 })
      assert.deepEqual(await schemas(), [{ ...rest, id }, a])

      const created = [
        await createDataSource(a, { providedId: 'z', name: 'Näme 😀', createdAt: 1000 }),
        await createDataSource(z, { providedId: 'z', createdAt: 2 }),
        await createDataSource(a, { providedId: 'a', createdAt: 1 }),
      ]
      const [first, second, third] = created
      assert.ok(first && second && third && first.id > 0 && second.id > first.id && third.id > second.id)
      assert.deepEqual(first, {
        id: first.id,
        schemaId: a.id,
        providedId: 'z',
        name: 'Näme 😀',
        createdAt: 1000,
      })
      assert.deepEqual(
        await store.dataSources.list({ workspaceId, environment, afterId: null, limit: 1000 }),
        created,
      )
      assert.deepEqual(await dataSources(), created)
    })

    it('registers a provided id once when several requests register it at once', async () => {
      const { tenantScope, schemas, dataSources } = await registry()
      const schema = { ...tenantScope, ...actor, providedId: 'sales', name: 'A', createdAt: 1 }
      const created = await simultaneously(() => store.dataSources.createSchema(schema))
      const [kept, ...others] = created.filter((result) => typeof result === 'object')
      assert.deepEqual(others, [])
      assert.deepEqual(await schemas(), [kept])

      const dataSource = { schemaId: kept?.id ?? 0, providedId: 'eu', name: 'A', createdAt: 1 }
      const results = await simultaneously(() =>
        store.dataSources.create({ ...tenantScope, ...actor, ...dataSource }),
      )
      const [first, ...more] = results.filter((result) => typeof result === 'object')
      assert.deepEqual(more, [])
      assert.equal(results.filter((result) => result === 'provided_id_taken').length, 23)
      assert.deepEqual(await dataSources(), [first])
    })

    it('refuses a provided id that would change the meaning of a stored mapping', async () => {
      const { tenantScope, createSchema, createDataSource, schemas, dataSources } = await registry()
      const { workspaceId, environment } = tenantScope
      const schema = await createSchema({ providedId: 'sales' })
      const mapped = await createDataSource(schema, { providedId: 'eu' })
      const unmapped = await createDataSource(schema, { providedId: 'us' })
      for (const [i, schemaKey] of ['sales', String(schema.id)].entries()) {
        await store.userGroups.getOrCreate({
          key: { ...tenantScope, providedId: `by ${schemaKey}` },
          change: { name: 'A', mapping: JSON.stringify({ [schemaKey]: String(mapped.id) }) },
          mayWrite: true,
          issueToken: mint,
          ...actor,
          now: i,
        })
        const before = [await schemas(), await dataSources()]
        const named = (id: number) => ({
          schemaId: schema.id,
          providedId: String(id),
          name: 'A',
          createdAt: 1,
        })
        assert.equal(
          await store.dataSources.create({ workspaceId, environment, ...actor, ...named(mapped.id) }),
          'provided_id_mapped',
        )
        if (i === 1) {
          const taken = { ...tenantScope, ...actor, providedId: String(schema.id), name: 'A', createdAt: 1 }
          assert.equal(await store.dataSources.createSchema(taken), 'provided_id_mapped')
        }
        assert.deepEqual([await schemas(), await dataSources()], before)
      }
      assert.equal((await createDataSource(schema, { providedId: String(unmapped.id) })).schemaId, schema.id)
      // The same text is free in another schema and as the provided id of a schema.
      const other = await createSchema({ providedId: 'other' })
      assert.ok(await createDataSource(other, { providedId: String(mapped.id) }))
      assert.ok(await createSchema({ providedId: String(other.id) }))
    })

    it('does not change the existing entry when a provided id is taken', async () => {
      const { tenantScope, createSchema, createDataSource, schemas, dataSources } = await registry()
      const schema = await createSchema({ providedId: 'sales' })
      const dataSource = await createDataSource(schema, { providedId: 'eu' })
      const again = { ...tenantScope, ...actor, providedId: 'sales', name: 'Another', createdAt: 7 }
      assert.equal(await store.dataSources.createSchema(again), 'provided_id_taken')
      const other = { schemaId: schema.id, providedId: 'eu', name: 'Another', createdAt: 7 }
      const taken = await store.dataSources.create({ ...tenantScope, ...actor, ...other })
      assert.equal(taken, 'provided_id_taken')
      assert.deepEqual([await schemas(), await dataSources()], [[schema], [dataSource]])
    })

    it('accepts any text as a provided id and compares it exactly', async () => {
      const { createSchema, createDataSource, schemas, dataSources } = await registry()
      const ids = [
        'a',
        'A',
        'a ',
        ' a',
        'é',
        'e\u0301',
        '1',
        '01',
        '__proto__',
        'constructor',
        '😀'.repeat(255),
      ]
      for (const providedId of ids) {
        await createDataSource(await createSchema({ providedId }), { providedId })
      }
      const [schema] = await schemas()
      for (const providedId of ids.slice(1)) await createDataSource(schema as Schema, { providedId })
      const shown = (list: readonly { providedId: string }[]) => list.map(({ providedId }) => providedId)
      assert.deepEqual(shown(await schemas()), ids)
      assert.deepEqual(shown(await dataSources()), [...ids, ...ids.slice(1)])
    })

    it('separates workspaces, environments and schemas', async () => {
      const first = await registry()
      const tenantScopes: TenantScope[] = [
        first.tenantScope,
        { ...first.tenantScope, environment: 'Testing' },
        (await registry()).tenantScope,
      ]
      for (const tenantScope of tenantScopes) {
        const own = new Registry(store, tenantScope)
        for (const providedId of ['sales', 'support']) {
          const schema = await own.createSchema({ providedId })
          await own.createDataSource(schema, { providedId: 'eu' })
        }
        assert.equal((await own.schemas()).length, 2)
        assert.equal((await own.dataSources()).length, 2)
      }
    })

    it('registers no data source for an unknown schema or one of another workspace or environment', async () => {
      const { tenantScope, createSchema, dataSources } = await registry()
      const schema = await createSchema({ providedId: 'sales' })
      const other = (await registry()).tenantScope
      const create = (workspaceId: number, environment: Environment, schemaId: number) =>
        store.dataSources.create({
          workspaceId,
          environment,
          ...actor,
          ...{ schemaId, providedId: 'eu', name: 'A', createdAt: 1 },
        })
      assert.equal(
        await create(tenantScope.workspaceId, 'Customer', schema.id + 1_000_000),
        'schema_not_found',
      )
      assert.equal(await create(tenantScope.workspaceId, 'Testing', schema.id), 'schema_not_found')
      assert.equal(await create(other.workspaceId, 'Customer', schema.id), 'schema_not_found')
      assert.deepEqual(await dataSources(), [])
    })

    it('deletes unused entries, only in their own workspace and environment', async () => {
      const { tenantScope, createSchema, createDataSource, schemas, dataSources } = await registry()
      const schema = await createSchema({ providedId: 'sales' })
      const dataSource = await createDataSource(schema, { providedId: 'eu' })
      const other = (await registry()).tenantScope
      const deletions = [
        ['deleteSchema', schema.id, true],
        ['delete', dataSource.id, false],
        ['deleteSchema', schema.id, false],
      ] as const
      for (const [operation, id, inUse] of deletions) {
        const remove = (workspaceId: number, environment: Environment) =>
          store.dataSources[operation]({ ...actor, workspaceId, environment, id, now: 9000 })
        assert.equal(await remove(tenantScope.workspaceId, 'Testing'), 'not_found')
        assert.equal(await remove(other.workspaceId, 'Customer'), 'not_found')
        const before = [await schemas(), await dataSources()]
        assert.equal(await remove(tenantScope.workspaceId, 'Customer'), inUse ? 'in_use' : 'deleted')
        if (inUse) assert.deepEqual([await schemas(), await dataSources()], before)
        else assert.equal(await remove(tenantScope.workspaceId, 'Customer'), 'not_found')
      }
      assert.deepEqual([await schemas(), await dataSources()], [[], []])
      assert.equal(
        await store.dataSources.deleteSchema({ ...tenantScope, ...actor, id: 1_000_000, now: 9000 }),
        'not_found',
      )
      assert.equal(
        await store.dataSources.delete({ ...tenantScope, ...actor, id: 1_000_000, now: 9000 }),
        'not_found',
      )
    })

    it('deletes an entry once when several requests delete it at once', async () => {
      const { tenantScope, createSchema, createDataSource } = await registry()
      const { workspaceId, environment } = tenantScope
      const schema = await createSchema({ providedId: 'sales' })
      const dataSource = await createDataSource(schema, { providedId: 'eu' })
      const outcomes = await simultaneously(() =>
        store.dataSources.delete({
          ...{ workspaceId, environment },
          ...actor,
          id: dataSource.id,
          now: 9000,
        }),
      )
      assert.deepEqual(outcomes.sort(), ['deleted', ...Array<string>(23).fill('not_found')])
      const schemaOutcomes = await simultaneously(() =>
        store.dataSources.deleteSchema({
          ...{ workspaceId, environment },
          ...actor,
          id: schema.id,
          now: 9000,
        }),
      )
      assert.deepEqual(schemaOutcomes.sort(), ['deleted', ...Array<string>(23).fill('not_found')])
    })

    it('never reuses an id', async () => {
      const { tenantScope, createSchema, createDataSource } = await registry()
      const { workspaceId, environment } = tenantScope
      let [lastSchema, lastDataSource] = [0, 0]
      for (let round = 0; round < 3; round++) {
        const schema = await createSchema({ providedId: 'sales' })
        const dataSource = await createDataSource(schema, { providedId: 'eu' })
        assert.ok(schema.id > lastSchema && dataSource.id > lastDataSource)
        ;[lastSchema, lastDataSource] = [schema.id, dataSource.id]
        assert.equal(
          await store.dataSources.delete({
            ...{ workspaceId, environment },
            ...actor,
            id: dataSource.id,
            now: 9000,
          }),
          'deleted',
        )
        assert.equal(
          await store.dataSources.deleteSchema({
            ...{ workspaceId, environment },
            ...actor,
            id: schema.id,
            now: 9000,
          }),
          'deleted',
        )
      }
    })

    it('leaves no data source without its schema when both change at once', async () => {
      for (let round = 0; round < 12; round++) {
        const { tenantScope, createSchema, schemas, dataSources } = await registry()
        const { workspaceId, environment } = tenantScope
        const { id } = await createSchema({ providedId: 'sales' })
        const create = (providedId: string) =>
          store.dataSources.create({
            workspaceId,
            environment,
            ...actor,
            schemaId: id,
            ...{ providedId, name: 'A', createdAt: 1 },
          })
        const results = await Promise.all([
          ...Array.from({ length: round % 3 }, (_, i) => create(`before ${i}`)),
          store.dataSources.deleteSchema({ ...{ workspaceId, environment }, ...actor, id, now: 9000 }),
          ...Array.from({ length: round % 4 }, (_, i) => create(`after ${i}`)),
        ])
        const isDeleted = results.includes('deleted')
        assert.equal((await schemas()).length, isDeleted ? 0 : 1)
        const created = results.filter((result) => typeof result === 'object')
        if (isDeleted) assert.deepEqual(created, [])
        assert.equal((await dataSources()).length, created.length)
      }
    })
  })
}
