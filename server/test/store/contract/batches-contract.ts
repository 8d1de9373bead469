import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { GetOrCreateUserGroup } from '../../../src/domain/user-group/user-group-store.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroupChange } from '../../../src/domain/user-group/user-group.ts'
import { count, freshKey, mint, actor, plain, text } from './store-fixtures.ts'

/** Tests the batch operation that creates or updates many user groups. */
export function describeBatches(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: batches of user groups`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const command = (
      change: UserGroupChange,
      over: Partial<GetOrCreateUserGroup> = {},
    ): GetOrCreateUserGroup => ({
      ...{ key: freshKey(), change, mayWrite: true, issueToken: mint, ...actor, now: 1000 },
      ...over,
    })

    it('accepts an empty batch', async () => {
      assert.deepEqual(await store.userGroups.getOrCreateMany([]), [])
    })

    it('returns results in the order of the commands, even if some fail', async () => {
      const [known, same] = [freshKey(), freshKey()]
      for (const key of [known, same]) await store.userGroups.getOrCreate(command({ name: 'A' }, { key }))
      const commands = [
        command({ name: 'New', mapping: '{"1":"2"}', properties: '{"p":1}' }),
        command({}),
        command({ name: 'B' }, { key: known, now: 2000 }),
        command({ name: 'A' }, { key: same, now: 2000 }),
        command({ name: 'A', mapping: '{"no":"such"}' }, { mappingMode: 'registered' }),
        command({ name: 'A' }, { mayWrite: false }),
        command({ name: 'Elsewhere' }, { key: { ...known, environment: 'Testing' } }),
      ]
      const results = await store.userGroups.getOrCreateMany(commands)
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        [
          ...['created', 'name_required', 'updated', 'unchanged'],
          ...['mapping_refused', 'write_required', 'created'],
        ],
      )
      for (const [i, result] of results.entries()) {
        const found = await store.userGroups.find((commands[i] as GetOrCreateUserGroup).key)
        const returned = 'userGroup' in result ? result.userGroup : null
        assert.deepEqual(plain(found && { ...found, ...returned }), plain(found))
        assert.equal(found === null, returned === null)
        if (result.outcome === 'unchanged') assert.deepEqual([found?.revision, found?.updatedAt], [1, 1000])
        if (result.outcome === 'updated') assert.deepEqual([found?.revision, found?.updatedAt], [2, 2000])
      }
    })

    it('creates several hundred user groups, each with a different token', async () => {
      const results = await store.userGroups.getOrCreateMany(
        Array.from({ length: 600 }, () => command({ name: 'A', mapping: '{"many":"rows"}' })),
      )
      assert.deepEqual(count(results), { created: 600 })
      const groups = results.map((result) => ('userGroup' in result ? result.userGroup : assert.fail()))
      assert.equal(new Set(groups.map(({ teamId }) => teamId)).size, 600)
      assert.equal(new Set(groups.map(({ token }) => text(token.sealed))).size, 600)
    })

    it('creates each user group once when several batches create it at once', async () => {
      const keys = Array.from({ length: 40 }, freshKey)
      const results = await Promise.all(
        Array.from({ length: 6 }, (_, i) =>
          store.userGroups.getOrCreateMany(
            (i % 2 === 0 ? keys : [...keys].reverse()).map((key) => command({ name: 'A' }, { key })),
          ),
        ),
      )
      assert.deepEqual(count(results.flat()), { created: 40, unchanged: 200 })
    })

    it('finishes a batch when the store is closed meanwhile', async () => {
      const closing = await openFreshStore()
      const results = closing.userGroups.getOrCreateMany(
        Array.from({ length: 600 }, () => command({ name: 'A' })),
      )
      await Promise.all([results, closing.close()])
      assert.deepEqual(count(await results), { created: 600 })
    })

    it('keeps a version for each updated user group', async () => {
      const keys = Array.from({ length: 3 }, freshKey)
      const created = await store.userGroups.getOrCreateMany(
        keys.map((key) => command({ name: 'Before' }, { key })),
      )
      await store.userGroups.getOrCreateMany(
        keys.map((key) => command({ name: 'After' }, { key, author: 'cli:someone', now: 2000 })),
      )
      for (const result of created) {
        assert.ok('userGroup' in result)
        const versions = await store.userGroupHistory.listVersions({
          workspaceId: 1,
          ...locationOf(result.userGroup),
          beforeRevision: null,
          limit: 9,
        })
        assert.deepEqual(
          versions.map((version) => [version.revision, version.name, version.updatedBy]),
          [[1, 'Before', actor.author]],
        )
        const found = await store.userGroups.findById(1, 'Customer', result.userGroup.teamId)
        assert.deepEqual([found?.name, found?.updatedBy], ['After', 'cli:someone'])
      }
    })
  })
}
