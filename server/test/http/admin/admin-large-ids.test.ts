import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { assertSucceeded, assertRefused, managedIn, of, startManaged } from '../../support/admin-api.ts'
import { runCommand } from '../../support/command.ts'
import { assertActive } from '../../support/introspection.ts'
import { assertFault, tokenIn } from '../../support/user-api.ts'

// Ids may be as large as JSON numbers are exact: up to 2^53 - 1.
const largest = 9_007_199_254_740_991

const { service, admin, user, introspect, create } = await startManaged({ after })

const database = new BetterSqlite3(join(service.dataFolder, 'ugs.db'))
database.exec(
  `INSERT INTO sqlite_sequence (name, seq)
   SELECT 'user_group', ${largest - 3} WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'user_group')`,
)
database.close()
for (const name of ['first', 'second', 'third']) await create(name)
const third = of({ team_id: largest })

const inCustomer = ['--environment', 'Customer', '--json']
const idsOf = (groups: readonly { team_id: number }[]) => groups.map(({ team_id }) => team_id)

test('a user group with the largest id is shown and changed conditionally', async () => {
  const shown = await admin.getUserGroup(third)
  assert.equal(managedIn(shown, 'getUserGroup').team_id, largest)
  const { etag = '' } = shown.headers
  assert.equal(etag, `"${largest}.1"`)
  const change = { ...third, body: { name: 'Changed' }, headers: { 'if-match': etag } }
  assert.equal((await admin.patchUserGroup(change)).headers.etag, `"${largest}.2"`)
  assertRefused(await admin.patchUserGroup(change), 'patchUserGroup', 'revision_mismatch')
})

test('its token is introspected and rotated', async () => {
  const shown = await admin.getUserGroupToken(third)
  const { token } = assertSucceeded<{ token: string }>(shown, 'getUserGroupToken')
  assert.equal(assertActive(await introspect(token)).team_id, largest)
  const rotated = tokenIn(await user.post({ current_token: token }))
  assert.equal(assertActive(await introspect(rotated)).team_id, largest)
})

test('it is on the last page of a search, and in the audit log', async () => {
  interface Page {
    readonly user_groups: readonly { team_id: number }[]
    readonly next_cursor: string | null
  }
  const page = async (cursor?: string) =>
    assertSucceeded<Page>(
      await admin.searchUserGroups({ query: { limit: 1, ...(cursor !== undefined && { cursor }) } }),
      'searchUserGroups',
    )
  const found: number[] = []
  let cursor: string | null | undefined
  do {
    const { user_groups, next_cursor } = await page(cursor ?? undefined)
    found.push(...idsOf(user_groups))
    cursor = next_cursor
  } while (cursor !== null)
  assert.deepEqual(found, [largest - 2, largest - 1, largest])
  const { audit_events } = assertSucceeded<{ audit_events: { user_group: { team_id: number } }[] }>(
    await admin.listAuditEvents({ query: { team_id: largest } }),
    'listAuditEvents',
  )
  assert.equal(audit_events.length, 3)
  assert.ok(audit_events.every(({ user_group }) => user_group.team_id === largest))
})

test('it is deleted, listed and restored, also by the command', async () => {
  assertSucceeded(await admin.deleteUserGroup(third), 'deleteUserGroup')
  const { user_groups } = assertSucceeded<{ user_groups: { team_id: number }[] }>(
    await admin.listDeletedUserGroups(),
    'listDeletedUserGroups',
  )
  assert.deepEqual(idsOf(user_groups), [largest])
  const restored = await admin.restoreDeletedUserGroup(third)
  assert.equal(managedIn(restored, 'restoreDeletedUserGroup').team_id, largest)
  assertSucceeded(await admin.deleteUserGroup(third), 'deleteUserGroup')
  const output = await runCommand(service, 'user-group', 'restore', String(largest), ...inCustomer)
  assert.equal((JSON.parse(output) as { team_id: number }).team_id, largest)
})

test('larger ids do not exist, and the command refuses them', async () => {
  for (const id of ['9007199254740992', '9007199254740993', '9999999999999999'])
    assertRefused(
      await admin.getUserGroup({ params: { team_id: id } }),
      'getUserGroup',
      'user_group_not_found',
    )
  for (const id of ['9007199254740992', '9007199254740993', '99999999999999999']) {
    const { code, stderr } = await service.ugs('user-group', 'restore', id, ...inCustomer)
    assert.equal(code, 2)
    assert.match(stderr, /It must be a whole number from 1 to 9007199254740991\./)
  }
  const unsafe = Buffer.from('9007199254740993').toString('base64url')
  const refused = await admin.searchUserGroups({ query: { cursor: unsafe } })
  assertRefused(refused, 'searchUserGroups', 'validation_failed', ['/cursor'])
})

test('the service is unavailable for a user group without an id', async () => {
  assertFault(await user.get({ user_group_id: 'fourth', name: 'fourth' }), 'unavailable')
})
