import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, describe, test } from 'node:test'
import type { AdminOperationId } from '../../../src/http/admin/operations.ts'
import {
  createPausedEndpoint,
  findingVersion,
  finishedJob,
  firstDeliveryOf,
} from '../../support/belongings.ts'
import {
  assertSucceeded,
  assertRefused,
  of,
  operationIds,
  operationOf,
  startManaged,
  type AdminInput,
} from '../../support/admin-api.ts'
import { createApiToken, runCommand } from '../../support/command.ts'
import {
  callOperation,
  secretOf,
  signedIn,
  sessionPath,
  signed,
  signIn,
  signingIn,
  useLink,
  type SignedIn,
} from '../../support/console.ts'
import { untilEnded } from '../../support/ended-credentials.ts'
import { sendRequest, type HttpResponse } from '../../support/http.ts'
import { introspectionPath } from '../../support/introspection.ts'
import { kept, writingNothing } from '../../support/kept.ts'
import { startService } from '../../support/service.ts'
import { assertCommonHeaders, assertFault } from '../../support/user-api.ts'

const { service, admin, adminToken, create } = await startManaged(
  { after },
  { LOG_LEVEL: 'trace', UGS_ACCESS_LOG: 'full' },
)
const { origin } = service
/** All secrets that were ever given out here, and where they may stand. */
const given: SignedIn[] = []

const enter = async (token = adminToken, headers?: Record<string, string>): Promise<SignedIn> => {
  const signedIn = await signIn(origin, token, headers)
  given.push(signedIn)
  return signedIn
}

const whoIs = (headers: Record<string, string>, at = origin) =>
  sendRequest(at, { path: sessionPath, headers })
const leave = (headers: Record<string, string>, at = origin) =>
  sendRequest(at, { method: 'DELETE', path: sessionPath, headers })

function assertUnauthenticated(response: HttpResponse): void {
  assertFault(response, 'unauthenticated')
  assert.equal(response.headers['www-authenticate'], 'Token')
  assert.equal(response.headers['set-cookie'], undefined)
}

const links: string[] = []

async function createLink(): Promise<string> {
  const [link = ''] = (await runCommand(service, 'console-link', '--url', origin)).split('\n')
  links.push(link)
  return link
}

const issueToken = async (body: object = {}) =>
  assertSucceeded<{ api_token: { id: number }; token: string }>(
    await admin.createApiToken({ body: { name: 'console', scopes: ['admin'], ...body } }),
    'createApiToken',
  )

