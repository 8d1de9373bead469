import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UserGroupManagement } from '../src/index.ts'
import { apiToken, assertNoToken, transportFailure } from './support/client.ts'
import { startHttpProxy } from './support/http-proxy.ts'
import { sharedManagement } from './support/management.ts'
import { describeManagements } from './support/managements.ts'
import { respond, json, never, serve } from './support/scripted-server.ts'

const over = (origin: string) => new UserGroupManagement({ origin, apiToken })
const token = 'ugt_customer_leaked'

type Management = UserGroupManagement
type Call = readonly [
  call: (management: Management) => Promise<unknown>,
  sent: string,
  body?: unknown,
  ifMatch?: string,
]

/** Every operation of the management API, and its request. */
const calls: Readonly<Record<string, Call>> = {
  searchUserGroups: [
    (m) =>
      m
        .searchUserGroups({
          ...{ text: 'é', userGroupIdPrefix: 'a/b', name: '+', property: '/plan', propertyValue: false },
          ...{ schema: 's', dataSource: 'd', suspended: true, health: 'unresolved', limit: 5 },
        })
        .page('c'),
    'GET /user-groups?text=%C3%A9&user_group_id_prefix=a%2Fb&name=%2B&property=%2Fplan&property_value=false&schema=s&data_source=d&suspended=true&health=unresolved&limit=5&cursor=c',
  ],
  getOverview: [(m) => m.getOverview(), 'GET /overview'],
  createUserGroup: [
    (m) => m.createUserGroup({ userGroupId: 'a', name: 'A', mapping: { '40': '213' } }),
    'POST /user-groups',
    { user_group_id: 'a', name: 'A', mapping: { '40': '213' } },
  ],
  getUserGroup: [(m) => m.getUserGroup(7), 'GET /user-groups/7'],
  updateUserGroup: [
    (m) => m.updateUserGroup(7, { name: undefined, mapping: null, properties: {} }, { ifRevision: 4 }),
    'PATCH /user-groups/7',
    { mapping: null, properties: {} },
    '"7.4"',
  ],
  deleteUserGroup: [
    (m) => m.deleteUserGroup(7, { ifRevision: 4 }),
    'DELETE /user-groups/7',
    undefined,
    '"7.4"',
  ],
  deleteUserGroupByProvidedId: [
    (m) => m.deleteUserGroupByProvidedId({ userGroupId: 'a b/é' }),
    'DELETE /user-groups?user_group_id=a%20b%2F%C3%A9',
  ],
  listConsoleSessions: [(m) => m.listConsoleSessions(), 'GET /console-sessions'],
  endConsoleSession: [(m) => m.endConsoleSession(7), 'POST /console-sessions/7/end'],
  getUserGroupToken: [(m) => m.getUserGroupToken(7), 'GET /user-groups/7/token'],
  suspendUserGroup: [
    (m) => m.suspendUserGroup(7, { ifRevision: 12 }),
    'POST /user-groups/7/suspend',
    undefined,
    '"7.12"',
  ],
  resumeUserGroup: [(m) => m.resumeUserGroup(7), 'POST /user-groups/7/resume'],
  endSessionsOfUserGroup: [
    (m) => m.endSessionsOfUserGroup(7, { viewerId: 'u-7' }, { ifRevision: 4 }),
    'POST /user-groups/7/end-sessions',
    { viewer_id: 'u-7' },
    '"7.4"',
  ],
  viewAsUserGroup: [(m) => m.viewAsUserGroup(7), 'POST /user-groups/7/view-as'],
  viewUserGroup: [(m) => m.viewUserGroup(7), 'GET /user-groups/7/view'],
  listUserGroupVersions: [(m) => m.listUserGroupVersions(7), 'GET /user-groups/7/versions'],
  diffUserGroupVersions: [
    (m) => m.diffUserGroupVersions(7, { from: 2, to: 3 }),
    'GET /user-groups/7/versions/2/diff?to=3',
  ],
  restoreUserGroupVersion: [
    (m) => m.restoreUserGroupVersion(7, 2, { ifRevision: 4 }),
    'POST /user-groups/7/versions/2/restore',
    undefined,
    '"7.4"',
  ],
  listDeletedUserGroups: [
    (m) => m.listDeletedUserGroups({ limit: 3 }).page(),
    'GET /deleted-user-groups?limit=3',
  ],
  eraseUserGroup: [(m) => m.eraseUserGroup(7), 'DELETE /deleted-user-groups/7'],
  restoreDeletedUserGroup: [(m) => m.restoreDeletedUserGroup(7), 'POST /deleted-user-groups/7/restore'],
  createJob: [
    (m) => m.createJob({ action: 'rotate', gracePeriodSeconds: 60, text: 'a', suspended: false }),
    'POST /jobs',
    { action: 'rotate', grace_period_seconds: 60, text: 'a', suspended: false },
  ],
  listJobs: [(m) => m.listJobs({ limit: 3 }).page('c'), 'GET /jobs?limit=3&cursor=c'],
  getJob: [(m) => m.getJob(7), 'GET /jobs/7'],
  cancelJob: [(m) => m.cancelJob(7), 'POST /jobs/7/cancel'],
  listJobResults: [
    (m) => m.listJobResults(7, { outcome: 'failed' }).page('c'),
    'GET /jobs/7/results?outcome=failed&cursor=c',
  ],
  listIsolationFindings: [
    (m) => m.listIsolationFindings({ kind: 'shared', status: 'open' }).page('c'),
    'GET /isolation-findings?kind=shared&status=open&cursor=c',
  ],
  acceptIsolationFinding: [
    (m) =>
      m.acceptIsolationFinding({ kind: 'shared', schema: 's', dataSource: 'd', version: 'v', reason: 'r' }),
    'POST /isolation-findings/accept',
    { kind: 'shared', schema: 's', data_source: 'd', version: 'v', reason: 'r' },
  ],
  reopenIsolationFinding: [
    (m) => m.reopenIsolationFinding({ kind: 'shared', schema: 's', dataSource: 'd' }),
    'POST /isolation-findings/reopen',
    { kind: 'shared', schema: 's', data_source: 'd' },
  ],
  listPromotionCandidates: [
    (m) => m.listPromotionCandidates({ name: 'a', limit: 5 }).page('c'),
    'GET /promotions/candidates?name=a&limit=5&cursor=c',
  ],
  promoteUserGroups: [
    (m) => m.promoteUserGroups({ userGroupIds: ['a'], dryRun: true }),
    'POST /promotions',
    { user_group_ids: ['a'], dry_run: true },
  ],
  reportLeakedToken: [
    (m) => m.reportLeakedToken({ token, rotate: true }),
    'POST /leaked-tokens',
    { token, rotate: true },
  ],
  listApiTokens: [(m) => m.listApiTokens(), 'GET /api-tokens'],
  createApiToken: [
    (m) => m.createApiToken({ name: 'a', scopes: ['read'], expiresInSeconds: 60 }),
    'POST /api-tokens',
    { name: 'a', scopes: ['read'], expires_in_seconds: 60 },
  ],
  rotateApiToken: [
    (m) => m.rotateApiToken(3, { overlapSeconds: 60 }),
    'POST /api-tokens/3/rotate',
    { overlap_seconds: 60 },
  ],
  revokeApiToken: [(m) => m.revokeApiToken(3), 'POST /api-tokens/3/revoke'],
  listWorkspaces: [(m) => m.listWorkspaces(), 'GET /workspaces'],
  createWorkspace: [(m) => m.createWorkspace({ name: 'a' }), 'POST /workspaces', { name: 'a' }],
  listSchemas: [(m) => m.listSchemas(), 'GET /schemas'],
  createSchema: [
    (m) => m.createSchema({ providedId: 's', name: 'S' }),
    'POST /schemas',
    { provided_id: 's', name: 'S' },
  ],
  deleteSchema: [(m) => m.deleteSchema(3), 'DELETE /schemas/3'],
  listDataSources: [
    (m) => m.listDataSources({ schemaId: 1, limit: 3 }).page('c'),
    'GET /data-sources?schema_id=1&limit=3&cursor=c',
  ],
  createDataSource: [
    (m) => m.createDataSource({ schemaId: 1, providedId: 'd', name: 'D' }),
    'POST /data-sources',
    { schema_id: 1, provided_id: 'd', name: 'D' },
  ],
  deleteDataSource: [(m) => m.deleteDataSource(3), 'DELETE /data-sources/3'],
  listWebhookEndpoints: [(m) => m.listWebhookEndpoints(), 'GET /webhook-endpoints'],
  createWebhookEndpoint: [
    (m) => m.createWebhookEndpoint({ name: 'a', url: 'https://a', eventTypes: ['schema.created'] }),
    'POST /webhook-endpoints',
    { name: 'a', url: 'https://a', event_types: ['schema.created'] },
  ],
  getWebhookEndpoint: [(m) => m.getWebhookEndpoint(3), 'GET /webhook-endpoints/3'],
  updateWebhookEndpoint: [
    (m) => m.updateWebhookEndpoint(3, { name: undefined, eventTypes: [], state: 'paused' }),
    'PATCH /webhook-endpoints/3',
    { event_types: [], state: 'paused' },
  ],
  deleteWebhookEndpoint: [(m) => m.deleteWebhookEndpoint(3), 'DELETE /webhook-endpoints/3'],
  rotateWebhookSecret: [
    (m) => m.rotateWebhookSecret(3, { overlapSeconds: 60 }),
    'POST /webhook-endpoints/3/rotate-secret',
    { overlap_seconds: 60 },
  ],
  listWebhookDeliveries: [
    (m) => m.listWebhookDeliveries(3, { state: 'failing', limit: 2 }).page('c'),
    'GET /webhook-endpoints/3/deliveries?state=failing&limit=2&cursor=c',
  ],
  testWebhookEndpoint: [(m) => m.testWebhookEndpoint(3), 'POST /webhook-endpoints/3/test'],
  getWebhookDelivery: [(m) => m.getWebhookDelivery(3, 4), 'GET /webhook-endpoints/3/deliveries/4'],
  redeliverWebhook: [(m) => m.redeliverWebhook(3, 4), 'POST /webhook-endpoints/3/deliveries/4/redeliver'],
  redeliverWebhooks: [
    (m) => m.redeliverWebhooks(3, { since: 1500, until: 2000 }),
    'POST /webhook-endpoints/3/redeliver',
    { since: '1970-01-01T00:00:01.500Z', until: '1970-01-01T00:00:02.000Z' },
  ],
  listUsage: [
    (m) => m.listUsage({ month: '2026-11', by: 'viewer', teamId: '7,8', limit: 2 }).page('c'),
    'GET /usage?month=2026-11&by=viewer&team_id=7%2C8&limit=2&cursor=c',
  ],
  eraseUsage: [
    (m) => m.eraseUsage({ viewerId: 'u 7', teamId: 7 }),
    'DELETE /usage?viewer_id=u%207&team_id=7',
  ],
  listAuditEvents: [
    (m) =>
      m
        .listAuditEvents({
          since: 0,
          until: 1500,
          teamId: 7,
          userGroupId: 'a b',
          action: 'schema.created',
          limit: 2,
        })
        .page('c'),
    'GET /audit-events?since=1970-01-01T00%3A00%3A00.000Z&until=1970-01-01T00%3A00%3A01.500Z&team_id=7&user_group_id=a%20b&action=schema.created&limit=2&cursor=c',
  ],
}

