import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '../../../../src/domain/event/event.ts'
import { generateSecretKey, Keyring } from '../../../../src/domain/secret-key/keyring.ts'
import type { Store } from '../../../../src/domain/store.ts'
import { retryPeriodMs } from '../../../../src/domain/webhook/retry-schedule.ts'
import type { AttemptResult } from '../../../../src/domain/webhook/webhook-delivery.ts'
import type {
  DueDelivery,
  EnqueueDeliveries,
  FindDue,
  RecordedAttempt,
  WebhookTarget,
} from '../../../../src/domain/webhook/webhook-delivery-store.ts'
import { claimMs, WebhookDispatcher } from '../../../../src/domain/webhook/webhook-dispatcher.ts'
import { generateWebhookSecret, secretContext } from '../../../../src/domain/webhook/webhook-endpoint.ts'
import { signatureHeaders } from '../../../../src/domain/webhook/webhook-signature.ts'

const keyring = new Keyring([generateSecretKey('key')])
const scope = { workspaceId: 1, environment: 'Customer' } as const

function target(
  id: number,
  over: Partial<WebhookTarget> = {},
  secrets: [string, number | null][] = [],
): WebhookTarget {
  const all = { ...scope, ...over }
  return {
    id,
    name: `endpoint ${id}`,
    url: `https://${id}.example.com/`,
    eventTypes: [],
    state: 'active',
    createdAt: 0,
    updatedAt: 0,
    isSucceeding: true,
    secrets: secrets.map(([secret, expiresAt]) => ({
      ...keyring.seal(secret, secretContext(all, id)),
      expiresAt,
    })),
    ...all,
  }
}

function delivery(id: number, endpointId: number, over: Partial<DueDelivery> = {}): DueDelivery {
  const event = {
    eventId: `event-${id}`,
    eventType: 'user_group.updated',
    teamId: id,
    body: `body ${id}`,
  } as const
  return { id, endpointId, ...event, attempts: 0, firstAttemptAt: null, ...over }
}

function event(eventId: string, over: Partial<Event> = {}) {
  const userGroup = { teamId: 1, providedId: 'a' }
  const type = 'user_group.updated' as const
  return { eventId, type, userGroup, revision: 1, tokenHash: null, position: `teststor-1`, ...scope, ...over }
}

interface Sent {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly answer: (result: AttemptResult) => void
}

/** A dispatcher over deliveries in memory. Requests wait until the test answers them. */
function start({
  targets,
  due = [],
  events = [],
}: {
  targets: WebhookTarget[]
  due?: DueDelivery[]
  events?: ReturnType<typeof event>[]
}) {
  const state = { now: 1_000_000, monotonic: 0, isLeader: true, delayMs: 0, due }
  const sent: Sent[] = []
  const recorded: RecordedAttempt[] = []
  const enqueued: EnqueueDeliveries[] = []
  const asked: FindDue[] = []
  const store = {
    events: {
      read: () => Promise.resolve({ events: enqueued.length === 0 ? events : [], position: 'teststor-9' }),
      head: () => Promise.resolve('teststor-9'),
    },
    webhookDeliveries: {
      claim: () => Promise.resolve(state.isLeader ? { position: 'teststor-0' } : null),
      targets: () => {
        state.monotonic += state.delayMs
        return Promise.resolve(targets)
      },
      enqueue: (command: EnqueueDeliveries) => Promise.resolve(enqueued.push(command) > 0),
      due: (query: FindDue) => {
        asked.push(query)
        const ids = query.endpoints.map(({ id }) => id)
        return Promise.resolve(state.due.filter(({ endpointId }) => ids.includes(endpointId)))
      },
      record: ({ attempts }: { attempts: RecordedAttempt[] }) => {
        recorded.push(...attempts)
        return Promise.resolve([])
      },
      release: () => Promise.resolve(),
    },
  } as unknown as Pick<Store, 'events' | 'webhookDeliveries'>
  const dispatcher = new WebhookDispatcher({
    store,
    keyring,
    clock: { now: () => state.now, monotonic: () => state.monotonic },
    send: ({ url, headers }, signal) =>
      new Promise((resolve) => {
        sent.push({ url, headers, answer: resolve })
        signal?.addEventListener('abort', () => resolve({ status: null, errorCode: 'ABORTED' }))
      }),
    bodyOf: ({ eventId }) => `body of ${eventId}`,
    observer: { attempted: () => undefined, disabled: () => undefined, positionLost: () => undefined },
    holder: 'process',
    random: () => 0,
  })
  return { dispatcher, state, sent, recorded, enqueued, asked }
}

const ok = { status: 204, errorCode: null }

test('every secret that has not expired signs', async () => {
  const [current, overlapping, expired] = [1, 2, 3].map(generateWebhookSecret) as [string, string, string]
  const secrets: [string, number | null][] = [
    [current, null],
    [overlapping, 1_000_001],
    [expired, 1_000_000],
  ]
  const { dispatcher, sent } = start({ targets: [target(1, {}, secrets)], due: [delivery(1, 1)] })
  await dispatcher.step()
  const message = { id: 'event-1', now: 1_000_000, body: 'body 1' }
  const { 'webhook-signature': signature } = signatureHeaders(message, [current, overlapping])
  assert.equal(sent[0]?.headers['webhook-signature'], signature)
})

