import assert from 'node:assert/strict'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { EventFeed, EventSink } from '../../../src/domain/event/event-feed.ts'
import type { PositionedEvent } from '../../../src/domain/event/event-store.ts'
import type { EventRequest } from '../../../src/http/events/event-request.ts'
import { pollEvents } from '../../../src/http/events/long-poll.ts'

const position = (n: number) => `aaaaaaaa-${n}`
const event = (n: number, type: 'user_group.created' | 'user_group.updated') => ({
  workspaceId: 1,
  environment: 'Customer' as const,
  eventId: `01920000-0000-7000-8000-00000000000${n}`,
  type,
  userGroup: { teamId: 1, providedId: 'a' },
  revision: n,
  tokenHash: null,
  position: position(n),
})

/** Starts a poll that does not see creations. */
function poll() {
  let sink: EventSink | undefined
  let isOver = false
  const feed = {
    subscribe: (subscriber: EventSink) => {
      sink = subscriber
      return { end: () => (isOver = true) }
    },
  }
  const response = pollEvents(
    feed as unknown as EventFeed,
    {
      apiToken: { workspaceId: 1, environment: 'Customer' } as EventRequest['apiToken'],
      after: position(0),
      isVisible: ({ type }) => type !== 'user_group.created',
      faultOfToken: () => Promise.resolve(null),
    },
    new IncomingMessage(new Socket()),
    60,
  )
  return { response, isOver: () => isOver, send: (...events: PositionedEvent[]) => sink?.send(events) }
}

test('an event that the API token may not see does not end a poll', async () => {
  const { response, isOver, send } = poll()
  send(event(1, 'user_group.created'))
  await setImmediate()
  assert.equal(isOver(), false)
  send(event(2, 'user_group.updated'), event(3, 'user_group.created'))
  const page = JSON.parse(await response) as { events: { type: string }[]; position: string }
  assert.deepEqual(
    page.events.map(({ type }) => type),
    ['user_group.updated'],
  )
  assert.equal(page.position, position(3))
})
