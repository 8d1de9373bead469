import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, test } from 'node:test'
import { auditActions } from '../../../src/domain/audit/audit-event.ts'
import { endOfJob, findingVersion, firstDeliveryOf, newConsoleSession } from '../../support/belongings.ts'
import {
  adminApi,
  assertSucceeded,
  manage,
  managedIn,
  of,
  operationIds,
  operationOf,
  rowsIn,
  startManaged,
  type AdminApi,
} from '../../support/admin-api.ts'
import { AuditRecorder, listEvents, type ExpectedEvent } from '../../support/audit-recorder.ts'
import { callOperation, sessionPath, signed, signIn } from '../../support/console.ts'
import { sendRequest, type HttpResponse } from '../../support/http.ts'
import { randomPartOf, tokenPattern } from '../../support/secrets.ts'
import { userApi, userGroupIn } from '../../support/user-api.ts'

const recorder = new AuditRecorder()
const { responses, calledOperations } = recorder

const managed = await startManaged({ after })
const { origin } = managed.service
interface CreatedToken {
  readonly api_token: { readonly id: number }
  readonly token: string
}
const createToken = async (api: AdminApi, scope: string) =>
  assertSucceeded<CreatedToken>(
    recorder.record(await api.createApiToken({ body: { name: `for ${scope}`, scopes: [scope] } })),
    'createApiToken',
  )

/** The API tokens whose requests are audited. */
const adminToken = await createToken(managed.admin, 'admin')
const writeToken = await createToken(managed.admin, 'write')
const author = `api_token:${adminToken.api_token.id}`
const writer = `api_token:${writeToken.api_token.id}`
const admin = recorder.recording(adminApi(origin, adminToken.token))
const user = userApi(origin, writeToken.token)
const testing = await manage(managed.service, 'Testing')

const list = (query: Record<string, string | number> = {}, api = managed.admin) => listEvents(api, query)

/** Checks that a request causes exactly these events, by default of the API token of `admin`. */
const assertRecorded = (
  send: () => Promise<HttpResponse>,
  status: number,
  ...expected: (Omit<ExpectedEvent, 'author'> & Partial<Pick<ExpectedEvent, 'author'>>)[]
) =>
  recorder.assertRecorded(
    managed.admin,
    send,
    status,
    expected.map((one) => ({ author, ...one })),
  )

const subject = (provided_id: string, team_id: number) => ({ user_group: { team_id, provided_id } })
const changed = (...changed_fields: string[]) => ({
  action: 'user_group.updated',
  details: { changed_fields },
})

test('operations of /api/user are recorded', async () => {
  const get = (body: object) => user.get({ user_group_id: 'a', ...body })
  // The id is known only after the creation.
  const creation = recorder.record(await get({ name: 'A', properties: { p: 1 } }))
  const { team_id, token } = userGroupIn(creation)
  const [created] = await list({ request_id: creation.headers['x-request-id'] ?? '' })
  assert.deepEqual([created?.action, created?.author, created?.details], ['user_group.created', writer, null])
  const a = { ...subject('a', team_id), author: writer }
  assert.deepEqual(created?.user_group, a.user_group)

  await assertRecorded(() => get({ name: 'A', properties: { p: 1 } }), 200)
  await assertRecorded(() => get({ name: 'A', properties: { p: 2 } }), 200, {
    ...a,
    ...changed('properties'),
  })
  const put = { user_group_id: 'a', name: 'B', mapping: { s: 'd' }, properties: { p: 2 } }
  await assertRecorded(() => user.put(put), 200, { ...a, ...changed('name', 'mapping') })
  await assertRecorded(() => user.put({ ...put, user_group_id: 'unknown' }), 404)
  await assertRecorded(() => get({ name: 1 }), 400)
  await assertRecorded(() => user.get('{'), 400)
  await assertRecorded(() => userApi(origin, `${writeToken.token}x`).get(put), 401)

  const rotation = { current_token: token, grace_period_seconds: 60 }
  const rotated = { ...a, action: 'user_group.token_rotated', details: { grace_period_seconds: 60 } }
  const key = { 'idempotency-key': 'once' }
  await assertRecorded(() => user.post(rotation, key), 200, rotated)
  await assertRecorded(() => user.post(rotation, key), 200)
  await assertRecorded(() => user.post({ current_token: token }, key), 422)
  await assertRecorded(() => user.post({ current_token: token }), 409)
})