it('the table covers every method', () => {
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(UserGroupManagement.prototype)).filter(
    (name) => name !== 'constructor',
  )
  // These send several requests and have their own tests.
  const others = ['importUserGroups', 'rotateUserGroupToken']
  assert.deepEqual(methods.sort(), [...Object.keys(calls), ...others].sort())
})

describeManagements('management request', ({ managementOf }) => {
  for (const [name, [call, sent, body, ifMatch]] of Object.entries(calls)) {
    it(`${name} sends the expected request and refuses an incomplete response`, async (t) => {
      const { origin, received } = await serve(t, json({ success: 1 }), respond(201, '{"success":1}'))
      const management = managementOf({ origin: `${origin}/gateway`, apiToken })
      const codes = [await transportFailure(call(management)), await transportFailure(call(management))]
      assert.deepEqual(
        codes.map(({ code }) => code),
        ['bad_response', 'bad_response'],
      )
      const [request] = received
      const headers = request?.headers ?? {}
      assert.equal(`${request?.method} ${request?.path.replace('/gateway/admin/v1', '')}`, sent)
      assert.equal(request?.body, body === undefined ? '' : JSON.stringify(body))
      assert.equal(headers.authorization, `Token ${apiToken}`)
      assert.equal(headers['content-type'], body === undefined ? undefined : 'application/json')
      assert.equal(headers['if-match'], ifMatch)
      assert.equal(headers['content-length'] === undefined, sent.startsWith('GET'))
      assert.equal(received.length, 2)
    })
  }
})

