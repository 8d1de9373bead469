import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { adminApi, assertSucceeded, assertRefused, of, startManaged } from '../../support/admin-api.ts'
import { assertFault, assertSuccess, userApi } from '../../support/user-api.ts'

const { service, admin, adminToken, create } = await startManaged({ after })

interface ApiTokenView {
  readonly id: number
  readonly name: string
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
  readonly last_used_at: string | null
  readonly replaced_by: number | null
}
interface Registered {
  readonly id: number
  readonly created_at: string
}

/** Lists API tokens without their last use, which is written asynchronously. */
const apiTokens = async (api = admin) =>
  assertSucceeded<{ api_tokens: ApiTokenView[] }>(await api.listApiTokens(), 'listApiTokens').api_tokens.map(
    (apiToken) => ({ ...apiToken, last_used_at: null }),
  )

const createApiToken = async (body: object) =>
  assertSucceeded<{ api_token: ApiTokenView; token: string }>(
    await admin.createApiToken({ body }),
    'createApiToken',
  )

test('creates, lists and revokes an API token of this environment', async () => {
  const { api_token, token } = await createApiToken({ name: 'backend', scopes: ['write', 'read'] })
  const { id, created_at, ...rest } = api_token
  assert.deepEqual(rest, {
    name: 'backend',
    api_environment_tag: 'Customer',
    scopes: ['write', 'read'],
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    replaced_by: null,
    rate_limit: null,
  })
  assert.ok(Math.abs(Date.now() - Date.parse(created_at)) < 60_000)
  assert.match(token, /^uga_customer_/)
  assertSuccess(await userApi(service.origin, token).get({ user_group_id: 'by it', name: 'Name' }))
  assert.deepEqual(
    (await apiTokens()).find((one) => one.id === id),
    api_token,
  )

  const revoke = async () => ({
    ...assertSucceeded<{ api_token: ApiTokenView }>(
      await admin.revokeApiToken({ params: { id } }),
      'revokeApiToken',
    ).api_token,
    last_used_at: null,
  })
  const revoked = await revoke()
  assert.deepEqual({ ...revoked, revoked_at: null }, api_token)
  assert.ok(Date.parse(revoked.revoked_at ?? '') >= Date.parse(created_at))
  assertFault(await userApi(service.origin, token).get({ user_group_id: 'by it' }), 'unauthenticated')
  assert.deepEqual(await revoke(), revoked)
  assert.deepEqual(
    (await apiTokens()).find((one) => one.id === id),
    revoked,
  )
  const unknown = await admin.revokeApiToken({ params: { id: 999_999 } })
  assertRefused(unknown, 'revokeApiToken', 'not_found')
})

interface Rotation {
  readonly api_token: ApiTokenView
  readonly token: string
  readonly replaces: ApiTokenView
}
const rotate = async (id: number, body: object, api = admin) => api.rotateApiToken({ params: { id }, body })
const rotated = async (id: number, body: object, api = admin) =>
  assertSucceeded<Rotation>(await rotate(id, body, api), 'rotateApiToken')
const works = async (token: string) =>
  (await userApi(service.origin, token).get({ user_group_id: 'rotated', name: 'Name' })).status === 200
const ms = (from: string, to: string | null) => Date.parse(to ?? '') - Date.parse(from)

test('a rotated API token works until the end of the overlap', async () => {
  const fields = { name: 'backend', scopes: ['write'], expires_in_seconds: 3600 }
  const old = await createApiToken(fields)
  const { api_token, token, replaces } = await rotated(old.api_token.id, { overlap_seconds: 600 })
  const { id, created_at, expires_at } = api_token
  assert.notEqual(id, old.api_token.id)
  assert.deepEqual(api_token, { ...old.api_token, id, created_at, expires_at })
  assert.equal(ms(created_at, expires_at), 3_600_000)
  assert.equal(ms(created_at, replaces.expires_at), 600_000)
  assert.deepEqual(replaces, { ...old.api_token, expires_at: replaces.expires_at, replaced_by: id })
  assert.deepEqual(
    (await apiTokens()).find((one) => one.id === replaces.id),
    replaces,
  )
  assert.deepEqual([await works(token), await works(old.token)], [true, true])
})

