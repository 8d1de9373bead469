import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Sealed } from '../../../src/domain/secret-key/keyring.ts'
import type { RotateUserGroupToken } from '../../../src/domain/user-group/user-group-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { UserGroup, UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate, keyIn } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { count, deletion, referenceOf, mint, origin, plain, tokenless } from './store-fixtures.ts'
import { madeBy } from './created-user-group.ts'

/** Tests suspended user groups and the identification of tokens. */
export function describeSuspension(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: a suspended user group`, () => {
    let store: Store
    let own: Registry
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
    })
    after(() => store.close())

    const created = async (): Promise<UserGroup> => {
      const result = await getOrCreate(store, keyIn(own))
      return madeBy(result)
    }
    const suspend = (key: UserGroupKey, suspended = true, now = 2000) =>
      store.userGroups.suspend({ ...origin, key, suspended, now })
    const find = (token: Sealed, now = 2000) => {
      const { workspaceId, environment } = own.tenantScope
      return store.userGroups.findByToken(workspaceId, environment, referenceOf(token), now)
    }
    const rotate = async (token: Sealed, over: Partial<RotateUserGroupToken> = {}) => {
      const result = await store.userGroups.rotate({
        ...{ ...own.tenantScope, ...origin, target: { token: referenceOf(token) } },
        ...{ oldTokenValidUntil: 9000, issueToken: mint, now: 2000 },
        ...over,
      })
      assert.ok('userGroup' in result, result.outcome)
      return result.userGroup.token
    }

    it('has the time of the suspension and no other change', async () => {
      const group = await created()
      const result = await suspend(group)
      assert.equal(result.outcome, 'updated')
      const suspended = { ...group, revision: 2, suspendedAt: 2000 }
      assert.deepEqual(plain('userGroup' in result && result.userGroup), plain(suspended))
      assert.deepEqual(plain(await store.userGroups.find(group)), plain(suspended))
    })

    it('has no active token until it is resumed', async () => {
      const group = await created()
      const current = await rotate(group.token)
      assert.ok(await find(current))
      assert.equal((await find(group.token))?.validUntil, 9000)
      await suspend(group)
      assert.equal(await find(current), null)
      assert.equal(await find(group.token), null)
      const resumed = await suspend(group, false)
      assert.equal(resumed.outcome, 'updated')
      assert.equal('userGroup' in resumed && resumed.userGroup.suspendedAt, null)
      assert.equal((await find(current))?.validUntil, null)
      assert.equal((await find(group.token, 8999))?.validUntil, 9000)
      assert.equal(await find(group.token, 9000), null)
    })

    it('can be found, changed and rotated, and stays suspended', async () => {
      const group = await created()
      await suspend(group)
      const same = await getOrCreate(store, group)
      assert.equal(same.outcome, 'unchanged')
      assert.deepEqual(plain('userGroup' in same && same.userGroup.token), plain(group.token))
      assert.equal((await getOrCreate(store, group, { change: { name: 'B' } })).outcome, 'updated')
      const change = { properties: '{"a":1}' }
      assert.equal(
        (await store.userGroups.update({ key: group, change, ...origin, now: 3000 })).outcome,
        'updated',
      )
      const token = await rotate(group.token)
      const byId = await rotate(token, { target: { providedId: group.providedId } })
      for (const one of [group.token, token, byId]) assert.equal(await find(one), null)
      const found = await store.userGroups.find(group)
      assert.deepEqual(
        [found?.name, found?.properties, found?.suspendedAt, found?.revision],
        ['B', '{"a":1}', 2000, 6],
      )
      await suspend(group, false)
      assert.ok(await find(byId))
    })

    it('keeps its first suspension time and writes nothing when it is suspended again', async () => {
      const group = await created()
      assert.equal((await suspend(group, false)).outcome, 'unchanged')
      await suspend(group)
      const before = await store.userGroups.find(group)
      const again = await suspend(group, true, 3000)
      assert.equal(again.outcome, 'unchanged')
      assert.deepEqual(plain('userGroup' in again && again.userGroup), plain(before))
      assert.deepEqual(plain(await store.userGroups.find(group)), plain(before))
    })

    it('is suspended or resumed once when several requests do it at once', async () => {
      const group = await created()
      for (const [suspended, revision] of [
        [true, 2],
        [false, 3],
      ] as const) {
        const results = await Promise.all(
          Array.from({ length: 24 }, (_, i) => suspend(group, suspended, 2000 + i)),
        )
        assert.deepEqual(count(results), { updated: 1, unchanged: 23 })
        assert.equal((await store.userGroups.find(group))?.revision, revision)
        for (const result of results)
          assert.equal('userGroup' in result && result.userGroup.revision, revision)
      }
    })

    it('must exist in the given workspace and environment', async () => {
      const group = await created()
      const { workspaceId, environment, providedId } = group
      const keys: UserGroupKey[] = [
        keyIn(own),
        { workspaceId, environment: 'Testing', providedId },
        { workspaceId: workspaceId + 1, environment, providedId },
      ]
      for (const key of keys) assert.deepEqual(await suspend(key), { outcome: 'not_found' })
      assert.deepEqual(plain(await store.userGroups.find(group)), plain(group))
    })

    it('does not affect other user groups', async () => {
      const [group, other] = [await created(), await created()]
      await suspend(group)
      assert.deepEqual(plain(await store.userGroups.find(other)), plain(other))
      assert.ok(await find(other.token))
    })

    describe('identifying a token', () => {
      const identify = (token: Sealed, { workspaceId, environment } = own.tenantScope) =>
        store.userGroups.identifyToken(workspaceId, environment, referenceOf(token))

      it('finds the user group of an active or inactive token', async () => {
        const group = await created()
        assert.deepEqual(
          plain(await identify(group.token)),
          plain({ userGroup: tokenless(group), validUntil: null }),
        )
        const second = await rotate(group.token, { oldTokenValidUntil: 5000 })
        const third = await rotate(second, { oldTokenValidUntil: 2000 })
        await suspend(group)
        const found = await store.userGroups.find(group)
        assert.ok(found)
        for (const [token, validUntil] of [
          [group.token, 5000],
          [second, 2000],
          [third, null],
        ] as const)
          assert.deepEqual(plain(await identify(token)), plain({ userGroup: tokenless(found), validUntil }))
      })

      it('finds nothing for an unknown token, another workspace or environment, or a deleted user group', async () => {
        const group = await created()
        const current = await rotate(group.token)
        assert.equal(await identify(mint(group, locationOf(group))), null)
        for (const token of [group.token, current]) {
          assert.equal(await identify(token, { ...own.tenantScope, environment: 'Testing' }), null)
          assert.equal(await identify(token, (await Registry.fresh(store)).tenantScope), null)
        }
        assert.equal(await store.userGroups.delete(deletion(group)), 'deleted')
        for (const token of [group.token, current]) assert.equal(await identify(token), null)
      })
    })
  })
}
