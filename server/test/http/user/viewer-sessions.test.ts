import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startApp } from '../../support/app.ts'
import { sendRequest, type HttpResponse } from '../../support/http.ts'
import { assertActive, assertInactive, introspector, sendIntrospection } from '../../support/introspection.ts'
import { assertFault, assertSuccess, userApi, userGroupIn } from '../../support/user-api.ts'

const start = Date.parse('2026-11-28T10:00:00Z')
const clock = { now: () => start + offset, monotonic: () => performance.now() }
let offset = 0
const publicUrl = 'https://ugs.example.com/sub'
const dashboardUrl = 'https://app.example.com/dashboards#session={session}'
const app = await startApp({ after }, clock, null, {}, { publicUrl, dashboardUrl })
const apiToken = await app.createApiToken(undefined, ['read', 'write', 'introspect', 'admin'])
const api = userApi(app.origin, apiToken)
const introspect = introspector(app.origin, apiToken)

const viewer = {
  id: 'u-7',
  name: 'Ada',
  properties: { role: 'manager', limit: 1.5 },
  time_zone: 'Europe/Berlin',
  locale: 'de-DE',
}

function post(path: string, body: object, token = apiToken): Promise<HttpResponse> {
  return sendRequest(app.origin, { method: 'POST', path, token, body: JSON.stringify(body) })
}

const create = (providedId: string, body: object = {}) =>
  post('/api/user/create-session', { user_group_id: providedId, viewer: { id: 'u-7' }, ...body })

interface Session {
  readonly token: string
  readonly session_id: string
  readonly expires_at: string
  readonly expires_in_seconds: number
}

async function created(providedId: string, body: object = {}): Promise<Session> {
  return (assertSuccess(await create(providedId, body)) as unknown as { session: Session }).session
}

async function group(providedId: string, body: object = {}) {
  return userGroupIn(await api.get({ user_group_id: providedId, name: 'Name', ...body }))
}

function payloadOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] as string, 'base64url').toString()) as Record<
    string,
    unknown
  >
}

test('a session shows the user group, the viewer and its times', async () => {
  const { team_id } = await group('whole', {
    properties: { regions: ['EU', 'US'], plan: 'gold' },
    mapping: { a: '1' },
  })
  const resources = ['sales-overview']
  const session = await created('whole', { viewer, resources, expires_in_seconds: 60 })
  assert.equal(session.expires_at, '2026-11-28T10:01:00Z')
  assert.equal(session.expires_in_seconds, 60)
  assert.deepEqual(assertActive(await introspect(session.token)), {
    active: true,
    token_type: 'viewer_session',
    sub: 'whole',
    iat: start / 1000,
    exp: start / 1000 + 60,
    jti: session.session_id,
    team_id,
    name: 'Name',
    api_environment_tag: 'Customer',
    mapping: { a: '1' },
    data_sources: {},
    properties: { regions: ['EU', 'US'], plan: 'gold' },
    viewer,
    resources,
  })
  assert.deepEqual(Object.keys(payloadOf(session.token)).toSorted(), [
    ...['exp', 'iat', 'iss', 'jti', 'resources', 'sub', 'team_id', 'viewer', 'viewer_id'],
  ])
  assert.equal(payloadOf(session.token).iss, `${publicUrl}/jwks/1/customer`)
  offset += 59_999
  assertActive(await introspect(session.token))
  offset += 1
  assertInactive(await introspect(session.token))
})

test('creating a session stores nothing', async () => {
  await group('unstored')
  await created('unstored')
  const events = () =>
    app.store.audit.list({
      ...{ workspaceId: 1, environment: 'Customer', since: 0, limit: 100 },
      beforeEventId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
    })
  const before = await events()
  for (let i = 0; i < 3; i++) await created('unstored')
  assert.deepEqual(await events(), before)
  const found = await app.store.userGroups.find({
    workspaceId: 1,
    environment: 'Customer',
    providedId: 'unstored',
  })
  assert.equal(found?.revision, 1)
})

