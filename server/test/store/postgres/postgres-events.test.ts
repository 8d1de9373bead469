import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import type { Client } from 'pg'
import { comparePositions, type EventPosition } from '../../../src/domain/event/event.ts'
import type { Store } from '../../../src/domain/store.ts'
import { migratedDatabase } from '../../support/database.ts'
import type { Scope } from '../../support/scope.ts'
import { openSession } from '../../support/session.ts'
import { eventsAfter, pageAfter, positionNow } from '../contract/feed-events.ts'
import { created, openPostgres } from './postgres-support.ts'

/** Inserts an event whose `provided_id` is a label, as a change does. */
const insertEvent = (session: Client, label: string) =>
  session.query(
    `INSERT INTO event (workspace_id, environment, event_id, type, team_id, provided_id, revision)
     VALUES (1, 'Customer', $1, 'user_group.updated', 1, $2, 1)`,
    [randomUUID(), label],
  )

const open = async (t: Scope): Promise<{ store: Store; url: string }> => {
  const url = await migratedDatabase(t)
  return { store: await openPostgres(t, url), url }
}

const labelsAfter = async (store: Store, position: EventPosition) =>
  (await eventsAfter(store, position)).map(({ userGroup }) => userGroup?.providedId)

describe('PostgreSQL: the order of events', () => {
  it('waits for an open transaction that could still write an earlier event', async (t) => {
    const { store, url } = await open(t)
    const start = await positionNow(store)
    const session = await openSession(t, url)
    await session.query('BEGIN')
    await insertEvent(session, 'early')
    const { providedId } = await created(store)
    await sleep(20)
    for (const limit of [1, 1000]) {
      const page = await pageAfter(store, start, limit)
      assert.deepEqual([page.events, page.position], [[], start])
      assert.ok(comparePositions(page.readUpTo, page.nextPosition) < 0)
    }
    assert.equal(await store.events.head(), start)
    await session.query('COMMIT')
    assert.deepEqual(await labelsAfter(store, start), ['early', providedId])
  })

  it('does not wait for a transaction that only reads, nor after a rollback', async (t) => {
    const { store, url } = await open(t)
    const start = await positionNow(store)
    const [reader, writer] = [await openSession(t, url), await openSession(t, url)]
    await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ')
    await reader.query('SELECT count(*) FROM event')
    await writer.query('BEGIN')
    await insertEvent(writer, 'never')
    const { providedId } = await created(store)
    await writer.query('ROLLBACK')
    assert.deepEqual(await labelsAfter(store, start), [providedId])
  })

  it('a page says up to where changes that were committed before it are included', async (t) => {
    const { store, url } = await open(t)
    const start = await positionNow(store)
    const session = await openSession(t, url)
    await session.query('BEGIN')
    await session.query('SELECT pg_current_xact_id()')
    await created(store)
    const { nextPosition } = await pageAfter(store, start)
    // The committed change is before `nextPosition`, and not readable.
    assert.ok(comparePositions((await pageAfter(store, start)).readUpTo, nextPosition) < 0)
    await session.query('COMMIT')
    const [event] = await eventsAfter(store, start)
    assert.ok(event && comparePositions(event.position, nextPosition) < 0)
    await created(store)
    const later = await eventsAfter(store, event.position)
    assert.equal(later.length, 1)
    assert.ok(comparePositions(later[0]?.position ?? '', nextPosition) >= 0)
  })

  it('a savepoint that is rolled back takes only its events along', async (t) => {
    const { store, url } = await open(t)
    const start = await positionNow(store)
    const session = await openSession(t, url)
    await session.query('BEGIN')
    await insertEvent(session, 'a')
    await session.query('SAVEPOINT one')
    await insertEvent(session, 'b')
    await session.query('ROLLBACK TO one')
    await insertEvent(session, 'c')
    await session.query('COMMIT')
    assert.deepEqual(await labelsAfter(store, start), ['a', 'c'])
  })

  it('an event that an open transaction holds back is not deleted', async (t) => {
    const { store, url } = await open(t)
    const start = await positionNow(store)
    const session = await openSession(t, url)
    await session.query('BEGIN')
    await insertEvent(session, 'open')
    const { providedId } = await created(store, { now: 1000 })
    assert.equal(await store.events.deleteOlderThan(2000), 0)
    assert.equal(await store.events.head(), start)
    await session.query('COMMIT')
    assert.deepEqual(await labelsAfter(store, start), ['open', providedId])
    assert.equal(await store.events.deleteOlderThan(2000), 1)
  })

  it('random interleavings: a consumer that disconnects at random sees each event once, in the order of positions', async (t) => {
    const { store, url } = await open(t)
    const writers = await Promise.all(Array.from({ length: 4 }, () => openSession(t, url)))
    let rounds = 0
    const writerStep = fc.record({
      writer: fc.nat(writers.length - 1),
      act: fc.constantFrom('id', 'insert', 'insert', 'commit', 'commit', 'rollback'),
    })
    const readerStep = fc.record({ read: fc.integer({ min: 1, max: 4 }), isLost: fc.boolean() })
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: writerStep }, readerStep), {
      minLength: 60,
      maxLength: 100,
    })
    await fc.assert(
      fc.asyncProperty(steps, async (steps) => {
        await play(store, writers, steps, `r${rounds++}`)
      }),
      { numRuns: 12, seed: 20, endOnFailure: true },
    )
  })
})

