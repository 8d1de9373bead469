import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { generateSecretKey, Keyring } from '../../../src/domain/secret-key/keyring.ts'
import { retryPeriodMs } from '../../../src/domain/webhook/retry-schedule.ts'
import type { WebhookDelivery } from '../../../src/domain/webhook/webhook-delivery.ts'
import { claimMs } from '../../../src/domain/webhook/webhook-dispatcher.ts'
import { allOf } from '../../store/contract/audit-events.ts'
import {
  caller,
  scope,
  startReceiver,
  stepUntil,
  verified,
  webhookBench,
  type WebhookBench,
} from '../../support/webhooks.ts'

const all = { state: null, beforeId: null, limit: 1000 }
const minute = 60_000

const deliveriesOf = ({ management }: WebhookBench, id: number): Promise<WebhookDelivery[]> =>
  management.listDeliveries(scope, id, all)

const isDelivered = async (bench: WebhookBench, id: number, count: number) =>
  (await deliveriesOf(bench, id)).filter(({ state }) => state === 'delivered').length === count

const namesOf = (received: readonly { body: string }[]) =>
  received.map(({ body }) => {
    const { type, data } = JSON.parse(body) as {
      type: string
      data: { provided_id?: string; revision?: number }
    }
    return `${data.provided_id ?? '-'} ${data.revision ?? type}`
  })

test('an event is sent once, with the JSON of the feed and a signature of Standard Webhooks', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const fields = { name: 'A', url: receiver.url, eventTypes: [] }
  const { endpoint, secret } = await bench.management.create(caller, fields)
  const teamId = await bench.createGroup('a')
  await stepUntil(bench.dispatcher(), () => isDelivered(bench, endpoint.id, 1))
  const [message, ...others] = receiver.received
  assert.ok(message)
  assert.deepEqual(others, [])
  assert.deepEqual(verified(message, secret), {
    type: 'user_group.created',
    timestamp: new Date(bench.time.now).toISOString(),
    data: { team_id: teamId, provided_id: 'a', revision: 1 },
  })
  assert.throws(() => verified({ ...message, body: message.body.replace('"a"', '"b"') }, secret))
  const [delivery] = await deliveriesOf(bench, endpoint.id)
  assert.equal(message.headers['webhook-id'], delivery?.eventId)
  assert.equal(message.headers['content-type'], 'application/json')
  assert.deepEqual(
    [delivery?.attempts, delivery?.responseStatus, delivery?.errorCode, delivery?.nextAttemptAt],
    [1, 204, null, null],
  )
})

test('an event is sent once if its delivery is written twice, as after an uncertain commit', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.createGroup('a')
  const { webhookDeliveries } = bench.store
  const enqueue: typeof webhookDeliveries.enqueue = async (command) => {
    await webhookDeliveries.enqueue(command)
    return webhookDeliveries.enqueue(command)
  }
  const store = { ...bench.store, webhookDeliveries: { ...webhookDeliveries, enqueue } }
  await stepUntil(bench.dispatcher({ store }), () => isDelivered(bench, endpoint.id, 1))
  assert.equal((await deliveriesOf(bench, endpoint.id)).length, 1)
})

test('an endpoint receives only events of its types, its workspace and its environment', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const create = (
    environment: 'Customer' | 'Testing',
    eventTypes: readonly ('user_group.created' | 'user_group.updated')[],
  ) => bench.management.create({ ...caller, environment }, { name: 'A', url: receiver.url, eventTypes })
  const { endpoint } = await create('Customer', ['user_group.updated'])
  const other = await create('Testing', [])
  await bench.createGroup('a')
  await bench.rename('a', 'B')
  await stepUntil(bench.dispatcher(), () => isDelivered(bench, endpoint.id, 1))
  assert.deepEqual(namesOf(receiver.received), ['a 2'])
  const scopeOfOther = { ...scope, environment: 'Testing' } as const
  assert.deepEqual(await bench.management.listDeliveries(scopeOfOther, other.endpoint.id, all), [])
})

