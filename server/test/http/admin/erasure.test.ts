import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertRefused,
  assertSucceeded,
  manage,
  of,
  startManaged,
  type EventView,
} from '../../support/admin-api.ts'
import { createApiToken } from '../../support/command.ts'
import { sendRequest } from '../../support/http.ts'
import { rowsOf } from '../../support/kept.ts'

const { service, admin, create, user } = await startManaged({ after }, { UGS_USAGE: 'viewers' })
const introspectToken = await createApiToken(service, 'Customer', '--scopes', 'introspect')

/** Creates a user group with versions, superseded tokens, ended sessions, usage and audit events. */
async function live(id: string, name: string): Promise<{ team_id: number }> {
  const group = await create(id, { name, properties: { owner: `${name} owner` } })
  await user.put({ user_group_id: id, name: `${name} Two`, properties: null })
  await user.post({ current_token: group.token, grace_period_seconds: 60 })
  await admin.endSessionsOfUserGroup({ ...of(group), body: { viewer_id: `${name}-viewer` } })
  const day = new Date().toISOString().slice(0, 10)
  const marks = [{ team_id: group.team_id, resource: 'sales', day, viewer_id: `${name}-viewer` }]
  const marked = await sendRequest(service.origin, {
    ...{ method: 'POST', path: '/usage', token: introspectToken, body: { marks } },
  })
  assert.equal(marked.status, 200, marked.text)
  return group
}

/** Returns the tables with a text. */
async function tablesWith(text: string): Promise<string[]> {
  const rows = [...(await rowsOf(service))].filter(([row]) => row.toLowerCase().includes(text.toLowerCase()))
  return [...new Set(rows.map(([, { table }]) => table.replace(/^.*\./, '')))].sort()
}

test('an erased user group leaves nothing but what the report names', async () => {
  const [erased, kept] = [await live('zeppelin-1', 'Zeppelin'), await live('quarz-1', 'Quarz')]
  const keptTables = await tablesWith('quarz')
  assertRefused(await admin.eraseUserGroup(of(erased)), 'eraseUserGroup', 'user_group_not_found')
  await admin.deleteUserGroup(of(erased))
  const {
    team_id,
    erased: counts,
    retained,
  } = assertSucceeded<{
    team_id: number
    erased: Record<string, number>
    retained: { place: string }[]
  }>(await admin.eraseUserGroup(of(erased)), 'eraseUserGroup')
  assert.deepEqual([team_id, counts], [erased.team_id, { versions: 1, usage_rows: 1, audit_events: 5 }])
  assert.deepEqual(
    retained.map(({ place }) => place),
    ['events', 'search_index', 'jobs', 'audit_log', 'backups'],
  )
  const left = (await tablesWith('zeppelin')).filter((table) => !table.includes('search'))
  assert.ok(
    left.every((table) => ['event', 'unindexed_user_group'].includes(table)),
    left.join(),
  )
  assert.deepEqual(await tablesWith('quarz'), keptTables)
  const { audit_events } = assertSucceeded<{ audit_events: EventView[] }>(
    await admin.listAuditEvents({ query: { team_id: erased.team_id } }),
    'listAuditEvents',
  )
  assert.ok(audit_events.length >= 4)
  for (const { user_group, details } of audit_events)
    assert.deepEqual([user_group, details], [{ team_id: erased.team_id, provided_id: '' }, null])
  for (const id of ['eraseUserGroup', 'restoreDeletedUserGroup'] as const)
    assertRefused(await admin[id](of(erased)), id, 'user_group_not_found')
  assertSucceeded(await admin.getUserGroup(of(kept)), 'getUserGroup')
})

test('a new customer with the id of an erased one starts without a past', async () => {
  const before = await live('again', 'First')
  await admin.deleteUserGroup(of(before))
  assertSucceeded(await admin.eraseUserGroup(of(before)), 'eraseUserGroup')
  const now = await create('again')
  assert.notEqual(now.team_id, before.team_id)
  const { audit_events } = assertSucceeded<{ audit_events: EventView[] }>(
    await admin.listAuditEvents({ query: { user_group_id: 'again' } }),
    'listAuditEvents',
  )
  assert.deepEqual(
    audit_events.map(({ action }) => action),
    ['user_group.created'],
  )
})

test('nobody erases a user group of another environment', async () => {
  const { admin: testing } = await manage(service, 'Testing')
  const group = await live('foreign', 'Foreign')
  await admin.deleteUserGroup(of(group))
  const before = await rowsOf(service)
  assertRefused(await testing.eraseUserGroup(of(group)), 'eraseUserGroup', 'user_group_not_found')
  assert.deepEqual([...(await rowsOf(service)).keys()], [...before.keys()])
})