describe('PostgreSQL: events of another server', () => {
  /** Makes the database report a timeline, as after promotions. */
  const setTimeline = async (session: Client, timeline: number) =>
    session.query(
      `CREATE OR REPLACE FUNCTION current_timeline() RETURNS integer LANGUAGE sql AS 'SELECT ${timeline}'`,
    )

  it('after a failover, the first page says that changes may be lost, and no event is', async (t) => {
    const { store, url } = await open(t)
    const session = await openSession(t, url)
    await created(store)
    const start = await positionNow(store)
    const { providedId: before } = await created(store)
    await setTimeline(session, 7)
    const { providedId: after } = await created(store)
    await eventsAfter(store, start)
    const page = await pageAfter(store, start)
    assert.equal(page.isContinuous, false)
    assert.deepEqual(
      page.events.map(({ userGroup }) => userGroup?.providedId),
      [before, after],
    )
    assert.ok((await pageAfter(store, page.position)).isContinuous)
    assert.ok((await pageAfter(store, await store.events.head())).isContinuous)
  })

  it('are removed when the store is opened, because no reader would reach them', async (t) => {
    const { store, url } = await open(t)
    const session = await openSession(t, url)
    await setTimeline(session, 3)
    await created(store)
    const position = await store.events.head()
    // `pg_upgrade` begins with timeline 1 again.
    await setTimeline(session, 1)
    const moved = await openPostgres(t, url)
    assert.equal(await moved.events.read(position, 10), null)
    const start = await positionNow(moved)
    const { providedId } = await created(moved)
    assert.deepEqual(await labelsAfter(moved, start), [providedId])
  })

  it('a position of deleted events ahead of this server is forgotten when the store is opened', async (t) => {
    const { store, url } = await open(t)
    const session = await openSession(t, url)
    await session.query(`UPDATE event_log SET timeline = 1, transaction_id = '${10n ** 12n}'`)
    const position = await store.events.head()
    const moved = await openPostgres(t, url)
    assert.equal(await moved.events.read(position, 10), null)
    const start = await positionNow(moved)
    const { providedId } = await created(moved)
    assert.deepEqual(await labelsAfter(moved, start), [providedId])
  })
})

type Step =
  { readonly writer: number; readonly act: string } | { readonly read: number; readonly isLost: boolean }

async function play(
  store: Store,
  writers: readonly Client[],
  steps: readonly Step[],
  prefix: string,
): Promise<void> {
  const start = await positionNow(store)
  const open: (string[] | undefined)[] = writers.map(() => undefined)
  const committed: string[][] = []
  let count = 0
  const end = async (i: number, act: 'COMMIT' | 'ROLLBACK') => {
    const labels = open[i]
    if (labels === undefined) return
    await writers[i]?.query(act)
    open[i] = undefined
    if (act === 'COMMIT') committed.push(labels)
  }
  /** Positions by label, in order of first sight. */
  const seen = new Map<string, EventPosition>()
  // A position that the consumer has kept when it disconnects.
  let [position, kept] = [start, start]
  const read = async (limit: number) => {
    const page = await pageAfter(store, position, limit)
    for (const { position: at, userGroup } of page.events) {
      assert.ok(comparePositions(at, position) > 0)
      position = at
      const label = userGroup?.providedId ?? ''
      assert.equal(seen.get(label) ?? at, at)
      if (!seen.has(label)) {
        const last = [...seen.values()].at(-1)
        assert.ok(last === undefined || comparePositions(last, at) < 0, `${label} comes after a later event`)
      }
      seen.set(label, at)
    }
    assert.equal(page.position, position)
  }
  for (const step of steps) {
    if ('read' in step) {
      await read(step.read)
      if (step.isLost) position = kept
      else kept = position
      continue
    }
    const { writer: i, act } = step
    const session = writers[i] as Client
    if (act === 'commit' || act === 'rollback') {
      await end(i, act === 'commit' ? 'COMMIT' : 'ROLLBACK')
      continue
    }
    if (open[i] === undefined) await session.query('BEGIN')
    const labels = (open[i] ??= [])
    if (act === 'id') await session.query('SELECT pg_current_xact_id()')
    else {
      const label = `${prefix}-${count++}`
      await insertEvent(session, label)
      labels.push(label)
    }
  }
  for (const i of writers.keys()) await end(i, 'COMMIT')
  const rest = await eventsAfter(store, position)
  for (const { position: at, userGroup } of rest)
    seen.set(userGroup?.providedId ?? '', seen.get(userGroup?.providedId ?? '') ?? at)
  assert.deepEqual([...seen.keys()].sort(), committed.flat().sort())
  const all = await eventsAfter(store, start)
  assert.deepEqual(
    all.map(({ userGroup }) => userGroup?.providedId),
    [...seen.keys()],
  )
}
