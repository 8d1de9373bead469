import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertSucceeded,
  manage,
  managedIn,
  of,
  startManaged,
  type AdminUserGroup,
} from '../../support/admin-api.ts'
import { assertActive, assertInactive } from '../../support/introspection.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../../support/user-api.ts'

// Typical tasks of a support engineer.

const { service, admin, user, introspect, create } = await startManaged(
  { after },
  { UGS_API_TOKEN_CACHE_MS: '5000' },
)

interface LeakReport {
  readonly kind: string
  readonly works: boolean
  readonly user_group?: AdminUserGroup
  readonly valid_until?: string | null
  readonly rotated?: boolean
}
const report = async (token: string, rotate?: boolean) =>
  assertSucceeded<LeakReport>(
    await admin.reportLeakedToken({ body: { token, ...(rotate !== undefined && { rotate }) } }),
    'reportLeakedToken',
  )
const currentToken = async (group: { team_id: number }) =>
  assertSucceeded<{ token: string }>(await admin.getUserGroupToken(of(group)), 'getUserGroupToken').token

test('an empty dashboard: find the customer, see the reason, correct it, revert it', async () => {
  assertSucceeded(await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } }), 'createSchema')
  const eu = { schema_id: 1, provided_id: 'warehouse-eu', name: 'Warehouse EU' }
  assertSucceeded(await admin.createDataSource({ body: eu }), 'createDataSource')
  const { token } = await create('customer-42', {
    name: 'Example customer',
    mapping: { sales: 'warehose-eu' },
  })
  for (let i = 0; i < 30; i++) await create(`customer-${100 + i}`, { name: `Customer ${i}` })

  const { user_groups } = assertSucceeded<{ user_groups: AdminUserGroup[] }>(
    await admin.searchUserGroups({ query: { name: 'example' } }),
    'searchUserGroups',
  )
  assert.equal(user_groups.length, 1)
  const found = user_groups[0] as AdminUserGroup

  const view = async () => {
    const response = await admin.viewUserGroup(of(found))
    const { data_sources } = assertSucceeded<{ data_sources: { registered: { name: string } | null }[] }>(
      response,
      'viewUserGroup',
    )
    return { etag: response.headers.etag ?? '', seen: data_sources.map(({ registered }) => registered?.name) }
  }
  const before = await view()
  assert.deepEqual(before.seen, [undefined])
  assert.deepEqual(assertActive(await introspect(token)).data_sources, {})

  const correction = { body: { mapping: { sales: 'warehouse-eu' } }, headers: { 'if-match': before.etag } }
  managedIn(await admin.patchUserGroup({ ...of(found), ...correction }), 'patchUserGroup')
  assert.deepEqual((await view()).seen, ['Warehouse EU'])
  const { data_sources } = assertActive(await introspect(token))
  assert.equal(data_sources.sales?.name, 'Warehouse EU')

  const { versions } = assertSucceeded<{ versions: { revision: number }[] }>(
    await admin.listUserGroupVersions(of(found)),
    'listUserGroupVersions',
  )
  const params = { ...of(found).params, revision: versions[0]?.revision ?? 0 }
  const { mapping } = managedIn(await admin.restoreUserGroupVersion({ params }), 'restoreUserGroupVersion')
  assert.deepEqual(mapping, { sales: 'warehose-eu' })
  assert.deepEqual((await view()).seen, [undefined])
  assert.equal(await currentToken(found), token)
})

test('a leaked user group token is identified and replaced in one request', async () => {
  const created = await create('leaked', { name: 'Leaked' })
  const identified = await report(created.token)
  assert.deepEqual(
    [
      identified.kind,
      identified.works,
      identified.valid_until,
      identified.rotated,
      identified.user_group?.provided_id,
    ],
    ['user_group_token', true, null, false, 'leaked'],
  )
  assertActive(await introspect(created.token))

  const reported = await report(created.token, true)
  assert.deepEqual([reported.works, reported.rotated], [true, true])
  assertInactive(await introspect(created.token))
  const next = await currentToken(created)
  assert.notEqual(next, created.token)
  assertActive(await introspect(next))
  assert.equal(tokenIn(await user.get({ user_group_id: 'leaked' })), next)

  const again = await report(created.token)
  assert.deepEqual([again.works, again.rotated], [false, false])
  assert.ok(Date.parse(again.valid_until ?? '') <= Date.now())
  assert.equal(again.user_group?.provided_id, 'leaked')
})

