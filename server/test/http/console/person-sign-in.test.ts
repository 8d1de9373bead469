import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, beforeEach, describe, test, type TestContext } from 'node:test'
import type { RateLimit } from '../../../src/domain/api-token/rate-limit.ts'
import { parseRoles } from '../../../src/domain/person/roles.ts'
import { systemClock } from '../../../src/domain/util/clock.ts'
import { maxSessionsOfEnvironment } from '../../../src/http/console/console-session.ts'
import { startApp } from '../../support/app.ts'
import { sessionPath, signingIn } from '../../support/console.ts'
import { sendRequest } from '../../support/http.ts'
import { clientId, clientSecret, startProvider } from '../../support/identity-provider.ts'
import { assertFault } from '../../support/user-api.ts'
import { actor } from '../../store/contract/store-fixtures.ts'

const provider = await startProvider({ after })
const rule = (value: string, environments: string[], role: string, workspace = 'default') => ({
  ...{ value, workspace, environments, role },
})
const places = Array.from({ length: maxSessionsOfEnvironment + 1 }, (_, i) => `place ${i}`)
const rules = [
  rule('admins', ['Customer', 'Testing'], 'admin'),
  rule('support', ['Customer'], 'support'),
  rule('watchers', ['Customer', 'Testing'], 'observe'),
  rule('lost', ['Customer'], 'observe', 'nowhere'),
  rule('testers', ['Testing'], 'support'),
  rule('guests', ['Customer'], 'observe', 'second'),
  ...places.map((place) => rule('everywhere', ['Customer'], 'observe', place)),
]
const settings = {
  issuer: provider.issuer,
  ...{ clientId, clientSecret },
  roles: parseRoles(JSON.stringify({ claim: 'groups', rules })),
}
const publicUrl = 'https://ugs.example.com'
const people = { provider: settings, allowsTokenSignIn: false }
const { origin, createApiToken, store } = await startApp(
  { after },
  systemClock,
  null,
  {},
  { publicUrl, people },
)
await store.workspaces.create({ name: 'second', createdAt: 1000, environment: 'Customer', ...actor })

beforeEach(() =>
  Object.assign(provider, { claims: { groups: ['support'] }, answers: {}, isForged: false, isDown: false }),
)

const get = (path: string, headers: Record<string, string> = {}, at = origin) =>
  sendRequest(at, { path, headers })
const cookiesOf = (setCookie: string | string[] = []) =>
  [setCookie]
    .flat()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .filter((cookie) => !cookie.endsWith('='))
    .join('; ')

async function start(query = '', at = origin, sessions = '') {
  const response = await get(`/console/oidc/start${query}`, { cookie: sessions }, at)
  assert.equal(response.status, 302, response.text)
  return { cookie: cookiesOf(response.headers['set-cookie']), url: response.headers.location ?? '', response }
}

/** Signs in as a browser does: it does not send the `SameSite=Strict` cookies of sessions with the redirect from the provider. */
async function enter(query = '', at = origin, sessions = '') {
  const { cookie, url } = await start(query, at, sessions)
  return get(provider.approve(url), { cookie }, at)
}

