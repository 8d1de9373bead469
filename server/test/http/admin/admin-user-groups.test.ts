import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertSucceeded, assertRefused, managedIn, of, startManaged } from '../../support/admin-api.ts'
import { assertActive, assertInactive } from '../../support/introspection.ts'
import { assertFault, assertSuccess, tokenIn } from '../../support/user-api.ts'

const { service, admin, user, introspect, create } = await startManaged({ after })

/** Returns the author name of the calling API token. */
const me = async () => {
  const { api_tokens } = assertSucceeded<{ api_tokens: { id: number; scopes: string[] }[] }>(
    await admin.listApiTokens(),
    'listApiTokens',
  )
  return `api_token:${api_tokens.find(({ scopes }) => scopes.includes('admin'))?.id}`
}
const author = await me()

const isRecent = (time: string | null) => {
  const age = Date.now() - Date.parse(time ?? '')
  assert.ok(age >= 0 && age < 60_000, String(time))
}

test('a user group is created once, and an existing one is never changed', async () => {
  const body = { user_group_id: 'new', name: 'New', mapping: { '40': '213' }, properties: { n: 1 } }
  const created = managedIn(await admin.createUserGroup({ body }), 'createUserGroup')
  assert.deepEqual(
    [created.provided_id, created.name, created.mapping, created.properties, created.updated_by],
    ['new', 'New', { '40': '213' }, { n: 1 }, author],
  )
  assertActive(await introspect(tokenIn(await user.get({ user_group_id: 'new' }))))
  for (const again of [body, { user_group_id: 'new', name: 'Other' }])
    assertRefused(await admin.createUserGroup({ body: again }), 'createUserGroup', 'already_exists')
  assert.equal(managedIn(await admin.getUserGroup(of(created)), 'getUserGroup').revision, 1)
  for (const [invalid, ...fields] of [
    [{ user_group_id: 'x' }, '/name'],
    [{ name: 'x' }, '/user_group_id'],
    [{ user_group_id: 'x', name: 'x', mapping: { a: 1 }, plan: 'gold' }, '/mapping/a', '/plan'],
  ] as const)
    assertRefused(
      await admin.createUserGroup({ body: invalid }),
      'createUserGroup',
      'validation_failed',
      fields,
    )
  const requests = Array.from({ length: 8 }, (_, i) =>
    admin.createUserGroup({ body: { user_group_id: 'raced', name: `Name ${i}` } }),
  )
  const statuses = (await Promise.all(requests)).map(({ status }) => status)
  assert.deepEqual(statuses.sort(), [201, ...Array<number>(7).fill(409)])
})

test('a user group is returned as created, without its token', async () => {
  const created = await create('shown', {
    name: 'Ärger & Söhne 😀',
    mapping: { '40': '213' },
    properties: { plan: 'gold', n: 1.5 },
  })
  const response = await admin.getUserGroup(of(created))
  const { created_at, updated_at, token_issued_at, updated_by, ...shown } = managedIn(
    response,
    'getUserGroup',
  )
  assert.deepEqual(shown, {
    team_id: created.team_id,
    provided_id: 'shown',
    api_environment_tag: 'Customer',
    name: 'Ärger & Söhne 😀',
    mapping: { '40': '213' },
    properties: { plan: 'gold', n: 1.5 },
    revision: 1,
    suspended_at: null,
  })
  assert.match(updated_by ?? '', /^api_token:\d+$/)
  assert.notEqual(updated_by, author)
  assert.deepEqual([updated_at, token_issued_at], [created_at, created_at])
  isRecent(created_at)
  assert.equal(response.headers.etag, `"${created.team_id}.1"`)
})

test('the token is returned only by its own operation', async () => {
  const created = await create('token')
  const response = await admin.getUserGroupToken(of(created))
  assert.deepEqual(assertSucceeded(response, 'getUserGroupToken'), { success: 1, token: created.token })
  assert.equal(response.headers.etag, `"${created.team_id}.1"`)
})

test('PATCH changes the given fields, for /api/user and the renderer too', async () => {
  const created = await create('patched', { mapping: { a: 'b' }, properties: { a: 1 } })
  const response = await admin.patchUserGroup({
    ...of(created),
    body: { name: 'New', properties: { b: [2] } },
  })
  const patched = managedIn(response, 'patchUserGroup')
  assert.deepEqual(
    [patched.name, patched.mapping, patched.properties, patched.revision, patched.updated_by],
    ['New', { a: 'b' }, { b: [2] }, 2, author],
  )
  assert.ok(patched.updated_at > patched.created_at)
  assert.equal(patched.token_issued_at, patched.created_at)
  assert.equal(response.headers.etag, `"${created.team_id}.2"`)
  assert.deepEqual(assertSuccess(await user.get({ user_group_id: 'patched' })).user_group, {
    ...created,
    name: 'New',
    properties: { b: [2] },
  })
  assert.deepEqual(assertActive(await introspect(created.token)).properties, { b: [2] })

  const cleared = managedIn(
    await admin.patchUserGroup({ ...of(created), body: { mapping: {}, properties: null } }),
    'patchUserGroup',
  )
  assert.deepEqual([cleared.mapping, cleared.properties, cleared.revision], [null, null, 3])
})

