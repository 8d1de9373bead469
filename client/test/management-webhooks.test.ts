import assert from 'node:assert/strict'
import { it } from 'node:test'
import { startReceiver, verified } from '../../server/test/support/webhooks.ts'
import type { UserGroupManagement } from '../src/index.ts'
import { serviceFailure } from './support/client.ts'
import { allOf, sharedManagement } from './support/management.ts'

const isRecent = (time: number | null) => time !== null && Math.abs(time - Date.now()) < 60_000
const fixture = sharedManagement()

const delivered = async (management: UserGroupManagement, id: number, count: number) => {
  for (;;) {
    const deliveries = await allOf(management.listWebhookDeliveries(id, { state: 'delivered', limit: 1 }))
    if (deliveries.length === count) return deliveries
  }
}

it('an endpoint is created, receives events, is changed, rotated and deleted', async (t) => {
  const { management, create } = await fixture()
  const receiver = await startReceiver(t)
  const eventTypes = ['user_group.created', 'user_group.suspended'] as const
  const fields = { name: 'Backend', url: receiver.url, eventTypes }
  const { webhookEndpoint, secret } = await management.createWebhookEndpoint(fields)
  const { id, createdAt, updatedAt, ...others } = webhookEndpoint
  assert.deepEqual(others, {
    ...{ ...fields, state: 'active', health: 'unknown', lastSuccessAt: null, failingSince: null },
    ...{ pending: 0, failing: 0, oldestEventAt: null, previousSecretsValidUntil: [] },
  })
  assert.ok(isRecent(createdAt) && updatedAt === createdAt)

  const { teamId } = await create('observed')
  await management.suspendUserGroup(teamId)
  const [newest, first] = await delivered(management, id, 2)
  assert.ok(newest && first)
  const { eventId, occurredAt, lastAttemptAt, durationMs, ...delivery } = newest
  assert.deepEqual(delivery, {
    ...{ id: newest.id, eventType: 'user_group.suspended', teamId, state: 'delivered', attempts: 1 },
    ...{ nextAttemptAt: null, responseStatus: 204, errorCode: null },
  })
  assert.ok(isRecent(occurredAt) && isRecent(lastAttemptAt) && durationMs !== null)
  const { headers, body } = receiver.received.at(-1) ?? { headers: {}, body: '' }
  assert.equal(headers['webhook-id'], eventId)
  assert.equal(verified({ headers, body }, secret).type, 'user_group.suspended')
  const details = await management.getWebhookDelivery(id, newest.id)
  assert.equal(details.requestBody, body)
  assert.equal(details.requestHeaders?.['webhook-signature'], headers['webhook-signature'])
  assert.ok(details.responseHeaders?.date)
  const tested = await management.testWebhookEndpoint(id)
  assert.deepEqual([tested.delivered, tested.responseStatus], [true, 204])
  const healthy = await management.getWebhookEndpoint(id)
  assert.equal(healthy.health, 'ok')
  assert.ok(isRecent(healthy.lastSuccessAt))
  assert.deepEqual(await management.listWebhookEndpoints(), [healthy])

  const paused = await management.updateWebhookEndpoint(id, { state: 'paused', name: 'B', eventTypes: [] })
  assert.deepEqual(paused, {
    ...healthy,
    state: 'paused',
    name: 'B',
    eventTypes: [],
    updatedAt: paused.updatedAt,
  })
  await management.redeliverWebhook(id, first.id)
  assert.equal((await management.getWebhookEndpoint(id)).oldestEventAt, first.occurredAt)
  assert.equal(await management.redeliverWebhooks(id, { since: newest.occurredAt }), 1)
  const waiting = await allOf(management.listWebhookDeliveries(id, { state: 'pending' }))
  assert.deepEqual(
    waiting.map((one) => one.id),
    [newest.id, first.id],
  )
  const rotated = await management.rotateWebhookSecret(id, { overlapSeconds: 60 })
  assert.notEqual(rotated.secret, secret)
  assert.deepEqual([rotated.webhookEndpoint.id, rotated.webhookEndpoint.pending], [id, 2])
  await management.deleteWebhookEndpoint(id)
  assert.deepEqual(await management.listWebhookEndpoints(), [])
})

it('errors name what is wrong', async () => {
  const { management } = await fixture()
  const url = 'ftp://receiver.invalid/'
  const error = await serviceFailure(management.createWebhookEndpoint({ name: 'A', url }))
  assert.deepEqual([error.code, error.fields[0]?.path], ['validation_failed', '/url'])
  for (const call of [
    () => management.getWebhookEndpoint(999),
    () => management.updateWebhookEndpoint(999, { state: 'paused' }),
    () => management.deleteWebhookEndpoint(999),
    () => management.rotateWebhookSecret(999),
    () => management.listWebhookDeliveries(999).page(),
    () => management.redeliverWebhook(999, 1),
    () => management.redeliverWebhooks(999, { since: 0 }),
  ])
    assert.equal((await serviceFailure(call())).code, 'not_found')
})