async function sessionIn(query = '', at = origin) {
  const response = await enter(query, at)
  assert.equal(response.status, 302, response.text)
  assert.match(String(response.headers.location), /^\/console#environment=(Customer|Testing)\.\d+$/)
  const cookie = cookiesOf(response.headers['set-cookie'])
  const who = await get(sessionPath, { cookie }, at)
  const { sessions } = who.body as { sessions: Record<string, unknown>[] }
  return { cookie, session: sessions[0] ?? {}, sessions }
}

/** Starts another service with other settings of the provider. */
async function startOther(
  t: TestContext,
  other: Partial<typeof settings>,
  rateLimit: RateLimit | null = null,
) {
  const people = { provider: { ...settings, ...other }, allowsTokenSignIn: true }
  return (await startApp(t, systemClock, rateLimit, {}, { publicUrl, people })).origin
}

function assertProblem(response: Awaited<ReturnType<typeof get>>, status: number, text: RegExp) {
  assert.equal(response.status, status, response.text)
  assert.match(String(response.headers['content-type']), /^text\/html/)
  assert.match(response.text, text)
  assert.doesNotMatch(String(response.headers['set-cookie']), /ugs_session/)
}

test('a person signs in, and the audit log and the session name them', async () => {
  const { response } = await start()
  assert.match(
    String(response.headers['set-cookie']),
    /^__Host-ugs_oidc=[\w-]+\.; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  )
  provider.claims = { groups: ['support'], name: 'Ada', email: 'ada@example.com' }
  const { cookie, session } = await sessionIn()
  assert.deepEqual(
    [session.person, session.role, session.api_token, session.api_environment_tag],
    [{ id: 'ada', name: 'Ada', email: 'ada@example.com' }, 'support', null, 'Customer'],
  )
  const hours = (Date.parse(String(session.expires_at)) - Date.now()) / 3_600_000
  assert.ok(hours > 7.9 && hours <= 8)
  const refused = await get('/admin/v1/console-sessions', { cookie })
  assert.match(assertFault(refused, 'forbidden').message, /Your role "support" lacks the scope "admin"/)
  const events = (await get('/admin/v1/audit-events', { cookie })).body as {
    audit_events: { author: string; details: object }[]
  }
  const [event] = events.audit_events
  assert.equal(event?.author, 'person:ada')
  assert.deepEqual(event.details, { name: 'Ada', email: 'ada@example.com', role: 'support', rule: 'support' })
})

for (const [groups, role] of [
  [['support', 'admins', 'x'], 'admin'],
  ['watchers', 'observe'],
  [['x', 'watchers', 'support'], 'support'],
] as const)
  test(`the strongest role of ${JSON.stringify(groups)} is ${role}`, async () => {
    provider.claims = { groups }
    assert.equal((await sessionIn('?environment=Customer')).session.role, role)
  })

test('each environment needs its own grant', async () => {
  provider.claims = { groups: ['support', 'watchers'] }
  const { cookie, sessions } = await sessionIn()
  assert.deepEqual(
    sessions.map(({ api_environment_tag, role }) => [api_environment_tag, role]),
    [
      ['Customer', 'support'],
      ['Testing', 'observe'],
    ],
  )
  const suspend = (session?: Record<string, unknown>) => {
    const headers = { cookie, 'x-csrf-token': String(session?.csrf_token) }
    return sendRequest(origin, { method: 'POST', path: '/admin/v1/user-groups/9/suspend', headers })
  }
  assertFault(await suspend(sessions[0]), 'user_group_not_found')
  assert.match(
    assertFault(await suspend(sessions[1]), 'forbidden').message,
    /Your role "observe" lacks the scope "support" or "admin"/,
  )
  provider.claims = { groups: ['support'] }
  assertProblem(await enter('?environment=Testing'), 403, /no role in Testing.*role in: Customer of default/s)
})

test('one sign-in has a session for each workspace, and ends the earlier ones', async () => {
  provider.claims = { groups: ['lost', 'admins', 'guests'] }
  const placesOf = (sessions: readonly Record<string, unknown>[]) =>
    sessions.map(({ workspace, api_environment_tag, role }) => [
      (workspace as { name: string }).name,
      api_environment_tag,
      role,
    ])
  const { cookie, sessions } = await sessionIn('?workspace=second')
  assert.deepEqual(placesOf(sessions), [
    ['default', 'Customer', 'admin'],
    ['second', 'Customer', 'observe'],
    ['default', 'Testing', 'admin'],
  ])
  for (const session of sessions) {
    const headers = { cookie, 'x-csrf-token': String(session.csrf_token) }
    const { workspaces } = (await get('/admin/v1/workspaces', headers)).body as {
      workspaces: { name: string }[]
    }
    assert.deepEqual(workspaces[0]?.name, (session.workspace as { name: string }).name)
  }
  assertProblem(await enter('?workspace=third', origin, cookie), 403, /no role in any environment of third/)
  assert.equal((await get(sessionPath, { cookie })).status, 200)
  assert.equal((await enter('', origin, cookie)).status, 302)
  assertFault(await get(sessionPath, { cookie }), 'unauthenticated')
})

test('a sign-in with more places than a cookie can hold has the one that was asked for, and works', async () => {
  for (const name of places)
    await store.workspaces.create({ name, createdAt: 1000, environment: 'Customer', ...actor })
  provider.claims = { groups: ['everywhere'] }
  const last = places.at(-1) as string
  const { sessions } = await sessionIn(`?workspace=${encodeURIComponent(last)}`)
  assert.equal(sessions.length, maxSessionsOfEnvironment)
  assert.ok(sessions.some(({ workspace }) => (workspace as { name: string }).name === last))
})

test('a sign-in with several roles reads the workspaces once', async (t) => {
  const list = t.mock.method(store.workspaces, 'list')
  provider.claims = { groups: ['admins', 'guests', 'lost'] }
  assert.equal((await enter()).status, 302)
  assert.equal(list.mock.callCount(), 1)
})

test('a sign-in ends the sessions of another person in the browser, also where the new person has no role', async () => {
  provider.claims = { groups: ['admins'] }
  const { cookie } = await sessionIn()
  provider.claims = { sub: 'bob', groups: ['testers'] }
  const response = await enter('', origin, cookie)
  const [, testing, customer] = response.headers['set-cookie'] ?? []
  assert.match(testing ?? '', /^__Host-ugs_session_testing=[\w-]{43}; /)
  assert.equal(customer, '__Host-ugs_session_customer=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict; Secure')
  assertFault(await get(sessionPath, { cookie }), 'unauthenticated')
})

test('the cookie of a sign-in has no secret of a session, and room for as many sessions as a browser has', async () => {
  const secrets = (count: number) =>
    Array.from({ length: count }, () => randomBytes(32).toString('base64url')).join('.')
  const { cookie: own } = await sessionIn()
  const [, secret = ''] = own.split('=')
  const cookie = `__Host-ugs_session_customer=${secrets(15)}.${secret}; __Host-ugs_session_testing=${secrets(16)}`
  const pending = await start('?workspace=default', origin, cookie)
  assert.ok(pending.cookie.length < 2000)
  assert.ok(!Buffer.from(pending.cookie, 'base64url').includes(Buffer.from(secret, 'base64url')))
  const response = await get(provider.approve(pending.url), { cookie: pending.cookie })
  assert.equal(response.status, 302, response.text)
  assertFault(await get(sessionPath, { cookie: own }), 'unauthenticated')
})

test('a name or email that cannot be stored or is too long is shown without the rest', async () => {
  provider.claims = {
    ...{ groups: 'support', name: `A\u0000da${'x'.repeat(1000)}` },
    ...{ email: 'ada@example.com', email_verified: 'false' },
  }
  const { session } = await sessionIn()
  assert.deepEqual(session.person, { id: 'ada', name: `A da${'x'.repeat(251)}`, email: null })
})

test('requests of a person count against the rate limit, in all sessions together', async (t) => {
  const at = await startOther(t, {}, { perSecond: 1, burst: 2 })
  provider.claims = { groups: ['admins'] }
  const { cookie, sessions } = await sessionIn('', at)
  const list = (session?: Record<string, unknown>) =>
    get('/admin/v1/workspaces', { cookie, 'x-csrf-token': String(session?.csrf_token) }, at)
  assert.equal((await list(sessions[0])).headers['ratelimit-policy'], '"person";q=2;w=2')
  assert.equal((await list(sessions[1])).status, 200)
  const refused = await list(sessions[0])
  assert.match(assertFault(refused, 'rate_limited').message, /^A person is allowed 1 requests per second/)
})

describe('a sign-in gets a page that names the mistake', () => {
  for (const [title, claims, status, text] of [
    ['no rule matches', { groups: ['<b>', 'b'] }, 403, /&#34;&#60;b&#62;&#34;, &#34;b&#34;/],
    ['no claim', { groups: undefined }, 403, /no claim &#34;groups&#34;.*It has: iss/],
    ['too many groups', { groups: undefined, _claim_names: { groups: 'x' } }, 403, /too many groups/],
    ['an unknown workspace', { groups: 'lost' }, 403, /workspace &#34;nowhere&#34;/],
    ['a claim of another type', { groups: { a: 1 } }, 403, /no claim &#34;groups&#34; with a text or a list/],
    ['an empty id', { sub: '' }, 403, /&#34;sub&#34;/],
    ['an id with a control character', { sub: 'a\u0000b' }, 403, /&#34;sub&#34;/],
    ['an id that is too long', { sub: 'x'.repeat(256) }, 403, /&#34;sub&#34;.*1 to 255/],
    ['another issuer', { iss: 'https://other.example.com' }, 400, /&#34;iss&#34;/],
    ['another audience', { aud: 'other' }, 400, /&#34;aud&#34;/],
    ['no audience', { aud: undefined }, 400, /not valid/],
    ['another authorized party', { aud: [clientId, 'other'], azp: 'other' }, 400, /&#34;azp&#34;/],
    ['no authorized party of several', { aud: [clientId, 'other'] }, 400, /not valid/],
    ['an expired token', { exp: 1000 }, 400, /&#34;exp&#34;/],
    ['no expiry', { exp: undefined }, 400, /not valid/],
    ['another nonce', { nonce: 'other' }, 400, /&#34;nonce&#34;/],
    ['no nonce', { nonce: undefined }, 400, /not valid/],
    ['no subject', { sub: undefined }, 400, /not valid/],
  ] as const)
    test(title, async () => {
      provider.claims = { ...provider.claims, ...claims }
      assertProblem(await enter(), status, text)
    })

  test('a signature of another key', async () => {
    provider.isForged = true
    assertProblem(await enter(), 400, /not valid/)
  })

  test('a replayed, foreign or missing state, and another issuer in the callback', async () => {
    const { cookie, url } = await start()
    const callback = provider.approve(url)
    assert.equal((await get(callback, { cookie })).status, 302)
    assertProblem(await get(callback, { cookie }), 400, /invalid_grant/)
    assertProblem(await get(callback), 400, /has not started a sign-in/)
    const another = await start()
    assertProblem(await get(provider.approve(another.url), { cookie }), 400, /not valid/)
    const mixed = provider.approve(another.url).replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fother.example.com')
    assertProblem(await get(mixed, { cookie: another.cookie }), 400, /not valid/)
    assertProblem(await get('/console/oidc/callback?error=access_denied', { cookie }), 400, /not valid/)
  })

  test('a provider that is down, while running sessions continue', async () => {
    const { cookie } = await sessionIn()
    const pending = await start()
    provider.isDown = true
    assertProblem(
      await get(provider.approve(pending.url), { cookie: pending.cookie }),
      503,
      /does not respond/,
    )
    assert.equal((await get(sessionPath, { cookie })).status, 200)
    assert.equal((await get('/admin/v1/user-groups', { cookie })).status, 200)
  })

  test('a provider that is down at the first sign-in, which works once it is up again', async (t) => {
    const at = await startOther(t, {})
    provider.isDown = true
    const response = await get('/console/oidc/start', {}, at)
    assertProblem(response, 503, /does not respond.*Running sessions continue/s)
    assert.equal(response.headers['retry-after'], '60')
    provider.isDown = false
    assert.equal((await enter('', at)).status, 302)
  })

  test('an issuer that the provider does not call its own', async (t) => {
    const at = await startOther(t, { issuer: `${provider.issuer}/other` })
    const response = await get('/console/oidc/start', {}, at)
    assertProblem(response, 503, /UGS_OIDC_ISSUER: http:.*does not describe itself/)
  })

  test('a client that the provider refuses', async (t) => {
    const at = await startOther(t, { clientSecret: 'wrong' })
    const response = await enter('', at)
    assertProblem(response, 503, /Check UGS_OIDC_CLIENT_ID and UGS_OIDC_CLIENT_SECRET_FILE/)
    assert.ok(!response.text.includes('wrong'))
  })

  for (const [title, answers, text] of [
    [
      'no authorization endpoint',
      { discovery: { authorization_endpoint: undefined } },
      /authorization_endpoint/,
    ],
    [
      'no ID token',
      { token: [200, { id_token: undefined }] },
      /no ID token.*&#34;scope&#34; in UGS_OIDC_ROLES/,
    ],
    ['no token endpoint', { token: [404, {}] }, /UGS_OIDC_ISSUER:.*status 404/],
    ['no keys', { jwks: [200, { keys: [] }] }, /jwks_uri/],
  ] as const)
    test(title, async (t) => {
      const at = await startOther(t, {})
      provider.answers = answers
      const started = await get('/console/oidc/start', {}, at)
      const { location, 'set-cookie': cookie } = started.headers
      const response =
        location === undefined
          ? started
          : await get(provider.approve(location), { cookie: cookiesOf(cookie) }, at)
      assertProblem(response, 503, text)
    })

  test('a person whom the provider refuses', async () => {
    const { cookie, url } = await start()
    const callback = provider.approve(url).replace(/code=[^&]*/, 'error=access_denied')
    assertProblem(await get(callback, { cookie }), 403, /refused the sign-in.*It says: access_denied/s)
  })

  test('a cookie that no start has set', async () => {
    for (const value of ['null', '1', '{}', '{"state":1,"nonce":"n","verifier":"v"}', '{'])
      assertProblem(
        await get('/console/oidc/callback?code=1', {
          cookie: `__Host-ugs_oidc=${Buffer.from(value).toString('base64url')}.`,
        }),
        400,
        /has not started a sign-in/,
      )
  })
})

test('sign-in by API token can be switched off, and the console is told', async () => {
  assertFault(await signingIn(origin, { api_token: await createApiToken() }), 'forbidden')
  assert.deepEqual((await get('/console/sign-in')).body, { success: 1, oidc: true, api_token: false })
})
