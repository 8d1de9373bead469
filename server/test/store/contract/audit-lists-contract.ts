import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { firstEventId, type AuditEvent } from '../../../src/domain/audit/audit-event.ts'
import type { ListAuditEvents } from '../../../src/domain/audit/audit-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import {
  allOf,
  by,
  event,
  createUserGroup,
  newApiToken,
  newUserGroup,
  comparableEvent,
} from './audit-events.ts'
import { freshKey, mint, newWorkspace, actor } from './store-fixtures.ts'

/** Tests how a store lists its audit events and prunes old ones. */
export function describeAuditLists(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: the list of audit events`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    /** Creates a workspace and returns its environment without events. */
    const freshTenantScope = async (): Promise<TenantScope> => {
      const created = await store.workspaces.create({
        ...newWorkspace(freshKey().providedId),
        environment: 'Customer',
      })
      return { workspaceId: created?.workspace.id ?? 0, environment: 'Testing' }
    }
    /** Records an event at this time. Its request id identifies it. */
    const record = async (tenantScope: TenantScope, createdAt: number, requestId = String(createdAt)) =>
      store.apiTokens.create(newApiToken({ ...tenantScope, createdAt, requestId }))
    const list = async (tenantScope: TenantScope, over: Partial<ListAuditEvents> = {}) =>
      store.audit.list({ ...allOf(tenantScope), ...over })
    const requests = (events: readonly AuditEvent[]) => events.map(({ requestId }) => requestId)
    const actions = (events: readonly AuditEvent[]) => events.map(({ action }) => action)

    /** Lists all pages. Each page starts after the last event of the previous one. */
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

    it('starts with the newest event, regardless of the order of insertion', async () => {
      const tenantScope = await freshTenantScope()
      for (const time of [3000, 1000, 2 ** 41, 2000, 0]) await record(tenantScope, time)
      assert.deepEqual(requests(await list(tenantScope)), [String(2 ** 41), '3000', '2000', '1000', '0'])
      assert.deepEqual(requests(await list(tenantScope, { limit: 2 })), [String(2 ** 41), '3000'])
    })

    it('has version 7 UUIDs as ids, in the order of insertion', async () => {
      const tenantScope = await freshTenantScope()
      for (const request of ['a', 'b', 'c', 'd', 'e']) await record(tenantScope, 5000, request)
      // Adds events of another millisecond in between.
      for (const request of ['f', 'g', 'h']) {
        await record(tenantScope, 5000, request)
        await record(tenantScope, 5001, `later ${request}`)
      }
      const events = await list(tenantScope, { beforeEventId: firstEventId(5001) })
      assert.equal(requests(events).join(''), 'hgfedcba')
      for (const { eventId } of events)
        assert.match(eventId, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
    })

    it('is bounded by an event id and a start time', async () => {
      const tenantScope = await freshTenantScope()
      for (const time of [1999, 2000, 2001, 3000]) await record(tenantScope, time)
      const of = async (over: Partial<ListAuditEvents>) => requests(await list(tenantScope, over))
      assert.deepEqual(await of({ since: 2000 }), ['3000', '2001', '2000'])
      assert.deepEqual(await of({ since: 2001 }), ['3000', '2001'])
      assert.deepEqual(await of({ since: 3001 }), [])
      assert.deepEqual(await of({ beforeEventId: firstEventId(2001) }), ['2000', '1999'])
      assert.deepEqual(await of({ since: 2000, beforeEventId: firstEventId(2001) }), ['2000'])
      assert.deepEqual(await of({ since: 2001, beforeEventId: firstEventId(2000) }), [])
      const [newest] = await list(tenantScope)
      assert.deepEqual(await of({ beforeEventId: newest?.eventId ?? '' }), ['2001', '2000', '1999'])
    })

    it('has pages without gaps or duplicates, also within a millisecond', async () => {
      const tenantScope = await freshTenantScope()
      for (let i = 0; i < 17; i++) await record(tenantScope, 1000 + Math.floor(i / 6), String(i))
      const expected = Array.from({ length: 17 }, (_, i) => String(16 - i))
      for (const limit of [1, 2, 5, 16, 17, 18]) {
        assert.deepEqual(requests(await pages(tenantScope, limit)), expected, `by ${limit}`)
        assert.deepEqual(
          requests(await pages(tenantScope, limit, { since: 1001 })),
          expected.slice(0, 11),
          `by ${limit}`,
        )
      }
    })

    it('contains the events of one workspace and environment', async () => {
      const tenantScopes = [await freshTenantScope(), await freshTenantScope()]
      const [first, second] = tenantScopes as [TenantScope, TenantScope]
      const customer = { ...first, environment: 'Customer' } as const
      for (const one of [first, customer, second])
        await record(one, 9000, `${one.workspaceId} ${one.environment}`)
      for (const one of [first, customer, second]) {
        assert.deepEqual(requests(await list(one, { since: 2 })), [`${one.workspaceId} ${one.environment}`])
      }
    })

    /** Creates and changes a user group in every recorded way, at 1000, 2000 and so on. */
    async function createAndChange(
      tenantScope: TenantScope,
      over: { createdAt?: number } = {},
    ): Promise<UserGroup> {
      const key = { ...freshKey(), ...tenantScope }
      const { createdAt = 1000 } = over
      const group = await createUserGroup(store, { key, now: createdAt })
      await store.userGroups.update({ key, change: { name: 'B' }, ...actor, now: 2000 })
      const target = { providedId: key.providedId }
      await store.userGroups.rotate({
        ...{ ...tenantScope, target, oldTokenValidUntil: 3000, issueToken: mint, ...actor, now: 3000 },
      })
      for (const suspended of [true, false])
        await store.userGroups.suspend({ key, suspended, ...actor, now: suspended ? 4000 : 5000 })
      return group
    }
    const allActions = ['resumed', 'suspended', 'token_rotated', 'updated', 'created'].map(
      (title) => `user_group.${title}`,
    )

    it('of a user group contains all its events, including its creation, and no others', async () => {
      const tenantScope = await freshTenantScope()
      const groups = [await createAndChange(tenantScope), await createAndChange(tenantScope)]
      await record(tenantScope, 1500)
      const elsewhere = await createAndChange({ ...tenantScope, environment: 'Customer' })
      for (const { teamId, providedId } of groups) {
        const events = await list(tenantScope, { teamId })
        assert.deepEqual(actions(events), allActions)
        for (const { userGroup } of events) assert.deepEqual(userGroup, { teamId, providedId })
        assert.deepEqual(await list({ ...tenantScope, environment: 'Customer' }, { teamId }), [])
        assert.deepEqual(await list(await freshTenantScope(), { teamId }), [])
      }
      const { teamId } = elsewhere
      assert.equal((await list({ ...tenantScope, environment: 'Customer' }, { teamId })).length, 5)
      assert.deepEqual(await list(tenantScope, { teamId }), [])
      assert.equal((await list(tenantScope)).length, 11)
    })

    it('of a user group is bounded by times and ids, including its creation', async () => {
      const tenantScope = await freshTenantScope()
      const { teamId } = await createAndChange(tenantScope)
      const of = async (over: Partial<ListAuditEvents>) =>
        actions(await list(tenantScope, { teamId, ...over }))
      assert.deepEqual(await of({ since: 1000 }), allActions)
      assert.deepEqual(await of({ since: 1001 }), allActions.slice(0, 4))
      assert.deepEqual(await of({ since: 2001 }), allActions.slice(0, 3))
      assert.deepEqual(await of({ beforeEventId: firstEventId(1001) }), allActions.slice(4))
      assert.deepEqual(await of({ beforeEventId: firstEventId(1000) }), [])
      assert.deepEqual(await of({ since: 1000, beforeEventId: firstEventId(2001) }), allActions.slice(3))
      assert.deepEqual(await of({ limit: 4 }), allActions.slice(0, 4))
      assert.deepEqual(await of({ limit: 5 }), allActions)
      for (const limit of [1, 2, 3, 4, 5, 6]) {
        assert.deepEqual(actions(await pages(tenantScope, limit, { teamId })), allActions, `by ${limit}`)
      }
    })

    it('of a user group stays complete after a deletion and a restoration', async () => {
      const tenantScope = await freshTenantScope()
      const { teamId, providedId } = await createAndChange(tenantScope)
      const key = { ...tenantScope, providedId }
      await store.userGroups.delete({ key, ...actor, now: 6000 })
      const deleted = ['user_group.deleted', ...allActions]
      assert.deepEqual(actions(await list(tenantScope, { teamId })), deleted)
      // A new user group with the same id does not share its events.
      const other = await createUserGroup(store, { key, now: 6500 })
      assert.deepEqual(actions(await list(tenantScope, { teamId: other.teamId })), ['user_group.created'])
      assert.deepEqual(actions(await list(tenantScope, { teamId })), deleted)
      await store.userGroups.delete({ key, ...actor, now: 6600 })
      await store.userGroups.restore({ ...tenantScope, teamId, deletedAfter: 0, ...actor, now: 7000 })
      assert.deepEqual(actions(await pages(tenantScope, 2, { teamId })), ['user_group.restored', ...deleted])
    })

    it('of a user group has the creation in order of time, even if the clocks of two processes differ', async () => {
      const tenantScope = await freshTenantScope()
      // The clock of the creating process is ahead, so the update has an earlier time.
      const { teamId } = await createAndChange(tenantScope, { createdAt: 3500 })
      const expected = [...allActions.slice(0, 2), 'user_group.created', ...allActions.slice(2, 4)]
      assert.deepEqual(actions(await list(tenantScope, { teamId })), expected)
      for (const limit of [1, 2, 3, 4])
        assert.deepEqual(actions(await pages(tenantScope, limit, { teamId })), expected, `by ${limit}`)
      const since3000 = await pages(tenantScope, 1, { teamId, since: 3000 })
      assert.deepEqual(actions(since3000), expected.slice(0, 4))
    })

    it('of a user group is in the order of insertion within a millisecond', async () => {
      const tenantScope = await freshTenantScope()
      const key = { ...freshKey(), ...tenantScope }
      const { teamId } = await createUserGroup(store, { key, now: 1000 })
      for (const name of ['B', 'C', 'D'])
        await store.userGroups.update({ key, change: { name }, author: 'cli:a', requestId: name, now: 1000 })
      for (const limit of [1, 2, 3, 9])
        assert.deepEqual(requests(await pages(tenantScope, limit, { teamId })), [
          'D',
          'C',
          'B',
          actor.requestId,
        ])
    })
  })

  describe(`${name}: pruning audit events`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const tenantScope = { workspaceId: 1, environment: 'Testing' } as const
    /** Records this number of events at this time. */
    async function record(where: TenantScope, now: number, count: number): Promise<void> {
      const commands = Array.from({ length: count }, () =>
        newUserGroup({ key: { ...freshKey(), ...where }, now }),
      )
      await store.userGroups.getOrCreateMany(commands)
    }
    const times = async (where: TenantScope) =>
      (await store.audit.list(allOf(where))).map(comparableEvent).map(({ time }) => time)
    const prune = (before: number, where: TenantScope = tenantScope) =>
      store.audit.prune({ ...where, before, ...by, now: 9000 })

    it('removes all older events and records one event for it', async () => {
      const other = await store.workspaces.create({ ...newWorkspace('second', 1000), environment: 'Testing' })
      const ofOthers = [
        { ...tenantScope, environment: 'Customer' },
        { ...tenantScope, workspaceId: other?.workspace.id ?? 0 },
      ] as const
      for (const one of ofOthers) await record(one, 1000, 2)
      await record(tenantScope, 1000, 1800)
      await record(tenantScope, 1999, 700)
      await record(tenantScope, 2000, 3)
      const before = await Promise.all(ofOthers.map(times))
      assert.equal(await prune(2000), 2500)
      assert.deepEqual(await times(tenantScope), [9000, 2000, 2000, 2000])
      assert.deepEqual(await Promise.all(ofOthers.map(times)), before)
      const [pruned] = await store.audit.list(allOf(tenantScope))
      assert.ok(pruned)
      const details = { before: new Date(2000).toISOString() }
      assert.deepEqual(comparableEvent(pruned), event('audit_log.pruned', { time: 9000, details }))
    })

    it('records no event when nothing is removed', async () => {
      const before = await times(tenantScope)
      assert.equal(await prune(2000), 0)
      assert.deepEqual(await times(tenantScope), before)
    })

    it('removes an exact multiple of the batch size', async () => {
      const where = { ...tenantScope, environment: 'Customer' } as const
      await prune(1001, where)
      await record(where, 1000, 2000)
      const before = await times(where)
      assert.equal(await prune(1001, where), 2000)
      assert.deepEqual(await times(where), [9000, ...before.filter((time) => time > 1000)])
    })

    it('does not remove its own event', async () => {
      const created = await store.workspaces.create(newWorkspace('of all', 9000))
      const where = { workspaceId: created?.workspace.id ?? 0, environment: 'Testing' } as const
      await record(where, 1000, 2)
      assert.equal(await prune(99_000, where), 2)
      assert.deepEqual(await times(where), [9000])
    })

    it('removes each event once when several requests prune at once', async () => {
      const created = await store.workspaces.create(newWorkspace('of two', 9000))
      const where = { workspaceId: created?.workspace.id ?? 0, environment: 'Testing' } as const
      await record(where, 1000, 1200)
      await record(where, 1500, 1200)
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
