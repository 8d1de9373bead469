import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  assertSucceeded,
  assertRefused,
  manage,
  of,
  startManaged,
  type AdminApi,
  type AdminInput,
  type AdminUserGroup,
} from '../../support/admin-api.ts'

const { service, admin, create } = await startManaged({ after })
const testing = await manage(service, 'Testing')

interface Page {
  readonly user_groups: readonly (AdminUserGroup & {
    readonly health: { readonly unresolved_entries: number }
  })[]
  readonly next_cursor: string | null
}
const search = async (query: AdminInput['query'], api: AdminApi = admin) =>
  assertSucceeded<Page>(await api.searchUserGroups({ query: query ?? '' }), 'searchUserGroups')

/** Returns the ids of each page. */
async function pages(query: Record<string, string | number>, api = admin): Promise<string[][]> {
  const found: string[][] = []
  let cursor: string | null = null
  do {
    const page: Page = await search({ ...query, ...(cursor !== null && { cursor }) }, api)
    found.push(page.user_groups.map(({ provided_id }) => provided_id))
    cursor = page.next_cursor
  } while (cursor !== null)
  return found
}
const ids = async (query: Record<string, string | number>) => (await pages(query)).flat()

const groups: Record<string, object> = {
  'acme-2': { name: 'ACME Österreich', properties: { plan: 'gold', seats: 5, 'a/b': { '~': true } } },
  'acme-1': { name: 'Acme 100%', properties: { plan: 'Gold', seats: '5', tags: ['x'] } },
  'Acme-3': { name: 'other_name', properties: { plan: null, seats: 5.0, trial: false } },
  'bee-😀': { name: 'acme\\bee', mapping: { sales: 'eu' }, properties: { '': 'empty', 'acme-1': '' } },
  'bee-\uffee': { name: 'Bee', mapping: { '1': '1', x: 'y' } },
  'bee-z': { name: 'Bee', mapping: { sales: 'us' } },
}
const inOrder = Object.keys(groups)

before(async () => {
  assertSucceeded(await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } }), 'createSchema')
  const body = { schema_id: 1, provided_id: 'eu', name: 'EU' }
  assertSucceeded(await admin.createDataSource({ body }), 'createDataSource')
  for (const [id, fields] of Object.entries(groups)) {
    const created = await create(id, fields)
    if (id === 'acme-1') await admin.suspendUserGroup(of(created))
    await testing.create(id, { name: 'Of Testing' })
  }
})

