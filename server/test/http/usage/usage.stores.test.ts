import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { adminApi, assertRefused, assertSucceeded, rowsIn } from '../../support/admin-api.ts'
import { startApp } from '../../support/app.ts'
import { sendRequest } from '../../support/http.ts'
import { introspector } from '../../support/introspection.ts'
import { assertFault, userApi } from '../../support/user-api.ts'

const minute = 60_000
const day = 24 * 60 * minute

const time = { now: Date.parse('2030-11-28T09:41:56.789Z') }
const clock = { now: () => time.now, monotonic: () => time.now }
const app = await startApp({ after }, clock, null, {}, { usageMode: 'viewers' })
const { origin } = app
const apiToken = await app.createApiToken(undefined, ['read', 'write', 'introspect', 'admin'])
const admin = adminApi(origin, apiToken)
const introspect = introspector(origin, apiToken)
let userGroups = 0

const newUserGroup = async () => {
  const user_group_id = `usage ${++userGroups}`
  const response = await userApi(origin, apiToken).get({ user_group_id, name: 'Example customer' })
  const { team_id, token } = (response.body as { user_group: { team_id: number; token: string } }).user_group
  return { user_group_id, team_id, token }
}
const sessionOf = async (user_group_id: string, viewerId: string) => {
  const response = await sendRequest(origin, {
    ...{ method: 'POST', path: '/api/user/create-session', token: apiToken },
    body: { user_group_id, viewer: { id: viewerId } },
  })
  return (response.body as { session: { token: string } }).session.token
}
const look = async (token: string, resource?: string) => {
  const { body } = await introspect(token, resource === undefined ? {} : { resource })
  assert.equal((body as { active: boolean }).active, true)
}
const post = (marks: readonly object[]) =>
  sendRequest(origin, { method: 'POST', path: '/usage', token: apiToken, body: { marks } })

interface Listed {
  readonly usage: Record<string, unknown>[]
  readonly total?: object
  readonly next_cursor: string | null
}
const list = async (query: Record<string, string | number>) =>
  assertSucceeded<Listed>(await admin.listUsage({ query }), 'listUsage')

test('introspections mark the viewer, the resource and the day, once', async () => {
  const group = await newUserGroup()
  const session = await sessionOf(group.user_group_id, 'u-7')
  for (const resource of ['sales', 'sales', 'costs']) await look(session, resource)
  await look(await sessionOf(group.user_group_id, 'u-8'), 'sales')
  await look(group.token)
  await app.writeUses()
  time.now += day
  await look(await sessionOf(group.user_group_id, 'u-8'), 'sales')
  await app.writeUses()
  const team_id = group.team_id
  const shown = { team_id, provided_id: group.user_group_id, name: 'Example customer' }
  assert.deepEqual((await list({ month: '2030-11', team_id })).usage, [
    { ...shown, viewers: 2, active_days: 2, viewer_days: 3, last_seen_at: '2030-11-29T09:41:00.000Z' },
  ])
  assert.deepEqual((await list({ month: '2030-11', team_id, by: 'viewer' })).usage, [
    { ...shown, viewer_id: 'u-7', active_days: 1, last_seen_at: '2030-11-28T09:41:00.000Z' },
    { ...shown, viewer_id: 'u-8', active_days: 2, last_seen_at: '2030-11-29T09:41:00.000Z' },
  ])
  const first = { user_groups: 1, active_days: 1, last_seen_at: '2030-11-28T09:41:00.000Z' }
  assert.deepEqual((await list({ team_id, by: 'resource' })).usage, [
    { resource: '', ...first, viewers: 0, viewer_days: 0 },
    { resource: 'costs', ...first, viewers: 1, viewer_days: 1 },
    {
      ...{ resource: 'sales', user_groups: 1, viewers: 2, active_days: 2, viewer_days: 3 },
      last_seen_at: '2030-11-29T09:41:00.000Z',
    },
  ])
  const { usage, total } = await list({ team_id, by: 'day' })
  assert.equal(usage.length, 29)
  assert.deepEqual(usage.slice(-3), [
    { day: '2030-11-27', user_groups: 0, viewers: 0 },
    { day: '2030-11-28', user_groups: 1, viewers: 2 },
    { day: '2030-11-29', user_groups: 1, viewers: 1 },
  ])
  assert.deepEqual(total, { user_groups: 1, viewers: 2 })
})

