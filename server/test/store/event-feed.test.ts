import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { EventFeed } from '../../src/domain/event/event-feed.ts'
import type { EventPosition } from '../../src/domain/event/event.ts'
import type { Store } from '../../src/domain/store.ts'
import { systemClock } from '../../src/domain/util/clock.ts'
import { openStore } from '../../src/store/open-store.ts'
import { migratedDatabase } from '../support/database.ts'
import { lifo, type Scope } from '../support/scope.ts'
import { openSession } from '../support/session.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { poll } from '../failover/poll.ts'
import { positionNow } from './contract/feed-events.ts'
import { created, openPostgres } from './postgres/postgres-support.ts'
import { defaults } from './store-options.ts'

const boundMs = 20_000

const openSqlite = async (t: Scope): Promise<Store> => {
  const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder(t), 'ugs.db') }, defaults)
  lifo(t).after(() => store.close())
  return store
}

/** A subscriber that keeps what it receives. */
function subscribe(t: Scope, store: Store, after: EventPosition | null) {
  const feed = new EventFeed({ store, clock: systemClock })
  lifo(t).after(() => feed.close())
  const received: string[] = []
  const beats: { readonly position: EventPosition; readonly completeAt: number }[] = []
  const state = { takesMore: true }
  const subscription = feed.subscribe(
    {
      ...{ workspaceId: 1, environment: 'Customer' },
      send: (events) => {
        received.push(...events.map(({ userGroup }) => String(userGroup?.providedId)))
        return state.takesMore
      },
      heartbeat: (position, completeAt) => void beats.push({ position, completeAt }),
      reset: () => void received.push('reset'),
      end: () => void received.push('end'),
    },
    after,
  )
  const until = (isReached: () => boolean) => poll('the feed', boundMs, () => isReached() || undefined)
  return { feed, received, beats, state, subscription, until }
}

const createMany = async (store: Store, count: number): Promise<string[]> => {
  const ids: string[] = []
  for (let i = 0; i < count; i++) ids.push((await created(store)).providedId)
  return ids
}

describe('EventFeed', () => {
  it('sends earlier events in pages, then later ones, each once', async (t) => {
    const store = await openSqlite(t)
    const start = await positionNow(store)
    const earlier = await createMany(store, 250)
    const { received, until } = subscribe(t, store, start)
    const later = await createMany(store, 3)
    await until(() => received.length >= 253)
    assert.deepEqual(received, [...earlier, ...later])
  })

  it('sends nothing to a sink that is full until it resumes, and then the rest', async (t) => {
    const store = await openSqlite(t)
    const { received, beats, state, subscription, until } = subscribe(t, store, null)
    await until(() => beats.length > 0)
    state.takesMore = false
    const [first = ''] = await createMany(store, 1)
    await until(() => received.length === 1)
    const rest = await createMany(store, 3)
    const { length } = beats
    await until(() => beats.length > length + 1)
    assert.deepEqual(received, [first])
    state.takesMore = true
    subscription.resume()
    await until(() => received.length === 4)
    assert.deepEqual(received, [first, ...rest])
  })

  it('ends a sink that throws, and the others receive everything', async (t) => {
    const store = await openSqlite(t)
    const { feed, beats, until } = subscribe(t, store, null)
    const ends: (string | undefined)[] = []
    const received: number[] = []
    const scope = { workspaceId: 1, environment: 'Customer' } as const
    const other = { ...scope, heartbeat: () => undefined }
    const fail = () => assert.fail('a defect')
    feed.subscribe({ ...other, send: fail, reset: fail, end: (fault) => void ends.push(fault?.code) }, null)
    feed.subscribe(
      { ...other, send: (events) => received.push(events.length) > 0, reset: fail, end: () => undefined },
      null,
    )
    await until(() => beats.length > 1)
    await createMany(store, 1)
    await until(() => received.length > 0)
    assert.deepEqual([ends, feed.subscribers], [['internal'], 2])
    feed.subscribe(
      { ...other, heartbeat: fail, send: fail, reset: fail, end: () => void ends.push('end') },
      null,
    )
    await until(() => ends.length === 2)
    assert.equal(feed.subscribers, 2)
  })

  it('a heartbeat claims no completeness while an open transaction holds back a change', async (t) => {
    const url = await migratedDatabase(t)
    const store = await openPostgres(t, url)
    const { received, beats, until } = subscribe(t, store, null)
    await until(() => beats.length > 0)
    const session = await openSession(t, url)
    await session.query('BEGIN')
    await session.query('SELECT pg_current_xact_id()')
    const [id = ''] = await createMany(store, 1)
    const createdAt = systemClock.monotonic()
    const { length } = beats
    await until(() => beats.length >= length + 2)
    for (const { completeAt } of beats) assert.ok(completeAt <= createdAt)
    assert.deepEqual(received, [])
    await session.query('COMMIT')
    await until(() => (beats.at(-1)?.completeAt ?? 0) > createdAt)
    assert.deepEqual(received, [id])
  })

  it('after a failover, sends the events and then a reset, once', async (t) => {
    const url = await migratedDatabase(t)
    const store = await openPostgres(t, url)
    const { received, beats, until } = subscribe(t, store, null)
    await until(() => beats.length > 0)
    const session = await openSession(t, url)
    await session.query(
      "CREATE OR REPLACE FUNCTION current_timeline() RETURNS integer LANGUAGE sql AS 'SELECT 7'",
    )
    await until(() => received.includes('reset'))
    const [id = ''] = await createMany(store, 1)
    await until(() => received.includes(id))
    assert.equal(received.filter((one) => one === 'reset').length, 1)
  })

  it('ends its subscribers when it is closed, and refuses new ones', async (t) => {
    const store = await openSqlite(t)
    const { feed, received } = subscribe(t, store, null)
    feed.close()
    assert.deepEqual(received, ['end'])
    await assert.rejects(feed.checkReadable(), { code: 'unavailable' })
  })
})