describe('management response', () => {
  it('returns times as milliseconds since the epoch, and the registered data source of a finding', async (t) => {
    const at = '2030-01-01T00:00:00.123Z'
    const version = { name: 'A', mapping: null, properties: null, updated_at: at, updated_by: null }
    const user_group = {
      ...{ ...version, team_id: 7, provided_id: 'a', api_environment_tag: 'Testing', revision: 1 },
      ...{ created_at: at, token_issued_at: at, suspended_at: at },
    }
    const view = {
      ...{ success: 1, user_group, variables: { provided_id: 'a', name: 'A', properties: null } },
      ...{
        data_sources: [],
        token: { active: false, issued_at: at, grace_periods: [] },
        last_introspected_at: at,
        versions: [],
      },
    }
    const registered = { id: 3, provided_id: 'eu', name: 'EU' }
    const finding = {
      ...{ kind: 'unresolved', schema: 's', data_source: 'd', registered, user_groups: [] },
      ...{
        affected: { count: 0, is_exact: true },
        changed_at: at,
        status: 'open',
        acceptance: null,
        version: 'v',
      },
    }
    const { origin } = await serve(
      t,
      json(view),
      json({ success: 1, findings: [finding], next_cursor: null }),
      json({ ...view, last_introspected_at: 'yesterday' }),
    )
    const time = Date.UTC(2030, 0, 1, 0, 0, 0, 123)
    const { userGroup, lastIntrospectedAt } = await over(origin).viewUserGroup(7)
    assert.deepEqual([userGroup.suspendedAt, userGroup.updatedBy, lastIntrospectedAt], [time, null, time])
    const { items } = await over(origin).listIsolationFindings().page()
    assert.deepEqual(items[0]?.registered, { id: 3, providedId: 'eu', name: 'EU' })
    assert.equal((await transportFailure(over(origin).viewUserGroup(7))).code, 'bad_response')
  })

  it('refuses a user group that is not an object', async (t) => {
    const { origin } = await serve(t, json({ success: 1, user_groups: [null], next_cursor: null }))
    assert.equal((await transportFailure(over(origin).searchUserGroups().page())).code, 'bad_response')
  })

  it('respects deadline and signal', async (t) => {
    const { origin } = await serve(t, never)
    const { code } = await transportFailure(over(origin).getUserGroup(7, { deadlineMs: 200 }))
    assert.equal(code, 'timed_out')
    const reason = new Error('gone')
    const options = { signal: AbortSignal.abort(reason) }
    await assert.rejects(over(origin).rotateUserGroupToken(7, {}, options), reason)
    // Both requests of a rotation share one deadline.
    const rotation = over(origin).rotateUserGroupToken(7, {}, { deadlineMs: 200 })
    assert.equal((await transportFailure(rotation)).code, 'timed_out')
  })

  it('throws a TypeError for arguments that cannot be sent', async (t) => {
    const { origin, received } = await serve(t, never)
    const management = over(origin)
    const wrong = [
      ...[0, -1, 1.5, Number.NaN, '7', '../schemas', undefined].map(
        (id) => () => management.getUserGroup(id as number),
      ),
      () => management.updateUserGroup(7, {}, { ifRevision: '4' as never }),
      () => management.deleteUserGroup(7, { ifRevision: 0 }),
      () => management.diffUserGroupVersions(7, { from: 0 }),
      () => management.diffUserGroupVersions(7, { from: 1, to: 0 }),
      () => management.searchUserGroups({ name: '\ud800' }).page(),
      () => management.searchUserGroups({ propertyValue: Number.NaN }).page(),
      () => management.searchUserGroups({ propertyValue: {} as never }).page(),
      () => management.redeliverWebhook(3, 0),
      () => management.redeliverWebhooks(3, { since: -1 }),
      () => management.redeliverWebhooks(3, { since: 0, until: NaN }),
      () => management.listAuditEvents({ since: NaN }).page(),
      () => management.listAuditEvents({ until: Date.parse('9999-12-31T23:59:59.999Z') + 1 }).page(),
      () => management.updateUserGroup(7, { properties: { seats: Infinity } }),
    ]
    for (const call of wrong) await assert.rejects(call, TypeError, String(call))
    assert.equal(received.length, 0)
  })

  it('never prints the API token', () => assertNoToken(over('http://localhost')))
})