describe('a search', () => {
  test('without parameters lists all user groups by team id', async () => {
    assert.deepEqual(await ids({}), inOrder)
    const { user_groups } = await search('')
    assert.deepEqual(user_groups[0]?.properties, { plan: 'gold', seats: 5, 'a/b': { '~': true } })
  })

  const cases: [query: Record<string, string>, found: string[]][] = [
    [{ user_group_id_prefix: 'acme-' }, ['acme-1', 'acme-2']],
    [{ user_group_id_prefix: 'A' }, ['Acme-3']],
    [{ user_group_id_prefix: 'acme-2' }, ['acme-2']],
    [{ user_group_id_prefix: 'acme-22' }, []],
    [{ user_group_id_prefix: 'bee-' }, ['bee-z', 'bee-\uffee', 'bee-😀']],
    [{ user_group_id_prefix: 'bee-😀' }, ['bee-😀']],
    [{ user_group_id_prefix: '\u{10ffff}' }, []],
    [{ user_group_id_prefix: '%' }, []],
    [{ name: 'ACME' }, ['acme-2', 'acme-1', 'bee-😀']],
    [{ name: 'österREICH' }, ['acme-2']],
    [{ name: '%' }, ['acme-1']],
    [{ name: '_' }, ['Acme-3']],
    [{ name: '\\' }, ['bee-😀']],
    [{ name: "'" }, []],
    [{ property: '/plan', property_value: 'gold' }, ['acme-2']],
    [{ property: '/plan', property_value: 'null' }, []],
    [{ property: '/seats', property_value: '5' }, ['acme-2', 'acme-1', 'Acme-3']],
    [{ property: '/seats', property_value: '5.0' }, ['acme-2', 'Acme-3']],
    [{ property: '/trial', property_value: 'false' }, ['Acme-3']],
    [{ property: '/a~1b/~0', property_value: 'true' }, ['acme-2']],
    [{ property: '/tags/0', property_value: 'x' }, []],
    [{ property: '/', property_value: 'empty' }, ['bee-😀']],
    [{ property: '/acme-1', property_value: '' }, ['bee-😀']],
    [{ property: '/constructor/name', property_value: 'Object' }, []],
    [{ property: '/__proto__', property_value: '' }, []],
    // By provided id or id.
    [{ schema: 'sales', data_source: 'eu' }, ['bee-😀', 'bee-\uffee']],
    [{ schema: '1', data_source: '1' }, ['bee-😀', 'bee-\uffee']],
    [{ schema: 'sales', data_source: 'us' }, ['bee-z']],
    [{ schema: 'x', data_source: 'y' }, ['bee-\uffee']],
    [{ schema: 'y', data_source: 'x' }, []],
    [{ suspended: 'true' }, ['acme-1']],
    [{ suspended: 'false' }, inOrder.filter((id) => id !== 'acme-1')],
    [{ health: 'no_mapping' }, ['acme-2', 'acme-1', 'Acme-3']],
    [{ health: 'unresolved' }, ['bee-\uffee', 'bee-z']],
    [{ health: 'never_viewed' }, inOrder],
    [{ health: 'no_mapping', user_group_id_prefix: 'acme', suspended: 'true' }, ['acme-1']],
    [{ user_group_id_prefix: 'acme-', name: 'acme', suspended: 'false' }, ['acme-2']],
    [
      { user_group_id_prefix: 'bee-', schema: 'sales', data_source: 'eu', name: 'B' },
      ['bee-\uffee', 'bee-😀'],
    ],
    [{ suspended: 'true', property: '/seats', property_value: '5', schema: 'sales', data_source: 'eu' }, []],
  ]
  for (const [query, found] of cases) {
    test(`by ${JSON.stringify(query)} finds ${found.length === 0 ? 'none' : found.join(', ')}`, async () => {
      assert.deepEqual(await ids(query), found)
      // Pages of one user group have the same results.
      const single = await pages({ ...query, limit: 1 })
      assert.deepEqual(single.flat(), found)
      assert.ok(single.every((page) => page.length <= 1))
    })
  }

  test('shows the health of each user group', async () => {
    const { user_groups } = await search({ user_group_id_prefix: 'bee-' })
    assert.deepEqual(
      user_groups.map(({ provided_id, health }) => [provided_id, health]),
      [
        ['bee-z', { mapping_entries: 1, unresolved_entries: 1, last_introspected_at: null }],
        ['bee-\uffee', { mapping_entries: 2, unresolved_entries: 1, last_introspected_at: null }],
        ['bee-😀', { mapping_entries: 1, unresolved_entries: 0, last_introspected_at: null }],
      ],
    )
    // Without a registered schema, entries are passed on unchanged.
    await testing.create('free', { name: 'Free', mapping: { any: 'thing' } })
    const [free] = (await search({ user_group_id_prefix: 'free' }, testing.admin)).user_groups
    assert.equal(free?.health.unresolved_entries, 0)
  })

  test('does not find a deleted user group until it is restored', async () => {
    const { team_id } = (await search({ user_group_id_prefix: 'bee-z' })).user_groups[0] ?? { team_id: 0 }
    await admin.deleteUserGroup(of({ team_id }))
    const query = { schema: 'sales', data_source: 'us' }
    assert.deepEqual(await ids(query), [])
    await admin.restoreDeletedUserGroup(of({ team_id }))
    assert.deepEqual(await ids(query), ['bee-z'])
  })
})

