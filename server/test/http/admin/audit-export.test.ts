import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertSucceeded, manage, startManaged, type EventView } from '../../support/admin-api.ts'
import { runCommand } from '../../support/command.ts'

const { service, admin, create } = await startManaged({ after })
const testing = await manage(service, 'Testing')

const exported = async (query: Record<string, string> = {}, api = admin) =>
  assertSucceeded<EventView[]>(await api.exportAuditEvents({ query }), 'exportAuditEvents')

test('an export has all events that meet the conditions, and is an event itself', async () => {
  await testing.create('of another environment')
  for (let i = 0; i < 60; i++) await create(`a, "${i}"`)
  const { audit_events } = assertSucceeded<{ audit_events: EventView[] }>(
    await admin.listAuditEvents({ query: { limit: 200 } }),
    'listAuditEvents',
  )
  assert.deepEqual(await exported(), audit_events)
  const created = await exported({ action: 'user_group.created' })
  assert.equal(created.length, 60)
  const { audit_events: exports } = assertSucceeded<{ audit_events: EventView[] }>(
    await admin.listAuditEvents({ query: { action: 'audit_log.exported' } }),
    'listAuditEvents',
  )
  assert.deepEqual(
    exports.map(({ details }) => details),
    [{ action: 'user_group.created' }, {}],
  )
})

test('an export as CSV quotes its fields', async () => {
  const { text, headers } = await admin.exportAuditEvents({
    query: { format: 'csv', user_group_id: 'a, "7"' },
  })
  assert.equal(headers['content-type'], 'text/csv')
  const [head, line, ...rest] = text.split('\r\n')
  assert.equal(
    head,
    'occurred_at,event_id,action,author,request_id,client_address,user_agent,team_id,user_group_id,details',
  )
  assert.match(
    line ?? '',
    /^20\d\d-.*Z,[\da-f-]{36},user_group\.created,api_token:\d+,[^,]+,127\.0\.0\.1,,\d+,"a, ""7""",$/,
  )
  assert.deepEqual(rest, [''])
})

test('no field of CSV is run as a formula', async () => {
  await create('=1+1')
  const { text } = await admin.exportAuditEvents({ query: { format: 'csv', user_group_id: '=1+1' } })
  assert.match(text, /,'=1\+1,\r\n$/)
})

test('the author cli: stands for all operators at the command line', async () => {
  await runCommand(
    service,
    'schema',
    'create',
    '--environment',
    'Customer',
    '--provided-id',
    's',
    '--name',
    'S',
  )
  const authors = (await exported({ author: 'cli:' })).map(({ author }) => author)
  assert.ok(authors.length > 0 && authors.every((author) => author.startsWith('cli:')), authors.join())
})

test('events have the address and the User-Agent of the client, behind trusted proxies only', async (t) => {
  const agent = 'reports/1.0 (it\'s "me", uga_customer_secret)'
  const headers = { 'x-forwarded-for': '192.0.2.7, 2001:db8::9', 'user-agent': agent }
  for (const [proxies, address] of [
    ['none', '127.0.0.1'],
    ['127.0.0.0/8', '2001:db8::9'],
    ['127.0.0.0/8,2001:db8::/32', '192.0.2.7'],
  ] as const) {
    const { admin } = await startManaged(t, { UGS_TRUSTED_PROXIES: proxies })
    const body = { provided_id: 'x', name: 'X' }
    assertSucceeded(await admin.createSchema({ body, headers }), 'createSchema')
    const query = { action: 'schema.created' }
    const [event] = assertSucceeded<EventView[]>(
      await admin.exportAuditEvents({ query }),
      'exportAuditEvents',
    )
    const userAgent = 'reports/1.0 (it\'s "me", [token])'
    assert.deepEqual([event?.client_address, event?.user_agent], [address, userAgent])
    const csv = await admin.exportAuditEvents({ query: { ...query, format: 'csv' } })
    assert.ok(csv.text.includes(`,${address},"reports/1.0 (it's ""me"", [token])",`), csv.text)
    const long = { 'user-agent': 'x'.repeat(4000) }
    assertSucceeded(
      await admin.createSchema({ body: { ...body, provided_id: 'y' }, headers: long }),
      'createSchema',
    )
    const { audit_events } = assertSucceeded<{ audit_events: EventView[] }>(
      await admin.listAuditEvents({ query }),
      'listAuditEvents',
    )
    assert.deepEqual(
      audit_events.map(({ user_agent }) => user_agent),
      ['x'.repeat(255), userAgent],
    )
  }
})

test('events of the command line have no client', async () => {
  const [event] = await exported({ author: 'cli:' })
  assert.deepEqual([event?.request_id, event?.client_address, event?.user_agent], [null, null, null])
})
