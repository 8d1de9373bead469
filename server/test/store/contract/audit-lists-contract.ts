import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { firstEventId, type AuditEvent } from '../../../src/domain/audit/audit-event.ts'
import type { ListAuditEvents } from '../../../src/domain/audit/audit-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { allOf, by, event, made, newApiToken, newUserGroup, told } from './audit-events.ts'
import { freshKey, mint, newWorkspace, origin } from './store-fixtures.ts'

/** How every store must list its events, and remove old ones. */
export function describeAuditLists(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: the contract of a store, the list of events`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    /** A workspace of its own, which has no events in this environment. */
    const freshRealm = async (): Promise<TenantScope> => {
      const made = await store.workspaces.create({
        ...newWorkspace(freshKey().providedId),
        environment: 'Customer',
      })
      return { workspaceId: made?.workspace.id ?? 0, environment: 'Testing' }
    }
    /** An event at this time, that is told apart by its request. */
    const happen = async (tenantScope: TenantScope, createdAt: number, requestId = String(createdAt)) =>
      store.apiTokens.create(newApiToken({ ...tenantScope, createdAt, requestId }))
    const list = async (realm: TenantScope, over: Partial<ListAuditEvents> = {}) =>
      store.audit.list({ ...allOf(realm), ...over })
    const requests = (events: readonly AuditEvent[]) => events.map(({ requestId }) => requestId)
    const actions = (events: readonly AuditEvent[]) => events.map(({ action }) => action)

    /** All pages, each asked for after the last event of the one before. */
    async function pages(
      tenantScope: TenantScope,
      limit: number,
      over: Partial<ListAuditEvents> = {},
    ): Promise<AuditEvent[]> {
      const seen: AuditEvent[] = []
      for (;;) {
        const last = seen.at(-1)
        const next = last !== undefined && { beforeEventId: last.eventId }
        const page = await list(tenantScope, { limit, ...over, ...next })
        assert.ok(page.length <= limit)
        if (page.length === 0) return seen
        seen.push(...page)
      }
    }

    it('has the newest first, whatever the order in which they were made', async () => {
      const realm = await freshRealm()
      for (const time of [3000, 1000, 2 ** 41, 2000, 0]) await happen(realm, time)
      assert.deepEqual(requests(await list(realm)), [String(2 ** 41), '3000', '2000', '1000', '0'])
      assert.deepEqual(requests(await list(realm, { limit: 2 })), [String(2 ** 41), '3000'])
    })

    it('has ids that are UUIDs of version 7, in the order in which they were made', async () => {
      const realm = await freshRealm()
      for (const request of ['a', 'b', 'c', 'd', 'e']) await happen(realm, 5000, request)
      // Other times come between those of one millisecond.
      for (const request of ['f', 'g', 'h']) {
        await happen(realm, 5000, request)
        await happen(realm, 5001, `later ${request}`)
      }
      const events = await list(realm, { beforeEventId: firstEventId(5001) })
      assert.equal(requests(events).join(''), 'hgfedcba')
      for (const { eventId } of events)
        assert.match(eventId, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    })

    it('begins with what is before an id, and ends with what was at a time', async () => {
      const realm = await freshRealm()
      for (const time of [1999, 2000, 2001, 3000]) await happen(realm, time)
      const of = async (over: Partial<ListAuditEvents>) => requests(await list(realm, over))
      assert.deepEqual(await of({ since: 2000 }), ['3000', '2001', '2000'])
      assert.deepEqual(await of({ since: 2001 }), ['3000', '2001'])
      assert.deepEqual(await of({ since: 3001 }), [])
      assert.deepEqual(await of({ beforeEventId: firstEventId(2001) }), ['2000', '1999'])
      assert.deepEqual(await of({ since: 2000, beforeEventId: firstEventId(2001) }), ['2000'])
      assert.deepEqual(await of({ since: 2001, beforeEventId: firstEventId(2000) }), [])
      const [newest] = await list(realm)
      assert.deepEqual(await of({ beforeEventId: newest?.eventId ?? '' }), ['2001', '2000', '1999'])
    })

    it('has pages without a gap or a repetition, within a millisecond too', async () => {
      const realm = await freshRealm()
      for (let i = 0; i < 17; i++) await happen(realm, 1000 + Math.floor(i / 6), String(i))
      const expected = Array.from({ length: 17 }, (_, i) => String(16 - i))
      for (const limit of [1, 2, 5, 16, 17, 18]) {
        assert.deepEqual(requests(await pages(realm, limit)), expected, `by ${limit}`)
        assert.deepEqual(
          requests(await pages(realm, limit, { since: 1001 })),
          expected.slice(0, 11),
          `by ${limit}`,
        )
      }
    })

    it('is of one workspace and environment', async () => {
      const realms = [await freshRealm(), await freshRealm()]
      const [first, second] = realms as [TenantScope, TenantScope]
      const customer = { ...first, environment: 'Customer' } as const
      for (const one of [first, customer, second])
        await happen(one, 9000, `${one.workspaceId} ${one.environment}`)
      for (const one of [first, customer, second]) {
        assert.deepEqual(requests(await list(one, { since: 2 })), [`${one.workspaceId} ${one.environment}`])
      }
    })

    /** Everything that can be told of a user group, at 1000, 2000 and so on. */
    async function live(tenantScope: TenantScope, over: { createdAt?: number } = {}): Promise<UserGroup> {
      const key = { ...freshKey(), ...tenantScope }
      const { createdAt = 1000 } = over
      const group = await made(store, { key, now: createdAt })
      await store.userGroups.update({ key, change: { name: 'B' }, ...origin, now: 2000 })
      const target = { providedId: key.providedId }
      await store.userGroups.rotate({
        ...{ ...tenantScope, target, oldTokenValidUntil: 3000, issueToken: mint, ...origin, now: 3000 },
      })
      for (const suspended of [true, false])
        await store.userGroups.suspend({ key, suspended, ...origin, now: suspended ? 4000 : 5000 })
      return group
    }
    const lived = ['resumed', 'suspended', 'token_rotated', 'updated', 'created'].map(
      (what) => `user_group.${what}`,
    )

    it('of a user group has all of its own, its creation too, and no other', async () => {
      const realm = await freshRealm()
      const groups = [await live(realm), await live(realm)]
      await happen(realm, 1500)
      const elsewhere = await live({ ...realm, environment: 'Customer' })
      for (const { teamId, providedId } of groups) {
        const events = await list(realm, { teamId })
        assert.deepEqual(actions(events), lived)
        for (const { userGroup } of events) assert.deepEqual(userGroup, { teamId, providedId })
        assert.deepEqual(await list({ ...realm, environment: 'Customer' }, { teamId }), [])
        assert.deepEqual(await list(await freshRealm(), { teamId }), [])
      }
      const { teamId } = elsewhere
      assert.equal((await list({ ...realm, environment: 'Customer' }, { teamId })).length, 5)
      assert.deepEqual(await list(realm, { teamId }), [])
      assert.equal((await list(realm)).length, 11)
    })

    it('of a user group is cut by times and ids, its creation too', async () => {
      const realm = await freshRealm()
      const { teamId } = await live(realm)
      const of = async (over: Partial<ListAuditEvents>) => actions(await list(realm, { teamId, ...over }))
      assert.deepEqual(await of({ since: 1000 }), lived)
      assert.deepEqual(await of({ since: 1001 }), lived.slice(0, 4))
      assert.deepEqual(await of({ since: 2001 }), lived.slice(0, 3))
      assert.deepEqual(await of({ beforeEventId: firstEventId(1001) }), lived.slice(4))
      assert.deepEqual(await of({ beforeEventId: firstEventId(1000) }), [])
      assert.deepEqual(await of({ since: 1000, beforeEventId: firstEventId(2001) }), lived.slice(3))
      assert.deepEqual(await of({ limit: 4 }), lived.slice(0, 4))
      assert.deepEqual(await of({ limit: 5 }), lived)
      for (const limit of [1, 2, 3, 4, 5, 6]) {
        assert.deepEqual(actions(await pages(realm, limit, { teamId })), lived, `by ${limit}`)
      }
    })

    it('of a user group that was deleted has the same, and so when it was restored', async () => {
      const realm = await freshRealm()
      const { teamId, providedId } = await live(realm)
      const key = { ...realm, providedId }
      await store.userGroups.delete({ key, ...origin, now: 6000 })
      const deleted = ['user_group.deleted', ...lived]
      assert.deepEqual(actions(await list(realm, { teamId })), deleted)
      // Another one that has its id now has events of its own.
      const other = await made(store, { key, now: 6500 })
      assert.deepEqual(actions(await list(realm, { teamId: other.teamId })), ['user_group.created'])
      assert.deepEqual(actions(await list(realm, { teamId })), deleted)
      await store.userGroups.delete({ key, ...origin, now: 6600 })
      await store.userGroups.restore({ ...realm, teamId, deletedAfter: 0, ...origin, now: 7000 })
      assert.deepEqual(actions(await pages(realm, 2, { teamId })), ['user_group.restored', ...deleted])
    })

    it('of a user group has its creation where it belongs, whatever the clocks of two processes say', async () => {
      const realm = await freshRealm()
      // Whoever came first has another's creation before it: its update is of an earlier time.
      const { teamId } = await live(realm, { createdAt: 3500 })
      const expected = [...lived.slice(0, 2), 'user_group.created', ...lived.slice(2, 4)]
      assert.deepEqual(actions(await list(realm, { teamId })), expected)
      for (const limit of [1, 2, 3, 4])
        assert.deepEqual(actions(await pages(realm, limit, { teamId })), expected, `by ${limit}`)
      const since3000 = await pages(realm, 1, { teamId, since: 3000 })
      assert.deepEqual(actions(since3000), expected.slice(0, 4))
    })

    it('of a user group and of one millisecond is in the order in which they were made', async () => {
      const realm = await freshRealm()
      const key = { ...freshKey(), ...realm }
      const { teamId } = await made(store, { key, now: 1000 })
      for (const name of ['B', 'C', 'D'])
        await store.userGroups.update({ key, change: { name }, author: 'cli:a', requestId: name, now: 1000 })
      for (const limit of [1, 2, 3, 9])
        assert.deepEqual(requests(await pages(realm, limit, { teamId })), ['D', 'C', 'B', origin.requestId])
    })
  })

  describe(`${name}: the contract of a store, old events`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const realm = { workspaceId: 1, environment: 'Testing' } as const
    /** So many events at this time. */
    async function happen(where: TenantScope, now: number, howMany: number): Promise<void> {
      const commands = Array.from({ length: howMany }, () =>
        newUserGroup({ key: { ...freshKey(), ...where }, now }),
      )
      await store.userGroups.getOrCreateMany(commands)
    }
    const times = async (where: TenantScope) =>
      (await store.audit.list(allOf(where))).map(told).map(({ time }) => time)
    const prune = (before: number, where: TenantScope = realm) =>
      store.audit.prune({ ...where, before, ...by, now: 9000 })

    it('are removed where they are older, and told of by one event, however many they are', async () => {
      const other = await store.workspaces.create({ ...newWorkspace('second', 1000), environment: 'Testing' })
      const ofOthers = [
        { ...realm, environment: 'Customer' },
        { ...realm, workspaceId: other?.workspace.id ?? 0 },
      ] as const
      for (const one of ofOthers) await happen(one, 1000, 2)
      await happen(realm, 1000, 1800)
      await happen(realm, 1999, 700)
      await happen(realm, 2000, 3)
      const before = await Promise.all(ofOthers.map(times))
      assert.equal(await prune(2000), 2500)
      assert.deepEqual(await times(realm), [9000, 2000, 2000, 2000])
      assert.deepEqual(await Promise.all(ofOthers.map(times)), before)
      const [pruned] = await store.audit.list(allOf(realm))
      assert.ok(pruned)
      const details = { before: new Date(2000).toISOString() }
      assert.deepEqual(told(pruned), event('audit_log.pruned', { time: 9000, details }))
    })

    it('leave no word where there are none', async () => {
      const before = await times(realm)
      assert.equal(await prune(2000), 0)
      assert.deepEqual(await times(realm), before)
    })

    it('are removed as whole thousands too', async () => {
      const where = { ...realm, environment: 'Customer' } as const
      await prune(1001, where)
      await happen(where, 1000, 2000)
      const before = await times(where)
      assert.equal(await prune(1001, where), 2000)
      assert.deepEqual(await times(where), [9000, ...before.filter((time) => time > 1000)])
    })

    it('are never those of the removal itself', async () => {
      const made = await store.workspaces.create(newWorkspace('of all', 9000))
      const where = { workspaceId: made?.workspace.id ?? 0, environment: 'Testing' } as const
      await happen(where, 1000, 2)
      assert.equal(await prune(99_000, where), 2)
      assert.deepEqual(await times(where), [9000])
    })

    it('are removed once by two who do so at once, and those of both are gone', async () => {
      const made = await store.workspaces.create(newWorkspace('of two', 9000))
      const where = { workspaceId: made?.workspace.id ?? 0, environment: 'Testing' } as const
      await happen(where, 1000, 1200)
      await happen(where, 1500, 1200)
      const removed = await Promise.all([prune(1001, where), prune(2000, where), prune(2000, where)])
      assert.equal(
        removed.reduce((sum, count) => sum + count),
        2400,
      )
      const left = await times(where)
      assert.deepEqual(new Set(left), new Set([9000]))
      assert.equal(left.length, removed.filter((count) => count > 0).length)
    })
  })
}
