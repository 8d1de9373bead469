import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import {
  assertSucceeded,
  assertRefused,
  manage,
  of,
  startManaged,
  type AdminApi,
  type EventView,
} from '../../support/admin-api.ts'
import { runCommand } from '../../support/command.ts'

interface Page {
  readonly audit_events: readonly EventView[]
  readonly next_cursor: string | null
}
type Query = Readonly<Record<string, string | number>>

const { service, admin, create } = await startManaged({ after })
const page = async (query: Query = {}, api: AdminApi = admin): Promise<Page> =>
  assertSucceeded<Page>(await api.listAuditEvents({ query }), 'listAuditEvents')
/** Lists all events: a slow machine ends a page early. */
const list = async ({ limit = 200, ...query }: Query = {}, api?: AdminApi) => {
  const events: EventView[] = []
  let cursor: string | null = null
  do {
    const next: Page = await page({ limit, ...query, ...(cursor !== null && { cursor }) }, api)
    assert.ok(next.audit_events.length <= Number(limit))
    events.push(...next.audit_events)
    cursor = next.next_cursor
  } while (cursor !== null)
  return events
}
const actions = (events: readonly EventView[]) =>
  events.map(({ action }) => action.replace('user_group.', ''))

// Two user groups that had the same id one after the other, and a third that is deleted.
const first = await create('taken')
await admin.suspendUserGroup(of(first))
await admin.deleteUserGroup(of(first))
const second = await create('taken')
await admin.patchUserGroup({ ...of(second), body: { name: 'B' } })
const gone = await create('gone')
await admin.deleteUserGroup(of(gone))
const { headers } = await admin.suspendUserGroup(of(second))
const requestId = headers['x-request-id'] ?? ''
const all = await list()

describe('the audit log', () => {
  test('is sorted newest first', () => {
    const ids = all.map(({ event_id }) => event_id)
    assert.deepEqual([...ids].sort().reverse(), ids)
    assert.equal(actions(all)[0], 'suspended')
    assert.ok(all.length >= 11)
  })

  test('has pages of any size, without gaps or duplicates', async () => {
    for (const limit of [1, 3, 200]) {
      for (const filter of [{}, { user_group_id: 'gone' }, { team_id: second.team_id }]) {
        assert.deepEqual(await list({ ...filter, limit }), await list(filter))
      }
    }
  })

  test('filters by team_id, also of a deleted user group', async () => {
    assert.deepEqual(actions(await list({ team_id: first.team_id })), ['deleted', 'suspended', 'created'])
    assert.deepEqual(actions(await list({ team_id: second.team_id })), ['suspended', 'updated', 'created'])
    assert.deepEqual(actions(await list({ team_id: gone.team_id })), ['deleted', 'created'])
    assert.deepEqual(await list({ team_id: 999_999_999 }), [])
  })

  test('filters by user_group_id: its current user group, or all that had it', async () => {
    const ofSecond = await list({ team_id: second.team_id })
    assert.deepEqual(await list({ user_group_id: 'taken' }), ofSecond)
    assert.deepEqual(actions(await list({ user_group_id: 'gone' })), ['deleted', 'created'])
    assert.deepEqual(await list({ user_group_id: 'Gone' }), [])
    const both = { user_group_id: 'taken', team_id: first.team_id }
    assert.deepEqual(await list(both), await list({ team_id: first.team_id }))
    assert.deepEqual(await list({ user_group_id: 'gone', team_id: first.team_id }), [])
  })

  test('filters by action, author and request', async () => {
    const deleted = await list({ action: 'user_group.deleted' })
    assert.deepEqual(
      deleted.map(({ user_group }) => user_group?.provided_id),
      ['gone', 'taken'],
    )
    assert.deepEqual(await list({ action: 'audit_log.pruned' }), [])
    const author = deleted[0]?.author ?? ''
    const ofAuthor = await list({ author })
    assert.deepEqual(
      ofAuthor,
      all.filter((event) => event.author === author),
    )
    assert.ok(ofAuthor.length > 0 && ofAuthor.length < all.length)
    assert.deepEqual(await list({ author: author.slice(0, -1) || 'x' }), [])
    const [event, ...others] = await list({ request_id: requestId })
    assert.deepEqual([event, others], [all[0], []])
    assert.deepEqual(await list({ author, action: 'user_group.created', request_id: requestId }), [])
  })

  test('filters by time: since is inclusive, until exclusive', async () => {
    for (const { occurred_at } of all) {
      const [since, before] = await Promise.all([list({ since: occurred_at }), list({ until: occurred_at })])
      const isBefore = (event: EventView) => event.occurred_at < occurred_at
      assert.deepEqual(before, all.filter(isBefore))
      assert.deepEqual(
        since,
        all.filter((event) => !isBefore(event)),
      )
    }
    const { occurred_at = '' } = all[0] ?? {}
    const inAnotherZone = new Date(Date.parse(occurred_at) + 5_400_000).toISOString().replace('Z', '+01:30')
    assert.deepEqual(await list({ since: inAnotherZone }), await list({ since: occurred_at }))
    assert.deepEqual(await list({ since: occurred_at, until: occurred_at }), [])
    assert.deepEqual(await list({ since: '0000-01-01T00:00:00Z' }), all)
    assert.deepEqual(await list({ until: '9999-12-31T23:59:59.999999999-23:59' }), all)
    assert.deepEqual(await list({ since: '9999-12-31T23:59:59Z' }), [])
  })

  test('has 50 events per page by default', async () => {
    const rows = Array.from({ length: 60 }, (_, i) =>
      JSON.stringify({ user_group_id: `row ${i}`, name: 'A' }),
    )
    assert.equal((await admin.importUserGroups({ body: rows.join('\n') })).status, 200)
    assert.equal((await page()).audit_events.length, 50)
    assert.equal((await page({ limit: 60 })).audit_events.length, 60)
  })
})

