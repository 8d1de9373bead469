import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type { ChangeStamp } from '../../../src/domain/user-group/user-group-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { getOrCreate, keyIn, mapped } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { deletion, hashOf, mint, origin } from './store-fixtures.ts'
import { defaults } from '../store-options.ts'

const content = { name: 'A', mapping: '{"sales":"eu"}' }

/** What every store must say of a user group that was read: by one test file for each. */
export function describeUnchanged(name: string, freshUrl: () => string | Promise<string>): void {
  describe(`${name}: whether a user group is unchanged`, () => {
    let store: Store
    /** As another process has it. */
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
      const made = { ...origin, ...own.tenantScope, ...apiToken, tokenHash: randomBytes(32) }
      apiTokenId = (await store.apiTokens.create(made)).id
    })
    after(() => Promise.all([store.close(), other.close()]))

    const create = () => mapped(store, keyIn(own), content.mapping)
    const seen = async (group: UserGroup): Promise<ChangeStamp> => {
      const outcome = await getOrCreate(store, group, { change: content })
      assert.equal(outcome.outcome, 'unchanged')
      return outcome.stamp
    }
    const introspected = async ({ workspaceId, environment, token }: UserGroup): Promise<ChangeStamp> => {
      const owner = await store.userGroups.findByToken(workspaceId, environment, hashOf(token), 9000)
      assert.ok(owner)
      return owner.stamp
    }
    const isUnchanged = ({ workspaceId, environment, teamId }: UserGroup, stamp: ChangeStamp) =>
      store.userGroups.isUnchanged(workspaceId, environment, teamId, stamp)
    const rotate = (by: Store, { workspaceId, environment, token }: UserGroup) =>
      by.userGroups.rotate({
        ...{ ...origin, workspaceId, environment, target: { tokenHash: hashOf(token) } },
        ...{ oldTokenValidUntil: 9000, issueToken: mint, now: 2000 },
      })
    const suspend = (by: Store, key: UserGroup, suspended: boolean) =>
      by.userGroups.suspend({ ...origin, key, suspended, now: 2000 })
    const restore = (by: Store, { workspaceId, environment, teamId }: UserGroup) =>
      by.userGroups.restore({ ...origin, workspaceId, environment, teamId, deletedAfter: 0, now: 9500 })

    it('is true for as long as nothing is changed, by either stamp', async () => {
      const group = await create()
      for (const stamp of [await seen(group), await introspected(group)]) {
        assert.equal(await isUnchanged(group, stamp), true)
        await seen(group)
        await create()
        assert.equal(await isUnchanged(group, stamp), true)
        assert.doesNotMatch(stamp, / /)
      }
    })

    const others: Record<string, (by: Store, group: UserGroup) => Promise<unknown>> = {
      'the creation of another': (by) => mapped(by, keyIn(own), content.mapping),
      'when an API token was last used': (by) =>
        by.apiTokens.recordUses([{ id: apiTokenId, usedAt: uses++ * 60_000 }]),
      'how many calls an API token made': (by) =>
        by.apiTokens.reportUsage([{ apiTokenId, costMs: 5, aheadMs: 5, fullMs: 2000 }]),
      'when it was last introspected': (by, { workspaceId, teamId }) =>
        by.introspections.record([{ workspaceId, teamId, introspectedAt: uses++ * 60_000 }]),
      'a change that came to nothing': async (by, key) => {
        const change = { name: 'B', mapping: '{"unregistered":"x"}' }
        const update = { key, change, ...origin, now: 1000, mappingMode: 'registered' as const }
        assert.notEqual((await by.userGroups.update(update)).outcome, 'updated')
      },
    }
    for (const [what, write] of Object.entries(others)) {
      for (const who of ['this process', 'another'] as const) {
        it(`is true after ${who} has written ${what}`, async () => {
          const group = await create()
          const stamps = [await seen(group), await introspected(group)]
          await write(who === 'another' ? other : store, group)
          for (const stamp of stamps) assert.equal(await isUnchanged(group, stamp), true)
        })
      }
    }

    const changes: Record<string, (by: Store, group: UserGroup) => Promise<unknown>> = {
      'a GET that changes it': (by, key) => getOrCreate(by, key, { change: { name: 'B' } }),
      'an update of its name': (by, key) =>
        by.userGroups.update({ key, change: { name: 'B' }, ...origin, now: 1000 }),
      'an update of its properties alone': (by, key) =>
        by.userGroups.update({ key, change: { properties: '{"a":1}' }, ...origin, now: 1000 }),
      'an update of its mapping alone': (by, key) =>
        by.userGroups.update({ key, change: { mapping: null }, ...origin, now: 1000 }),
      'a change that is changed back': async (by, key) => {
        for (const name of ['B', 'A'])
          await by.userGroups.update({ key, change: { name }, ...origin, now: 1000 })
      },
      'one of many that are changed together': (by, key) =>
        by.userGroups.getOrCreateMany([
          { key, change: { name: 'B' }, mayWrite: true, issueToken: mint, ...origin, now: 1000 },
        ]),
      'a rotation': rotate,
      'a suspension': (by, group) => suspend(by, group, true),
      'a suspension that is over': async (by, group) => {
        for (const suspended of [true, false]) await suspend(by, group, suspended)
      },
      'a deletion': (by, group) => by.userGroups.delete(deletion(group)),
      'a deletion that is taken back': async (by, group) => {
        await by.userGroups.delete(deletion(group))
        await restore(by, group)
      },
      'a deletion, and another of its id': async (by, group) => {
        await by.userGroups.delete(deletion(group))
        await getOrCreate(by, group, { change: content })
      },
    }
    for (const [what, change] of Object.entries(changes)) {
      for (const who of ['this process', 'another'] as const) {
        it(`is false after ${what}, by ${who}`, async () => {
          const group = await create()
          const stamps = [await seen(group), await introspected(group)]
          await change(who === 'another' ? other : store, group)
          for (const stamp of stamps) assert.equal(await isUnchanged(group, stamp), false)
        })
      }
    }

    it('is false after each change of the registry, of what the renderer was told', async () => {
      for (const by of [store, other]) {
        const registry = new Registry(by, own.tenantScope)
        const group = await create()
        const stamped = async (change: () => Promise<unknown>) => {
          const stamp = await introspected(group)
          await change()
          assert.equal(await isUnchanged(group, stamp), false)
        }
        const schema = { providedId: keyIn(own).providedId }
        await stamped(() => registry.createSchema(schema))
        const made = (await registry.schemas()).find(({ providedId }) => providedId === schema.providedId)
        assert.ok(made)
        await stamped(() => registry.createDataSource(made, { providedId: 'us' }))
        const added = (await registry.dataSources()).find(({ schemaId }) => schemaId === made.id)
        assert.ok(added)
        await stamped(() => registry.deleteDataSource(added))
        await stamped(() =>
          by.dataSources.deleteSchema({ ...origin, ...own.tenantScope, id: made.id, now: 9000 }),
        )
      }
    })

    it('is true again of what is read after a change', async () => {
      const group = await create()
      const before = await seen(group)
      await rotate(store, group)
      const after = await seen(group)
      assert.notEqual(after, before)
      assert.deepEqual([await isUnchanged(group, after), await isUnchanged(group, before)], [true, false])
    })

    // On PostgreSQL the two share a statement, and another one changes.
    it('is told of what else arrives in the same turn, on SQLite in the order in which it arrived', async () => {
      const group = await create()
      const stamp = await seen(group)
      const update = { key: group, change: { name: 'B' }, ...origin, now: 1000 }
      const [early, , late] = await Promise.all([
        isUnchanged(group, stamp),
        store.userGroups.update(update),
        isUnchanged(group, stamp),
      ])
      if (name === 'SQLite') assert.deepEqual([early, late], [true, false])
      else assert.equal(early, late)
      assert.equal(await isUnchanged(group, stamp), false)
    })

    it('is false of what is not there', async () => {
      const group = await create()
      const stamp = await seen(group)
      await store.userGroups.delete(deletion(group))
      assert.equal(await isUnchanged(group, stamp), false)
    })
  })
}