test('a creation by the management API is recorded', async () => {
  const body = { user_group_id: 'new', name: 'A' }
  const creation = await admin.createUserGroup({ body })
  const { team_id } = managedIn(creation, 'createUserGroup')
  const events = await list({ request_id: creation.headers['x-request-id'] ?? '' })
  assert.deepEqual(
    events.map(({ action, user_group }) => [action, user_group]),
    [['user_group.created', subject('new', team_id).user_group]],
  )
  await assertRecorded(() => admin.createUserGroup({ body }), 409)
})

test('operations of the management API on user groups are recorded', async () => {
  const { team_id, token } = userGroupIn(recorder.record(await user.get({ user_group_id: 'b', name: 'A' })))
  const b = subject('b', team_id)
  const group = of({ team_id })
  const { headers } = await admin.getUserGroup(group)
  const etag = { 'if-match': headers.etag ?? '' }
  const patch = (body: object, headers = {}) => admin.patchUserGroup({ ...group, body, headers })
  await assertRecorded(() => patch({ name: 'B', mapping: { s: 'd' } }, etag), 200, {
    ...b,
    ...changed('name', 'mapping'),
  })
  await assertRecorded(() => patch({ name: 'C' }, etag), 412)
  await assertRecorded(() => patch({ name: 'B' }), 200)
  const restore = { params: { team_id, revision: 1 } }
  await assertRecorded(() => admin.restoreUserGroupVersion(restore), 200, {
    ...b,
    ...changed('name', 'mapping'),
  })
  for (const read of ['getUserGroupToken', 'viewUserGroup', 'listUserGroupVersions'] as const)
    await assertRecorded(() => admin[read](group), 200)

  const rotated = (grace_period_seconds: number) => ({
    ...{ ...b, action: 'user_group.token_rotated', details: { grace_period_seconds } },
  })
  const rotate = { ...group, body: { grace_period_seconds: 3600 } }
  await assertRecorded(() => admin.rotateTokenOfUserGroup(rotate), 200, rotated(3600))
  await assertRecorded(() => admin.suspendUserGroup(group), 200, { ...b, action: 'user_group.suspended' })
  await assertRecorded(() => admin.suspendUserGroup(group), 200)
  await assertRecorded(() => admin.resumeUserGroup(group), 200, { ...b, action: 'user_group.resumed' })
  await assertRecorded(() => admin.resumeUserGroup(group), 200)

  const ended = (details: Record<string, string> | null) => ({
    ...b,
    action: 'user_group.sessions_ended',
    details,
  })
  const endSessions = (body: object) => () => admin.endSessionsOfUserGroup({ ...group, body })
  await assertRecorded(endSessions({}), 200, ended(null))
  await assertRecorded(endSessions({ viewer_id: 'u-7' }), 200, ended({ viewer_id: 'u-7' }))
  const viewed = recorder.record(await admin.viewAsUserGroup(group))
  const [viewedAs, signingKey] = await list({ request_id: viewed.headers['x-request-id'] ?? '' })
  assert.deepEqual([viewedAs?.action, viewedAs?.user_group], ['user_group.viewed_as', b.user_group])
  assert.deepEqual([signingKey?.action, signingKey?.author], ['signing_key.created', 'service'])

  await assertRecorded(() => admin.eraseUsage({ query: { viewer_id: 'u-7' } }), 200)

  const leaked = (text: string, rotate: boolean) => admin.reportLeakedToken({ body: { token: text, rotate } })
  await assertRecorded(() => leaked(token, false), 200)
  await assertRecorded(() => leaked(token, true), 200, { ...b, action: 'user_group.grace_period_ended' })
  await assertRecorded(() => leaked(token, true), 200)
  const { token: current } = (await admin.getUserGroupToken(group)).body as { token: string }
  await assertRecorded(() => leaked(current, true), 200, rotated(0))

  await assertRecorded(() => admin.deleteUserGroup(group), 200, { ...b, action: 'user_group.deleted' })
  await assertRecorded(() => admin.deleteUserGroup(group), 404)
  const byId = { query: { user_group_id: 'b' } }
  await assertRecorded(() => admin.deleteUserGroupByProvidedId(byId), 404)
  const restored = { ...b, action: 'user_group.restored' }
  await assertRecorded(() => admin.restoreDeletedUserGroup(group), 200, restored)
  await assertRecorded(() => admin.restoreDeletedUserGroup(group), 404)
})