describe('proxy', () => {
  const fixture = sharedManagement()

  for (const status of [403, 405, 501]) {
    it(`that refuses PATCH and DELETE with ${status}: the error names the method, and nothing changes`, async (t) => {
      const { service, over, create, management } = await fixture()
      const group = await create(`behind ${status}`)
      const on = (method: string) => (method === 'PATCH' || method === 'DELETE' ? status : undefined)
      const proxy = await startHttpProxy(t, service.origin, { on })
      const behind = over(proxy.origin)
      for (const [method, call] of [
        ['PATCH', () => behind.updateUserGroup(group.teamId, { name: 'B' })],
        ['DELETE', () => behind.deleteUserGroup(group.teamId)],
      ] as const) {
        const error = await transportFailure(call())
        assert.deepEqual([error.code, error.status], ['refused', status])
        assert.match(error.message, new RegExp(`refused ${method} with status ${status}`))
      }
      assert.deepEqual(
        proxy.passed.map(({ method }) => method),
        ['PATCH', 'DELETE'],
      )
      assert.deepEqual(await management.getUserGroup(group.teamId), group)
    })
  }

  it('that refuses GET: no POST is sent instead, which would create something', async (t) => {
    const { service, over, management } = await fixture()
    const on = (method: string) => (method === 'GET' ? 405 : undefined)
    const proxy = await startHttpProxy(t, service.origin, { on })
    assert.equal((await transportFailure(over(proxy.origin).listSchemas())).status, 405)
    assert.equal(proxy.passed.length, 1)
    assert.deepEqual(await management.listSchemas(), [])
  })
})
