import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import {
  assertSucceeded,
  exactOverview,
  manage,
  of,
  startManaged,
  type EventView,
} from '../../support/admin-api.ts'
import { createPausedEndpoint } from '../../support/belongings.ts'
import { runCommand } from '../../support/command.ts'

const { service, admin, create } = await startManaged({ after })
await runCommand(service, 'workspace', 'create', 'second')
const strangers = [await manage(service, 'Testing'), await manage(service, 'Customer', 'second')]

interface OverviewView {
  readonly [name: string]: unknown
  readonly last_changes: readonly EventView[]
}

const overview = (api = admin) => exactOverview<OverviewView>(api)
const exactly = (count: number) => ({ count, is_exact: true })

test('an overview counts what needs attention in its environment', async () => {
  const schema = assertSucceeded<{ schema: { id: number } }>(
    await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } }),
    'createSchema',
  )
  const source = { schema_id: schema.schema.id, provided_id: 'eu', name: 'EU' }
  assertSucceeded(await admin.createDataSource({ body: source }), 'createDataSource')
  await create('shares', { mapping: { sales: 'eu' } })
  await create('shares too', { mapping: { sales: 'eu' } })
  await create('unresolved', { mapping: { sales: 'nothing' } })
  assertSucceeded(await admin.suspendUserGroup(of(await create('suspended'))), 'suspendUserGroup')
  await createPausedEndpoint(admin)
  const endpoint = { name: 'receiver', url: 'https://receiver.invalid/' }
  assertSucceeded(await admin.createWebhookEndpoint({ body: endpoint }), 'createWebhookEndpoint')
  const database = new BetterSqlite3(join(service.dataFolder, 'ugs.db'))
  database.exec('UPDATE webhook_endpoint SET failing_since = 1')
  database.close()
  const aDay = 24 * 60 * 60
  for (const expires_in_seconds of [aDay, 29 * aDay, 31 * aDay])
    await admin.createApiToken({ body: { name: 'x', scopes: ['read'], expires_in_seconds } })
  const { last_changes, ...numbers } = await overview()
  assert.deepEqual(numbers, {
    success: 1,
    user_groups: exactly(4),
    suspended_user_groups: exactly(1),
    unresolved_mappings: exactly(1),
    isolation_findings: exactly(1),
    webhook_endpoints: { failing: 1, disabled: 0 },
    expiring_api_tokens: 2,
    unfinished_jobs: 0,
  })
  assert.equal(last_changes.length, 10)
  const { audit_events } = assertSucceeded<{ audit_events: EventView[] }>(
    await admin.listAuditEvents({ query: { limit: 10 } }),
    'listAuditEvents',
  )
  assert.deepEqual(last_changes, audit_events)
})

test('an overview has nothing of another environment or workspace', async () => {
  for (const stranger of strangers) {
    const { last_changes, ...numbers } = await overview(stranger.admin)
    for (const name of ['user_groups', 'suspended_user_groups', 'unresolved_mappings', 'isolation_findings'])
      assert.deepEqual(numbers[name], exactly(0))
    assert.equal(numbers.expiring_api_tokens, 0)
    assert.ok(last_changes.every(({ user_group }) => user_group === null))
  }
})
