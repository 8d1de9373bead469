import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { comparePositions, type EventPosition } from '../../../src/domain/event/event.ts'
import type { EventPage, PositionedEvent } from '../../../src/domain/event/event-store.ts'
import type { Store } from '../../../src/domain/store.ts'

/** Maximum time for which transactions of other tests on the same PostgreSQL server may delay events, in milliseconds. */
const boundMs = 30_000

/** Returns all events after a position that were committed before the call, in pages. */
export async function eventsAfter(
  store: Pick<Store, 'events'>,
  position: EventPosition,
  limit = 1000,
): Promise<PositionedEvent[]> {
  const { nextPosition } = await pageAfter(store, position, 1)
  const events: PositionedEvent[] = []
  const deadline = performance.now() + boundMs
  for (let after = position; ;) {
    const page = await pageAfter(store, after, limit)
    assert.ok(page.events.length <= limit)
    events.push(...page.events)
    after = page.position
    if (comparePositions(page.readUpTo, nextPosition) >= 0 && page.events.length < limit) return events
    assert.ok(performance.now() < deadline, `the events stay behind ${nextPosition}`)
    if (page.events.length < limit) await sleep(5)
  }
}

/** Returns a position after all events so far. */
export async function positionNow(store: Pick<Store, 'events'>): Promise<EventPosition> {
  const head = await store.events.head()
  return (await eventsAfter(store, head)).at(-1)?.position ?? head
}

/** Runs `work` and returns its events in the feed, and its result. */
export async function feedEventsOf<T>(
  store: Store,
  work: () => Promise<T>,
): Promise<{ events: PositionedEvent[]; result: T }> {
  const before = await positionNow(store)
  const result = await work()
  return { events: await eventsAfter(store, before), result }
}

export async function pageAfter(
  store: Pick<Store, 'events'>,
  position: EventPosition,
  limit = 1000,
): Promise<EventPage> {
  const page = await store.events.read(position, limit)
  assert.ok(page, `${position} is unknown`)
  return page
}