test('a superseded token works during its grace period, and the report returns its end', async () => {
  const created = await create('in grace')
  await admin.rotateTokenOfUserGroup({ ...of(created), body: { grace_period_seconds: 3600 } })
  const { works, valid_until } = await report(created.token)
  assert.equal(works, true)
  assert.equal(Date.parse(valid_until ?? '') > Date.now(), true)
})

test('a leaked superseded token stops immediately, and the current one keeps working', async () => {
  const created = await create('leaked in grace')
  await admin.rotateTokenOfUserGroup({ ...of(created), body: { grace_period_seconds: 3600 } })
  const reported = await report(created.token, true)
  assert.deepEqual([reported.works, reported.rotated], [true, false])
  assertInactive(await introspect(created.token))
  assertActive(await introspect(await currentToken(created)))
  assert.equal((await report(created.token)).works, false)
})

test('a leaked API token is identified and revoked in one request', async () => {
  const created = assertSucceeded<{ token: string; api_token: { id: number } }>(
    await admin.createApiToken({ body: { name: 'leaked', scopes: ['write'] } }),
    'createApiToken',
  )
  const ask = async (rotate: boolean) => {
    const { api_token, ...rest } = assertSucceeded<{ api_token: { id: number; revoked_at: string | null } }>(
      await admin.reportLeakedToken({ body: { token: created.token, rotate } }),
      'reportLeakedToken',
    )
    return { ...rest, id: api_token.id, isRevoked: api_token.revoked_at !== null }
  }
  const reported = { success: 1, kind: 'api_token', id: created.api_token.id }
  const own = userApi(service.origin, created.token)
  assertSuccess(await own.get({ user_group_id: 'by the leaked token', name: 'Name' }))
  assert.deepEqual(await ask(false), { ...reported, works: true, isRevoked: false })
  assert.deepEqual(await ask(true), { ...reported, works: true, isRevoked: true })
  assertFault(await own.get({ user_group_id: 'by the leaked token' }), 'unauthenticated')
  assert.deepEqual(await ask(false), { ...reported, works: false, isRevoked: true })
  assert.deepEqual(await ask(true), { ...reported, works: false, isRevoked: true })
})

test('a text that was never a token is unknown', async () => {
  const { token } = await create('known')
  for (const text of ['x', token.slice(0, -1), `${token}0`, token.replace('ugt', 'uga'), ' ', '\u0000'])
    assert.deepEqual(await report(text, true), { success: 1, kind: 'unknown', works: false })
  assertActive(await introspect(token))
})

test('a suspended user group is inactive immediately, works in /api/user, and can be resumed', async () => {
  const created = await create('suspended')
  const old = created.token
  await admin.rotateTokenOfUserGroup({ ...of(created), body: { grace_period_seconds: 3600 } })
  const token = await currentToken(created)
  const suspended = managedIn(await admin.suspendUserGroup(of(created)), 'suspendUserGroup')
  assert.ok(Math.abs(Date.now() - Date.parse(suspended.suspended_at ?? '')) < 60_000)
  for (const one of [token, old]) assertInactive(await introspect(one))
  assert.equal(tokenIn(await user.get({ user_group_id: 'suspended' })), token)
  assertSuccess(await user.put({ user_group_id: 'suspended', name: 'New' }))
  const next = tokenIn(await user.post({ current_token: token }))
  assertInactive(await introspect(next))
  assert.equal((await report(next)).works, false)
  const view = assertSucceeded<{ token: { active: boolean } }>(
    await admin.viewUserGroup(of(created)),
    'viewUserGroup',
  )
  assert.equal(view.token.active, false)

  const again = managedIn(await admin.suspendUserGroup(of(created)), 'suspendUserGroup')
  assert.equal(again.suspended_at, suspended.suspended_at)
  const resumed = managedIn(await admin.resumeUserGroup(of(created)), 'resumeUserGroup')
  assert.deepEqual([resumed.suspended_at, resumed.name], [null, 'New'])
  for (const one of [next, old]) assertActive(await introspect(one))
  assertInactive(await introspect(token))
  const last = managedIn(await admin.resumeUserGroup(of(created)), 'resumeUserGroup')
  assert.equal(last.revision, resumed.revision)
})