test('a session of an unknown user group is 404, and creates none', async () => {
  assertFault(await create('missing'), 'user_group_not_found')
  assertFault(await post('/api/user/end-sessions', { user_group_id: 'missing' }), 'user_group_not_found')
  assert.equal(
    await app.store.userGroups.find({ workspaceId: 1, environment: 'Customer', providedId: 'missing' }),
    null,
  )
})

test('other methods are 405, and other scopes 403', async () => {
  for (const path of ['/api/user/create-session', '/api/user/end-sessions']) {
    const response = await sendRequest(app.origin, { method: 'GET', path, token: apiToken })
    assertFault(response, 'method_not_allowed')
    assert.equal(response.headers.allow, 'POST')
  }
  const body = { user_group_id: 'whole', viewer: { id: 'u-7' } }
  const reader = await app.createApiToken(undefined, ['read'])
  assertSuccess(await post('/api/user/create-session', body, reader))
  assertFault(await post('/api/user/end-sessions', { user_group_id: 'whole' }, reader), 'forbidden')
  const renderer = await app.createApiToken(undefined, ['introspect'])
  assertFault(await post('/api/user/create-session', body, renderer), 'forbidden')
})

test('a narrowed session has the values that it names and the user group still has', async () => {
  const properties = { regions: ['EU', 'US', 7, null], plan: 'gold', other: [1] }
  await group('narrow', { properties, mapping: { sales: '1', finance: '2' } })
  const narrow = { properties: { regions: ['US', 7, 'EU'], plan: ['gold'] }, schemas: ['sales'] }
  const { token } = await created('narrow', { narrow })
  const shown = async () => {
    const { properties, mapping } = assertActive(await introspect(token))
    return { ...properties, mapping }
  }
  const mapping = { sales: '1' }
  assert.deepEqual(await shown(), { regions: ['EU', 'US', 7], plan: 'gold', other: [1], mapping })
  await group('narrow', { properties: { ...properties, regions: [7, 'US', 'ASIA'], plan: 'silver' } })
  assert.deepEqual(await shown(), { regions: [7, 'US'], plan: [], other: [1], mapping })
  await group('narrow', { properties: { regions: 'US' }, mapping: null })
  assert.deepEqual(await shown(), { regions: [], plan: [], mapping: null })
  await group('narrow', { properties: null })
  assert.deepEqual(await shown(), { regions: [], plan: [], mapping: null })
})

const narrowings: [string, object, string][] = [
  [
    'a value that the property does not have',
    { properties: { regions: ['ASIA'] } },
    '/narrow/properties/regions',
  ],
  ['an unknown property', { properties: { missing: [] } }, '/narrow/properties/missing'],
  ['an inherited property', { properties: { constructor: [] } }, '/narrow/properties/constructor'],
  ['an object', { properties: { nested: [] } }, '/narrow/properties/nested'],
  ['a list of objects', { properties: { objects: [] } }, '/narrow/properties/objects'],
  ['a text for a number', { properties: { one: ['1'] } }, '/narrow/properties/one'],
  ['an unknown schema', { schemas: ['sales', 'missing'] }, '/narrow/schemas/1'],
  ['what is no list', { properties: { regions: 'EU' } }, '/narrow/properties/regions'],
  ['an unknown member', { properties: {}, others: [] }, '/narrow/others'],
]
for (const [name, narrow, path] of narrowings) {
  test(`narrowing to ${name} is refused`, async () => {
    await group('refused', {
      properties: { regions: ['EU'], nested: { a: 1 }, objects: [{}], one: 1 },
      mapping: { sales: '1' },
    })
    assertFault(await create('refused', { narrow }), 'validation_failed', [path])
  })
}