test('without an overlap a rotated API token stops immediately, and by default after a day', async () => {
  const old = await createApiToken({ name: 'backend', scopes: ['write'] })
  const second = await rotated(old.api_token.id, { overlap_seconds: 0 })
  assert.equal(second.api_token.expires_at, null)
  assert.deepEqual([await works(old.token), await works(second.token)], [false, true])
  const third = await rotated(second.api_token.id, {})
  assert.equal(ms(third.api_token.created_at, third.replaces.expires_at), 86_400_000)
  assert.deepEqual([await works(second.token), await works(third.token)], [true, true])
})

test('an API token that expires within the overlap keeps its expiry', async () => {
  const old = await createApiToken({ name: 'backend', scopes: ['write'], expires_in_seconds: 60 })
  const { replaces } = await rotated(old.api_token.id, { overlap_seconds: 2_592_000 })
  assert.equal(replaces.expires_at, old.api_token.expires_at)
})

test('of concurrent rotations of an API token only the first succeeds', async () => {
  const { api_token: old } = await createApiToken({ name: 'backend', scopes: ['write'] })
  const responses = await Promise.all(
    [0, 60, 600].map((overlap_seconds) => rotate(old.id, { overlap_seconds })),
  )
  assert.deepEqual(responses.map(({ status }) => status).sort(), [201, 409, 409])
  assertRefused(await rotate(old.id, {}), 'rotateApiToken', 'token_superseded')
  const replaced = (await apiTokens()).find(({ id }) => id === old.id)
  assert.equal((await rotated(replaced?.replaced_by ?? 0, {})).api_token.name, 'backend')
})

test('revoked and unknown API tokens cannot be rotated', async () => {
  const { api_token: revoked } = await createApiToken({ name: 'backend', scopes: ['write'] })
  await admin.revokeApiToken({ params: { id: revoked.id } })
  const count = (await apiTokens()).length
  for (const id of [revoked.id, 999_999]) assertRefused(await rotate(id, {}), 'rotateApiToken', 'not_found')
  assert.equal((await apiTokens()).length, count)
})

test('an API token can rotate itself', async () => {
  const { api_token, token } = await createApiToken({ name: 'own', scopes: ['admin'] })
  const created = await rotated(api_token.id, { overlap_seconds: 0 }, adminApi(service.origin, token))
  assertRefused(await adminApi(service.origin, token).listApiTokens(), 'listApiTokens', 'unauthenticated')
  assertSucceeded(await adminApi(service.origin, created.token).listApiTokens(), 'listApiTokens')
})

test('an API token can have an expiry', async () => {
  const body = { name: 'for a day', scopes: ['introspect'], expires_in_seconds: 86_400 }
  const { created_at, expires_at } = (await createApiToken(body)).api_token
  assert.equal(Date.parse(expires_at ?? '') - Date.parse(created_at), 86_400_000)
})

test('a new workspace has an API token that sees only this workspace', async () => {
  const response = await admin.createWorkspace({ body: { name: 'second' } })
  const { workspace, api_token, token } = assertSucceeded<{
    workspace: Registered
    api_token: ApiTokenView
    token: string
  }>(response, 'createWorkspace')
  assert.deepEqual({ ...workspace, id: 0, created_at: '' }, { id: 0, name: 'second', created_at: '' })
  const { id, created_at, ...rest } = api_token
  assert.deepEqual(rest, {
    name: 'admin',
    api_environment_tag: 'Customer',
    scopes: ['admin'],
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    replaced_by: null,
    rate_limit: null,
  })
  assert.ok(created_at >= workspace.created_at)
  const there = adminApi(service.origin, token)
  assert.deepEqual(await apiTokens(there), [api_token])
  assert.ok(!(await apiTokens()).some((one) => one.id === id))
  const workspaces = async (api: typeof admin) =>
    assertSucceeded<{ workspaces: { name: string }[] }>(await api.listWorkspaces(), 'listWorkspaces')
      .workspaces
  assert.deepEqual(await workspaces(there), [workspace])
  assert.deepEqual(
    (await workspaces(admin)).map(({ name }) => name),
    ['default'],
  )
  for (const name of ['second', 'default']) {
    const again = await admin.createWorkspace({ body: { name } })
    assertRefused(again, 'createWorkspace', 'already_exists')
  }
})