describe('signing in', () => {
  test('answers who it is, and sets a cookie that scripts and other sites cannot reach', async () => {
    const { api_token, token } = await issueToken({ scopes: ['observe', 'support', 'write'] })
    const { response, session, cookie, csrfToken } = await enter(token)
    assertCommonHeaders(response)
    assert.equal(response.headers['content-type'], 'application/json')
    const { expires_at, ...rest } = session
    assert.deepEqual(response.body, { success: 1, session })
    assert.deepEqual(rest, {
      workspace: { id: 1, name: 'default' },
      api_environment_tag: 'Customer',
      // The role is the strongest management scope of the API token.
      ...{ api_token: { id: api_token.id, name: 'console' }, role: 'support' },
      idle_seconds: 1800,
      csrf_token: csrfToken,
    })
    assert.ok(Math.abs(Date.parse(expires_at) - Date.now() - 12 * 3_600_000) < 60_000)
    assert.deepEqual(response.headers['set-cookie'], [
      `${cookie}; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict`,
    ])
    assert.notEqual(cookie.split('=')[1], csrfToken)
    assert.ok(!response.text.includes(secretOf({ cookie })))
  })

  test('gives another secret each time, and leaves the sessions of other browsers', async () => {
    const [first, second] = [await enter(), await enter()]
    assert.notEqual(first.cookie, second.cookie)
    assert.notEqual(first.csrfToken, second.csrfToken)
    for (const { cookie, session } of [first, second])
      assert.deepEqual((await whoIs({ cookie })).body, { success: 1, sessions: [session] })
  })

  test('ends no later than its API token', async () => {
    const { token } = await issueToken({ expires_in_seconds: 3600 })
    const { session } = await enter(token)
    assert.ok(Math.abs(Date.parse(session.expires_at) - Date.now() - 3_600_000) < 60_000)
  })

  test('takes no API token that is unknown, was revoked, has expired or is none', async () => {
    const { api_token, token: revoked } = await issueToken()
    await admin.revokeApiToken({ params: { id: api_token.id } })
    const { token: expired } = await issueToken({ expires_in_seconds: 1 })
    await untilEnded(origin, expired)
    const { token: ofUserGroup } = await create('not an API token')
    for (const token of [
      revoked,
      expired,
      ofUserGroup,
      `${adminToken}x`,
      adminToken.slice(0, -1),
      '',
      'x',
      `Token ${adminToken}`,
    ])
      assertUnauthenticated(await signingIn(origin, { api_token: token }))
  })

  test('takes no API token without the scope admin', async () => {
    const token = await createApiToken(service, 'Customer', '--scopes', 'read,write,introspect')
    const response = await signingIn(origin, { api_token: token })
    assertFault(response, 'forbidden')
    assert.equal(response.headers['set-cookie'], undefined)
  })

  test('reads its body strictly, and keeps nothing where it is wrong', async () => {
    await writingNothing(service, async () => {
      const type = { 'content-type': 'application/json' }
      const token = JSON.stringify(adminToken)
      assertFault(await sendRequest(origin, { method: 'POST', path: sessionPath }), 'body_required')
      for (const contentType of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/json; charset=latin1',
      ])
        assertFault(
          await signingIn(origin, `{"api_token":${token}}`, { 'content-type': contentType }),
          'unsupported_media_type',
        )
      assertFault(
        await signingIn(origin, `{"api_token":${token}}`, { ...type, 'content-encoding': 'gzip' }),
        'unsupported_media_type',
      )
      for (const body of ['{', `{"api_token":${token},}`, `\ufeff{"api_token":${token}}`])
        assertFault(await signingIn(origin, body), 'malformed_json')
      assertFault(await signingIn(origin, `{"api_token":"x","api_token":${token}}`), 'malformed_json', [
        '/api_token',
      ])
      assertFault(await signingIn(origin, {}), 'validation_failed', ['/api_token'])
      assertFault(await signingIn(origin, { api_token: 1 }), 'validation_failed', ['/api_token'])
      assertFault(await signingIn(origin, { api_token: adminToken, remember: true }), 'validation_failed', [
        '/remember',
      ])
      assertFault(await signingIn(origin, []), 'validation_failed', [''])
      assertFault(await signingIn(origin, ' '.repeat(1024 * 1024 + 1)), 'body_too_large')
    })
  })
})