const bodies: [string, object, string][] = [
  ['no viewer', { viewer: undefined }, '/viewer'],
  ['a viewer without id', { viewer: {} }, '/viewer/id'],
  ['an empty id', { viewer: { id: '' } }, '/viewer/id'],
  ['a control character in the name', { viewer: { id: 'a', name: 'a\u0007' } }, '/viewer/name'],
  ['an unknown member of the viewer', { viewer: { id: 'a', email: 'a' } }, '/viewer/email'],
  [
    'properties of 2 KiB and a byte',
    { viewer: { id: 'a', properties: { a: 'x'.repeat(2041) } } },
    '/viewer/properties',
  ],
  ['deep properties', { viewer: { id: 'a', properties: { a: [[[[[[[[]]]]]]]] } } }, '/viewer/properties'],
  ['U+0000 in properties', { viewer: { id: 'a', properties: { a: '\0' } } }, '/viewer/properties/a'],
  ['an unknown time zone', { viewer: { id: 'a', time_zone: 'Europe/Atlantis' } }, '/viewer/time_zone'],
  ['an offset as time zone', { viewer: { id: 'a', time_zone: '+01:00' } }, '/viewer/time_zone'],
  ['a malformed locale', { viewer: { id: 'a', locale: 'de_DE' } }, '/viewer/locale'],
  ['a lifetime of 59 s', { expires_in_seconds: 59 }, '/expires_in_seconds'],
  ['a lifetime of a day and a second', { expires_in_seconds: 86_401 }, '/expires_in_seconds'],
  ['a lifetime with a fraction', { expires_in_seconds: 60.5 }, '/expires_in_seconds'],
  ['a long lifetime with claims', { expires_in_seconds: 3601, claims: { a: 1 } }, '/expires_in_seconds'],
  ['a long lifetime with include', { expires_in_seconds: 3601, include: ['name'] }, '/expires_in_seconds'],
  ['no resources', { resources: [] }, '/resources'],
  ['101 resources', { resources: Array.from({ length: 101 }, String) }, '/resources'],
  ['an empty resource', { resources: [''] }, '/resources/0'],
  ['an empty audience', { audience: '' }, '/audience'],
  ['an absent property', { include: ['properties.missing'] }, '/include/0'],
  ['another field', { include: ['mapping'] }, '/include/0'],
  ['a claim of the service', { claims: { sub: 'other' } }, '/claims/sub'],
  ['large claims', { claims: { a: 'x'.repeat(2041) } }, '/claims'],
  ['a token over 6 KiB', { resources: Array.from({ length: 100 }, (_, i) => `${i}`.padEnd(60, 'x')) }, ''],
  ['an unknown field', { token: 'x' }, '/token'],
]
for (const [name, body, path] of bodies) {
  test(`${name} is refused`, async () => {
    await group('whole')
    assertFault(await create('whole', body), 'validation_failed', [path])
  })
}

test('the limits themselves are accepted', async () => {
  await group('limits')
  const properties = { a: 'x'.repeat(2000), b: [[[[[[[]]]]]]] }
  await created('limits', { viewer: { id: 'a', properties }, expires_in_seconds: 86_400 })
  await created('limits', { claims: { a: 'x'.repeat(2000) }, expires_in_seconds: 3600 })
  await created('limits', { resources: Array.from({ length: 100 }, String), audience: 'x'.repeat(255) })
})

test('a token carries content only if asked for', async () => {
  await group('content', { properties: { regions: ['EU', 'US'], plan: 'gold' } })
  const { token } = await created('content', {
    narrow: { properties: { regions: ['EU'] } },
    ...{
      audience: 'cube',
      include: ['name', 'properties.regions'],
      claims: { role: 'dashboard', __proto__: 1 },
    },
  })
  const { aud, name, properties, role } = payloadOf(token)
  assert.deepEqual(
    { aud, name, properties, role },
    { aud: 'cube', name: 'Name', properties: { regions: ['EU'] }, role: 'dashboard' },
  )
  assert.deepEqual(assertActive(await introspect(token)).properties, { regions: ['EU'], plan: 'gold' })
})

test('a session for some resources is inactive for others', async () => {
  await group('resources')
  const { token } = await created('resources', { resources: ['a', 'b'] })
  assertActive(await introspect(token))
  assertActive(await introspect(token, { resource: 'b' }))
  assertInactive(await introspect(token, { resource: 'c' }))
  assertActive(await introspect((await created('resources')).token, { resource: 'c' }))
})

