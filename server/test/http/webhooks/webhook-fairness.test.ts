import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import type { Caller } from '../../../src/domain/caller.ts'
import type {
  WebhookDeliveryStore,
  WebhookTarget,
} from '../../../src/domain/webhook/webhook-delivery-store.ts'
import type { AttemptResult } from '../../../src/domain/webhook/webhook-delivery.ts'
import type { SendWebhook, WebhookDispatcher } from '../../../src/domain/webhook/webhook-dispatcher.ts'
import { poll } from '../../failover/poll.ts'
import { caller, webhookBench, type WebhookBench } from '../../support/webhooks.ts'

/** Receivers of webhooks, by URL: those with `hang` never respond. */
function receivers() {
  const hanging: string[] = []
  const delivered: string[] = []
  const send: SendWebhook = ({ url }) => {
    if (!url.includes('hang')) {
      delivered.push(url)
      return Promise.resolve({ status: 204, errorCode: null })
    }
    hanging.push(url)
    return new Promise<AttemptResult>(() => undefined)
  }
  return { send, hanging, delivered }
}

async function createEndpoints(
  { management }: WebhookBench,
  as: Caller,
  name: string,
  count: number,
): Promise<void> {
  const create = (i: number) =>
    management.create(as, { name, url: `https://${name}${i}.example/`, eventTypes: [] })
  await Promise.all(Array.from({ length: count }, (_, i) => create(i)))
}

/** Returns the store of a dispatcher, which tells `before` the values of the calls of a method. */
function storeWith<Name extends 'due' | 'enqueue'>(
  { store: { events, webhookDeliveries } }: WebhookBench,
  name: Name,
  before: (value: Parameters<WebhookDeliveryStore[Name]>[0]) => void,
): Pick<Store, 'events' | 'webhookDeliveries'> {
  const method = (called: string) => {
    const run = webhookDeliveries[called as Name] as (...values: unknown[]) => unknown
    return (...values: unknown[]) => {
      if (called === name) before(values[0] as Parameters<WebhookDeliveryStore[Name]>[0])
      return run.apply(webhookDeliveries, values)
    }
  }
  return {
    events,
    webhookDeliveries: new Proxy(webhookDeliveries, { get: (_, called) => method(String(called)) }),
  }
}

const nameOf = (targets: readonly WebhookTarget[], wanted: number) =>
  targets.find(({ id }) => id === wanted)?.name ?? ''

/** Runs steps without waiting for attempts in flight. */
const stepUntil = (dispatcher: WebhookDispatcher, isTrue: () => boolean | Promise<boolean>) =>
  poll('the attempts', 60_000, async () => {
    await dispatcher.step()
    return (await isTrue()) || undefined
  })

test('endpoints that hang hold up neither another workspace nor another endpoint of their own', async (t) => {
  const bench = await webhookBench(t)
  const { send, hanging, delivered } = receivers()
  const dispatcher = bench.dispatcher({ send })
  const other = await bench.createWorkspace()
  await createEndpoints(bench, caller, 'hang', 40)
  await createEndpoints(bench, caller, 'healthy', 1)
  await createEndpoints(bench, other, 'other', 1)
  for (let i = 0; i < 4; i++) await bench.createGroup(`id-${i}`)
  await stepUntil(dispatcher, () => hanging.length === 40 && delivered.length === 4)
  await bench.createGroup('id', other)
  await stepUntil(dispatcher, () => delivered.includes('https://other0.example/'))
  await bench.createGroup('last')
  await stepUntil(dispatcher, () => delivered.length === 6)
  assert.equal(hanging.length, 40)
  assert.deepEqual(new Set(delivered), new Set(['https://healthy0.example/', 'https://other0.example/']))
})

test('a workspace with many due deliveries does not hide those of another one', async (t) => {
  const bench = await webhookBench(t)
  const { send, hanging, delivered } = receivers()
  const dispatcher = bench.dispatcher({ send })
  const other = await bench.createWorkspace()
  await createEndpoints(bench, caller, 'hang', 20)
  await createEndpoints(bench, other, 'other', 1)
  for (let i = 0; i < 150; i++) await bench.createGroup(`id-${i}`)
  await bench.createGroup('id', other)
  await stepUntil(dispatcher, () => delivered.length === 1)
  assert.equal(hanging.length, 20)
  const { undelivered } = await bench.store.webhookDeliveries.backlog()
  assert.ok(undelivered >= 3000, `${undelivered}`)
})

