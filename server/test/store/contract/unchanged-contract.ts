import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type { ChangeStamp } from '../../../src/domain/user-group/user-group-store.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { getOrCreate, keyIn, mapped } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { deletion, referenceOf, mint, actor } from './store-fixtures.ts'
import { defaults } from '../store-options.ts'

const content = { name: 'A', mapping: '{"sales":"eu"}' }

/** Tests whether a store reports a user group as unchanged since its change stamp. */
export function describeUnchanged(name: string, freshUrl: () => string | Promise<string>): void {
  describe(`${name}: whether a user group is unchanged`, () => {
    let store: Store
    /** Store of another process. */
    let other: Store
    let own: Registry
    let apiTokenId: number
    let uses = 1
    before(async () => {
      const url = await freshUrl()
      store = await openStore(parseDatabaseUrl(url), defaults)
      other = await openStore(parseDatabaseUrl(url), defaults)
      own = await Registry.fresh(store)
      await own.createDataSource(await own.createSchema({ providedId: 'sales' }), { providedId: 'eu' })
      const apiToken = { name: 'A', scopes: ['read'] as const, createdAt: 1, expiresAt: null }
      const created = { ...actor, ...own.tenantScope, ...apiToken, tokenHash: randomBytes(32) }
      apiTokenId = (await store.apiTokens.create(created)).id
    })
    after(() => Promise.all([store.close(), other.close()]))

    const create = () => mapped(store, keyIn(own), content.mapping)
    const stampOfRead = async (group: UserGroup): Promise<ChangeStamp> => {
      const outcome = await getOrCreate(store, group, { change: content })
      assert.equal(outcome.outcome, 'unchanged')
      return outcome.state.stamp
    }
    const stampOfIntrospection = async ({
      workspaceId,
      environment,
      token,
    }: UserGroup): Promise<ChangeStamp> => {
      const owner = await store.userGroups.findByToken(workspaceId, environment, referenceOf(token), 9000)
      assert.ok(owner)
      return owner.state.stamp
    }
    const isUnchanged = (group: UserGroup, stamp: ChangeStamp) =>
      store.userGroups.isUnchanged(group.workspaceId, group.environment, {
        location: locationOf(group),
        stamp,
      })
    const rotate = (by: Store, { workspaceId, environment, token }: UserGroup) =>
      by.userGroups.rotate({
        ...{ ...actor, workspaceId, environment, target: { token: referenceOf(token) } },
        ...{ oldTokenValidUntil: 9000, issueToken: mint, now: 2000 },
      })
    const suspend = (by: Store, key: UserGroup, suspended: boolean) =>
      by.userGroups.suspend({ ...actor, key, suspended, now: 2000 })
    const restore = (by: Store, { workspaceId, environment, teamId }: UserGroup) =>
      by.userGroups.restore({ ...actor, workspaceId, environment, teamId, deletedAfter: 0, now: 9500 })

    it('is true until something changes, for the stamps of reads and introspections', async () => {
      const group = await create()
      for (const stamp of [await stampOfRead(group), await stampOfIntrospection(group)]) {
        assert.equal(await isUnchanged(group, stamp), true)
        await stampOfRead(group)
        await create()
        assert.equal(await isUnchanged(group, stamp), true)
        assert.doesNotMatch(stamp, / /)
      }
    })

    const others: Record<string, (by: Store, group: UserGroup) => Promise<unknown>> = {
      'another user group': (by) => mapped(by, keyIn(own), content.mapping),
      'the last use of an API token': (by) =>
        by.apiTokens.recordUses([{ id: apiTokenId, usedAt: uses++ * 60_000 }]),
      'the usage of an API token': (by) =>
        by.apiTokens.reportUsage([{ apiTokenId, costMs: 5, aheadMs: 5, fullMs: 2000 }]),
      'the last introspection': (by, group) =>
        by.introspections.record([
          { workspaceId: group.workspaceId, ...locationOf(group), introspectedAt: uses++ * 60_000 },
        ]),
      'a refused change': async (by, key) => {
        const change = { name: 'B', mapping: '{"unregistered":"x"}' }
        const update = { key, change, ...actor, now: 1000, mappingMode: 'registered' as const }
        assert.notEqual((await by.userGroups.update(update)).outcome, 'updated')
      },
    }
    for (const [title, write] of Object.entries(others)) {
      for (const who of ['this process', 'another process'] as const) {
        it(`is true after ${who} wrote ${title}`, async () => {
          const group = await create()
          const stamps = [await stampOfRead(group), await stampOfIntrospection(group)]
          await write(who === 'another process' ? other : store, group)
          for (const stamp of stamps) assert.equal(await isUnchanged(group, stamp), true)
        })
      }
    }

    const changes: Record<string, (by: Store, group: UserGroup) => Promise<unknown>> = {
      'an update by get or create': (by, key) => getOrCreate(by, key, { change: { name: 'B' } }),
      'an update of its name': (by, key) =>
        by.userGroups.update({ key, change: { name: 'B' }, ...actor, now: 1000 }),
      'an update of its properties': (by, key) =>
        by.userGroups.update({ key, change: { properties: '{"a":1}' }, ...actor, now: 1000 }),
      'an update of its mapping': (by, key) =>
        by.userGroups.update({ key, change: { mapping: null }, ...actor, now: 1000 }),
      'a change and its reversal': async (by, key) => {
        for (const name of ['B', 'A'])
          await by.userGroups.update({ key, change: { name }, ...actor, now: 1000 })
      },
      'an update in a batch': (by, key) =>
        by.userGroups.getOrCreateMany([
          { key, change: { name: 'B' }, mayWrite: true, issueToken: mint, ...actor, now: 1000 },
        ]),
      'a rotation': rotate,
      'a suspension': (by, group) => suspend(by, group, true),
      'a suspension and resumption': async (by, group) => {
        for (const suspended of [true, false]) await suspend(by, group, suspended)
      },
      'a deletion': (by, group) => by.userGroups.delete(deletion(group)),
      'a deletion and restoration': async (by, group) => {
        await by.userGroups.delete(deletion(group))
        await restore(by, group)
      },
      'a deletion and a creation with the same id': async (by, group) => {
        await by.userGroups.delete(deletion(group))
        await getOrCreate(by, group, { change: content })
      },
    }
    for (const [title, change] of Object.entries(changes)) {
      for (const who of ['this process', 'another process'] as const) {
        it(`is false after ${title}, by ${who}`, async () => {
          const group = await create()
          const stamps = [await stampOfRead(group), await stampOfIntrospection(group)]
          await change(who === 'another process' ? other : store, group)
          for (const stamp of stamps) assert.equal(await isUnchanged(group, stamp), false)
        })
      }
    }

    it('is false for the stamp of an introspection after each change of the registry', async () => {
      for (const by of [store, other]) {
        const registry = new Registry(by, own.tenantScope)
        const group = await create()
        const assertChanges = async (change: () => Promise<unknown>) => {
          const stamp = await stampOfIntrospection(group)
          await change()
          assert.equal(await isUnchanged(group, stamp), false)
        }
        const schema = { providedId: keyIn(own).providedId }
        await assertChanges(() => registry.createSchema(schema))
        const created = (await registry.schemas()).find(({ providedId }) => providedId === schema.providedId)
        assert.ok(created)
        await assertChanges(() => registry.createDataSource(created, { providedId: 'us' }))
        const added = (await registry.dataSources()).find(({ schemaId }) => schemaId === created.id)
        assert.ok(added)
        await assertChanges(() => registry.deleteDataSource(added))
        await assertChanges(() =>
          by.dataSources.deleteSchema({ ...actor, ...own.tenantScope, id: created.id, now: 9000 }),
        )
      }
    })

    it('is true for a new stamp after a change, and false for the old one', async () => {
      const group = await create()
      const before = await stampOfRead(group)
      await rotate(store, group)
      const after = await stampOfRead(group)
      assert.notEqual(after, before)
      assert.deepEqual([await isUnchanged(group, after), await isUnchanged(group, before)], [true, false])
    })

    // On PostgreSQL both checks share one statement, and the update is another.
    it('can be checked in the same event-loop iteration as a change, on SQLite in order of arrival', async () => {
      const group = await create()
      const stamp = await stampOfRead(group)
      const update = { key: group, change: { name: 'B' }, ...actor, now: 1000 }
      const [early, , late] = await Promise.all([
        isUnchanged(group, stamp),
        store.userGroups.update(update),
        isUnchanged(group, stamp),
      ])
      if (name === 'SQLite') assert.deepEqual([early, late], [true, false])
      else assert.equal(early, late)
      assert.equal(await isUnchanged(group, stamp), false)
    })

    it('is false for a deleted user group', async () => {
      const group = await create()
      const stamp = await stampOfRead(group)
      await store.userGroups.delete(deletion(group))
      assert.equal(await isUnchanged(group, stamp), false)
    })
  })
}