describe('a page', () => {
  const refused: [query: string, ...fields: string[]][] = [
    ['limit=0', '/limit'],
    ['limit=201', '/limit'],
    ['limit=-1', '/limit'],
    ['limit=1.5', '/limit'],
    ['limit=1e1', '/limit'],
    ['limit=', '/limit'],
    ['limit=%2050', '/limit'],
    ['cursor=', '/cursor'],
    [`cursor=${'A'.repeat(5001)}`, '/cursor'],
    ['user_group_id_prefix=', '/user_group_id_prefix'],
    [`name=${'x'.repeat(256)}`, '/name'],
    ['name=', '/name'],
    ['suspended=', '/suspended'],
    ['suspended=yes', '/suspended'],
    ['health=good', '/health'],
    ['suspended=TRUE', '/suspended'],
    ['property=plan&property_value=x', '/property'],
    ['property=&property_value=x', '/property'],
    ['property=/a~2&property_value=x', '/property'],
    ['property=/plan', '/property_value'],
    ['property_value=gold', '/property'],
    ['schema=sales', '/data_source'],
    ['data_source=eu', '/schema'],
    ['name=%00', '/name'],
    ['user_group_id_prefix=a%00', '/user_group_id_prefix'],
    ['property=/%00&property_value=x', '/property'],
    ['property=/a&property_value=%00', '/property_value'],
    ['schema=%00&data_source=%00', '/schema', '/data_source'],
  ]
  for (const [query, ...fields] of refused) {
    test(`is refused with ${query.slice(0, 60)}`, async () => {
      assertRefused(await admin.searchUserGroups({ query }), 'searchUserGroups', 'validation_failed', fields)
    })
  }

  test('has 50 user groups by default and 200 at most, without duplicates', async () => {
    const wanted = Array.from({ length: 205 }, (_, i) => `page-${String(i).padStart(3, '0')}`)
    await Promise.all(wanted.map((id) => create(id)))
    const query = { user_group_id_prefix: 'page-' }
    assert.deepEqual(
      (await pages(query)).map((page) => page.length),
      [50, 50, 50, 50, 5],
    )
    assert.deepEqual(await ids(query), wanted)
    assert.equal((await search({ ...query, limit: 200 })).user_groups.length, 200)
    assert.deepEqual(await ids({ ...query, limit: 200 }), wanted)
    assert.deepEqual((await ids({ name: 'page-' })).sort(), wanted)
  })

  test('continues after the last user group of the previous page, even if that is deleted', async () => {
    for (const id of ['flow-b', 'flow-d', 'flow-f']) await create(id)
    const query = { user_group_id_prefix: 'flow-', limit: 1 }
    const first = await search(query)
    assert.equal(first.user_groups[0]?.provided_id, 'flow-b')
    await admin.deleteUserGroup(of(first.user_groups[0]))
    await create('flow-a')
    await create('flow-c')
    const second = await search({ ...query, cursor: first.next_cursor ?? '' })
    assert.equal(second.user_groups[0]?.provided_id, 'flow-c')
  })

  const cursorOf = (text: string) => Buffer.from(text).toString('base64url')

  test('is refused with a query that is not valid UTF-8 in URL encoding', async () => {
    for (const query of ['name=%FF', 'name=%', 'name=%zz', '%C3=1', 'limit=%ED%A0%80'])
      assertRefused(await admin.searchUserGroups({ query }), 'searchUserGroups', 'validation_failed', [''])
  })

  test('is refused with an invalid cursor', async () => {
    const invalidCursors = [
      'x',
      '!!!',
      'MQ==',
      'MR',
      'a b',
      ...['-1', 'x', '1.5', '', '\0', '9007199254740992', '12345678901234567'].map(cursorOf),
    ]
    for (const cursor of invalidCursors) {
      for (const id of ['searchUserGroups', 'listDeletedUserGroups', 'listIsolationFindings'] as const)
        assertRefused(await admin[id]({ query: { cursor } }), id, 'validation_failed', ['/cursor'])
    }
    for (const cursor of [
      '{}',
      'null',
      '[]',
      '{"dataSource":1.5}',
      '{"entry":["a"]}',
      '{"entry":["\\u0000","b"]}',
    ]) {
      const query = { cursor: cursorOf(cursor) }
      const response = await admin.listIsolationFindings({ query })
      assertRefused(response, 'listIsolationFindings', 'validation_failed', ['/cursor'])
    }
    for (const cursor of ['\0', Buffer.from([0xff]).toString('latin1')]) {
      const query = { user_group_id_prefix: 'a', cursor: Buffer.from(cursor, 'latin1').toString('base64url') }
      assertRefused(await admin.searchUserGroups({ query }), 'searchUserGroups', 'validation_failed', [
        '/cursor',
      ])
    }
  })

  test('the cursor of another search is refused', async () => {
    const { next_cursor } = await search({ user_group_id_prefix: 'acme', limit: 1 })
    assertRefused(
      await admin.searchUserGroups({ query: { cursor: next_cursor ?? '' } }),
      'searchUserGroups',
      'validation_failed',
      ['/cursor'],
    )
    const within = (position: string) => ({ user_group_id_prefix: 'acme-', cursor: cursorOf(position) })
    for (const position of ['A', 'bee-z', '999']) {
      const response = await admin.searchUserGroups({ query: within(position) })
      assertRefused(response, 'searchUserGroups', 'validation_failed', ['/cursor'])
    }
    const { user_groups } = await search(within('acme-1'))
    assert.deepEqual(
      user_groups.map(({ provided_id }) => provided_id),
      ['acme-2'],
    )
  })

  test('with the cursor of another environment returns only user groups of the own environment', async () => {
    for (const query of [{ limit: 1 }, { limit: 1, user_group_id_prefix: 'acme-' }]) {
      const { next_cursor } = await search(query, testing.admin)
      const { user_groups } = await search({ ...query, cursor: next_cursor ?? '' })
      assert.ok(user_groups.length > 0)
      for (const { api_environment_tag } of user_groups) assert.equal(api_environment_tag, 'Customer')
    }
  })

  test('of deleted user groups is sorted by team id', async () => {
    const created = []
    for (const id of ['gone-c', 'gone-a', 'gone-b']) created.push(await create(id))
    for (const group of created.toReversed()) await admin.deleteUserGroup(of(group))
    const found: number[] = []
    let cursor: string | null = null
    do {
      const query: AdminInput['query'] = { limit: 1, ...(cursor !== null && { cursor }) }
      const page: Page = assertSucceeded(
        await admin.listDeletedUserGroups({ query }),
        'listDeletedUserGroups',
      )
      assert.ok(page.user_groups.length <= 1)
      found.push(...page.user_groups.map(({ team_id }) => team_id))
      cursor = page.next_cursor
    } while (cursor !== null)
    const wanted = created.map(({ team_id }) => team_id)
    assert.deepEqual(
      found.filter((id) => wanted.includes(id)),
      wanted,
    )
    assert.deepEqual(
      found,
      found.toSorted((a, b) => a - b),
    )
  })

  test('causes no error in the log', () => {
    assert.doesNotMatch(service.stderr(), /"level":[56]0/)
  })
})
