import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { Author } from '../../../src/domain/audit/audit-event.ts'
import type { UserGroup, UserGroupVersion } from '../../../src/domain/user-group/user-group.ts'
import { getOrCreate, keyIn } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { referenceOf, mint, origin } from './store-fixtures.ts'
import { madeBy } from './created-user-group.ts'

/** Tests the earlier versions of a user group. */
export function describeVersions(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: the earlier versions of a user group`, () => {
    let store: Store
    let own: Registry
    before(async () => {
      store = await openFreshStore()
      own = await Registry.fresh(store)
    })
    after(() => store.close())

    const created = async (
      change: { name: string; mapping?: string; properties?: string } = { name: 'A' },
    ) => {
      const result = await getOrCreate(store, keyIn(own), { change })
      return madeBy(result)
    }
    const versionsOf = (
      group: UserGroup,
      beforeRevision: number | null = null,
      limit = 1000,
    ): Promise<UserGroupVersion[]> =>
      store.userGroupHistory.listVersions({
        workspaceId: own.tenantScope.workspaceId,
        ...locationOf(group),
        beforeRevision,
        limit,
      })
    const revisions = (versions: readonly UserGroupVersion[]) => versions.map(({ revision }) => revision)
    const rename = (group: UserGroup, to: string, by: Author = origin.author, now = 2000) =>
      store.userGroups.update({ ...origin, key: group, change: { name: to }, author: by, now })

    it('are empty after the creation', async () => {
      assert.deepEqual(await versionsOf(await created()), [])
    })

    it('contain the exact earlier states, newest first, with author and time', async () => {
      const first = { name: 'Näme 😀', mapping: '{"40" : "\\u0032"}', properties: '{"a":1.0,"z":-0}' }
      const group = await created(first)
      await store.userGroups.update({
        ...origin,
        ...{ key: group, author: 'cli:somebody', now: 2000 },
        change: { name: 'B', mapping: null },
      })
      await getOrCreate(store, group, { change: { properties: null }, author: 'api_token:2', now: 3000 })
      await store.userGroups.update({ key: group, change: { mapping: '{}' }, ...origin, now: 4000 })
      const second = { name: 'B', mapping: null, properties: first.properties }
      assert.deepEqual(await versionsOf(group), [
        { revision: 3, updatedAt: 3000, updatedBy: 'api_token:2', ...second, properties: null },
        { revision: 2, updatedAt: 2000, updatedBy: 'cli:somebody', ...second },
        { revision: 1, updatedAt: 1000, updatedBy: origin.author, ...first },
      ])
    })

    it('are kept for changes of name, mapping and properties, with the last revision of each state', async () => {
      const group = await created()
      await store.userGroups.rotate({
        ...origin,
        ...{ ...own.tenantScope, target: { token: referenceOf(group.token) } },
        ...{ oldTokenValidUntil: 2000, issueToken: mint, now: 2000 },
      })
      await store.userGroups.suspend({ ...origin, key: group, suspended: true, now: 2000 })
      await rename(group, 'A')
      assert.deepEqual(await versionsOf(group), [])
      await rename(group, 'B')
      await store.userGroups.suspend({ ...origin, key: group, suspended: false, now: 3000 })
      await rename(group, 'C')
      assert.deepEqual(
        (await versionsOf(group)).map(({ revision, name }) => [revision, name]),
        [
          [5, 'B'],
          [3, 'A'],
        ],
      )
      assert.equal((await store.userGroups.find(group))?.revision, 6)
    })

    it('are listed before a revision and up to a limit', async () => {
      const group = await created()
      for (const to of ['B', 'C', 'D', 'E']) await rename(group, to)
      assert.deepEqual(revisions(await versionsOf(group)), [4, 3, 2, 1])
      assert.deepEqual(revisions(await versionsOf(group, null, 2)), [4, 3])
      assert.deepEqual(revisions(await versionsOf(group, 3)), [2, 1])
      assert.deepEqual(revisions(await versionsOf(group, 4, 1)), [3])
      assert.deepEqual(revisions(await versionsOf(group, 1)), [])
      assert.deepEqual(revisions(await versionsOf(group, 99)), [4, 3, 2, 1])
    })

    it('belong to one user group in its workspace', async () => {
      const [group, other] = [await created(), await created()]
      await rename(group, 'B')
      assert.deepEqual(await versionsOf(other), [])
      const elsewhere = await Registry.fresh(store)
      const { workspaceId } = elsewhere.tenantScope
      const query = { ...locationOf(group), beforeRevision: null, limit: 9 }
      assert.deepEqual(await store.userGroupHistory.listVersions({ ...query, workspaceId }), [])
    })

    it('are kept for the last 100 revisions', async () => {
      const group = await created({ name: 'name 1' })
      const untouched = await created({ name: 'before' })
      await rename(untouched, 'after')
      for (let revision = 1; revision <= 130; revision++) await rename(group, `name ${revision + 1}`)
      const versions = await versionsOf(group)
      assert.deepEqual(
        revisions(versions),
        Array.from({ length: 100 }, (_, i) => 130 - i),
      )
      for (const { revision, name } of versions) assert.equal(name, `name ${revision}`)
      // Suspensions count as revisions too.
      for (let i = 0; i < 60; i++) {
        await store.userGroups.suspend({ ...origin, key: group, suspended: i % 2 === 0, now: 2000 })
      }
      await rename(group, 'last')
      assert.deepEqual(revisions(await versionsOf(group)), [
        191,
        ...Array.from({ length: 39 }, (_, i) => 130 - i),
      ])
      assert.deepEqual(revisions(await versionsOf(untouched)), [1])
    })

    it('are complete after simultaneous changes, each with its own author and time', async () => {
      const group = await created({ name: '0', properties: '{"i":0}' })
      const count = 48
      await Promise.all(
        Array.from({ length: count }, async (_, index) => {
          const i = index + 1
          const change = { name: String(i), properties: `{"i":${i}}` }
          const by = { author: `api_token:${i}` as const, now: 1000 + i }
          const { outcome } =
            i % 2 === 0
              ? await store.userGroups.update({ ...origin, key: group, change, ...by })
              : await getOrCreate(store, group, { change, ...by })
          assert.equal(outcome, 'updated')
        }),
      )
      const current = await store.userGroups.find(group)
      assert.ok(current)
      assert.equal(current.revision, count + 1)
      const versions = await versionsOf(group)
      assert.deepEqual(
        revisions(versions),
        Array.from({ length: count }, (_, i) => count - i),
      )
      const all = [...versions, current].map(({ name, properties, updatedBy, updatedAt }) => {
        if (name !== '0')
          assert.deepEqual(
            [properties, updatedBy, updatedAt],
            [`{"i":${name}}`, `api_token:${name}`, 1000 + Number(name)],
          )
        return Number(name)
      })
      assert.equal(versions.at(-1)?.name, '0')
      assert.deepEqual(
        all.sort((a, b) => a - b),
        Array.from({ length: count + 1 }, (_, i) => i),
      )
    })
  })
}