test('ended sessions are over, and new ones can be created a second later', async () => {
  await group('ended')
  const [mine, others] = [await created('ended'), await created('ended', { viewer: { id: 'u-8' } })]
  assertActive(await introspect(mine.token))
  offset += 1000
  assertSuccess(await post('/api/user/end-sessions', { user_group_id: 'ended', viewer_id: 'u-7' }))
  assertInactive(await introspect(mine.token))
  assertActive(await introspect(others.token))
  const sameSecond = await created('ended')
  assertInactive(await introspect(sameSecond.token))
  offset += 1000
  const later = await created('ended')
  assertActive(await introspect(later.token))
  assertSuccess(await post('/api/user/end-sessions', { user_group_id: 'ended' }))
  for (const { token } of [later, others]) assertInactive(await introspect(token))
})

test('a revoked session is over, and no other', async () => {
  await group('revoked')
  const [revoked, kept] = [await created('revoked'), await created('revoked')]
  const revoke = (token: string) =>
    sendIntrospection(app.origin, {
      ...{ path: '/oauth2/revoke', token: apiToken },
      body: new URLSearchParams({ token }).toString(),
    })
  assert.equal((await revoke(revoked.token)).status, 200)
  assertInactive(await introspect(revoked.token))
  assertActive(await introspect(kept.token))
  assert.equal((await revoke(`${kept.token}x`)).status, 200)
  assertActive(await introspect(kept.token))
})

test('suspension and deletion make sessions inactive, and their end active again', async () => {
  const { team_id } = await group('suspended')
  const { token } = await created('suspended')
  const manage = (path: string, method = 'POST') =>
    sendRequest(app.origin, { method, path: `/admin/v1${path}`, token: apiToken })
  assertSuccess(await manage(`/user-groups/${team_id}/suspend`))
  assertInactive(await introspect(token))
  assertSuccess(await manage(`/user-groups/${team_id}/resume`))
  assertActive(await introspect(token))
  assertSuccess(await manage(`/user-groups/${team_id}`, 'DELETE'))
  assertInactive(await introspect(token))
  assertSuccess(await manage(`/deleted-user-groups/${team_id}/restore`))
  assertActive(await introspect(token))
})

test('rotation ends no session', async () => {
  const { token: current_token } = await group('rotated')
  const { token } = await created('rotated')
  assertSuccess(await api.post({ current_token }))
  assertActive(await introspect(token))
})

test('a leaked session can be looked up, and its viewer stopped', async () => {
  await group('leaked')
  const [{ token, session_id }, second] = [await created('leaked'), await created('leaked')]
  const report = async (body: object) =>
    assertSuccess(await post('/admin/v1/leaked-tokens', body)) as unknown as Record<string, unknown>
  const found = await report({ token })
  assert.deepEqual(
    [found.kind, found.works, found.viewer_id, found.session_id, found.ended],
    ['viewer_session', true, 'u-7', session_id, false],
  )
  assert.equal((await report({ token, rotate: true })).ended, true)
  for (const leaked of [token, second.token]) assertInactive(await introspect(leaked))
  assert.equal((await report({ token })).works, false)
  assert.equal((await report({ token: `${token}x` })).kind, 'unknown')
})

test('a leaked session of a suspended user group stays over when the suspension ends', async () => {
  const { team_id } = await group('leaked and suspended')
  const { token } = await created('leaked and suspended')
  const manage = (path: string) =>
    sendRequest(app.origin, {
      method: 'POST',
      path: `/admin/v1/user-groups/${team_id}/${path}`,
      token: apiToken,
    })
  const report = async () => {
    const body = { token, rotate: true }
    return assertSuccess(await post('/admin/v1/leaked-tokens', body)) as unknown as Record<string, unknown>
  }
  assertSuccess(await manage('suspend'))
  const { works, ended } = await report()
  assert.deepEqual([works, ended], [false, true])
  assert.equal((await report()).ended, false)
  assertSuccess(await manage('resume'))
  assertInactive(await introspect(token))
})