test('events of a user group arrive in order, and one that fails holds back no other user group', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.createGroup('a')
  await bench.createGroup('b')
  for (const name of ['1', '2', '3']) {
    await bench.rename('a', name)
    await bench.rename('b', name)
  }
  let isBroken = true
  receiver.respond = (response, _request, body) =>
    response.writeHead(isBroken && body.includes('"a"') ? 500 : 200).end()
  const dispatcher = bench.dispatcher()
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 4))
  assert.deepEqual(
    namesOf(receiver.received).filter((name) => name.startsWith('b')),
    ['b 1', 'b 2', 'b 3', 'b 4'],
  )
  assert.deepEqual([...new Set(namesOf(receiver.received).filter((name) => name.startsWith('a')))], ['a 1'])
  const health = await bench.management.find(scope, endpoint.id)
  assert.deepEqual([health.pending, health.failing], [3, 1])

  isBroken = false
  receiver.received.length = 0
  // Not before its time.
  await dispatcher.step()
  await dispatcher.idle()
  assert.deepEqual(receiver.received, [])
  bench.time.now += minute
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 8))
  assert.deepEqual(namesOf(receiver.received), ['a 1', 'a 2', 'a 3', 'a 4'])
})

test('events without a user group arrive in order', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  for (const providedId of ['x', 'y'])
    await bench.store.dataSources.createSchema({
      ...caller,
      providedId,
      name: 'S',
      createdAt: bench.time.now,
    })
  const schemas = await bench.store.dataSources.listSchemas({ workspaceId: 1, environment: 'Customer' })
  for (const { id } of schemas)
    await bench.store.dataSources.deleteSchema({ ...caller, id, now: bench.time.now })
  await stepUntil(bench.dispatcher(), () => isDelivered(bench, endpoint.id, 4))
  assert.deepEqual(namesOf(receiver.received), [
    ...['- schema.created', '- schema.created', '- schema.deleted', '- schema.deleted'],
  ])
})

test('a receiver that fails and recovers gets each event with the same id', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.createGroup('a')
  const responses: ((response: ServerResponse) => void)[] = [
    (response) => response.destroy(),
    (response) => response.writeHead(503).end('busy'),
    (response) => response.writeHead(302, { location: receiver.url }).end(),
  ]
  receiver.respond = (response) => {
    const respond = responses.shift()
    if (respond === undefined) response.writeHead(200).end()
    else respond(response)
  }
  const dispatcher = bench.dispatcher()
  const startedAt = bench.time.now
  for (const count of [1, 2, 3, 4]) {
    await stepUntil(dispatcher, async () => (await deliveriesOf(bench, endpoint.id))[0]?.attempts === count)
    const { lastSuccessAt, failingSince } = await bench.management.find(scope, endpoint.id)
    assert.deepEqual([lastSuccessAt, failingSince], count < 4 ? [null, startedAt] : [bench.time.now, null])
    bench.time.now += 60 * minute
  }
  assert.equal(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size, 1)
  assert.equal(receiver.received.length, 4)
  assert.ok(await isDelivered(bench, endpoint.id, 1))

  // Later failures keep the time of the last success.
  receiver.respond = (response) => response.writeHead(500).end()
  await bench.rename('a', 'B')
  await stepUntil(dispatcher, async () => (await deliveriesOf(bench, endpoint.id))[0]?.attempts === 1)
  const { lastSuccessAt, failingSince } = await bench.management.find(scope, endpoint.id)
  assert.deepEqual([lastSuccessAt, failingSince], [bench.time.now - 60 * minute, bench.time.now])
})