test('posted marks are durable, and repeated ones change nothing', async () => {
  const { team_id } = await newUserGroup()
  const marks = [{ team_id, viewer_id: 'u-7', resource: 'sales', day: '2030-11-28' }]
  for (let i = 0; i < 3; i++) {
    const { status, body } = await post([...marks, ...marks])
    assert.deepEqual([status, body], [200, { success: 1, accepted: 2, ignored: 0 }])
  }
  const [usage] = (await list({ team_id })).usage
  assert.equal(usage?.viewer_days, 1)
})

test('marks of other days, unknown user groups and other environments are ignored', async () => {
  const { team_id } = await newUserGroup()
  time.now = Date.parse('2030-12-01T00:00:30Z')
  const days = ['2030-11-28', '2030-11-29', '2030-12-02', '2030-12-03']
  const { body } = await post([
    ...days.map((day) => ({ team_id, day })),
    { team_id: team_id + 1000, day: '2030-12-01' },
    { team_id, day: '2030-11-31' },
  ])
  assert.deepEqual(body, { success: 1, accepted: 2, ignored: 4 })
  const seenOn = async (month: string) =>
    (await list({ month, team_id })).usage.map((usage) => usage.active_days)
  assert.deepEqual([await seenOn('2030-11'), await seenOn('2030-12')], [[1], [1]])
})

test('marks move the last introspection forward, and never back', async () => {
  const group = await newUserGroup()
  const lastIntrospection = async () => {
    const input = { params: { team_id: group.team_id } }
    const shown = assertSucceeded<{ last_introspected_at: string | null }>(
      await admin.viewUserGroup(input),
      'viewUserGroup',
    )
    return shown.last_introspected_at
  }
  time.now = Date.parse('2030-12-02T08:00:30Z')
  assert.equal(await lastIntrospection(), null)
  await post([{ team_id: group.team_id, day: '2030-12-01' }])
  assert.equal(await lastIntrospection(), '2030-12-01T23:59:00.000Z')
  await post([{ team_id: group.team_id, day: '2030-12-02' }])
  await post([{ team_id: group.team_id, day: '2030-11-30' }])
  assert.equal(await lastIntrospection(), '2030-12-02T08:00:00.000Z')
  const [usage] = (await list({ team_id: group.team_id })).usage
  assert.equal(usage?.last_seen_at, '2030-12-02T08:00:00.000Z')
})

test('inactive introspections mark nothing', async () => {
  const group = await newUserGroup()
  const session = await sessionOf(group.user_group_id, 'u-7')
  await admin.suspendUserGroup({ params: { team_id: group.team_id } })
  for (const token of [session, group.token]) await introspect(token)
  await app.writeUses()
  assert.deepEqual((await list({ team_id: group.team_id })).usage, [])
})

test('invalid marks are refused with their place, and more than 1,000', async () => {
  for (const [body, path] of [
    [{ marks: [{ team_id: 1, day: '2030-13-01' }] }, '/marks/0/day'],
    [{ marks: [{ day: '2030-12-01' }] }, '/marks/0/team_id'],
    [{ marks: [{ team_id: 2 ** 53, day: '2030-12-01' }] }, '/marks/0/team_id'],
    [{ marks: [{ team_id: 1e300, day: '2030-12-01' }] }, '/marks/0/team_id'],
    [{ marks: [{ team_id: 1, day: '2030-12-01', viewer_id: '\0' }] }, '/marks/0/viewer_id'],
    [{ marks: [{ team_id: 1, day: '2030-12-01', name: 'x' }] }, '/marks/0/name'],
    [{ marks: Array.from({ length: 1001 }, () => ({ team_id: 1, day: '2030-12-01' })) }, '/marks'],
    [{}, '/marks'],
  ] as const) {
    const refused = await sendRequest(origin, { method: 'POST', path: '/usage', token: apiToken, body })
    assertFault(refused, 'validation_failed', [path])
  }
})

test('names that are too long, and those with U+0000, are recorded as one', async () => {
  const group = await newUserGroup()
  await post([{ team_id: group.team_id, viewer_id: 'x'.repeat(256), day: '2030-12-02' }])
  await look(group.token, '\0')
  await app.writeUses()
  const viewers = (await list({ team_id: group.team_id, by: 'viewer' })).usage
  assert.deepEqual(
    viewers.map(({ viewer_id }) => viewer_id),
    ['(more)'],
  )
  const [usage] = (await list({ team_id: group.team_id })).usage
  assert.equal(usage?.truncated, true)
  const resources = (await list({ team_id: group.team_id, by: 'resource' })).usage
  assert.deepEqual(
    resources.map(({ resource }) => resource),
    ['', '(more)'],
  )
})