test('a deleted user group is inactive immediately and can be restored with its token and versions', async () => {
  const created = await create('gone', { mapping: { a: 'b' }, properties: { a: 1 } })
  const old = created.token
  await admin.patchUserGroup({ ...of(created), body: { name: 'Renamed' } })
  await admin.rotateTokenOfUserGroup({ ...of(created), body: { grace_period_seconds: 3600 } })
  const token = await currentToken(created)
  await admin.deleteUserGroup(of(created))
  for (const one of [token, old]) {
    assertInactive(await introspect(one))
    assert.equal((await report(one)).kind, 'unknown')
    assertFault(await user.post({ current_token: one }), 'token_not_found')
  }
  managedIn(await admin.restoreDeletedUserGroup(of(created)), 'restoreDeletedUserGroup')
  assert.equal(assertActive(await introspect(token)).team_id, created.team_id)
  assertInactive(await introspect(old))
  assert.equal(tokenIn(await user.get({ user_group_id: 'gone' })), token)
  const { versions } = assertSucceeded<{ versions: { name: string }[] }>(
    await admin.listUserGroupVersions(of(created)),
    'listUserGroupVersions',
  )
  assert.deepEqual(
    versions.map(({ name }) => name),
    ['gone'],
  )
})

test('a user group that was suspended before its deletion is restored as suspended', async () => {
  const created = await create('suspended and gone')
  await admin.suspendUserGroup(of(created))
  await admin.deleteUserGroup(of(created))
  const restored = managedIn(await admin.restoreDeletedUserGroup(of(created)), 'restoreDeletedUserGroup')
  assert.notEqual(restored.suspended_at, null)
  assertInactive(await introspect(created.token))
})

test('the last introspection is kept to the minute and survives a restart', async (t) => {
  const created = await create('looked at')
  const lastOf = async (api: typeof admin, group: { team_id: number }) =>
    assertSucceeded<{ last_introspected_at: string | null }>(
      await api.viewUserGroup(of(group)),
      'viewUserGroup',
    ).last_introspected_at
  const unseen = await create('never looked at')
  const minute = Math.floor(Date.now() / 60_000) * 60_000
  assertActive(await introspect(created.token))
  const { team_id } = created
  assert.equal(await service.stop(), 0)

  const { dataFolder } = service
  const restarted = await startService(t, { UGS_DATA_DIR: dataFolder, UGS_API_TOKEN_CACHE_MS: '0' })
  const { admin: next } = await manage(restarted)
  const last = Date.parse((await lastOf(next, { team_id })) ?? '')
  assert.ok(last >= minute && last % 60_000 === 0 && last <= Date.now(), String(last))
  assert.equal(await lastOf(next, unseen), null)
  const listed = await next.searchUserGroups({ query: { health: 'never_viewed', name: 'looked at' } })
  assert.deepEqual(
    assertSucceeded<{ user_groups: { provided_id: string }[] }>(listed, 'searchUserGroups').user_groups.map(
      ({ provided_id }) => provided_id,
    ),
    ['never looked at'],
  )
  assert.doesNotMatch(service.stderr() + restarted.stderr(), /"level":[56]0/)
})