test('an endpoint that fails for 3 days is disabled, with an audit event, and goes on when it is resumed', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.createGroup('a')
  receiver.respond = (response) => response.writeHead(500).end()
  const dispatcher = bench.dispatcher()
  const startedAt = bench.time.now
  for (let attempts = 1; bench.disabled.length === 0; attempts++) {
    await stepUntil(
      dispatcher,
      async () => (await deliveriesOf(bench, endpoint.id))[0]?.attempts === attempts,
    )
    const [delivery] = await deliveriesOf(bench, endpoint.id)
    bench.time.now = Math.max(bench.time.now, delivery?.nextAttemptAt ?? 0)
  }
  assert.equal(bench.time.now - startedAt, retryPeriodMs)
  assert.ok(receiver.received.length >= 12 && receiver.received.length <= 20)
  assert.deepEqual(bench.disabled, [endpoint.id])
  assert.equal((await bench.management.find(scope, endpoint.id)).state, 'disabled')
  const [event] = await bench.store.audit.list(allOf(scope))
  assert.deepEqual([event?.action, event?.author], ['webhook_endpoint.disabled', 'service'])

  receiver.received.length = 0
  bench.time.now += 60 * minute
  await bench.rename('a', 'B')
  await stepUntil(dispatcher, async () => (await deliveriesOf(bench, endpoint.id)).length === 2)
  assert.deepEqual(receiver.received, [])

  receiver.respond = (response) => response.writeHead(200).end()
  await bench.management.update(caller, endpoint.id, { state: 'active' })
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 2))
  assert.deepEqual(namesOf(receiver.received), ['a 1', 'a 2'])
})

test('an endpoint that responds 410 is disabled at once, with an audit event', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.createGroup('a')
  receiver.respond = (response) => response.writeHead(410).end()
  await stepUntil(bench.dispatcher(), () => bench.disabled.length > 0)
  assert.deepEqual([bench.disabled, receiver.received.length], [[endpoint.id], 1])
  assert.equal((await bench.management.find(scope, endpoint.id)).state, 'disabled')
  const [event] = await bench.store.audit.list(allOf(scope))
  assert.deepEqual([event?.action, event?.author], ['webhook_endpoint.disabled', 'service'])
})

test('a paused endpoint gets its events when it is resumed', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.management.update(caller, endpoint.id, { state: 'paused' })
  await bench.createGroup('a')
  const dispatcher = bench.dispatcher()
  await stepUntil(dispatcher, async () => (await deliveriesOf(bench, endpoint.id)).length === 1)
  assert.deepEqual(receiver.received, [])
  await bench.management.update(caller, endpoint.id, { state: 'active' })
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 1))
})

test('events are sent again, one or all of a time range', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  const dispatcher = bench.dispatcher()
  await bench.createGroup('a')
  bench.time.now += minute
  const since = bench.time.now
  await bench.rename('a', 'B')
  bench.time.now += minute
  const until = bench.time.now
  await bench.rename('a', 'C')
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 3))
  receiver.received.length = 0
  bench.time.now += minute
  assert.equal(await bench.management.redeliver(scope, endpoint.id, { since, until: Infinity }), 2)
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 3))
  assert.deepEqual(namesOf(receiver.received), ['a 2', 'a 3'])
  bench.time.now += minute
  assert.equal(await bench.management.redeliver(scope, endpoint.id, { since, until }), 1)
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 3))
  assert.deepEqual(namesOf(receiver.received), ['a 2', 'a 3', 'a 2'])
  const oldest = (await deliveriesOf(bench, endpoint.id)).at(-1)
  assert.equal(await bench.management.redeliver(scope, endpoint.id, { deliveryId: oldest?.id ?? 0 }), 1)
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 3))
  assert.deepEqual(namesOf(receiver.received), ['a 2', 'a 3', 'a 2', 'a 1'])
})

test('one process delivers, and another one goes on after a crash without losing an event', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  const [first, second] = [bench.dispatcher(), bench.dispatcher()]
  assert.deepEqual([await first.step(), await second.step()], [true, false])
  await bench.createGroup('a')
  await bench.rename('a', 'B')
  // The first process crashes after the receiver has responded, before it records that.
  while (receiver.received.length === 0) {
    await first.step()
    await first.idle()
  }
  assert.equal(await second.step(), false)
  bench.time.now += claimMs
  await stepUntil(second, () => isDelivered(bench, endpoint.id, 2))
  assert.deepEqual(namesOf(receiver.received), ['a 1', 'a 1', 'a 2'])
  // The first process, in case that it had only hung, changes nothing.
  assert.equal(await first.step(), false)
  await first.idle()
  assert.equal(receiver.received.length, 3)
})

