import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { generateSecretKey, Keyring } from '../../../src/domain/secret-key/keyring.ts'
import { countEncryptedTokens, reencryptTokens } from '../../../src/domain/reencryption/reencryption.ts'
import { assertRefused, assertSucceeded, startManaged } from '../../support/admin-api.ts'
import { runCommand } from '../../support/command.ts'
import { caller, scope, startReceiver, stepUntil, verified, webhookBench } from '../../support/webhooks.ts'

interface Endpoint {
  readonly id: number
  readonly state: string
  readonly pending: number
}

const settings = { UGS_WEBHOOK_HTTP: 'on', UGS_WEBHOOK_PRIVATE_ADDRESSES: 'on' }
const { service, admin, create } = await startManaged({ after }, settings)

async function until<T>(read: () => Promise<T>, isDone: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await read()
    if (isDone(value)) return value
  }
}

test('an endpoint is created, receives events, is changed, rotated and deleted', async (t) => {
  const receiver = await startReceiver(t)
  const { webhook_endpoint, secret } = assertSucceeded<{ webhook_endpoint: Endpoint; secret: string }>(
    await admin.createWebhookEndpoint({ body: { name: 'A', url: receiver.url } }),
    'createWebhookEndpoint',
  )
  const of = { params: { id: webhook_endpoint.id } }
  assert.match(secret, /^whsec_/)
  await create('a')
  const deliveries = async () =>
    assertSucceeded<{ deliveries: { id: number; state: string }[] }>(
      await admin.listWebhookDeliveries(of),
      'listWebhookDeliveries',
    ).deliveries
  const [delivery] = await until(deliveries, (list) => list[0]?.state === 'delivered')
  const [message] = receiver.received
  assert.ok(message && delivery)
  assert.equal(verified(message, secret).type, 'user_group.created')

  const redelivery = { params: { id: webhook_endpoint.id, delivery_id: delivery.id } }
  assert.deepEqual(assertSucceeded(await admin.redeliverWebhook(redelivery), 'redeliverWebhook'), {
    success: 1,
    redelivered: 1,
  })
  await until(
    () => Promise.resolve(receiver.received.length).finally(deliveries),
    (count) => count === 2,
  )

  const paused = assertSucceeded<{ webhook_endpoint: Endpoint }>(
    await admin.updateWebhookEndpoint({ ...of, body: { state: 'paused', name: 'B' } }),
    'updateWebhookEndpoint',
  )
  assert.equal(paused.webhook_endpoint.state, 'paused')
  const rotation = assertSucceeded<{ secret: string }>(
    await admin.rotateWebhookEndpoint({ ...of, body: {} }),
    'rotateWebhookEndpoint',
  )
  assert.notEqual(rotation.secret, secret)
  assertSucceeded(await admin.deleteWebhookEndpoint(of), 'deleteWebhookEndpoint')
  assertRefused(await admin.getWebhookEndpoint(of), 'getWebhookEndpoint', 'not_found')
  const { audit_events } = assertSucceeded<{ audit_events: { action: string }[] }>(
    await admin.listAuditEvents(),
    'listAuditEvents',
  )
  assert.deepEqual(
    audit_events.map(({ action }) => action).filter((action) => action.startsWith('webhook')),
    ['deleted', 'secret_rotated', 'updated', 'created'].map((action) => `webhook_endpoint.${action}`),
  )
})

test('ugs webhook manages endpoints', async () => {
  const ugs = async (...args: string[]) => {
    const stdout = await runCommand(service, 'webhook', ...args, '--environment', 'Customer', '--json')
    return JSON.parse(stdout)
  }
  const url = 'https://receiver.invalid/'
  const { id, secret } = await ugs('create', '--name', 'C', '--url', url, '--types', 'user_group.deleted')
  assert.match(secret, /^whsec_[\w+/]{43}=$/)
  assert.equal((await ugs('pause', String(id))).state, 'paused')
  assert.deepEqual((await ugs('update', String(id), '--types', 'all')).event_types, [])
  assert.match((await ugs('rotate-secret', String(id), '--overlap', '1h')).secret, /^whsec_/)
  assert.deepEqual(
    (await ugs('list')).map((endpoint: Endpoint) => endpoint.id),
    [id],
  )
  assert.deepEqual(await ugs('deliveries', String(id)), [])
  assert.deepEqual(await ugs('redeliver', String(id), '--since', '2020-01-01', '--until', '1h'), {
    redelivered: 0,
  })
  await assert.rejects(
    ugs('redeliver', String(id), '--delivery', '1', '--until', '1h'),
    /either --delivery or/,
  )
  assert.deepEqual(await ugs('delete', String(id)), { deleted: true })
})

test('webhook secrets are re-encrypted with the tokens, and none is encrypted with a retired key', async (t) => {
  const bench = await webhookBench(t)
  const receiver = await startReceiver(t)
  const fields = { name: 'A', url: receiver.url, eventTypes: [] }
  const { endpoint, secret } = await bench.management.create(caller, fields)
  const [newKey] = [generateSecretKey('k2')]
  const { store } = bench
  assert.deepEqual(await countEncryptedTokens(store), new Map([['k1', 1]]))
  bench.addKey(newKey)
  await reencryptTokens(
    store,
    bench.keyring,
    () => undefined,
    () => Promise.resolve(),
  )
  assert.deepEqual(await countEncryptedTokens(store), new Map([['k2', 1]]))
  await bench.createGroup('a')
  const withNewKey = bench.dispatcher({ keyring: new Keyring([newKey]) })
  await stepUntil(withNewKey, () => receiver.received.length === 1)
  const [message] = receiver.received
  assert.ok(message)
  verified(message, secret)

  await store.secretKeys.retire('k2')
  const refused = { code: 'unavailable' }
  await assert.rejects(bench.management.rotateSecret(caller, endpoint.id, 0), refused)
  await assert.rejects(bench.management.create(caller, fields), refused)
  assert.equal((await bench.management.list(scope)).length, 1)
})