test('a PATCH that changes nothing keeps revision, time and author', async () => {
  const created = await create('unchanged', { mapping: { a: 'b' }, properties: { a: 1, b: 2 } })
  const before = managedIn(await admin.getUserGroup(of(created)), 'getUserGroup')
  for (const body of [{}, { name: 'unchanged' }, '{"properties":{"b":2.0,"a":1},"mapping":{"a":"b"}}'])
    assert.deepEqual(
      managedIn(await admin.patchUserGroup({ ...of(created), body }), 'patchUserGroup'),
      before,
    )
  const { versions } = assertSucceeded(
    await admin.listUserGroupVersions(of(created)),
    'listUserGroupVersions',
  )
  assert.deepEqual(versions, [])
})

test('properties and mapping are returned byte for byte by every operation', async () => {
  const created = await create('bytes')
  const properties = '{"z":1.0,"a":-0,"e":123e45,"u":"\\u00e9/\\/","__proto__":{"constructor":[]},"":0.10}'
  const mapping = '{"2":"b","1":"a","__proto__":"\\ud83d\\ude00"}'
  const body = `{ "properties" : ${properties} , "mapping" : ${mapping} }`
  const change = await admin.patchUserGroup({ ...of(created), body })
  managedIn(change, 'patchUserGroup')
  const view = await admin.viewUserGroup(of(created))
  assertSucceeded(view, 'viewUserGroup')
  await admin.patchUserGroup({ ...of(created), body: { properties: null, mapping: null } })
  const versions = await admin.listUserGroupVersions(of(created))
  const restored = await admin.restoreUserGroupVersion({ params: { ...of(created).params, revision: 2 } })
  const search = await admin.searchUserGroups({ query: { user_group_id_prefix: 'bytes' } })
  for (const { text } of [change, view, versions, restored, search, await admin.getUserGroup(of(created))]) {
    assert.ok(text.includes(`"properties":${properties}`), text)
    assert.ok(text.includes(`"mapping":${mapping}`), text)
  }
})

test('a rotation returns the new token and stops the old one after its grace period', async () => {
  const created = await create('rotated')
  const rotate = async (body: object) => {
    const response = await admin.rotateTokenOfUserGroup({ ...of(created), body })
    return assertSucceeded<{ token: string }>(response, 'rotateTokenOfUserGroup').token
  }
  const second = await rotate({})
  assert.notEqual(second, created.token)
  assertInactive(await introspect(created.token))
  assertActive(await introspect(second))
  const third = await rotate({ grace_period_seconds: 3600 })
  assert.equal(typeof assertActive(await introspect(second)).exp, 'number')
  assertActive(await introspect(third))
  assert.equal(tokenIn(await user.get({ user_group_id: 'rotated' })), third)
  assertFault(await user.post({ current_token: second }), 'token_superseded')

  const shown = managedIn(await admin.getUserGroup(of(created)), 'getUserGroup')
  assert.deepEqual([shown.revision, shown.updated_at], [3, shown.created_at])
  assert.ok(shown.token_issued_at > shown.created_at)
})

