import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { BlockList } from 'node:net'
import { after, describe, it, test } from 'node:test'
import { AuthenticationThrottle } from '../../src/http/authentication-throttle.ts'
import { settings } from '../../src/config/settings.ts'
import { startApp } from '../support/app.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { assertOAuthFault, sendIntrospection } from '../support/introspection.ts'
import { assertFault, userApi } from '../support/user-api.ts'

const time = { now: Date.parse('2030-01-01T00:00:00Z') }
const clock = { now: () => time.now, monotonic: () => time.now }
const lines: [fields: object, message: string][] = []
const logger = { warn: (...line: [object, string]) => void lines.push(line) }
const trustedProxies = settings.UGS_TRUSTED_PROXIES.parse('127.0.0.1')
const app = await startApp({ after }, clock, null, { perMinute: 20, trustedProxies, logger })
const { origin } = app
const valid = await app.createApiToken(undefined, ['write', 'introspect', 'admin'])
const wrong = valid.replace(/.{9}$/, '000000000')
const body = { user_group_id: 'x', name: 'Name' }

let clients = 0
/** Returns the headers with which the requests seem to come from another client. */
const newClient = () => ({ 'x-forwarded-for': `203.0.113.${++clients}` })

async function times(count: number, send: () => Promise<HttpResponse>): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push((await send()).status)
  return statuses
}
const statuses = (...counts: [count: number, status: number][]) =>
  counts.flatMap(([count, status]) => new Array<number>(count).fill(status))

describe('failed authentications beyond the limit get 429', () => {
  type Send = (token: string, headers: Record<string, string>) => Promise<HttpResponse>
  const kinds: Record<string, Send> = {
    'of /api/user': (token, headers) => userApi(origin, token).get(body, headers),
    'of /api/user/': (token, headers) =>
      sendRequest(origin, { path: '/api/user/', method: 'GET', token, headers }),
    'of the management API': (token, headers) =>
      sendRequest(origin, { path: '/admin/v1/api-tokens', token, headers }),
    'of events': (token, headers) => sendRequest(origin, { path: '/events?wait=1', token, headers }),
    'of introspection': (token, headers) =>
      sendIntrospection(origin, {
        headers: { ...headers, authorization: `Bearer ${token}` },
        body: 'token=x',
      }),
    'of introspection with a secret in the form': (token, headers) =>
      sendIntrospection(origin, { headers, body: `token=x&client_secret=${token}` }),
  }
  for (const [title, send] of Object.entries(kinds)) {
    it(title, async () => {
      const client = newClient()
      assert.deepEqual(await times(22, () => send(wrong, client)), statuses([20, 401], [2, 429]))
      const refused = await send(wrong, client)
      if (title.includes('introspection')) assertOAuthFault(refused, 'rate_limited')
      else assertFault(refused, 'rate_limited')
      assert.equal(refused.headers['retry-after'], '3')
      assert.equal(refused.headers['ratelimit-policy'], '"client-address";q=20;w=60')
      assert.equal(refused.headers.ratelimit, '"client-address";r=0;t=60')
      assert.equal(refused.headers['www-authenticate'], undefined)
      assert.ok(!refused.text.includes(wrong))
      // Others behind the same proxy are not locked out, and other clients have their own limit.
      assert.notEqual((await send(valid, client)).status, 429)
      assert.equal((await send(wrong, newClient())).status, 401)
    })
  }
})

test('sign-ins to the console have a tenth of the limit, in a bucket of their own', async () => {
  const signIn = (path: string, body: object, headers: Record<string, string>) =>
    sendRequest(origin, { path: `/console/session${path}`, method: 'POST', body, headers })
  const client = newClient()
  assert.deepEqual(await times(3, () => signIn('', { api_token: wrong }, client)), [401, 401, 429])
  const refused = await signIn('/link', { secret: 'wrong' }, client)
  assertFault(refused, 'rate_limited')
  assert.equal(refused.headers['retry-after'], '30')
  assert.equal((await signIn('', { api_token: valid }, client)).status, 200)
  assert.equal((await userApi(origin, wrong).get(body, client)).status, 401)
})

test('requests without credentials, with an ended session or with a valid API token do not count', async () => {
  const client = newClient()
  const reader = await app.createApiToken(undefined, ['read'])
  const send = () => userApi(origin).get(body, client)
  assert.deepEqual(await times(25, send), statuses([25, 401]))
  await times(25, () => userApi(origin, reader).put(body, client))
  await times(25, () => sendIntrospection(origin, { headers: client, body: 'token=x' }))
  const session = { ...client, cookie: `ugs_session_customer=${'x'.repeat(43)}` }
  await times(25, () => sendRequest(origin, { path: '/console/session', headers: session }))
  await times(25, () => sendRequest(origin, { path: '/admin/v1/api-tokens', headers: session }))
  assert.equal((await userApi(origin, wrong).get(body, client)).status, 401)
})

test('the limit refills within a minute', async () => {
  const client = newClient()
  const send = () => userApi(origin, wrong).get(body, client)
  await times(21, send)
  time.now += 3000
  assert.deepEqual(await times(2, send), [401, 429])
  time.now += 60_000
  assert.deepEqual(await times(21, send), statuses([20, 401], [1, 429]))
})

test('the log has one line for an address, without secrets', async () => {
  const client = newClient()
  const address = client['x-forwarded-for']
  await times(25, () => userApi(origin, wrong).get(body, client))
  const own = lines.filter(([fields]) => 'address' in fields && fields.address === address)
  assert.deepEqual(own, [
    [{ address }, 'too many failed authentications from an address: more of them get 429'],
  ])
})

describe('a throttle', () => {
  const requestFrom = (remoteAddress: string) =>
    ({ socket: { remoteAddress }, headers: {} }) as unknown as IncomingMessage
  const throttleOf = (perMinute: number) =>
    new AuthenticationThrottle({
      perMinute,
      ...{ trustedProxies: new BlockList(), clock, logger },
    })

  it('takes an IPv6 /64 for one client', () => {
    const throttle = throttleOf(2)
    for (let i = 0; i < 2; i++)
      assert.equal(throttle.countFailure(requestFrom(`2001:db8::${i}`), false), null)
    assert.notEqual(throttle.countFailure(requestFrom('2001:db8::9'), false), null)
    assert.equal(throttle.countFailure(requestFrom('2001:db8:0:1::9'), false), null)
    assert.equal(throttle.throttledAddresses, 1)
  })

  it('logs at most 1,000 of many addresses, and then one more', () => {
    const throttle = throttleOf(1)
    const before = lines.length
    for (let i = 0; i < 5000; i++)
      throttle.countFailure(requestFrom(`2001:db8:0:${(i >> 1).toString(16)}::1`), false)
    assert.equal(lines.length - before, 1001)
    assert.equal(throttle.throttledAddresses, 1001)
  })

  it('of 1 allows one sign-in too', () => {
    const throttle = throttleOf(1)
    assert.equal(throttle.countFailure(requestFrom('203.0.113.1'), true), null)
    assert.notEqual(throttle.countFailure(requestFrom('203.0.113.1'), true), null)
  })

  it('of 0 is off', () => {
    const throttle = throttleOf(0)
    for (let i = 0; i < 1000; i++)
      assert.equal(throttle.countFailure(requestFrom('203.0.113.1'), false), null)
  })
})