describe('a session', () => {
  test('is nobody’s without its cookie', async () => {
    const { cookie } = await enter()
    const secret = secretOf({ cookie })
    for (const headers of [
      {},
      { cookie: 'other=1' },
      { cookie: 'ugs_session_customer=' },
      { cookie: `ugs_session_customer=${'x'.repeat(43)}` },
      { cookie: `ugs_session_customer=${secret}x` },
      { cookie: `UGS_SESSION_CUSTOMER=${secret}` },
      { cookie: `ugs_session=${secret}` },
      { cookie: `xugs_session_customer=${secret}` },
      { cookie: `ugs_session_customer="${secret}"` },
      { authorization: `Token ${secret}` },
      { authorization: `Token ${adminToken}` },
    ]) {
      assertUnauthenticated(await whoIs(headers))
      assertUnauthenticated(await leave(headers))
    }
    assert.equal((await whoIs({ cookie: `a=b; ${cookie};c="d=e"` })).status, 200)
  })

  test('is ended by signing out at once, on another process too, and that alone', async (t) => {
    const settings = {
      UGS_DATA_DIR: service.dataFolder,
      ...(service.databaseUrl && { DATABASE_URL: service.databaseUrl }),
    }
    const other = await startService(t, settings)
    const [one, another] = [await enter(), await enter()]
    assert.equal((await whoIs({ cookie: one.cookie }, other.origin)).status, 200)
    assertFault(await leave({ cookie: one.cookie }), 'forbidden')
    assertFault(await leave({ cookie: one.cookie, 'x-csrf-token': another.csrfToken }), 'forbidden')
    const left = await leave(signed(one))
    assert.deepEqual([left.status, left.text], [200, '{"success":1}'])
    assert.deepEqual(left.headers['set-cookie'], [
      'ugs_session_customer=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
      'ugs_session_testing=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict',
    ])
    for (const at of [origin, other.origin]) {
      assertUnauthenticated(await whoIs({ cookie: one.cookie }, at))
      const refused = await callOperation(at, 'listWorkspaces', { headers: { cookie: one.cookie } })
      assertRefused(refused, 'listWorkspaces', 'unauthenticated')
      assert.equal((await whoIs({ cookie: another.cookie }, at)).status, 200)
    }
    assertUnauthenticated(await leave(signed(one)))

    const link = await createLink()
    const uses = await Promise.all([origin, other.origin, origin].map((at) => useLink(at, link)))
    assert.deepEqual(uses.map(({ status }) => status).sort(), [200, 401, 401])
  })

  test('of each environment has a cookie of its own, and the CSRF token selects one', async () => {
    const customer = await enter()
    const testing = await enter(await createApiToken(service, 'Testing', '--scopes', 'admin'))
    const cookie = `${customer.cookie}; ${testing.cookie}`
    const { body } = await whoIs({ cookie })
    assert.deepEqual(body, { success: 1, sessions: [customer.session, testing.session] })
    for (const session of [customer, testing]) {
      const read = await callOperation(origin, 'listApiTokens', {
        headers: { cookie, 'x-csrf-token': session.csrfToken },
      })
      const tokens = assertSucceeded<{ api_tokens: { id: number }[] }>(read, 'listApiTokens').api_tokens
      assert.ok(tokens.some(({ id }) => id === session.session.api_token.id))
    }
    const read = await callOperation(origin, 'listApiTokens', { headers: { cookie } })
    assertRefused(read, 'listApiTokens', 'unauthenticated')

    assertFault(await leave({ cookie }), 'forbidden')
    assert.equal((await leave({ cookie, 'x-csrf-token': testing.csrfToken })).status, 200)
    for (const session of [customer, testing]) assertUnauthenticated(await whoIs({ cookie: session.cookie }))
  })

  test('ends with its API token', async () => {
    const { api_token, token } = await issueToken()
    const { cookie } = await enter(token)
    const read = () => callOperation(origin, 'listWorkspaces', { headers: { cookie } })
    assertSucceeded(await read(), 'listWorkspaces')
    await admin.revokeApiToken({ params: { id: api_token.id } })
    assertUnauthenticated(await whoIs({ cookie }))
    assertRefused(await read(), 'listWorkspaces', 'unauthenticated')
  })

  test('works for management alone', async () => {
    const { cookie, csrfToken } = await enter(
      await createApiToken(service, 'Customer', '--scopes', 'admin,write,introspect'),
    )
    const headers = { cookie, 'x-csrf-token': csrfToken }
    for (const method of ['GET', 'POST', 'PUT'])
      assertUnauthenticated(
        await sendRequest(origin, { method, headers, body: { user_group_id: 'x', name: 'X' } }),
      )
    const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' }
    const response = await sendRequest(origin, {
      method: 'POST',
      path: introspectionPath,
      headers: form,
      body: 'token=x',
    })
    assert.equal(response.status, 401, response.text)
  })

  test('sees its own workspace and environment alone', async () => {
    await runCommand(service, 'workspace', 'create', 'console')
    const token = await createApiToken(service, 'Testing', '--workspace', 'console', '--scopes', 'admin')
    const { cookie, session } = await enter(token)
    assert.deepEqual([session.workspace.name, session.api_environment_tag], ['console', 'Testing'])
    const created = await create('of another workspace')
    const response = await callOperation(origin, 'getUserGroup', { ...of(created), headers: { cookie } })
    assertRefused(response, 'getUserGroup', 'user_group_not_found')
  })
})