test('versions are listed newest first, compared and restored', async () => {
  const created = await create('versions', { name: 'One', properties: { plan: 'gold', seats: 5 } })
  const params = (revision: number) => ({ params: { ...of(created).params, revision } })
  await admin.rotateTokenOfUserGroup({ ...of(created), body: {} })
  await admin.patchUserGroup({
    ...of(created),
    body: { name: 'Two', properties: { plan: 'silver', seats: 5 } },
  })
  await admin.patchUserGroup({ ...of(created), body: { name: 'Three', mapping: { a: 'b' } } })

  const { versions } = assertSucceeded<{ versions: Record<string, unknown>[] }>(
    await admin.listUserGroupVersions(of(created)),
    'listUserGroupVersions',
  )
  assert.deepEqual(
    versions.map(({ revision, name, mapping, properties }) => ({ revision, name, mapping, properties })),
    [
      { revision: 3, name: 'Two', mapping: null, properties: { plan: 'silver', seats: 5 } },
      // A rotation does not change the content, so revision 2 is the last one with it.
      { revision: 2, name: 'One', mapping: null, properties: { plan: 'gold', seats: 5 } },
    ],
  )
  assert.deepEqual([versions[0]?.updated_by, versions[1]?.updated_by === author], [author, false])

  const diff = async (revision: number, query = '') =>
    assertSucceeded<{ differences: unknown }>(
      await admin.diffUserGroupVersions({ ...params(revision), query }),
      'diffUserGroupVersions',
    ).differences
  assert.deepEqual(await diff(2), [
    { path: '/name', before: 'One', after: 'Three' },
    { path: '/mapping', before: null, after: { a: 'b' } },
    { path: '/properties/plan', before: 'gold', after: 'silver' },
  ])
  assert.deepEqual(await diff(3, 'to=2'), [
    { path: '/name', before: 'Two', after: 'One' },
    { path: '/properties/plan', before: 'silver', after: 'gold' },
  ])
  assert.deepEqual(await diff(4), [])

  const response = await admin.restoreUserGroupVersion(params(2))
  const restored = managedIn(response, 'restoreUserGroupVersion')
  assert.deepEqual(
    [restored.name, restored.mapping, restored.properties, restored.revision, restored.updated_by],
    ['One', null, { plan: 'gold', seats: 5 }, 5, author],
  )
  assert.equal(response.headers.etag, `"${created.team_id}.5"`)
  assert.deepEqual(await diff(2), [])
  assert.equal(
    managedIn(await admin.restoreUserGroupVersion(params(4)), 'restoreUserGroupVersion').name,
    'Three',
  )
  const latest = managedIn(await admin.restoreUserGroupVersion(params(6)), 'restoreUserGroupVersion')
  assert.equal(latest.revision, 6)

  for (const revision of [1, 7, 999_999_999_999_999]) {
    assertRefused(
      await admin.restoreUserGroupVersion(params(revision)),
      'restoreUserGroupVersion',
      'not_found',
    )
    assertRefused(await admin.diffUserGroupVersions(params(revision)), 'diffUserGroupVersions', 'not_found')
    const to = { ...params(2), query: { to: revision } }
    assertRefused(await admin.diffUserGroupVersions(to), 'diffUserGroupVersions', 'not_found')
  }
})

test('the view contains everything that a dashboard depends on', async () => {
  const { schema } = assertSucceeded<{ schema: { id: number } }>(
    await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } }),
    'createSchema',
  )
  const { schema: stock } = assertSucceeded<{ schema: { id: number } }>(
    await admin.createSchema({ body: { provided_id: 'stock', name: 'Stock' } }),
    'createSchema',
  )
  const { data_source } = assertSucceeded<{ data_source: { id: number } }>(
    await admin.createDataSource({ body: { schema_id: stock.id, provided_id: 'eu', name: 'EU' } }),
    'createDataSource',
  )
  const mapping = { sales: 'eu', [stock.id]: String(data_source.id), sales2: 'eu' }
  const created = await create('viewed', {
    mapping: { ...mapping, [`0${schema.id}`]: 'x' },
    properties: { a: 1 },
  })
  await admin.patchUserGroup({ ...of(created), body: { mapping: { ...mapping, sales: 'us' } } })
  const response = await admin.viewUserGroup(of(created))
  const { versions, user_group, data_sources, ...view } = assertSucceeded(response, 'viewUserGroup')
  assert.deepEqual(user_group, managedIn(await admin.getUserGroup(of(created)), 'getUserGroup'))
  assert.deepEqual(view, {
    success: 1,
    variables: { provided_id: 'viewed', name: 'viewed', properties: { a: 1 } },
    token: { active: true, issued_at: user_group.token_issued_at, grace_periods: [] },
    last_introspected_at: null,
  })
  const registered = { id: data_source.id, provided_id: 'eu', name: 'EU' }
  assert.deepEqual(
    (data_sources as { schema: string }[]).toSorted((a, b) => (a.schema < b.schema ? -1 : 1)),
    [
      { schema: String(stock.id), data_source: String(data_source.id), has_schema: true, registered },
      { schema: 'sales', data_source: 'us', has_schema: true, registered: null },
      { schema: 'sales2', data_source: 'eu', has_schema: false, registered: null },
    ],
  )
  assert.deepEqual(
    (versions as { revision: number }[]).map(({ revision }) => revision),
    [1],
  )
})

