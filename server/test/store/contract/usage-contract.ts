import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { deleteExpired } from '../../../src/domain/expiry.ts'
import type { Store } from '../../../src/domain/store.ts'
import { bitOf, countBits, parseDay } from '../../../src/domain/usage/calendar.ts'
import { lookOf, type UsageMode } from '../../../src/domain/usage/look.ts'
import { MarkRecorder } from '../../../src/domain/usage/mark-recorder.ts'
import type { Mark } from '../../../src/domain/usage/usage-store.ts'
import { UsageReports } from '../../../src/domain/usage/usage-reports.ts'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { userGroupOf } from './created-user-group.ts'
import { getOrCreate, keyIn } from './mapped-user-groups.ts'
import { Registry } from './registry.ts'
import { actor, deletion, noneExpired } from './store-fixtures.ts'

const minute = 60_000
const november = 202611
const start = Date.parse('2026-11-01T00:00:00Z')
const dayNumber = (text: string) => parseDay(text) ?? 0

/** Tests marks, and what is read from them. */
export function describeUsage(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: usage`, () => {
    let store: Store
    let own: Registry
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const fresh = async () => {
      own = await Registry.fresh(store)
      return newUserGroup()
    }
    const newUserGroup = async () => userGroupOf(await getOrCreate(store, keyIn(own)))
    const reports = () =>
      new UsageReports({ store, marks: { forget: () => undefined }, clock: { now: () => start } })
    const mark = (group: UserGroup, viewerId = '', resource = '', day = 1): Mark => ({
      ...{ ...own.tenantScope, ...locationOf(group), viewerId, resource },
      ...{
        month: november,
        days: bitOf(dayNumber('2026-11-01') + day - 1),
        lastSeenAt: start + day * minute,
      },
    })
    const viewersOf = async (teamIds?: readonly number[]) => {
      const page = { afterTeamId: 0, afterViewerId: '', limit: 1000 }
      const listed = await store.usage.listViewers({ ...own.tenantScope, month: november, teamIds, ...page })
      return listed.map(({ viewerId, days }) => [viewerId, days] as const)
    }

    it('adds days in any order, repeatedly, and keeps the latest time', async () => {
      const group = await fresh()
      for (const day of [3, 1, 3, 2, 1]) await store.usage.record([mark(group, 'ada', 'sales', day)])
      await store.usage.record([mark(group, 'ada', 'costs', 3), mark(group, 'bob', 'sales', 30)])
      assert.deepEqual(await viewersOf(), [
        ['ada', 0b111],
        ['bob', 2 ** 29],
      ])
      const [usage] = await reports().listUserGroups(
        own.tenantScope,
        { month: november },
        { afterTeamId: 0, limit: 10 },
      )
      assert.deepEqual(
        [usage?.viewers, usage?.viewerDays, usage?.activeDays, usage?.lastSeenAt],
        [2, 4, 4, start + 30 * minute],
      )
    })

    it('adds the marks of simultaneous writers', async () => {
      const groups = [await fresh(), await newUserGroup()]
      await Promise.all(
        Array.from({ length: 30 }, (_, i) =>
          store.usage.record(
            (i % 2 ? groups : [...groups].reverse()).flatMap((group) =>
              ['ada', 'bob'].map((viewer) => mark(group, viewer, '', i + 1)),
            ),
          ),
        ),
      )
      assert.deepEqual(new Set((await viewersOf()).map(([, days]) => countBits(days))), new Set([30]))
    })

    it('counts by day and resource over slices, as one', async () => {
      const groups = [await fresh(), await newUserGroup(), await newUserGroup()]
      const marks = groups.flatMap((group, i) => [
        mark(group, '', '', 1),
        mark(group, 'ada', 'sales', 1),
        mark(group, 'ada', 'costs', 1 + i),
        mark(group, 'bob', 'sales', 1 + i),
      ])
      await store.usage.record(marks)
      const { days, total } = await reports().days(own.tenantScope, { month: november })
      assert.deepEqual(total, { userGroups: 3, viewers: 6 })
      assert.deepEqual(
        days.map(({ userGroups, viewers }) => [userGroups, viewers]),
        [
          [3, 4],
          [1, 2],
          [1, 2],
        ],
      )
      const resources = await reports().resources(own.tenantScope, { month: november })
      assert.deepEqual(
        resources.map(({ resource, userGroups, viewers, viewerDays, activeDays }) => [
          ...[resource, userGroups, viewers, viewerDays, activeDays],
        ]),
        [
          ['', 3, 0, 0, 1],
          ['costs', 3, 3, 3, 3],
          ['sales', 3, 6, 6, 3],
        ],
      )
    })

    it('reads user groups with many viewers in slices, and counts each once', async () => {
      const groups = [await fresh(), await newUserGroup(), await newUserGroup()] as const
      const viewers = ['', ...Array.from({ length: 20 }, (_, i) => `viewer ${i}`), '(more)']
      for (const [i, group] of groups.entries())
        await store.usage.record(
          viewers
            .slice(i === 1 ? 0 : 20)
            .flatMap((viewer, n) => [
              mark(group, viewer, 'sales', 1 + (n % 3)),
              mark(group, viewer, 'costs', 5),
            ]),
        )
      let read = 0
      const bounded =
        <Query, Row>(sum: (query: Query) => Promise<Row>, viewersOf: (row: Row) => number) =>
        async (query: Query) => {
          const row = await sum(query)
          // Of a row in the middle of a viewer, the slice has the others, too.
          assert.ok(viewersOf(row) <= 5, JSON.stringify(query))
          read++
          return row
        }
      const { usage } = store
      const total = (rows: readonly { readonly viewers: number }[]) =>
        rows.reduce((sum, row) => sum + row.viewers, 0)
      const sliced = new UsageReports({
        store: {
          introspections: store.introspections,
          usage: {
            ...usage,
            sumUserGroups: bounded((slice) => usage.sumUserGroups(slice), total),
            sumResources: bounded(
              (slice) => usage.sumResources(slice),
              (rows) => total(rows) / 2,
            ),
            sumDays: bounded(
              (slice) => usage.sumDays(slice),
              ({ viewers }) => viewers,
            ),
          },
        },
        ...{ marks: { forget: () => undefined }, clock: { now: () => start }, maxRowsExamined: 8 },
      })
      const scope = own.tenantScope
      const page = { afterTeamId: 0, limit: 10 }
      const teamIds = groups.map(({ teamId }) => teamId)
      for (const selection of [{ month: november }, { month: november, teamIds: [...teamIds, ...teamIds] }]) {
        read = 0
        assert.deepEqual(await sliced.days(scope, selection), await reports().days(scope, selection))
        assert.deepEqual(
          await sliced.resources(scope, selection),
          await reports().resources(scope, selection),
        )
        const listed = await sliced.listUserGroups(scope, selection, page)
        assert.deepEqual(listed, await reports().listUserGroups(scope, selection, page))
        assert.deepEqual(
          listed.map(({ viewers, viewerDays, activeDays, truncated }) => [
            viewers,
            viewerDays,
            activeDays,
            truncated,
          ]),
          [
            [2, 4, 3, true],
            [21, 42, 4, true],
            [2, 4, 3, true],
          ],
        )
        assert.ok(read >= 18, String(read))
      }
      assert.deepEqual((await sliced.days(scope, { month: november })).total, { userGroups: 3, viewers: 25 })
      assert.equal(
        (await sliced.listUserGroups(scope, { month: november }, { afterTeamId: 0, limit: 1 })).length,
        1,
      )
    })

    it('lists pages of viewers, and only of the given user groups', async () => {
      const groups = [await fresh(), await newUserGroup()] as const
      for (const group of groups)
        await store.usage.record(['a', 'B', 'é', '\u{1F600}'].map((viewer) => mark(group, viewer)))
      const seen: string[] = []
      let page = { afterTeamId: 0, afterViewerId: '' }
      for (;;) {
        const query = { ...own.tenantScope, month: november, ...page, limit: 3 }
        const rows = await store.usage.listViewers(query)
        seen.push(...rows.map(({ viewerId }) => viewerId))
        const last = rows.at(-1)
        if (last === undefined) break
        page = { afterTeamId: last.teamId, afterViewerId: last.viewerId }
      }
      assert.deepEqual(seen, ['B', 'a', 'é', '\u{1F600}', 'B', 'a', 'é', '\u{1F600}'])
      assert.equal((await viewersOf([groups[1].teamId])).length, 4)
    })

    it('sees nothing of another environment, workspace or month', async () => {
      const group = await fresh()
      await store.usage.record([mark(group, 'ada', 'sales')])
      const { workspaceId } = own.tenantScope
      for (const other of [
        { workspaceId, environment: 'Testing', month: november },
        { workspaceId: workspaceId + 1000, environment: 'Customer', month: november },
        { workspaceId, environment: 'Customer', month: november - 1 },
      ] as const) {
        const { month, ...scope } = other
        assert.deepEqual((await reports().days(scope, { month })).total, { userGroups: 0, viewers: 0 })
        assert.deepEqual(await reports().resources(scope, { month }), [])
        const page = { afterTeamId: 0, limit: 10 }
        assert.deepEqual(await reports().listUserGroups(scope, { month }, page), [])
        assert.deepEqual(await reports().listViewers(scope, { month }, { ...page, afterViewerId: '' }), [])
      }
      const stranger = { workspaceId, environment: 'Testing' } as const
      const erasure = { ...actor, viewerId: 'ada', teamId: null, now: 1 }
      assert.equal(await store.usage.eraseViewer({ ...stranger, ...erasure }), 0)
      assert.equal((await viewersOf()).length, 1)
    })

    it('erases a viewer in all months, in one user group or in all, and records that once', async () => {
      const groups = [await fresh(), await newUserGroup()] as const
      const earlier = { ...mark(groups[0], 'ada', 'sales'), month: november - 1 }
      await store.usage.record([earlier])
      for (const group of groups)
        await store.usage.record([
          mark(group, 'ada', 'sales'),
          mark(group, 'ada'),
          mark(group, 'bob'),
          mark(group),
        ])
      const erase = (viewerId: string, teamId: number | null = null) =>
        store.usage.eraseViewer({ ...own.tenantScope, ...actor, viewerId, teamId, now: 5000 })
      assert.equal(await erase('ada', groups[1].teamId), 2)
      assert.equal(await erase('ada'), 3)
      assert.equal(await erase('ada'), 0)
      assert.equal(await erase(''), 0)
      assert.deepEqual(
        (await viewersOf()).map(([viewer]) => viewer),
        ['bob', 'bob'],
      )
      const events = await store.audit.list({
        ...own.tenantScope,
        ...{ since: 0, beforeEventId: 'ffffffff-ffff-ffff-ffff-ffffffffffff', limit: 100 },
      })
      const erased = events.filter(({ action }) => action === 'usage.erased')
      assert.deepEqual(
        erased.map(({ details }) => JSON.parse(details ?? '') as object),
        [{ deleted: 3 }, { deleted: 2, team_id: groups[1].teamId }],
      )
      // Without the ids, whose digits may be a name.
      const shown = erased.map((event) => ({ ...event, eventId: '' }))
      assert.ok(!JSON.stringify(shown).includes('ada'))
    })

    it('deletes the months before a given one', async () => {
      const group = await fresh()
      await store.usage.record([201912, 202001, 202002].map((month) => ({ ...mark(group, 'ada'), month })))
      assert.equal(await deleteExpired(store, { ...noneExpired, usageBefore: 202001 }), 1)
      assert.equal(await deleteExpired(store, { ...noneExpired, usageBefore: 202001 }), 0)
      assert.equal(await deleteExpired(store, { ...noneExpired, usageBefore: 202101 }), 2)
    })

    it('keeps the usage of a deleted user group, with its last id until it is purged', async () => {
      const group = await fresh()
      await store.usage.record([mark(group, 'ada')])
      const shown = async () => {
        const page = { afterTeamId: 0, limit: 10 }
        const [usage] = await reports().listUserGroups(own.tenantScope, { month: november }, page)
        return [usage?.providedId, usage?.name, usage?.viewers]
      }
      await store.userGroups.delete(deletion(group))
      assert.deepEqual(await shown(), [group.providedId, 'A', 1])
      await deleteExpired(store, { ...noneExpired, deletedBefore: 9000 })
      assert.deepEqual(await shown(), [null, null, 1])
    })

    it('is recorded of a deleted user group, but of none that was erased', async () => {
      const group = await fresh()
      const { teamId } = group
      const location = locationOf(group)
      const { workspaceId } = own.tenantScope
      const record = async (introspectedAt: number) => {
        await store.introspections.record([{ workspaceId, ...location, introspectedAt }])
        await store.usage.record([mark(group, `viewer ${introspectedAt}`)])
        const [last] = await store.introspections.findLast(workspaceId, [location])
        return [last, (await viewersOf()).length]
      }
      await store.userGroups.delete(deletion(group))
      assert.deepEqual(await record(60_000), [60_000, 1])
      const erasure = { ...own.tenantScope, ...actor, teamId, now: 1, months: [november], usageRows: 2 }
      assert.equal((await store.userGroupHistory.erase(erasure))?.usageRows, 3)
      assert.deepEqual(await record(120_000), [null, 0])
    })

    const looks = (
      group: UserGroup,
      names: readonly (readonly [viewer: string, resource: string])[],
      mode: UsageMode = 'viewers',
    ) =>
      names.map(([viewerId, resource]) => ({
        look: lookOf(mode, own.tenantScope, locationOf(group), { viewerId, resource }),
        ...{ day: dayNumber('2026-11-28'), seenAt: start },
      }))

    it('records viewers beyond the limit as one, and known ones by name', async () => {
      const group = await fresh()
      const limits = { viewerId: 3, resource: 2 }
      const recorder = new MarkRecorder(store, limits)
      await recorder.record(
        looks(group, [
          ['a', 'r1'],
          ['b', 'r2'],
        ]),
      )
      await new MarkRecorder(store, limits).record(
        looks(group, [
          ['b', 'r3'],
          ['c', ''],
          ['d', ''],
        ]),
      )
      await recorder.record(
        looks(group, [
          ['e', 'r1'],
          ['c', 'r4'],
          ['x'.repeat(256), ''],
        ]),
      )
      assert.deepEqual(
        (await viewersOf()).map(([viewer]) => viewer),
        ['(more)', 'a', 'b', 'c'],
      )
      const resources = await reports().resources(own.tenantScope, { month: november })
      assert.deepEqual(
        resources.map(({ resource }) => resource),
        ['', '(more)', 'r1', 'r2'],
      )
      const page = { afterTeamId: 0, limit: 10 }
      const [usage] = await reports().listUserGroups(own.tenantScope, { month: november }, page)
      assert.equal(usage?.truncated, true)
    })

    it('leaves out what the mode does not record', async () => {
      const group = await fresh()
      const recorder = new MarkRecorder(store)
      await recorder.record(
        looks(
          group,
          [
            ['ada', 'sales'],
            ['bob', 'sales'],
          ],
          'user_groups',
        ),
      )
      assert.deepEqual(await viewersOf(), [])
      const resources = await reports().resources(own.tenantScope, { month: november })
      assert.deepEqual(
        resources.map(({ resource, viewers, activeDays }) => [resource, viewers, activeDays]),
        [['sales', 0, 1]],
      )
    })

    it('writes a look again after its rows were erased', async () => {
      const group = await fresh()
      const recorder = new MarkRecorder(store)
      const erasing = new UsageReports({ store, marks: recorder, clock: { now: () => start } })
      await recorder.record(looks(group, [['ada', '']]))
      assert.equal(await erasing.erase({ ...own.tenantScope, ...actor }, 'ada', null), 1)
      await recorder.record(looks(group, [['ada', '']]))
      assert.equal((await viewersOf()).length, 1)
    })
  })
}