test('an endpoint gets the events of its own workspace, environment and types', async () => {
  const targets = [
    target(1),
    target(2, { environment: 'Testing' }),
    target(3, { workspaceId: 2 }),
    target(4, { eventTypes: ['user_group.deleted'] }),
  ]
  const events = [
    event('a'),
    event('b', { environment: 'Testing' }),
    event('c', { type: 'user_group.deleted' }),
  ]
  const { dispatcher, enqueued } = start({ targets, events })
  await dispatcher.step()
  const deliveries = enqueued[0]?.deliveries.map(({ endpointId, eventId }) => `${eventId} to ${endpointId}`)
  assert.deepEqual(deliveries, ['a to 1', 'b to 2', 'c to 1', 'c to 4'])
})

test('paused and disabled endpoints get no attempts', async () => {
  const targets = [target(1, { state: 'paused' }), target(2, { state: 'disabled' })]
  const { dispatcher, sent, asked } = start({ targets, due: [delivery(1, 1), delivery(2, 2)] })
  await dispatcher.step()
  assert.deepEqual([sent, asked], [[], []])
})

test('a user group has one attempt in flight to an endpoint', async () => {
  const due = [delivery(1, 1), delivery(2, 1, { teamId: 1 }), delivery(3, 1)]
  const { dispatcher, state, sent, recorded } = start({ targets: [target(1)], due })
  await dispatcher.step()
  assert.deepEqual(
    sent.map(({ headers }) => headers['webhook-id']),
    ['event-1', 'event-3'],
  )
  sent[0]?.answer(ok)
  await new Promise(setImmediate)
  state.due = [delivery(2, 1, { teamId: 1 })]
  await dispatcher.step()
  assert.deepEqual(
    recorded.map(({ id, isDelivered, nextAttemptAt }) => [id, isDelivered, nextAttemptAt]),
    [[1, true, null]],
  )
  assert.equal(sent[2]?.headers['webhook-id'], 'event-2')
})

test('workspaces take turns, and endpoints that waited longest come first', async () => {
  const targets = [target(1), target(2), target(3, { workspaceId: 2 })]
  const { dispatcher, state, asked } = start({ targets, due: [delivery(1, 1)] })
  await dispatcher.step()
  state.due = []
  await dispatcher.step()
  const orders = asked.map(({ endpoints }) => endpoints.map(({ id }) => id))
  assert.deepEqual(orders, [
    [1, 3, 2],
    [2, 3, 1],
  ])
})

test('a failed attempt is repeated until the retry period is over', async () => {
  const first = delivery(1, 1)
  const last = delivery(2, 1, { attempts: 9, firstAttemptAt: 1_000_000 - retryPeriodMs })
  const { dispatcher, sent, recorded } = start({ targets: [target(1)], due: [first, last] })
  await dispatcher.step()
  for (const { answer } of sent) answer({ status: 500, errorCode: null })
  await dispatcher.idle()
  await dispatcher.step()
  assert.deepEqual(
    recorded.map(({ attempts, nextAttemptAt }) => [attempts, nextAttemptAt]),
    [
      [1, 1_005_000],
      [10, null],
    ],
  )
})

test('a receiver decides when the next attempt is, within the retry period, or that there is none', async () => {
  const now = 1_000_000
  const firstAttemptAt = now - retryPeriodMs + 60_000
  const due = [
    delivery(1, 1),
    delivery(2, 1),
    delivery(3, 1),
    delivery(4, 1, { attempts: 9, firstAttemptAt }),
  ]
  const { dispatcher, sent, recorded } = start({ targets: [target(1)], due })
  await dispatcher.step()
  const answers = [
    { status: 503, errorCode: null, retryAfterMs: 120_000 },
    { status: 429, errorCode: null, retryAfterMs: 1 },
    { status: 410, errorCode: null, retryAfterMs: 120_000 },
    { status: 503, errorCode: null, retryAfterMs: 120_000 },
  ]
  for (const [i, answer] of answers.entries()) sent[i]?.answer(answer)
  await dispatcher.idle()
  await dispatcher.step()
  assert.deepEqual(
    recorded.map(({ nextAttemptAt }) => nextAttemptAt && nextAttemptAt - now),
    [120_000, 5000, null, 60_000],
  )
})

test('a process that is no longer the leader, or waited too long for the store, starts nothing', async () => {
  const { dispatcher, state, sent, recorded } = start({ targets: [target(1)], due: [delivery(1, 1)] })
  state.delayMs = claimMs
  await dispatcher.step()
  assert.equal(sent.length, 0)
  state.delayMs = 0
  await dispatcher.step()
  sent[0]?.answer(ok)
  await dispatcher.idle()
  state.isLeader = false
  assert.equal(await dispatcher.step(), false)
  assert.deepEqual([sent.length, recorded], [1, []])
})

test('an attempt that the end of the service interrupts is not recorded', async () => {
  const { dispatcher, recorded } = start({ targets: [target(1)], due: [delivery(1, 1)] })
  await dispatcher.step()
  await dispatcher.stop(0)
  assert.deepEqual(recorded, [])
})