test('an import is recorded row by row with its request id', async () => {
  const { team_id } = userGroupIn(recorder.record(await user.get({ user_group_id: 'import 1', name: 'A' })))
  const rows = Array.from({ length: 1200 }, (_, i) => ({ user_group_id: `import ${i}`, name: 'N' }))
  const body = [...rows, { user_group_id: 'refused' }].map((row) => JSON.stringify(row)).join('\n')
  await assertRecorded(() => admin.importUserGroups({ query: { dry_run: true }, body }), 200)
  const response = recorder.record(await admin.importUserGroups({ body }))
  const results = rowsIn<{ provided_id?: string; team_id?: number; outcome?: string }>(response)
  assert.equal(results.length, 1202)
  const events = await list({ request_id: response.headers['x-request-id'] ?? '' })
  const ids = (action: string) =>
    events.filter((event) => event.action === action).map(({ user_group }) => user_group?.provided_id)
  assert.deepEqual(ids('user_group.updated'), ['import 1'])
  assert.deepEqual(
    ids('user_group.created').sort(),
    rows
      .map(({ user_group_id }) => user_group_id)
      .filter((id) => id !== 'import 1')
      .sort(),
  )
  assert.equal(events.length, 1200)
  for (const event of events) assert.equal(event.author, author)
  const [, updated] = await list({ team_id })
  assert.deepEqual(updated?.action, 'user_group.created')
  await assertRecorded(() => admin.importUserGroups({ body }), 200)
})

test('a promotion is recorded in the environment that it changes', async () => {
  await testing.create('promoted')
  const before = await list({}, testing.admin)
  const promote = { body: { user_group_ids: ['promoted', 'unknown'] } }
  await assertRecorded(() => admin.promoteUserGroups({ body: { ...promote.body, dry_run: true } }), 200)
  const response = recorder.record(await admin.promoteUserGroups(promote))
  const [event, ...others] = await list({ request_id: response.headers['x-request-id'] ?? '' })
  assert.deepEqual([event?.action, event?.user_group?.provided_id], ['user_group.created', 'promoted'])
  assert.deepEqual([event?.author, others], [author, []])
  assert.deepEqual(await list({}, testing.admin), before)
})

test('changes of API tokens and workspaces are recorded', async () => {
  const create = () =>
    admin.createApiToken({ body: { name: 'x "y"', scopes: ['read', 'write'], expires_in_seconds: 3600 } })
  const known = await managed.admin.listApiTokens()
  const next =
    1 + Math.max(...(known.body as { api_tokens: { id: number }[] }).api_tokens.map(({ id }) => id))
  const response = recorder.record(await create())
  const { api_token } = response.body as { api_token: { id: number; expires_at: string } }
  const [event] = await list({ request_id: response.headers['x-request-id'] ?? '' })
  assert.equal(event?.action, 'api_token.created')
  const { expires_at, ...details } = event.details ?? {}
  assert.deepEqual(details, { api_token_id: api_token.id, name: 'x "y"', scopes: ['read', 'write'] })
  assert.equal(String(expires_at).slice(0, 19), api_token.expires_at.slice(0, 19))
  assert.ok(api_token.id >= next)

  const rotation = recorder.record(
    await admin.rotateApiToken({ params: { id: api_token.id }, body: { overlap_seconds: 60 } }),
  )
  const { api_token: newer } = rotation.body as {
    api_token: { id: number; created_at: string; expires_at: string }
  }
  const [rotated] = await list({ request_id: rotation.headers['x-request-id'] ?? '' })
  assert.deepEqual(
    [rotated?.action, rotated?.details],
    [
      'api_token.rotated',
      {
        ...{ api_token_id: api_token.id, new_api_token_id: newer.id, name: 'x "y"' },
        valid_until: new Date(Date.parse(newer.created_at) + 60_000).toISOString(),
        expires_at: newer.expires_at,
      },
    ],
  )
  const revoke = { params: { id: api_token.id } }
  const revoked = { action: 'api_token.revoked', details: { api_token_id: api_token.id, name: 'x "y"' } }
  await assertRecorded(() => admin.revokeApiToken(revoke), 200, revoked)
  await assertRecorded(() => admin.revokeApiToken(revoke), 200)
  await assertRecorded(() => admin.createApiToken({ body: { name: 'x', scopes: ['all'] } }), 400)
  const leaked = await createToken(admin, 'read')
  await assertRecorded(() => admin.reportLeakedToken({ body: { token: leaked.token, rotate: true } }), 200, {
    ...{ action: 'api_token.revoked', details: { api_token_id: leaked.api_token.id, name: 'for read' } },
  })

  // The event belongs to the new workspace.
  const creation = await assertRecorded(() => admin.createWorkspace({ body: { name: 'new' } }), 201)
  await assertRecorded(() => admin.createWorkspace({ body: { name: 'new' } }), 409)
  const workspace = creation.body as CreatedToken & { workspace: { id: number } }
  const events = await list({}, adminApi(origin, workspace.token))
  assert.deepEqual(
    events.map(({ action, details, request_id, ...rest }) => [action, details, request_id, rest.author]),
    [
      [
        'api_token.created',
        { api_token_id: workspace.api_token.id, name: 'admin', scopes: ['admin'], expires_at: null },
      ],
      ['workspace.created', { workspace_id: workspace.workspace.id, name: 'new' }],
    ].map((of) => [...of, creation.headers['x-request-id'], author]),
  )
})

