import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertSucceeded, manage, startManaged } from '../support/admin-api.ts'
import { runCommand } from '../support/command.ts'
import { poll } from '../failover/poll.ts'
import { startReceiver } from '../support/webhooks.ts'

const settings = { UGS_WEBHOOK_HTTP: 'on', UGS_WEBHOOK_PRIVATE_ADDRESSES: 'on' }

test('while 300 endpoints of one workspace hang, another workspace and another endpoint get their events', async (t) => {
  const { service, admin, create } = await startManaged({ after }, settings)
  await runCommand(service, 'workspace', 'create', 'other')
  const other = await manage(service, 'Customer', 'other')
  const [hanging, healthy, ofOther] = await Promise.all([1, 2, 3].map(() => startReceiver(t)))
  assert.ok(hanging && healthy && ofOther)
  hanging.respond = () => undefined
  const createEndpoint = async (of: typeof admin, url: string) =>
    assertSucceeded(
      await of.createWebhookEndpoint({ body: { name: 'A', url, event_types: ['user_group.created'] } }),
      'createWebhookEndpoint',
    )
  for (let i = 0; i < 300; i++) await createEndpoint(admin, hanging.url)
  await createEndpoint(admin, healthy.url)
  await createEndpoint(other.admin, ofOther.url)
  await create('a')
  await poll('an attempt of each', 60_000, () => Promise.resolve(hanging.received.length >= 300 || undefined))
  await other.create('b')
  await create('c')
  await poll('the other endpoints', 60_000, () =>
    Promise.resolve((ofOther.received.length === 1 && healthy.received.length === 2) || undefined),
  )
})