test('schemas and data sources are registered, listed and deleted unless they are in use', async () => {
  const { schema } = assertSucceeded<{ schema: Registered }>(
    await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales 😀' } }),
    'createSchema',
  )
  assert.deepEqual(
    { ...schema, created_at: '' },
    { id: schema.id, provided_id: 'sales', name: 'Sales 😀', created_at: '' },
  )
  const body = { schema_id: schema.id, provided_id: 'eu', name: 'EU' }
  const { data_source } = assertSucceeded<{ data_source: Registered }>(
    await admin.createDataSource({ body }),
    'createDataSource',
  )
  assert.deepEqual({ ...data_source, created_at: '' }, { id: data_source.id, ...body, created_at: '' })
  const lists = async () => [
    assertSucceeded<{ schemas: unknown }>(await admin.listSchemas(), 'listSchemas').schemas,
    assertSucceeded<{ data_sources: unknown }>(await admin.listDataSources(), 'listDataSources').data_sources,
  ]
  assert.deepEqual(await lists(), [[schema], [data_source]])

  const taken = { provided_id: 'sales', name: 'Other' }
  assertRefused(await admin.createSchema({ body: taken }), 'createSchema', 'already_exists')
  assertRefused(await admin.createDataSource({ body }), 'createDataSource', 'already_exists')

  // A new provided id must not change the meaning of an id in a mapping.
  const mapped = await create('mapped', { mapping: { [schema.id]: String(data_source.id) } })
  const schemaOfId = { provided_id: String(schema.id), name: 'x' }
  assertRefused(await admin.createSchema({ body: schemaOfId }), 'createSchema', 'in_use')
  const dataSourceOfId = { ...body, provided_id: String(data_source.id) }
  assertRefused(await admin.createDataSource({ body: dataSourceOfId }), 'createDataSource', 'in_use')

  const removeSchema = () => admin.deleteSchema({ params: { id: schema.id } })
  const removeDataSource = () => admin.deleteDataSource({ params: { id: data_source.id } })
  assertRefused(await removeSchema(), 'deleteSchema', 'in_use')
  assertRefused(await removeDataSource(), 'deleteDataSource', 'in_use')
  assert.deepEqual(await lists(), [[schema], [data_source]])
  await admin.patchUserGroup({ ...of(mapped), body: { mapping: null } })
  const done = { success: 1, deleted: true }
  assert.deepEqual(assertSucceeded(await removeDataSource(), 'deleteDataSource'), done)
  assertRefused(await removeDataSource(), 'deleteDataSource', 'not_found')
  assert.deepEqual(assertSucceeded(await removeSchema(), 'deleteSchema'), done)
  assertRefused(await removeSchema(), 'deleteSchema', 'not_found')
  assert.deepEqual(await lists(), [[], []])
})

test('an API token can revoke itself', async () => {
  const { api_token, token } = await createApiToken({ name: 'own', scopes: ['admin'] })
  const own = adminApi(service.origin, token)
  assertSucceeded(await own.revokeApiToken({ params: { id: api_token.id } }), 'revokeApiToken')
  assertRefused(await own.listApiTokens(), 'listApiTokens', 'unauthenticated')
  assert.notEqual(token, adminToken)
  assertSucceeded(await admin.listApiTokens(), 'listApiTokens')
})
