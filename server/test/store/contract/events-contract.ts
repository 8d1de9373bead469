import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { timeOfEvent } from '../../../src/domain/audit/audit-event.ts'
import {
  comparePositions,
  isEventPosition,
  isEventType,
  type Event,
  type EventType,
} from '../../../src/domain/event/event.ts'
import type { PositionedEvent } from '../../../src/domain/event/event-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import { auditLogOf, by, createUserGroup, newKey, newUserGroup, now, tenantScope } from './audit-events.ts'
import { changes } from './audited-changes.ts'
import { eventsAfter, feedEventsOf, pageAfter, positionNow } from './feed-events.ts'
import { hashOf, mint, plain, referenceOf } from './store-fixtures.ts'

/** Tests the events for the feed that a store writes with its changes. */
export function describeEvents(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: events`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    for (const [title, prepare] of Object.entries(changes)) {
      it(`${title} writes an event like the audit event, if it can change a token, and nothing else does`, async () => {
        const { change, nothing } = await prepare(store)
        const known = new Set((await auditLogOf(store)).map(({ eventId }) => eventId))
        const { events } = await feedEventsOf(store, change)
        const audited = (await auditLogOf(store))
          .filter(({ eventId, action }) => !known.has(eventId) && isEventType(action))
          .map(({ eventId, action, workspaceId, environment, userGroup }) => ({
            ...{ eventId, type: action, workspaceId, environment, userGroup },
          }))
        assert.deepEqual(
          events.map(({ eventId, type, workspaceId, environment, userGroup }) => ({
            ...{ eventId, type, workspaceId, environment, userGroup },
          })),
          audited,
        )
        for (const event of events) {
          assert.equal(timeOfEvent(event.eventId), now)
          if (event.userGroup === null) assert.deepEqual([event.revision, event.tokenHash], [null, null])
        }
        const { events: more } = await feedEventsOf(store, async () => {
          for (const [, work] of Object.values(nothing)) await work()
        })
        assert.deepEqual(more, [])
      })
    }

    it('events of a user group have its revision, and the hash of the only token that they concern', async () => {
      const key = newKey()
      const of = { key, ...by, now }
      const rotate = (group: Pick<UserGroup, 'providedId'>, graceMs: number) =>
        store.userGroups.rotate({
          ...{ ...tenantScope, target: { providedId: group.providedId }, issueToken: mint, ...by, now },
          oldTokenValidUntil: now + graceMs,
        })
      const { events, result } = await feedEventsOf(store, async () => {
        const first = await createUserGroup(store, { key })
        await store.userGroups.getOrCreate(newUserGroup({ key, change: { name: 'B' }, ...by, now }))
        await store.userGroups.update({ ...of, change: { mapping: '{"a":"b"}' } })
        await store.userGroups.update({ ...of, change: { properties: '{"secret":"property"}' } })
        await rotate(first, 90_000)
        const second = await store.userGroups.find(key)
        assert.ok(second)
        await rotate(second, 0)
        await store.userGroups.endGracePeriod({ ...tenantScope, token: referenceOf(first.token), ...by, now })
        await store.userGroups.suspend({ ...of, suspended: true })
        await store.userGroups.suspend({ ...of, suspended: false })
        await store.userGroups.delete(of)
        const { teamId } = first
        await store.userGroups.restore({ ...tenantScope, teamId, deletedAfter: 0, ...by, now })
        const third = await store.userGroups.find(key)
        assert.ok(third)
        return { first, second, third }
      })
      const { first, second, third } = result
      const expected: [EventType, revision: number, of?: UserGroup][] = [
        ['user_group.created', 1],
        ['user_group.updated', 2],
        ['user_group.updated', 3],
        ['user_group.updated', 4],
        ['user_group.token_rotated', 5, first],
        ['user_group.token_rotated', 6, second],
        ['user_group.grace_period_ended', 6, first],
        ['user_group.suspended', 7],
        ['user_group.resumed', 8],
        ['user_group.deleted', 8],
        ['user_group.restored', 9],
      ]
      assert.equal(third.revision, 9)
      const { teamId, providedId } = first
      assert.deepEqual(
        events.map((event) => plain(withoutPlace(event))),
        expected.map(([type, revision, of]) =>
          plain({
            ...{ ...tenantScope, type, userGroup: { teamId, providedId }, revision },
            tokenHash: of === undefined ? null : Buffer.from(hashOf(of.token)),
          }),
        ),
      )
      assertNoSecrets(events, [first, second, third])
    })

    it('a batch, as of an import or a promotion, writes one event per changed user group', async () => {
      const [changed, unchanged, created] = [
        await createUserGroup(store),
        await createUserGroup(store),
        newKey(),
      ]
      const { events } = await feedEventsOf(store, () =>
        store.userGroups.getOrCreateMany([
          newUserGroup({ key: changed, change: { name: 'B' } }),
          newUserGroup({ key: unchanged, change: { name: 'A' } }),
          newUserGroup({ key: created }),
          newUserGroup({ key: created }),
          newUserGroup({ change: {} }),
        ]),
      )
      assert.deepEqual(
        events.map(({ type, userGroup, revision }) => [type, userGroup?.providedId, revision]).sort(),
        [
          ['user_group.created', created.providedId, 1],
          ['user_group.updated', changed.providedId, 2],
        ],
      )
    })

    it('simultaneous changes of one user group have increasing revisions in the order of positions', async () => {
      const group = await createUserGroup(store)
      const { events } = await feedEventsOf(store, () =>
        Promise.all(
          Array.from({ length: 24 }, (_, i) =>
            store.userGroups.update({ key: group, change: { name: `N${i % 6}` }, ...by, now }),
          ),
        ),
      )
      const { revision = 0 } = (await store.userGroups.find(group)) ?? {}
      assert.ok(events.length > 0)
      assert.deepEqual(
        events.map((event) => event.revision),
        events.map((_, i) => i + 2),
      )
      assert.equal(events.at(-1)?.revision, revision)
    })

    it('reads write nothing', async () => {
      const group = await createUserGroup(store)
      const { events } = await feedEventsOf(store, async () => {
        await store.userGroups.find(group)
        await store.userGroups.findByToken(1, 'Testing', referenceOf(group.token), now)
        await store.userGroups.list({ ...tenantScope, afterProvidedId: null, limit: 5 })
        await store.userGroups.getOrCreate(newUserGroup({ key: group, mayWrite: false }))
        await store.events.head()
        await store.ping()
      })
      assert.deepEqual(events, [])
    })

    it('positions increase, and pages of any size have each event once', async () => {
      const before = await positionNow(store)
      for (let i = 0; i < 3; i++) await createUserGroup(store)
      await Promise.all(Array.from({ length: 8 }, () => createUserGroup(store)))
      await store.userGroups.getOrCreateMany(Array.from({ length: 6 }, () => newUserGroup()))
      const events = await eventsAfter(store, before)
      assert.equal(events.length, 17)
      for (const [i, { position }] of events.entries()) {
        assert.ok(isEventPosition(position), position)
        if (i > 0) assert.ok(comparePositions(events[i - 1]?.position ?? '', position) < 0)
        const rest = events.slice(i + 1).map((event) => event.position)
        const page = await pageAfter(store, position)
        assert.deepEqual(
          page.events.map((event) => event.position),
          rest,
        )
        assert.equal(page.position, rest.at(-1) ?? position)
      }
      for (const limit of [1, 2, 5, 16, 17, 18])
        assert.deepEqual(plain(await eventsAfter(store, before, limit)), plain(events))
      const page = await pageAfter(store, before, 5)
      assert.equal(page.position, page.events.at(-1)?.position)
      assert.equal(page.readUpTo, page.position)
      assert.equal(await positionNow(store), events.at(-1)?.position)
      assert.equal(await store.events.head(), events.at(-1)?.position)
    })

    it('positions of another store, ahead of the store, or of another kind are unknown', async () => {
      const head = await positionNow(store)
      const [storeId = '', numbers = ''] = head.split('-')
      const kinds = numbers.split('.').length
      const foreign = storeId.replace(/./g, (digit) => (digit === '0' ? '1' : '0'))
      const most = '9'.repeat(20)
      for (const position of [
        `${foreign}-${numbers}`,
        `${foreign}-0`,
        `${storeId}-${most}${`.${most}`.repeat(kinds - 1)}`,
        ...(kinds === 1 ? [`${storeId}-${Number(numbers) + 1}`, `${storeId}-1.1.1`] : []),
        ...(kinds === 3
          ? [`${storeId}-${2 ** 31}.1.1`, `${storeId}-${numbers.split('.')[0]}.${2n ** 63n - 1n}.0`]
          : []),
      ]) {
        assert.ok(isEventPosition(position), position)
        assert.equal(await store.events.read(position, 10), null, position)
      }
    })
  })

  describe(`${name}: an event log`, () => {
    it('begins before its first event and ends after the last', async () => {
      const store = await openFreshStore()
      try {
        const first = await store.events.head()
        assert.equal(await store.events.head(), first)
        assert.deepEqual((await pageAfter(store, first)).events, [])
        await createUserGroup(store)
        assert.equal((await eventsAfter(store, first)).length, 1)
        assert.equal((await eventsAfter(store, await positionNow(store))).length, 0)
      } finally {
        await store.close()
      }
    })

    it('deletes what is older than a time, keeps the order and repeats no position', async () => {
      const store = await openFreshStore()
      try {
        const start = await store.events.head()
        for (const time of [1000, 2000, 3000, 4000, 5000]) await createUserGroup(store, { now: time })
        const events = await eventsAfter(store, start)
        const positions = events.map(({ position }) => position)
        assert.equal(await store.events.deleteOlderThan(1000), 0)
        assert.equal(await store.events.deleteOlderThan(3000), 2)
        assert.equal(await store.events.deleteOlderThan(3000), 0)
        assert.equal(await store.events.read(start, 10), null)
        assert.equal(await store.events.read(positions[0] ?? '', 10), null)
        for (const i of [1, 2, 3, 4])
          assert.deepEqual(
            (await eventsAfter(store, positions[i] ?? '')).map(({ position }) => position),
            positions.slice(i + 1),
          )

        await store.events.deleteOlderThan(now)
        // SQLite keeps the newest event.
        const page = await store.events.read(positions[3] ?? '', 10)
        if (page !== null)
          assert.deepEqual(
            page.events.map(({ position }) => position),
            positions.slice(4),
          )
        const last = positions[4] ?? ''
        assert.equal(await store.events.head(), last)
        assert.deepEqual(await eventsAfter(store, last), [])
        await createUserGroup(store)
        const [next] = await eventsAfter(store, last)
        assert.ok(next && comparePositions(last, next.position) < 0)
        assert.ok(!positions.includes(next.position))
      } finally {
        await store.close()
      }
    })

    it('deletes in batches', async () => {
      const store = await openFreshStore()
      try {
        await store.userGroups.getOrCreateMany(
          Array.from({ length: 2300 }, () => newUserGroup({ now: 1000 })),
        )
        await createUserGroup(store, { now: 9000 })
        const start = await positionNow(store)
        assert.equal(await store.events.deleteOlderThan(9000), 2300)
        assert.deepEqual(await eventsAfter(store, start), [])
        await createUserGroup(store)
        assert.equal((await eventsAfter(store, start)).length, 1)
      } finally {
        await store.close()
      }
    })
  })
}

function withoutPlace({ type, workspaceId, environment, userGroup, revision, tokenHash }: Event): object {
  return { workspaceId, environment, type, userGroup, revision, tokenHash }
}

function assertNoSecrets(events: readonly PositionedEvent[], groups: readonly UserGroup[]): void {
  const text = JSON.stringify(plain(events))
  assert.ok(!text.includes('property'))
  for (const { token } of groups) assert.ok(!text.includes(Buffer.from(token.sealed).toString('hex')))
}