const longestAuthor = `person:${'x'.repeat(255)}`

test('the audit log can be searched by the author with the longest id of a person', async () => {
  const response = await admin.listAuditEvents({ query: { author: longestAuthor } })
  assert.deepEqual(assertSucceeded(response, 'listAuditEvents').audit_events, [])
})

describe('the audit log refuses', () => {
  const noTimes = [
    '',
    'yesterday',
    '1h',
    '2026-11-21',
    '2026-11-21T20:15:53',
    '2026-11-21 20:15:53Z',
    '2026-13-01T00:00:00Z',
    '2026-11-32T00:00:00Z',
    '2026-11-21T25:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-11-21T20:15:53+99:00',
    '1763756153123',
  ]
  const wrong: Record<string, readonly (string | number)[]> = {
    since: noTimes,
    until: noTimes,
    team_id: ['', '0', '-1', '1.5', 'x', '1'.repeat(17)],
    user_group_id: ['', '\0', 'x'.repeat(256)],
    action: ['', 'user_group', 'USER_GROUP.CREATED', 'user_group.created '],
    author: ['', '\0', `${longestAuthor}x`],
    request_id: ['', '\0', 'x'.repeat(256)],
    limit: ['', '0', '201', 'x'],
    cursor: ['', 'x', 'MQ', 'x'.repeat(5001), Buffer.from('0'.repeat(36)).toString('base64url')],
  }
  for (const [name, values] of Object.entries(wrong)) {
    test(name, async () => {
      for (const value of values) {
        const response = await admin.listAuditEvents({ query: { [name]: value } })
        assertRefused(response, 'listAuditEvents', 'validation_failed', [`/${name}`])
      }
    })
  }

  test('several invalid parameters at once', async () => {
    const query = { team_id: 'x', action: 'x', since: 'x', nonsense: 1 }
    const fields = ['/team_id', '/action', '/since', '/nonsense']
    assertRefused(await admin.listAuditEvents({ query }), 'listAuditEvents', 'validation_failed', fields)
  })
})

test('another environment or workspace sees none of the audit log', async () => {
  await runCommand(service, 'workspace', 'create', 'second')
  const { author = '' } = all[0] ?? {}
  for (const stranger of [
    await manage(service, 'Testing'),
    await manage(service, 'Customer', 'second'),
    await manage(service, 'Testing', 'second'),
  ]) {
    for (const query of [
      ...[{ team_id: second.team_id }, { user_group_id: 'taken' }, { user_group_id: 'gone' }],
      ...[{ author }, { request_id: requestId }, { action: 'user_group.deleted' }],
    ])
      assert.deepEqual(await list(query, stranger.admin), [], JSON.stringify(query))
    const ids = new Set((await list({}, stranger.admin)).map(({ event_id }) => event_id))
    assert.deepEqual(
      all.filter(({ event_id }) => ids.has(event_id)),
      [],
    )
    // A cursor is only a position in time and gives no access.
    const { next_cursor } = await page({ limit: 1 })
    const others = await page({ limit: 200, cursor: next_cursor ?? '' }, stranger.admin)
    assert.ok(others.audit_events.every(({ event_id }) => ids.has(event_id)))
  }
})