describe('with a session’s cookie', async () => {
  const signedIn = await enter()
  const { cookie, csrfToken } = signedIn
  const another = await enter()
  const created = await create('managed')
  const params = { ...of(created).params, revision: 1, id: 1 }
  for (const id of ['shares 1', 'shares 2']) await create(id, { mapping: { shared: 'x' } })
  const finding = { kind: 'shared', schema: 'shared', data_source: 'x' }
  const bodies: Partial<Record<AdminOperationId, unknown>> = {
    rotateTokenOfUserGroup: {},
    endSessionsOfUserGroup: {},
    createUserGroup: { user_group_id: 'new', name: 'A' },
    patchUserGroup: { name: 'Changed' },
    createJob: { action: 'resume', team_ids: [created.team_id] },
    acceptIsolationFinding: { ...finding, version: await findingVersion(admin, 'shared'), reason: 'A demo' },
    reopenIsolationFinding: finding,
    promoteUserGroups: { user_group_ids: ['nobody'] },
    reportLeakedToken: { token: 'unknown' },
    importUserGroups: { user_group_id: 'imported', name: 'A' },
    createApiToken: { name: 'made', scopes: ['read'] },
    rotateApiToken: {},
    createWorkspace: { name: 'made' },
    applyConfiguration: { version: 1 },
    createSchema: { provided_id: 'made', name: 'A' },
    createDataSource: { schema_id: 1, provided_id: 'made', name: 'A' },
    createWebhookEndpoint: { name: 'made', url: 'https://receiver.invalid/' },
    updateWebhookEndpoint: { name: 'changed' },
    rotateWebhookEndpoint: {},
    redeliverWebhooks: { since: '2020-01-01T00:00:00Z' },
  }
  assert.equal(await finishedJob(admin, created.team_id), params.id)
  const { webhookEndpointId } = await createPausedEndpoint(admin)
  await create('delivered')
  const delivery = { id: webhookEndpointId, delivery_id: await firstDeliveryOf(admin, webhookEndpointId) }
  const { api_token: rotated } = await issueToken()
  const erased = of(await create('erased')).params
  await admin.deleteUserGroup({ params: erased })
  const inputOf = (id: AdminOperationId): AdminInput => ({
    params: {
      ...(id.includes('Webhook') ? delivery : params),
      ...(id === 'rotateApiToken' && { id: rotated.id }),
      ...(id === 'eraseUserGroup' && erased),
    },
    ...(id in bodies && { body: bodies[id] }),
    ...(id === 'eraseUsage' && { query: { viewer_id: 'u-7' } }),
    ...(id === 'deleteUserGroupByProvidedId' && { query: { user_group_id: 'delivered' } }),
  })

  // An API token's last use is written down when there is time, and a page may end because time is over.
  const withoutChance = (text: string) =>
    text.replaceAll(/"(?:request_id|last_used_at|next_cursor)":[^,}]+|"count":\d+,"is_exact":\w+/g, '')

  for (const id of operationIds) {
    const { method } = operationOf(id)
    // Each export of the audit log has the one before.
    if (id === 'exportAuditEvents') continue
    if (method === 'GET') {
      test(`${id} answers as to the API token`, async () => {
        const response = await callOperation(origin, id, { ...inputOf(id), headers: { cookie } })
        const expected = await admin[id](inputOf(id))
        assert.deepEqual(
          [response.status, withoutChance(response.text)],
          [expected.status, withoutChance(expected.text)],
        )
        if (id !== 'diffUserGroupVersions') assertSucceeded(response, id)
      })
    } else {
      test(`${id} is forbidden without the token that belongs to it, and then does nothing`, async () => {
        await writingNothing(service, async () => {
          for (const headers of [
            { cookie },
            { cookie, 'x-csrf-token': '' },
            { cookie, 'x-csrf-token': another.csrfToken },
            { cookie, 'x-csrf-token': csrfToken.slice(0, -1) },
            { cookie, 'x-csrf-token': secretOf({ cookie }) },
            { cookie, csrf_token: csrfToken },
          ])
            assertRefused(await callOperation(origin, id, { ...inputOf(id), headers }), id, 'forbidden')
        })
      })
    }
  }

  // Last what takes away what others need.
  const ending: AdminOperationId[] = [
    'deleteUserGroup',
    'restoreDeletedUserGroup',
    'deleteDataSource',
    'deleteSchema',
    'deleteWebhookEndpoint',
  ]
  const changing = operationIds.filter(
    (id) => operationOf(id).method !== 'GET' && !ending.includes(id) && id !== 'revokeApiToken',
  )
  for (const id of [...changing, ...ending]) {
    test(`${id} is done with that token`, async () => {
      const response = await callOperation(origin, id, { ...inputOf(id), headers: signed(signedIn) })
      assert.notEqual(response.status, 403, response.text)
      if (response.status < 300) assertSucceeded(response, id)
      // There is no version yet to restore.
      else if (id === 'restoreUserGroupVersion' || id === 'endConsoleSession')
        assertRefused(response, id, 'not_found')
      else assert.fail(response.text)
    })
  }

  test('an API token goes before it, whether that may or not', async () => {
    const testing = await createApiToken(service, 'Testing', '--scopes', 'admin')
    const patch = (authorization: string) =>
      callOperation(origin, 'createWorkspace', {
        body: { name: authorization.slice(-6) },
        headers: { ...signed(signedIn), authorization },
      })
    assertRefused(await patch('Token nonsense'), 'createWorkspace', 'unauthenticated')
    assertRefused(await patch(`Bearer ${adminToken}`), 'createWorkspace', 'unauthenticated')
    const writer = await createApiToken(service, 'Customer', '--scopes', 'write')
    assertRefused(await patch(`Token ${writer}`), 'createWorkspace', 'forbidden')
    // It needs no other token then.
    const headers = { cookie, authorization: `Token ${testing}` }
    const body = { name: 'by the API token' }
    const response = await callOperation(origin, 'createWorkspace', { body, headers })
    assertSucceeded(response, 'createWorkspace')
    assert.match(response.text, /"api_environment_tag":"Testing"/)
  })
})

test('no secret of a session or link is kept, but for its SHA-256, or logged', async () => {
  given.push(signedIn(await useLink(origin, await createLink())))
  await createLink()
  assert.ok(given.length > 10)
  const all = await kept(service)
  const log = service.stderr() + service.stdout()
  assert.match(log, /"path":"\/console\/session"/)
  const secrets = given.map(secretOf)
  const rows = Buffer.concat([...all.values()])
  assert.ok(secrets.some((secret) => rows.includes(hash('sha256', secret, 'buffer'))))
  const secretsOfLinks = links.map((link) => link.split('=')[1] as string)
  const csrfTokens = given.map(({ csrfToken }) => csrfToken)
  for (const text of [...secrets, ...secretsOfLinks, ...csrfTokens, adminToken]) {
    assert.ok(!log.includes(text), 'it is in the log')
    for (const [where, bytes] of all) {
      assert.ok(!bytes.includes(text), `it is in ${where}`)
      assert.ok(!bytes.includes(Buffer.from(text, 'base64url')), `its bytes are in ${where}`)
    }
  }
})
