import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  newEventId,
  timeOfEvent,
  type AuditAction,
  type AuditEvent,
} from '../../../../src/domain/audit/audit-event.ts'
import { AuditLog, type AuditFilter } from '../../../../src/domain/audit/audit-log.ts'
import type { ListAuditEvents } from '../../../../src/domain/audit/audit-store.ts'
import type { Store } from '../../../../src/domain/store.ts'

const tenantScope = { workspaceId: 3, environment: 'Testing' } as const

/** Returns an event, by default of user group 7, "seven". */
const event = (time: number, over: Partial<AuditEvent> = {}): AuditEvent => ({
  ...{ ...tenantScope, eventId: newEventId(time), action: 'user_group.updated', author: 'api_token:1' },
  ...{ requestId: `request-${time}`, userGroup: { teamId: 7, providedId: 'seven' }, details: null },
  ...over,
})

/** Returns a log over these events, with a clock that advances by `callMs` with each call of the store. */
function logOf(
  events: readonly AuditEvent[],
  { callMs = 0, teamIds = {} }: { callMs?: number; teamIds?: Record<string, number> } = {},
) {
  const time = { now: 5000 }
  const calls: ListAuditEvents[] = []
  const store = {
    audit: {
      list: (query: ListAuditEvents) => {
        calls.push(query)
        time.now += callMs
        const { teamId, since, beforeEventId, limit } = query
        const found = events
          .filter(
            ({ eventId, userGroup }) =>
              eventId < beforeEventId &&
              timeOfEvent(eventId) >= since &&
              (teamId === undefined || userGroup?.teamId === teamId),
          )
          .sort((a, b) => (a.eventId < b.eventId ? 1 : -1))
        return Promise.resolve(found.slice(0, limit))
      },
    },
    userGroups: {
      find: ({ providedId }: { providedId: string }) => {
        const teamId = teamIds[providedId]
        return Promise.resolve(teamId === undefined ? null : { teamId })
      },
    },
  }
  const auditLog = new AuditLog({
    store: store as unknown as Store,
    clock: { now: () => time.now, monotonic: () => time.now },
  })
  const list = (filter: AuditFilter = {}, limit = 50, position: string | null = null) =>
    auditLog.list(tenantScope, filter, { position, limit })
  /** Reads all pages, and counts them. */
  const all = async (filter: AuditFilter, limit: number) => {
    const items: AuditEvent[] = []
    let position: string | null = null
    let pages = 0
    do {
      const page = await list(filter, limit, position)
      assert.ok(page.items.length <= limit)
      items.push(...page.items)
      position = page.position
      pages++
    } while (position !== null)
    return { times: items.map(({ eventId }) => timeOfEvent(eventId)), pages }
  }
  return { list, all, calls }
}

const timesOf = (items: readonly AuditEvent[]) => items.map(({ eventId }) => timeOfEvent(eventId))
const range = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i)