test('a process that stops lets another one deliver at once', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  const [first, second] = [bench.dispatcher(), bench.dispatcher()]
  await bench.createGroup('a')
  receiver.respond = () => undefined
  while (receiver.received.length === 0) await first.step()
  // The receiver does not respond: the attempt ends with the grace period and is repeated.
  await first.stop(1)
  receiver.respond = (response) => response.writeHead(200).end()
  await stepUntil(second, () => isDelivered(bench, endpoint.id, 1))
  assert.equal(receiver.received.length, 2)
})

test('after the position in the events is lost, deliveries go on with the next event', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.createGroup('a')
  await bench.createGroup('b')
  let events = bench.store.events
  const dispatcher = bench.dispatcher({
    store: {
      webhookDeliveries: bench.store.webhookDeliveries,
      events: {
        head: () => events.head(),
        read: (...page) => events.read(...page),
        deleteOlderThan: (before) => events.deleteOlderThan(before),
      },
    },
  })
  events = { ...bench.store.events, head: () => bench.store.events.head(), read: () => Promise.resolve(null) }
  await dispatcher.step()
  events = bench.store.events
  assert.equal(bench.losses(), 1)
  await stepUntil(dispatcher, () => true)
  await bench.createGroup('c')
  await stepUntil(dispatcher, async () => (await deliveriesOf(bench, endpoint.id))[0]?.state === 'delivered')
  assert.equal(namesOf(receiver.received).at(-1), 'c 1')
})

test('deliveries expire with the events, undelivered ones 3 days later, and the next of the user group follows', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  const dispatcher = bench.dispatcher()
  await bench.createGroup('a')
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 1))
  await bench.management.update(caller, endpoint.id, { state: 'paused' })
  await bench.rename('a', 'B')
  const changedAt = bench.time.now
  bench.time.now += minute
  await bench.rename('a', 'C')
  await stepUntil(dispatcher, async () => (await deliveriesOf(bench, endpoint.id)).length === 3)
  const { webhookDeliveries } = bench.store
  // No alert is due.
  assert.deepEqual(await webhookDeliveries.backlog(), { undelivered: 0, oldestEventId: null })
  assert.equal(await webhookDeliveries.deleteOlderThan(changedAt + 1), 1)
  assert.equal(await webhookDeliveries.deleteOlderThan(changedAt + retryPeriodMs + 1), 1)
  receiver.received.length = 0
  bench.time.now += retryPeriodMs
  await bench.management.update(caller, endpoint.id, { state: 'active' })
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id, 1))
  assert.deepEqual(namesOf(receiver.received), ['a 3'])
})

test('a deleted endpoint gets nothing more, and its deliveries are deleted', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.createGroup('a')
  receiver.respond = (response) => response.writeHead(500).end()
  const dispatcher = bench.dispatcher()
  await stepUntil(dispatcher, () => receiver.received.length === 1)
  await bench.management.delete(caller, endpoint.id)
  assert.deepEqual(await bench.store.webhookDeliveries.backlog(), { undelivered: 0, oldestEventId: null })
  assert.equal(await dispatcher.step(), false)
})

test('a secret that cannot be decrypted fails the attempt, and the next one succeeds with the key', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.createGroup('a')
  const without = bench.dispatcher({ keyring: new Keyring([generateSecretKey('other')]), holder: 'same' })
  await stepUntil(without, async () => (await deliveriesOf(bench, endpoint.id))[0]?.attempts === 1)
  assert.equal((await deliveriesOf(bench, endpoint.id))[0]?.errorCode, 'SECRET_SEALED')
  assert.deepEqual(receiver.received, [])
  bench.time.now += minute
  await stepUntil(bench.dispatcher({ holder: 'same' }), () => isDelivered(bench, endpoint.id, 1))
})