test('changes of schemas and data sources are recorded', async () => {
  const creation = recorder.record(
    await admin.createSchema({ body: { provided_id: 'sales', name: 'Sales' } }),
  )
  const { id } = (creation.body as { schema: { id: number } }).schema
  const ofSchema = { schema_id: id, provided_id: 'sales' }
  const byRequest = async (response: HttpResponse) =>
    (await list({ request_id: response.headers['x-request-id'] ?? '' })).map(({ action, details }) => [
      action,
      details,
    ])
  assert.deepEqual(await byRequest(creation), [['schema.created', ofSchema]])
  await assertRecorded(() => admin.createSchema({ body: { provided_id: 'sales', name: 'x' } }), 409)

  const source = { schema_id: id, provided_id: 'eu', name: 'EU' }
  const added = recorder.record(await admin.createDataSource({ body: source }))
  const { data_source } = added.body as { data_source: { id: number } }
  const ofSource = { data_source_id: data_source.id, schema_id: id, provided_id: 'eu' }
  assert.deepEqual(await byRequest(added), [['data_source.created', ofSource]])
  await assertRecorded(() => admin.createDataSource({ body: source }), 409)
  await assertRecorded(() => admin.deleteSchema({ params: { id } }), 409)
  const gone = { params: { id: data_source.id } }
  await assertRecorded(() => admin.deleteDataSource(gone), 200, {
    action: 'data_source.deleted',
    details: ofSource,
  })
  await assertRecorded(() => admin.deleteDataSource(gone), 404)
  await assertRecorded(() => admin.deleteSchema({ params: { id } }), 200, {
    action: 'schema.deleted',
    details: ofSchema,
  })
})

test('acceptances of isolation findings are recorded', async () => {
  for (const id of ['sharing 1', 'sharing 2'])
    await user.get({ user_group_id: id, name: 'A', mapping: { shared: 'x' } })
  const version = await findingVersion(managed.admin, 'shared')
  const finding = { kind: 'shared', schema: 'shared', data_source: 'x' }
  const accept = { body: { ...finding, version, reason: 'A demo' } }
  const details = { ...finding, reason: 'A demo' }
  const accepted = { action: 'isolation_finding.accepted', details }
  await assertRecorded(() => admin.acceptIsolationFinding(accept), 200, accepted)
  await assertRecorded(() => admin.acceptIsolationFinding(accept), 200)
  const reopen = () => admin.reopenIsolationFinding({ body: finding })
  await assertRecorded(reopen, 200, { action: 'isolation_finding.reopened', details: finding })
  await assertRecorded(reopen, 404)
})

test('erasures are recorded', async () => {
  const { team_id } = userGroupIn(await user.get({ user_group_id: 'erased', name: 'A' }))
  const group = { params: { team_id } }
  await assertRecorded(() => admin.eraseUserGroup(group), 404)
  await admin.deleteUserGroup(group)
  const details = { team_id, versions: 0, audit_events: 2, usage_rows: 0 }
  await assertRecorded(() => admin.eraseUserGroup(group), 200, { action: 'user_group.erased', details })
})

test('changes by a configuration are recorded', async () => {
  const configured = (name: string) => ({
    version: 1,
    schemas: [{ provided_id: 'file', name, data_sources: [{ provided_id: 'one', name }] }],
  })
  await admin.applyConfiguration({ body: configured('A') })
  const response = recorder.record(await admin.applyConfiguration({ body: configured('B') }))
  const events = await list({ request_id: response.headers['x-request-id'] ?? '' })
  const changes = events.map(({ action, details }) => [action, details?.provided_id].join(' of '))
  assert.deepEqual(changes, ['data_source.updated of one', 'schema.updated of file'])
})