describe('the audit log', () => {
  it('reads only one page from the store if every event matches', async () => {
    const { list, calls } = logOf([event(1), event(2), event(3)])
    const page = await list({ since: 1, until: 3 }, 2)
    assert.deepEqual([timesOf(page.items), page.position], [[2, 1], page.items[1]?.eventId])
    const [{ workspaceId, environment, since, limit, ...rest } = {} as never, ...others] = calls
    assert.deepEqual([workspaceId, environment, since, limit, others.length], [3, 'Testing', 1, 2, 0])
    assert.ok(!('teamId' in rest))
  })

  it('returns no position on the last page', async () => {
    const { list } = logOf([event(1), event(2)])
    assert.equal((await list({}, 3)).position, null)
    assert.equal((await list({ since: 3 })).position, null)
    assert.deepEqual((await list({ until: 1 })).items, [])
    assert.equal((await list({ action: 'user_group.updated' }, 3)).position, null)
  })

  it('includes `since` and excludes `until`', async () => {
    const { list } = logOf([1, 2, 3, 4].map((time) => event(time)))
    assert.deepEqual(timesOf((await list({ since: 2, until: 4 })).items), [3, 2])
    assert.deepEqual(timesOf((await list({ since: 3, until: 3 })).items), [])
    assert.deepEqual(timesOf((await list({ since: -5, until: 2 ** 60 })).items), [4, 3, 2, 1])
  })

  const kinds: AuditAction[] = ['user_group.updated', 'user_group.suspended', 'api_token.created']
  const mixed = range(2999, 0).map((time) =>
    event(time, {
      action: kinds[time % 3] as AuditAction,
      author: time % 5 === 0 ? 'cli:root' : 'api_token:1',
      ...(time % 7 === 0 && { userGroup: { teamId: 8, providedId: 'eight' } }),
      ...(time % 11 === 0 && { userGroup: null }),
      requestId: time % 2 === 0 ? 'even' : null,
    }),
  )
  const filters: [filter: AuditFilter, matches: (time: number) => boolean][] = [
    [{ action: 'user_group.suspended' }, (time) => time % 3 === 1],
    [{ author: 'cli:root' }, (time) => time % 5 === 0],
    [{ requestId: 'even' }, (time) => time % 2 === 0],
    [{ teamId: 8 }, (time) => time % 7 === 0 && time % 11 !== 0],
    [{ providedId: 'eight' }, (time) => time % 7 === 0 && time % 11 !== 0],
    [{ teamId: 7, providedId: 'eight' }, () => false],
    [
      { teamId: 7, action: 'user_group.updated' },
      (time) => time % 7 !== 0 && time % 11 !== 0 && time % 3 === 0,
    ],
    [
      { action: 'user_group.updated', author: 'cli:root', requestId: 'even', since: 100, until: 2500 },
      (time) => time % 30 === 0 && time >= 100 && time < 2500,
    ],
    [{ author: 'cli:nobody' }, () => false],
    [{ author: 'cli:ROOT' }, () => false],
  ]
  for (const [filter, matches] of filters) {
    it(`returns exactly the matches of ${JSON.stringify(filter)}, for any duration of a call`, async () => {
      for (const callMs of [0, 60, 1000]) {
        const { all } = logOf(mixed, { callMs })
        for (const limit of [7, 200, 5000]) {
          const { times } = await all(filter, limit)
          assert.deepEqual(times, range(2999, 0).filter(matches), `${callMs} ms, by ${limit}`)
        }
      }
    })
  }

  it('returns an incomplete page after its time and continues from there', async () => {
    const { list, calls } = logOf(mixed, { callMs: 60 })
    const page = await list({ author: 'cli:nobody' })
    // 0 and 60 ms are below the limit of 100 ms; 120 ms are not.
    assert.deepEqual([page.items, calls.length], [[], 2])
    assert.equal(page.position && timeOfEvent(page.position), 1000)
    const next = await list({ author: 'cli:nobody' }, 50, page.position)
    assert.deepEqual([next.items, next.position], [[], null])
  })

  it('reads events in bounded batches, and no more than it needs', async () => {
    const { list, calls } = logOf(mixed)
    const page = await list({ author: 'cli:root' }, 3)
    assert.deepEqual(timesOf(page.items), [2995, 2990, 2985])
    assert.equal(calls.length, 1)
    assert.ok((calls[0]?.limit ?? Infinity) <= 1000)
  })

  it('filters by the user group that has an id now, not by those that had it', async () => {
    const events = [
      event(1, { userGroup: { teamId: 4, providedId: 'one' } }),
      event(2, { userGroup: { teamId: 5, providedId: 'one' } }),
      event(3, { userGroup: { teamId: 6, providedId: 'other' } }),
    ]
    const present = logOf(events, { teamIds: { one: 5 } })
    assert.deepEqual(timesOf((await present.list({ providedId: 'one' })).items), [2])
    assert.deepEqual(timesOf((await present.list({ providedId: 'one', teamId: 4 })).items), [1])
    assert.deepEqual(timesOf((await present.list({ providedId: 'one', teamId: 6 })).items), [])
    const gone = logOf(events)
    assert.deepEqual(timesOf((await gone.list({ providedId: 'one' })).items), [2, 1])
    assert.deepEqual(timesOf((await gone.list({ providedId: 'One' })).items), [])
  })
})
