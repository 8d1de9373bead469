import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import {
  caller,
  scope,
  startReceiver,
  stepUntil,
  verified,
  webhookBench,
  type WebhookBench,
} from '../../support/webhooks.ts'

const minute = 60_000

const deliveriesOf = ({ management }: WebhookBench, id: number) =>
  management.listDeliveries(scope, id, { state: null, beforeId: null, limit: 1000 })

const isDelivered = async (bench: WebhookBench, id: number) =>
  (await deliveriesOf(bench, id)).every(({ state }) => state === 'delivered')

test('a delivery shows its last request and the head of the response, without credentials', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  receiver.respond = (response) =>
    response
      .writeHead(500, { 'content-type': 'text/plain', 'set-cookie': 'a=b', 'x-reason': 'broken' })
      .end('body')
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  await bench.createGroup('a')
  const health = async () => (await bench.management.find(scope, endpoint.id)).health
  assert.equal(await health(), 'unknown')
  const dispatcher = bench.dispatcher()
  await stepUntil(dispatcher, () => receiver.received.length > 0)
  assert.equal(await health(), 'failing')
  const [listed] = await deliveriesOf(bench, endpoint.id)
  const { body, signature, responseHeaders, ...delivery } = await bench.management.findDelivery(
    scope,
    endpoint.id,
    listed?.id ?? 0,
  )
  assert.deepEqual(delivery, listed)
  const [message] = receiver.received
  assert.equal(body, message?.body)
  assert.equal(signature, message?.headers['webhook-signature'])
  const headers = JSON.parse(responseHeaders ?? '') as Record<string, string>
  assert.deepEqual(
    [headers['content-type'], headers['x-reason'], headers['set-cookie']],
    ['text/plain', 'broken', undefined],
  )
  const elsewhere = { ...scope, environment: 'Testing' } as const
  await assert.rejects(bench.management.findDelivery(elsewhere, endpoint.id, delivery.id), {
    code: 'not_found',
  })

  receiver.respond = (response) => response.writeHead(204).end()
  bench.time.now += minute
  await stepUntil(dispatcher, () => isDelivered(bench, endpoint.id))
  assert.equal(await health(), 'ok')
})

test('a test event is signed, reaches a paused endpoint, and is no delivery', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const { endpoint, secret } = await bench.management.create(caller, {
    ...{ name: 'A', url: receiver.url, eventTypes: ['user_group.suspended'] },
  })
  await bench.management.update(caller, endpoint.id, { state: 'paused' })
  const tested = await bench.management.test(scope, endpoint.id)
  assert.deepEqual([tested.isDelivered, tested.result.status], [true, 204])
  const [message] = receiver.received
  assert.ok(message)
  assert.deepEqual(verified(message, secret), {
    type: 'webhook_endpoint.test',
    timestamp: new Date(bench.time.now).toISOString(),
    data: {},
  })
  assert.equal(message.body, tested.body)
  assert.equal(message.headers['webhook-signature'], tested.headers['webhook-signature'])
  receiver.respond = (response) => response.writeHead(500).end()
  assert.equal((await bench.management.test(scope, endpoint.id)).isDelivered, false)
  assert.deepEqual(await deliveriesOf(bench, endpoint.id), [])
  assert.equal((await bench.management.find(scope, endpoint.id)).health, 'unknown')
  const elsewhere = { ...scope, environment: 'Testing' } as const
  await assert.rejects(bench.management.test(elsewhere, endpoint.id), { code: 'not_found' })
})

test('one workspace has at most half of the test events in flight', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const held: ServerResponse[] = []
  receiver.respond = (response) => held.push(response)
  const { endpoint } = await bench.management.create(caller, { name: 'A', url: receiver.url, eventTypes: [] })
  let refused = 0
  const results = Array.from({ length: 40 }, () =>
    bench.management.test(scope, endpoint.id).then(
      () => 'sent',
      (error: unknown) => {
        refused++
        return (error as { code: string }).code
      },
    ),
  )
  while (held.length < 16 || refused < 24) await new Promise((resolve) => setImmediate(resolve))
  for (const response of held) response.writeHead(204).end()
  const codes = await Promise.all(results)
  assert.deepEqual(
    [codes.filter((code) => code === 'sent').length, new Set(codes)],
    [16, new Set(['sent', 'unavailable'])],
  )
})