test('the view lists running grace periods with the times of their rotations, until one is ended', async () => {
  const created = await create('rotated-often')
  const rotate = async (seconds: number) => {
    const body = { grace_period_seconds: seconds }
    assertSucceeded(await admin.rotateTokenOfUserGroup({ ...of(created), body }), 'rotateTokenOfUserGroup')
    return managedIn(await admin.getUserGroup(of(created)), 'getUserGroup').token_issued_at
  }
  const gracePeriods = async () =>
    assertSucceeded<{ token: { grace_periods: unknown[] } }>(
      await admin.viewUserGroup(of(created)),
      'viewUserGroup',
    ).token.grace_periods
  const running = (from: string, seconds: number) => ({
    superseded_at: from,
    valid_until: new Date(Date.parse(from) + seconds * 1000).toISOString(),
  })
  const first = await rotate(3600)
  const second = await rotate(7200)
  await rotate(0)
  assert.deepEqual(await gracePeriods(), [running(second, 7200), running(first, 3600)])
  await admin.reportLeakedToken({ body: { token: created.token, rotate: true } })
  assert.deepEqual(await gracePeriods(), [running(second, 7200)])
})

test('a view has the last ten versions, the list of versions up to a hundred', async () => {
  const created = await create('often')
  for (let i = 0; i < 12; i++) await admin.patchUserGroup({ ...of(created), body: { name: `Name ${i}` } })
  const view = assertSucceeded<{ versions: { revision: number }[] }>(
    await admin.viewUserGroup(of(created)),
    'viewUserGroup',
  )
  const revisions = view.versions.map(({ revision }) => revision)
  assert.deepEqual(revisions, [12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
  const all = assertSucceeded(await admin.listUserGroupVersions(of(created)), 'listUserGroupVersions')
  assert.equal((all.versions as unknown[]).length, 12)
})

test('a deletion by the own id deletes exactly that user group, or is 404', async () => {
  const [leaving, similar] = [await create('leaving é/ &'), await create('leaving é/')]
  const remove = (query: Record<string, string> | string) => admin.deleteUserGroupByProvidedId({ query })
  for (const id of ['leaving', 'LEAVING é/ &', 'leaving é/ & '])
    assertRefused(await remove({ user_group_id: id }), 'deleteUserGroupByProvidedId', 'user_group_not_found')
  for (const [query, path] of [
    ['', '/user_group_id'],
    ['user_group_id=', '/user_group_id'],
    ['user_group_id=a&user_group_id=b', '/user_group_id'],
    ['user_group_id=a&team_id=1', '/team_id'],
  ] as const)
    assertRefused(await remove(query), 'deleteUserGroupByProvidedId', 'validation_failed', [path])
  const deletion = await remove({ user_group_id: leaving.provided_id })
  const done = { success: 1, deleted: true }
  assert.deepEqual(assertSucceeded(deletion, 'deleteUserGroupByProvidedId'), done)
  assertRefused(
    await remove({ user_group_id: leaving.provided_id }),
    'deleteUserGroupByProvidedId',
    'user_group_not_found',
  )
  assertRefused(await admin.getUserGroup(of(leaving)), 'getUserGroup', 'user_group_not_found')
  managedIn(await admin.getUserGroup(of(similar)), 'getUserGroup')
  managedIn(await admin.restoreDeletedUserGroup(of(leaving)), 'restoreDeletedUserGroup')
})

test('a deleted user group is listed, can be restored while its id is free, and is unknown elsewhere', async () => {
  const created = await create('deleted', { properties: { a: 1 } })
  const shown = managedIn(await admin.getUserGroup(of(created)), 'getUserGroup')
  const deletion = await admin.deleteUserGroup(of(created))
  assert.deepEqual(assertSucceeded(deletion, 'deleteUserGroup'), { success: 1, deleted: true })
  const { user_groups } = assertSucceeded<{ user_groups: Record<string, unknown>[] }>(
    await admin.listDeletedUserGroups(),
    'listDeletedUserGroups',
  )
  const [listed] = user_groups.filter(({ provided_id }) => provided_id === 'deleted')
  const { deleted_at, ...rest } = listed ?? {}
  assert.deepEqual(rest, {
    team_id: created.team_id,
    provided_id: 'deleted',
    name: 'deleted',
    deleted_by: author,
  })
  isRecent(deleted_at as string)
  assertFault(await user.put({ user_group_id: 'deleted' }), 'user_group_not_found')

  const other = await create('deleted')
  assert.notEqual(other.team_id, created.team_id)
  assertRefused(await admin.restoreDeletedUserGroup(of(created)), 'restoreDeletedUserGroup', 'already_exists')
  await admin.deleteUserGroup(of(other))
  const response = await admin.restoreDeletedUserGroup(of(created))
  const { revision, ...restored } = managedIn(response, 'restoreDeletedUserGroup')
  const { revision: before, ...wanted } = shown
  assert.deepEqual(restored, wanted)
  assert.ok(revision > before)
  assert.equal(response.headers.etag, `"${created.team_id}.${revision}"`)
  assertRefused(
    await admin.restoreDeletedUserGroup(of(created)),
    'restoreDeletedUserGroup',
    'user_group_not_found',
  )
  assert.equal(service.stderr().includes('"level":50'), false, service.stderr())
})