test('lists have pages, and take several team ids', async () => {
  const groups = [await newUserGroup(), await newUserGroup(), await newUserGroup()]
  const month = '2030-12'
  const marks = groups.flatMap(({ team_id }) =>
    ['a', 'b/c'].flatMap((name) => ({ team_id, viewer_id: name, resource: name, day: '2030-12-02' })),
  )
  assert.equal((await post(marks)).status, 200)
  const all = async (by: string, team_id: string) => {
    const seen: unknown[] = []
    let cursor: string | null = null
    do {
      const page: Listed = await list({ month, by, team_id, limit: 1, ...(cursor && { cursor }) })
      assert.ok(page.usage.length <= 1)
      seen.push(...page.usage.map(({ team_id, viewer_id, resource }) => viewer_id ?? resource ?? team_id))
      cursor = page.next_cursor
    } while (cursor !== null)
    return seen
  }
  const ids = groups.map(({ team_id }) => team_id)
  const [first, , third] = ids
  assert.deepEqual(await all('user_group', `${third},${first}`), [first, third])
  assert.deepEqual(await all('viewer', ids.join()), ['a', 'b/c', 'a', 'b/c', 'a', 'b/c'])
  assert.deepEqual(await all('resource', ids.join()), ['a', 'b/c'])
  for (const by of ['user_group', 'viewer', 'resource', 'day'])
    assertRefused(await admin.listUsage({ query: { by, cursor: 'eA' } }), 'listUsage', 'validation_failed', [
      '/cursor',
    ])
  // Of the list by user group.
  const ofGroups = Buffer.from('12').toString('base64url')
  assertRefused(
    await admin.listUsage({ query: { by: 'viewer', cursor: ofGroups } }),
    'listUsage',
    'validation_failed',
    ['/cursor'],
  )
  assertRefused(await admin.listUsage({ query: { month: '2030-1' } }), 'listUsage', 'validation_failed', [
    '/month',
  ])
})

test('the export has a row for each user group, and no formulas', async () => {
  const { team_id } = await newUserGroup()
  await admin.patchUserGroup({ params: { team_id }, body: { name: '=1+1, "x"' } })
  await post([{ team_id, viewer_id: 'u-7', day: '2030-12-02' }])
  const query = { month: '2030-12', format: 'csv' }
  const { text, headers } = await admin.exportUsage({ query })
  assert.match(headers['content-type'] ?? '', /^text\/csv/)
  const [head, ...rows] = text.trimEnd().split('\r\n')
  assert.equal(head, 'team_id,provided_id,name,viewers,active_days,viewer_days,last_seen_at')
  assert.equal(rows.at(-1), `${team_id},usage ${userGroups},"'=1+1, ""x""",1,1,1,2030-12-02T08:00:00.000Z`)
  const lines = rowsIn<{ team_id: number; viewers: number }>(
    await admin.exportUsage({ query: { month: '2030-12' } }),
  )
  const listed = (await list({ month: '2030-12', limit: 200 })).usage
  assert.deepEqual(
    lines.map((row) => [row.team_id, row.viewers]),
    listed.map((usage) => [usage.team_id, usage.viewers]),
  )
})

test('an erasure is recorded without the id of the viewer, if something was erased', async () => {
  const { team_id } = await newUserGroup()
  await post([{ team_id, viewer_id: 'erased viewer', day: '2030-12-02' }])
  const erase = async () => {
    const erased = await admin.eraseUsage({ query: { viewer_id: 'erased viewer' } })
    return assertSucceeded<{ deleted: number }>(erased, 'eraseUsage').deleted
  }
  assert.deepEqual([await erase(), await erase()], [1, 0])
  const { text, body } = await admin.listAuditEvents({ query: { action: 'usage.erased' } })
  const { audit_events } = body as { audit_events: { details: object }[] }
  assert.deepEqual(
    audit_events.map(({ details }) => details),
    [{ deleted: 1 }],
  )
  assert.ok(!text.includes('erased viewer'))
})