test('a leaked session of a deleted user group is unknown', async () => {
  const { team_id } = await group('leaked and deleted')
  const { token } = await created('leaked and deleted')
  const path = `/admin/v1/user-groups/${team_id}`
  assertSuccess(await sendRequest(app.origin, { method: 'DELETE', path, token: apiToken }))
  const report = await post('/admin/v1/leaked-tokens', { token, rotate: true })
  assert.deepEqual(report.body, { success: 1, kind: 'unknown', works: false })
})

test('an operator views as a user group for 5 minutes, which is in the audit log', async () => {
  const { team_id } = await group('viewed')
  const path = `/admin/v1/user-groups/${team_id}/view-as`
  const response = await sendRequest(app.origin, { method: 'POST', path, token: apiToken })
  const { url } = assertSuccess(response) as unknown as { url: string }
  assert.ok(url.startsWith('https://app.example.com/dashboards#session=eyJ'))
  const claims = assertActive(await introspect(url.split('=')[1] ?? '')) as unknown as Record<string, unknown>
  assert.deepEqual(claims.viewer, { id: 'support:test', support: true })
  assert.equal(Number(claims.exp) - Number(claims.iat), 300)
  const events = await app.store.audit.list({
    ...{ workspaceId: 1, environment: 'Customer', teamId: team_id, since: 0, limit: 1 },
    beforeEventId: 'ffffffff-ffff-ffff-ffff-ffffffffffff',
  })
  assert.deepEqual(
    events.map(({ action, details, userGroup }) => [action, details, userGroup?.providedId]),
    [
      [
        'user_group.viewed_as',
        JSON.stringify({ viewer_id: 'support:test', session_id: claims.jti }),
        'viewed',
      ],
    ],
  )
})

test('a long name of an operator is cut between characters', async () => {
  const { team_id } = await group('viewed by a long name')
  const operator = await post('/admin/v1/api-tokens', { name: '😀'.repeat(255), scopes: ['admin'] })
  const { token } = operator.body as { token: string }
  const path = `/admin/v1/user-groups/${team_id}/view-as`
  const response = await sendRequest(app.origin, { method: 'POST', path, token })
  const { url } = assertSuccess(response) as unknown as { url: string }
  assert.equal(payloadOf(url.split('=')[1] ?? '').viewer_id, `support:${'😀'.repeat(247)}`)
})

test('without UGS_DASHBOARD_URL, nobody views as a user group', async (t) => {
  const other = await startApp(t, clock)
  const token = await other.createApiToken(undefined, ['write', 'admin'])
  const { team_id } = userGroupIn(await userApi(other.origin, token).get({ user_group_id: 'a', name: 'A' }))
  const path = `/admin/v1/user-groups/${team_id}/view-as`
  const { message } = assertFault(
    await sendRequest(other.origin, { method: 'POST', path, token }),
    'not_implemented',
  )
  assert.match(message, /UGS_DASHBOARD_URL/)
})

test('the key set verifies sessions, and says nothing about other workspaces', async () => {
  const keySet = (path: string) => sendRequest(app.origin, { method: 'GET', path })
  const response = await keySet('/jwks/1/customer.json')
  assert.equal(response.headers['cache-control'], 'public, max-age=300')
  const { keys } = response.body as { keys: Record<string, string>[] }
  assert.equal(keys.length, 1)
  assert.deepEqual(Object.keys(keys[0] ?? {}).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
  for (const path of ['/jwks/1/testing.json', '/jwks/999/customer.json'])
    assert.equal((await keySet(path)).text, '{"keys":[]}')
  for (const path of [
    '/jwks/0/customer.json',
    '/jwks/1/Customer.json',
    '/jwks/1/customer',
    '/jwks/1/other.json',
  ])
    assertFault(await keySet(path), 'not_found')
})
