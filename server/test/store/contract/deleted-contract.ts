import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Sealed } from '../../../src/domain/secret-key/keyring.ts'
import type { DeleteUserGroup, RestoreUserGroup } from '../../../src/domain/user-group/user-group-store.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { Store } from '../../../src/domain/store.ts'
import { deleteExpired } from '../../../src/domain/expiry.ts'
import type { UserGroup, UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate, keyIn, mapped } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { count, hashOf, referenceOf, mint, actor, plain, noneExpired } from './store-fixtures.ts'
import { userGroupOf } from './created-user-group.ts'

/** Tests deleted user groups of a store. */
export function describeDeleted(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: a deleted user group`, () => {
    let store: Store
    let own: Registry
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
    })
    after(() => store.close())

    const created = async (key = keyIn(own)): Promise<UserGroup> => {
      const change = { name: 'Näme 😀', mapping: '{ "40" : "\\u0032" }', properties: '{"a":1.0}' }
      const result = await getOrCreate(store, key, { change })
      return userGroupOf(result)
    }
    const remove = (key: UserGroupKey, over: Partial<DeleteUserGroup> = {}) =>
      store.userGroups.delete({ key, author: 'cli:somebody', requestId: null, now: 9000, ...over })
    const restore = ({ teamId }: Pick<UserGroup, 'teamId'>, over: Partial<RestoreUserGroup> = {}) =>
      store.userGroups.restore({ ...own.tenantScope, ...actor, teamId, deletedAfter: 0, now: 9500, ...over })
    const list = ({ tenantScope } = own, deletedAfter = 0, afterTeamId: number | null = null, limit = 1000) =>
      store.userGroupHistory.listDeleted({ ...tenantScope, deletedAfter, afterTeamId, limit })
    const listed = async ({ teamId }: UserGroup, deletedAfter = 0) =>
      (await list(own, deletedAfter, teamId - 1, 1)).find((deleted) => deleted.teamId === teamId)
    const find = (token: Sealed) =>
      store.userGroups.findByToken(
        own.tenantScope.workspaceId,
        own.tenantScope.environment,
        referenceOf(token),
        2000,
      )
    const rotate = async (token: Sealed) => {
      const result = await store.userGroups.rotate({
        ...actor,
        ...{ ...own.tenantScope, target: { token: referenceOf(token) } },
        ...{ oldTokenValidUntil: 99_000, issueToken: mint, now: 2000 },
      })
      assert.ok('userGroup' in result, result.outcome)
      return result.userGroup.token
    }

    it('is listed with its last state and with the author and time of the deletion', async () => {
      const group = await created()
      await store.userGroups.suspend({ ...actor, key: group, suspended: true, now: 3000 })
      const before = await store.userGroups.find(group)
      assert.equal(await remove(group), 'deleted')
      assert.equal(await store.userGroups.find(group), null)
      const deleted = { ...before, deletedAt: 9000, deletedBy: 'cli:somebody' }
      assert.deepEqual(plain(await listed(group)), plain(deleted))
      assert.equal(await listed(group, 9000), undefined)
      assert.ok(await listed(group, 8999))
    })

    it('must exist in the given workspace and environment', async () => {
      const group = await created()
      const { workspaceId, environment, providedId } = group
      const keys: UserGroupKey[] = [
        keyIn(own),
        { workspaceId, environment: 'Testing', providedId },
        { workspaceId: workspaceId + 1, environment, providedId },
      ]
      for (const key of keys) assert.equal(await remove(key), 'not_found')
      assert.deepEqual(plain(await store.userGroups.find(group)), plain(group))
      assert.equal(await listed(group), undefined)
    })

    it('is deleted once when several requests delete it at once', async () => {
      const group = await created()
      const outcomes = await Promise.all(
        Array.from({ length: 24 }, (_, i) => remove(group, { now: 9000 + i })),
      )
      assert.equal(outcomes.filter((outcome) => outcome === 'deleted').length, 1)
      assert.equal(outcomes.filter((outcome) => outcome === 'not_found').length, 23)
    })

    it('is listed in pages in the order of team ids, only in its workspace and environment', async () => {
      const other = await Registry.fresh(store)
      const elsewhere = new Registry(store, { ...other.tenantScope, environment: 'Testing' })
      const groups: UserGroup[] = []
      for (let i = 0; i < 5; i++) groups.push(await created(keyIn(other)))
      const ids = groups.map(({ teamId }) => teamId)
      for (const [i, group] of groups.toReversed().entries()) await remove(group, { now: 100 + i })
      const last = await created(keyIn(elsewhere))
      await remove(last)
      const idsOf = async (...query: Parameters<typeof list>) =>
        (await list(...query)).map(({ teamId }) => teamId)
      assert.deepEqual(await idsOf(other), ids)
      assert.deepEqual(await idsOf(other, 0, null, 2), ids.slice(0, 2))
      assert.deepEqual(await idsOf(other, 0, ids[1], 2), ids.slice(2, 4))
      assert.deepEqual(await idsOf(other, 0, ids[4]), [])
      // The user groups were deleted in reverse order.
      assert.deepEqual(await idsOf(other, 102), ids.slice(0, 2))
      assert.deepEqual(await idsOf(elsewhere), [last.teamId])
      assert.deepEqual(await idsOf(await Registry.fresh(store)), [])
    })

    describe('after a restoration', () => {
      it('has its last state, and its current token works again', async () => {
        const group = await created()
        const token = await rotate(group.token)
        await store.userGroups.update({ key: group, change: { name: 'B' }, ...actor, now: 3000 })
        const before = await store.userGroups.find(group)
        assert.ok(before)
        await remove(group)
        const restored = await restore(group)
        assert.equal(restored.outcome, 'restored')
        const after = { ...before, revision: before.revision + 1 }
        assert.deepEqual(plain('userGroup' in restored && restored.userGroup), plain(after))
        assert.deepEqual(plain(await store.userGroups.find(group)), plain(after))
        assert.equal((await find(token))?.userGroup.teamId, group.teamId)
        // Superseded tokens stay unknown, even within their grace period.
        assert.equal(await find(group.token), null)
        assert.equal(await listed(group), undefined)
      })
      it('can be changed, rotated, deleted and restored again', async () => {
        const group = await created()
        await remove(group)
        await restore(group)
        assert.equal((await getOrCreate(store, group, { change: { name: 'B' } })).outcome, 'updated')
        const token = await rotate(group.token)
        assert.equal((await find(group.token))?.validUntil, 99_000)
        assert.equal(await remove(group, { now: 9500 }), 'deleted')
        assert.equal((await listed(group))?.deletedAt, 9500)
        const again = await restore(group)
        assert.deepEqual(plain('userGroup' in again && again.userGroup.token), plain(token))
        assert.equal('userGroup' in again && again.userGroup.revision, 5)
      })
      it('has its earlier versions and adds new ones', async () => {
        const group = await created()
        const rename = (to: string) =>
          store.userGroups.update({ key: group, change: { name: to }, ...actor, now: 2000 })
        const versions = async () =>
          (
            await store.userGroupHistory.listVersions({
              ...own.tenantScope,
              ...locationOf(group),
              beforeRevision: null,
              limit: 9,
            })
          ).map(({ revision, name }) => [revision, name])
        await rename('B')
        await rename('C')
        await remove(group)
        const before = [
          [2, 'B'],
          [1, group.name],
        ]
        assert.deepEqual(await versions(), before)
        await restore(group)
        assert.deepEqual(await versions(), before)
        await rename('D')
        assert.deepEqual(await versions(), [[4, 'C'], ...before])
      })

      it('is still suspended if it was before', async () => {
        const group = await created()
        await store.userGroups.suspend({ ...actor, key: group, suspended: true, now: 3000 })
        await remove(group)
        await restore(group)
        assert.equal((await store.userGroups.find(group))?.suspendedAt, 3000)
        assert.equal(await find(group.token), null)
        await store.userGroups.suspend({ ...actor, key: group, suspended: false, now: 3000 })
        assert.ok(await find(group.token))
      })

      it('has its data sources, which cannot be deleted', async () => {
        const registry = await Registry.fresh(store)
        const schema = await registry.createSchema({ providedId: 'sales' })
        const eu = await registry.createDataSource(schema, { providedId: 'eu' })
        const us = await registry.createDataSource(schema, { providedId: 'us' })
        const mapping = { sales: 'eu', [schema.id]: 'us', 'a\0': 'b' }
        const group = await mapped(store, keyIn(registry), mapping)
        await remove(group)
        assert.equal(await registry.deleteDataSource(us), 'deleted')
        assert.equal((await restore(group, registry.tenantScope)).outcome, 'restored')
        assert.equal(await registry.deleteDataSource(eu), 'in_use')
        const { workspaceId, environment } = registry.tenantScope
        const owner = await store.userGroups.findByToken(
          workspaceId,
          environment,
          referenceOf(group.token),
          1000,
        )
        assert.deepEqual(
          owner?.dataSources.map(({ dataSource }) => dataSource.id),
          [eu.id],
        )
        await remove(group)
        assert.equal(await registry.deleteDataSource(eu), 'deleted')
      })
    })

    describe('is not restored', () => {
      /** Asserts that a restoration is refused and changes nothing. */
      const isRefused = async (
        group: UserGroup,
        outcome: 'not_found' | 'id_taken',
        over: Partial<RestoreUserGroup> = {},
      ) => {
        const kept = async () => plain([await store.userGroups.find(group), await list()])
        const before = await kept()
        assert.deepEqual(await restore(group, over), { outcome })
        assert.deepEqual(await kept(), before)
      }

      it('while its id is taken', async () => {
        const group = await created()
        await remove(group)
        const other = await created(group)
        assert.notEqual(other.teamId, group.teamId)
        await isRefused(group, 'id_taken')
        await remove(other)
        assert.equal((await restore(group)).outcome, 'restored')
        await isRefused(other, 'id_taken')
        assert.ok(await find(group.token))
        assert.equal(await find(other.token), null)
      })

      it('when it was deleted too long ago', async () => {
        const group = await created()
        await remove(group, { now: 5000 })
        await isRefused(group, 'not_found', { deletedAfter: 5000 })
        await isRefused(group, 'not_found', { deletedAfter: 5001 })
        // The outcome stays the same when its id is taken.
        const other = await created(group)
        await isRefused(group, 'not_found', { deletedAfter: 5000 })
        await remove(other)
        assert.equal((await restore(group, { deletedAfter: 4999 })).outcome, 'restored')
      })

      it('when it is unknown, not deleted, already restored, or of another workspace or environment', async () => {
        const group = await created()
        await isRefused(group, 'not_found')
        await isRefused({ ...group, teamId: group.teamId + 100_000 }, 'not_found')
        await remove(group)
        await isRefused(group, 'not_found', { environment: 'Testing' })
        await isRefused(group, 'not_found', { workspaceId: group.workspaceId + 1 })
        await restore(group)
        await isRefused(group, 'not_found')
      })
    })

    it('is restored once when several requests restore it at once', async () => {
      const group = await created()
      await remove(group)
      const results = await Promise.all(Array.from({ length: 24 }, () => restore(group)))
      assert.deepEqual(count(results), { restored: 1, not_found: 23 })
      assert.equal((await store.userGroups.find(group))?.revision, 2)
    })

    it('is restored alone when several with the same id are restored at once', async () => {
      const groups: UserGroup[] = []
      const key = keyIn(own)
      for (let i = 0; i < 8; i++) {
        groups.push(await created(key))
        await remove(key)
      }
      const results = await Promise.all(groups.map((group) => restore(group)))
      assert.deepEqual(count(results), { restored: 1, id_taken: 7 })
      const found = await store.userGroups.find(key)
      assert.equal(found?.teamId, groups[results.findIndex(({ outcome }) => outcome === 'restored')]?.teamId)
    })

    it('is restored, or its id is taken, when one with the same id is created at the same time', async () => {
      for (let round = 0; round < 12; round++) {
        const group = await created()
        await remove(group)
        const create = () => getOrCreate(store, group)
        // The creation starts before or after the restoration.
        const first = round % 2 === 0 ? [create()] : []
        const restoring = restore(group)
        const outcomes = (await Promise.all([...first, create()])).map(({ outcome }) => outcome)
        const restored = await restoring
        const found = await store.userGroups.find(group)
        if (restored.outcome === 'restored') {
          assert.equal(found?.teamId, group.teamId)
          assert.ok(!outcomes.includes('created'), outcomes.join())
        } else {
          assert.equal(restored.outcome, 'id_taken')
          assert.notEqual(found?.teamId, group.teamId)
          assert.equal(outcomes.filter((outcome) => outcome === 'created').length, 1)
        }
      }
    })
  })

  describe(`${name}: user groups that were deleted long ago`, () => {
    let store: Store
    let own: Registry
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
    })
    after(() => store.close())

    const changed = async (registry = own): Promise<UserGroup> => {
      const key = keyIn(registry)
      await getOrCreate(store, key)
      const result = await getOrCreate(store, key, { change: { name: 'B' } })
      const userGroup = userGroupOf(result)
      const { workspaceId } = userGroup
      const introspection = { workspaceId, ...locationOf(userGroup), introspectedAt: 60_000 }
      await store.introspections.record([introspection])
      return userGroup
    }
    const remove = (key: UserGroupKey, now: number) => store.userGroups.delete({ key, ...actor, now })
    const kept = async (group: UserGroup) => {
      const { workspaceId, environment, teamId } = group
      const location = locationOf(group)
      const deleted = await store.userGroupHistory.listDeleted({
        ...{ workspaceId, environment, deletedAfter: 0, afterTeamId: teamId - 1, limit: 1 },
      })
      const query = { workspaceId, ...location, beforeRevision: null, limit: 9 }
      return {
        isDeleted: deleted.some((found) => found.teamId === teamId),
        versions: (await store.userGroupHistory.listVersions(query)).length,
        introspectedAt: (await store.introspections.findLast(workspaceId, [location]))[0],
      }
    }
    const nothing = { isDeleted: false, versions: 0, introspectedAt: null }

    it('are deleted with their versions and introspection times, and no others', async () => {
      const other = await Registry.fresh(store)
      const [old, justOld, young, alive, elsewhere] = [
        await changed(),
        await changed(),
        await changed(),
        await changed(),
        await changed(other),
      ]
      for (const [group, now] of [
        [old, 1000],
        [justOld, 2000],
        [young, 2001],
        [elsewhere, 1500],
      ] as const)
        assert.equal(await remove(group, now), 'deleted')
      assert.equal(await deleteDeleted(store, 999), 0)
      assert.equal(await deleteDeleted(store, 2000), 3)
      for (const group of [old, justOld, elsewhere]) assert.deepEqual(await kept(group), nothing)
      assert.deepEqual(await kept(young), { isDeleted: true, versions: 1, introspectedAt: 60_000 })
      assert.deepEqual(await kept(alive), { isDeleted: false, versions: 1, introspectedAt: 60_000 })
      assert.equal(await deleteDeleted(store, 2000), 0)
      const { workspaceId, environment, teamId } = old
      const query = { ...actor, workspaceId, environment, teamId, deletedAfter: 0, now: 9000 }
      assert.deepEqual(await store.userGroups.restore(query), { outcome: 'not_found' })
      await store.userGroups.restore({ ...query, teamId: young.teamId })
      assert.equal(await deleteDeleted(store, 99_000), 0)
      assert.ok(await store.userGroups.find(young))
    })

    it('are counted together with expired idempotency keys', async () => {
      const group = await changed()
      const keyHash = hashOf({ sealed: Buffer.from('a key') })
      const result = await store.userGroups.rotate({
        ...actor,
        ...{ ...own.tenantScope, target: { token: referenceOf(group.token) } },
        ...{ oldTokenValidUntil: 1000, issueToken: mint, now: 1000 },
        idempotency: { keyHash, fingerprint: keyHash, expiresAt: 5000 },
      })
      assert.equal(result.outcome, 'rotated')
      const deleted = await changed()
      await remove(deleted, 3000)
      assert.equal(await deleteExpired(store, { ...noneExpired, now: 4999, deletedBefore: 2999 }), 0)
      assert.equal(await deleteExpired(store, { ...noneExpired, now: 5000, deletedBefore: 3000 }), 2)
      assert.equal((await kept(group)).versions, 1)
    })

    it('are all deleted in several batches, in all workspaces', async () => {
      const registries = [
        own,
        await Registry.fresh(store),
        new Registry(store, { ...own.tenantScope, environment: 'Testing' }),
      ]
      const groups: UserGroup[] = []
      while (groups.length < 1200) {
        const some = Array.from({ length: 300 }, (_, i) => changed(registries[i % registries.length]))
        groups.push(...(await Promise.all(some)))
      }
      const last = groups.pop() as UserGroup
      for (let i = 0; i < groups.length; i += 300)
        await Promise.all(groups.slice(i, i + 300).map((group, j) => remove(group, 4000 + ((i + j) % 7))))
      await remove(last, 5000)
      assert.equal(await deleteDeleted(store, 4999), groups.length)
      const some = [groups[0], groups[1], groups[999], groups[1000], groups.at(-1)] as UserGroup[]
      for (const group of some) assert.deepEqual(await kept(group), nothing)
      assert.deepEqual(await kept(last), { isDeleted: true, versions: 1, introspectedAt: 60_000 })
      for (const { tenantScope } of registries) {
        const left = await store.userGroupHistory.listDeleted({
          ...tenantScope,
          deletedAfter: 0,
          afterTeamId: null,
          limit: 9,
        })
        assert.ok(left.every(({ teamId }) => teamId === last.teamId))
      }
    })
  })
}

const deleteDeleted = (store: Store, deletedBefore: number) =>
  deleteExpired(store, { ...noneExpired, deletedBefore })
