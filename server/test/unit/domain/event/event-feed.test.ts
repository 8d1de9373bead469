import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { EventFeed } from '../../../../src/domain/event/event-feed.ts'
import type { Event, EventPosition } from '../../../../src/domain/event/event.ts'
import type { EventPage, PositionedEvent } from '../../../../src/domain/event/event-store.ts'
import { Fault } from '../../../../src/domain/fault.ts'
import { poll } from '../../../failover/poll.ts'

const boundMs = 20_000
const positionOf = (number: number): EventPosition => `teststor-${number}`
const numberOf = (position: EventPosition) => Number(position.split('-')[1])

/** Events in memory, with faults of a store on demand. */
class Events {
  readonly #events: PositionedEvent[] = []
  isContinuous = true
  /** Positions before this one are unknown. */
  firstKnown = 0
  fault: Fault | undefined

  append(providedId: string, over: Partial<Event> = {}): void {
    const position = positionOf(this.#events.length + 1)
    this.#events.push({
      eventId: providedId,
      type: 'user_group.updated',
      userGroup: { teamId: 1, providedId },
      revision: 1,
      tokenHash: null,
      workspaceId: 1,
      environment: 'Customer',
      position,
      ...over,
    })
  }

  head(): Promise<EventPosition> {
    if (this.fault !== undefined) return Promise.reject(this.fault)
    return Promise.resolve(positionOf(this.#events.length))
  }

  read(after: EventPosition, limit: number): Promise<EventPage | null> {
    if (this.fault !== undefined) return Promise.reject(this.fault)
    if (numberOf(after) < this.firstKnown) return Promise.resolve(null)
    const events = this.#events.slice(numberOf(after), numberOf(after) + limit)
    const position = events.at(-1)?.position ?? after
    const { isContinuous } = this
    this.isContinuous = true
    const nextPosition = positionOf(this.#events.length)
    return Promise.resolve({ events, position, readUpTo: position, nextPosition, isContinuous })
  }

  deleteOlderThan(): Promise<number> {
    return Promise.resolve(0)
  }
}

function start(t: TestContext) {
  const events = new Events()
  let now = 0
  // Each look at the clock takes a millisecond.
  const feed = new EventFeed({ store: { events }, clock: { monotonic: () => now++ } })
  t.after(() => feed.close())
  const subscribe = (after: EventPosition | null) => {
    const received: string[] = []
    const state = { takesMore: true, beats: 0 }
    const subscription = feed.subscribe(
      {
        workspaceId: 1,
        environment: 'Customer',
        send: (sent) => {
          received.push(...sent.map(({ eventId }) => eventId))
          return state.takesMore
        },
        heartbeat: () => state.beats++,
        reset: (position) => void received.push(`reset to ${position}`),
        end: (fault) => void received.push(`end ${fault?.code}`),
      },
      after,
    )
    const got = (id: string) => poll(id, boundMs, () => received.includes(id) || undefined)
    return { received, state, subscription, got }
  }
  return { events, feed, subscribe, advance: (ms: number) => (now += ms) }
}

test('the feed sends the events of its own workspace and environment, after the position, each once', async (t) => {
  const { events, subscribe } = start(t)
  for (const id of ['before', 'first']) events.append(id)
  const { received, got } = subscribe(positionOf(1))
  await got('first')
  events.append('other environment', { environment: 'Testing' })
  events.append('other workspace', { workspaceId: 2 })
  events.append('last')
  await got('last')
  assert.deepEqual(received, ['first', 'last'])
})

test('a subscriber without a position gets later events only', async (t) => {
  const { events, subscribe } = start(t)
  events.append('earlier')
  const { received, state, got } = subscribe(null)
  await poll('a heartbeat', boundMs, () => state.beats > 0 || undefined)
  events.append('later')
  await got('later')
  assert.deepEqual(received, ['later'])
})

test('a subscriber that is level with the common read is not sent an event twice', async (t) => {
  const { events, subscribe } = start(t)
  const first = subscribe(null)
  await poll('a heartbeat', boundMs, () => first.state.beats > 0 || undefined)
  for (const id of ['1', '2']) events.append(id)
  const second = subscribe(positionOf(1))
  await Promise.all([first.got('2'), second.got('2')])
  events.append('3')
  await Promise.all([first.got('3'), second.got('3')])
  assert.deepEqual(
    [first.received, second.received],
    [
      ['1', '2', '3'],
      ['2', '3'],
    ],
  )
})

test('a position of which events were deleted begins with a reset', async (t) => {
  const { events, subscribe } = start(t)
  for (const id of ['deleted', 'kept']) events.append(id)
  events.firstKnown = 1
  const { received, got } = subscribe(positionOf(0))
  await got(`reset to ${positionOf(2)}`)
  events.append('next')
  await got('next')
  assert.deepEqual(received, [`reset to ${positionOf(2)}`, 'next'])
})

test('after a failover of the database, a reset follows the events', async (t) => {
  const { events, subscribe } = start(t)
  const { received, state, got } = subscribe(null)
  await poll('a heartbeat', boundMs, () => state.beats > 0 || undefined)
  events.isContinuous = false
  events.append('first')
  await got(`reset to ${positionOf(1)}`)
  assert.deepEqual(received, ['first', `reset to ${positionOf(1)}`])
})

test('a full sink gets nothing more until it resumes, and heartbeats go on', async (t) => {
  const { events, subscribe, advance } = start(t)
  const full = subscribe(null)
  const other = subscribe(null)
  await poll('heartbeats', boundMs, () => (full.state.beats > 0 && other.state.beats > 0) || undefined)
  full.state.takesMore = false
  events.append('1')
  await Promise.all([full.got('1'), other.got('1')])
  events.append('2')
  await other.got('2')
  const { beats } = full.state
  advance(2000)
  await poll('a heartbeat', boundMs, () => full.state.beats > beats || undefined)
  assert.deepEqual(full.received, ['1'])
  full.state.takesMore = true
  full.subscription.resume()
  await full.got('2')
  assert.deepEqual(full.received, ['1', '2'])
})

test('a store without an order of events ends the subscriptions, other faults do not', async (t) => {
  const { events, subscribe } = start(t)
  const { received, got } = subscribe(null)
  events.fault = new Fault('unavailable', 'The store is unavailable')
  events.append('1')
  events.fault = new Fault('not_implemented', 'The event feed needs one database')
  await got('end not_implemented')
  assert.equal(received.at(-1), 'end not_implemented')
})