test('workspaces take turns if places are few', async (t) => {
  const bench = await webhookBench(t)
  const workspaces = await Promise.all([1, 2, 3].map(() => bench.createWorkspace()))
  for (const [i, as] of workspaces.entries()) {
    await createEndpoints(bench, as, `w${i}`, 3)
    await bench.createGroup('id', as)
  }
  const asked: string[] = []
  const { send, delivered } = receivers()
  const targets = await bench.store.webhookDeliveries.targets()
  const store = storeWith(bench, 'due', ({ endpoints }) => {
    if (asked.length === 0) for (const { id } of endpoints) asked.push(nameOf(targets, id))
  })
  const dispatcher = bench.dispatcher({ store, send })
  await stepUntil(dispatcher, () => delivered.length === 9)
  assert.deepEqual(asked, ['w0', 'w1', 'w2', 'w0', 'w1', 'w2', 'w0', 'w1', 'w2'])
})

test('the store returns due deliveries in the order of the endpoints, up to both limits', async (t) => {
  const bench = await webhookBench(t)
  await createEndpoints(bench, caller, 'hang', 3)
  for (let i = 0; i < 5; i++) await bench.createGroup(`id-${i}`)
  const { webhookDeliveries } = bench.store
  const { send } = receivers()
  const dispatcher = bench.dispatcher({ send })
  await stepUntil(dispatcher, async () => (await webhookDeliveries.backlog()).undelivered === 15)
  const [a = 0, b = 0, c = 0] = (await webhookDeliveries.targets()).map(({ id }) => id)
  const due = async (endpoints: { id: number; limit: number }[], limit: number) =>
    (await webhookDeliveries.due({ now: bench.time.now, endpoints, limit })).map(
      ({ endpointId }) => endpointId,
    )
  const all = [c, a, b].map((id) => ({ id, limit: 2 }))
  assert.deepEqual(await due(all, 100), [c, c, a, a, b, b])
  assert.deepEqual(await due(all, 3), [c, c, a])
  assert.deepEqual(await due([{ id: b, limit: 9 }], 100), [b, b, b, b, b])
  assert.deepEqual(await due([], 100), [])
})

test('many events of one workspace delay those of another one by no pause', async (t) => {
  const bench = await webhookBench(t)
  await createEndpoints(bench, caller, 'healthy', 30)
  for (let i = 0; i < 60; i++) await bench.createGroup(`id-${i}`)
  let wakes = 0
  const sizes: number[] = []
  const store = storeWith(bench, 'enqueue', ({ deliveries }) => sizes.push(deliveries.length))
  // Never finishes an attempt, which would wake the loop too.
  const dispatcher = bench.dispatcher({ store, send: () => new Promise<AttemptResult>(() => undefined) })
  dispatcher.onWork(() => wakes++)
  await stepUntil(dispatcher, () => sizes.reduce((sum, size) => sum + size, 0) === 1800)
  assert.deepEqual([sizes, wakes], [[1020, 780], 1])
})

test('a workspace has a limited number of endpoints, in both environments together', async (t) => {
  const bench = await webhookBench(t)
  const limited = bench.limitedTo(3)
  const fields = { name: 'A', url: 'https://receiver.invalid/', eventTypes: [] }
  const inTesting = { ...caller, environment: 'Testing' } as const
  const results = await Promise.allSettled(
    [caller, inTesting, caller, caller, inTesting].map((as) => limited.create(as, fields)),
  )
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 3)
  await assert.rejects(limited.create(caller, fields), {
    code: 'limit_reached',
    message:
      'This workspace has 3 webhook endpoints or more. Delete some, or raise UGS_MAX_WEBHOOK_ENDPOINTS',
  })
  const other = await bench.createWorkspace()
  await limited.create(other, fields)
  const [endpoint] = [...(await limited.list(caller)), ...(await limited.list(inTesting))]
  await limited.delete({ ...caller, ...endpoint }, endpoint?.id ?? 0)
  await limited.create(caller, fields)
})