test('changes of webhook endpoints are recorded', async () => {
  const body = { name: 'Receiver', url: 'https://receiver.invalid/path?key=1' }
  const creation = recorder.record(await admin.createWebhookEndpoint({ body }))
  const { webhook_endpoint, secret } = creation.body as { webhook_endpoint: { id: number }; secret: string }
  secrets.push(secret)
  const params = { id: webhook_endpoint.id }
  const actionsOf = async (response: HttpResponse) =>
    (await list({ request_id: response.headers['x-request-id'] ?? '' })).map(({ action }) => action)
  assert.deepEqual(await actionsOf(creation), ['webhook_endpoint.created'])
  const paused = recorder.record(await admin.updateWebhookEndpoint({ params, body: { state: 'paused' } }))
  assert.deepEqual(await actionsOf(paused), ['webhook_endpoint.updated'])
  const rotation = recorder.record(await admin.rotateWebhookEndpoint({ params, body: {} }))
  secrets.push((rotation.body as { secret: string }).secret)
  assert.deepEqual(await actionsOf(rotation), ['webhook_endpoint.secret_rotated'])
  await user.get({ user_group_id: 'delivered', name: 'B' })
  const deliveryParams = { ...params, delivery_id: await firstDeliveryOf(admin, params.id) }
  assert.deepEqual(
    await actionsOf(recorder.record(await admin.redeliverWebhook({ params: deliveryParams }))),
    [],
  )
  const since = { params, body: { since: '2020-01-01T00:00:00Z' } }
  assert.deepEqual(await actionsOf(recorder.record(await admin.redeliverWebhooks(since))), [])
  assert.deepEqual(await actionsOf(recorder.record(await admin.testWebhookEndpoint({ params }))), [])
  const deletion = recorder.record(await admin.deleteWebhookEndpoint({ params }))
  assert.deepEqual(await actionsOf(deletion), ['webhook_endpoint.deleted'])
})

test('jobs are recorded', async () => {
  const created = recorder.record(await admin.createJob({ body: { action: 'resume', team_ids: [1] } }))
  const { id } = await endOfJob(managed.admin, (created.body as { job: { id: number } }).job.id)
  await assertRecorded(() => admin.cancelJob({ params: { id } }), 200)
})

const secrets: string[] = []

test('sign-ins to the console and changes creation there are recorded with their API token', async () => {
  const entered = await signIn(origin, adminToken.token)
  secrets.push(entered.cookie.split('=')[1] ?? '', entered.csrfToken)
  const request_id = entered.response.headers['x-request-id'] ?? ''
  const events = await list({ request_id })
  assert.deepEqual(
    events.map(({ action, author, user_group, details }) => [action, author, user_group, details]),
    [['console_session.created', author, null, null]],
  )
  const headers = signed(entered)
  const { team_id } = userGroupIn(recorder.record(await user.get({ user_group_id: 'a', name: 'B' })))
  const suspend = () => callOperation(origin, 'suspendUserGroup', { ...of({ team_id }), headers })
  await assertRecorded(suspend, 200, { ...subject('a', team_id), action: 'user_group.suspended' })
  const id = await newConsoleSession({ ...managed, adminToken: adminToken.token })
  const details = { api_token_id: adminToken.api_token.id, name: 'for admin' }
  const end = () => admin.endConsoleSession({ params: { id } })
  await assertRecorded(end, 200, { action: 'console_session.ended', details })
  const response = await sendRequest(origin, { method: 'DELETE', path: sessionPath, headers })
  assert.ok(response.status < 300, response.text)
  assert.deepEqual(await list({ request_id: response.headers['x-request-id'] ?? '' }), [])
  const refused = { method: 'POST', path: sessionPath, body: { api_token: writeToken.token } }
  await assertRecorded(() => sendRequest(origin, refused), 403)
})

test('this file covers all operations that change something, and all actions except pruning', async () => {
  const changing = operationIds.filter((id) => operationOf(id).method !== 'GET')
  assert.deepEqual(
    changing.filter((id) => !calledOperations.has(id)),
    [],
  )
  const seen = new Set((await list()).map(({ action }) => action))
  const elsewhere = [
    'api_token.limited',
    ...['signing_key.rotated', 'signing_key.retired', 'workspace.created'],
    'webhook_endpoint.disabled',
    'job.canceled',
    'sign_in_link.created',
    'usage.erased',
    ...['audit_log.exported', 'audit_log.pruned'],
  ]
  assert.deepEqual(
    auditActions.filter((action) => !seen.has(action)),
    elsewhere,
  )
})

test('no event contains a secret', async () => {
  const shown = responses.flatMap(({ text }) => text.match(tokenPattern) ?? [])
  const all = [...new Set([...shown, ...secrets, managed.adminToken, writeToken.token])]
  assert.ok(all.length > 10)
  const text = JSON.stringify([await list(), await list({}, testing.admin)])
  assert.doesNotMatch(text, /ug[at]_(customer|testing)_/)
  for (const secret of all) {
    assert.ok(!text.includes(randomPartOf(secret)))
    for (const encoding of ['hex', 'base64', 'base64url'] as const)
      assert.ok(!text.includes(hash('sha256', secret, encoding)))
  }
})
