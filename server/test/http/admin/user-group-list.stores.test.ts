import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertRefused, assertSucceeded, manage, of, rowsIn, startManaged } from '../../support/admin-api.ts'
import { runCommand } from '../../support/command.ts'

const customer = await startManaged({ after })
const { service, admin, create } = customer

interface List {
  readonly user_groups: readonly { readonly provided_id: string }[]
  readonly next_cursor: string | null
  readonly total?: { readonly count: number; readonly is_exact: boolean }
}

const list = async (query: Record<string, string | number> = {}) =>
  assertSucceeded<List>(await admin.searchUserGroups({ query }), 'searchUserGroups')

async function idsOf(query: Record<string, string>): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | null = null
  do {
    const page: List = await list({ ...query, limit: 2, ...(cursor !== null && { cursor }) })
    ids.push(...page.user_groups.map(({ provided_id }) => provided_id))
    cursor = page.next_cursor
  } while (cursor !== null)
  return ids
}

/** In the order of their names. */
const byName = ['d 1', 'a 2', 'c 3', 'b 4', 'e 5', 'f 6']
const created = ['c 3', 'f 6', 'a 2', 'e 5', 'd 1', 'b 4']
const names: Readonly<Record<string, string>> = {
  ...{ 'd 1': 'alpha', 'a 2': 'Beta', 'c 3': 'beta 2', 'b 4': 'Gamma', 'e 5': 'Gamma', 'f 6': 'Öl' },
}

before(async () => {
  for (const id of created) await create(id, { name: names[id], mapping: { s: id } })
  await runCommand(service, 'workspace', 'create', 'second')
  for (const other of [await manage(service, 'Testing'), await manage(service, 'Customer', 'second')])
    for (const id of ['a 2', 'zz']) await other.create(id, { name: 'alpha' })
})

const orders: Readonly<Record<string, readonly string[]>> = {
  name: ['d 1', 'a 2', 'c 3', 'e 5', 'b 4', 'f 6'],
  user_group_id: byName.toSorted(),
  created_at: created,
}
for (const [sort, expected] of Object.entries(orders)) {
  test(`lists user groups of the environment by ${sort}, page by page, in both directions`, async () => {
    assert.deepEqual(await idsOf({ sort }), expected)
    assert.deepEqual(await idsOf({ sort, order: 'desc' }), expected.toReversed())
  })

  test(`keeps the order by ${sort} with search criteria`, async () => {
    const some = (ids: readonly string[]) => expected.filter((id) => ids.includes(id))
    assert.deepEqual(await idsOf({ sort, text: 'BETA' }), some(['a 2', 'c 3']))
    assert.deepEqual(await idsOf({ sort, name: 'ol' }), ['f 6'])
    assert.deepEqual(await idsOf({ sort, user_group_id_prefix: 'a' }), ['a 2'])
    assert.deepEqual(await idsOf({ sort, schema: 's', data_source: 'b 4' }), ['b 4'])
    assert.deepEqual(await idsOf({ sort, health: 'no_mapping' }), [])
  })
}

test('refuses an order without an index, and a direction without an order', async () => {
  const refused = async (query: Record<string, string>, ...fields: string[]) =>
    assertRefused(await admin.searchUserGroups({ query }), 'searchUserGroups', 'validation_failed', fields)
  await refused({ sort: 'updated_at' }, '/sort')
  await refused({ sort: 'last_introspected_at' }, '/sort')
  await refused({ order: 'desc' }, '/sort')
  await refused({ sort: 'name', order: 'down' }, '/order')
})

test('refuses a cursor of another list, and one that no response contained', async () => {
  const searches = ['name', 'user_group_id', 'created_at']
    .map((sort): Record<string, string> => ({ sort }))
    .concat([{}, { user_group_id_prefix: 'a' }])
  const encoded = (text: string) => Buffer.from(text).toString('base64url')
  const cursors = ['["name","\\u0000",1]', '["created_at","a",1]', '["user_group_id",1,1]'].map(encoded)
  for (const search of searches) {
    const { next_cursor } = await list({ ...search, limit: 1 })
    cursors.push(next_cursor ?? encoded('a 2'))
  }
  const accepted: [object, string][] = []
  for (const query of searches) {
    for (const cursor of cursors) {
      const response = await admin.searchUserGroups({ query: { ...query, cursor } })
      if (response.status === 200) accepted.push([query, cursor])
      else assertRefused(response, 'searchUserGroups', 'validation_failed', ['/cursor'])
    }
  }
  assert.deepEqual(
    accepted,
    searches.map((search, i) => [search, cursors[i + 3]]),
  )
})

test('counts what a search finds, only if requested', async () => {
  const totalOf = async (query: Record<string, string>) =>
    (await list({ ...query, total: 'true', limit: 1 })).total
  const exactly = (count: number) => ({ count, is_exact: true })
  assert.equal((await list()).total, undefined)
  assert.deepEqual(await totalOf({}), exactly(6))
  assert.deepEqual(await totalOf({ sort: 'name' }), exactly(6))
  assert.deepEqual(await totalOf({ text: '2' }), exactly(2))
  assert.deepEqual(await totalOf({ name: 'nothing' }), exactly(0))
  assert.deepEqual(await totalOf({ user_group_id_prefix: 'b' }), exactly(1))
  assert.deepEqual(await totalOf({ schema: 's', data_source: 'a 2' }), exactly(1))
  assert.deepEqual(await totalOf({ health: 'never_viewed' }), exactly(6))
  const suspended = await create('d 1')
  await admin.suspendUserGroup(of(suspended))
  assert.deepEqual(await totalOf({ suspended: 'true' }), exactly(1))
  assert.deepEqual(await totalOf({ suspended: 'false' }), exactly(5))
  await admin.resumeUserGroup(of(suspended))
})

test('finds ids by any part and in any case', async () => {
  await create('Kunde-ÄB-77')
  for (const text of ['kunde', 'DE-äb', 'ab-77', '77'])
    assert.deepEqual(await idsOf({ text }), ['Kunde-ÄB-77'])
  await admin.deleteUserGroup(of(await create('Kunde-ÄB-77')))
})

test('exports what a search finds', async () => {
  const exported = async (query: Record<string, string>) => {
    const response = await admin.exportUserGroups({ query })
    return rowsIn<{ user_group_id: string }>(response).map(({ user_group_id }) => user_group_id)
  }
  assert.deepEqual(await exported({}), byName.toSorted())
  assert.deepEqual((await exported({ text: 'beta' })).sort(), ['a 2', 'c 3'])
  assert.deepEqual(await exported({ user_group_id_prefix: 'b' }), ['b 4'])
  assert.deepEqual(await exported({ health: 'no_mapping' }), [])
  assert.deepEqual(await exported({ suspended: 'true' }), [])
  const response = await admin.exportUserGroups({ query: { text: 'beta', team_ids: '1' } })
  assertRefused(response, 'exportUserGroups', 'validation_failed', ['/team_ids'])
})
