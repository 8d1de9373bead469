import assert from 'node:assert/strict'
import { after, describe, it, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { adminApi } from '../support/admin-api.ts'
import { startApp } from '../support/app.ts'
import { createApiToken, runCommand } from '../support/command.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { assertOAuthFault, introspector } from '../support/introspection.ts'
import { startReplicas } from '../support/replicas.ts'
import { startService } from '../support/service.ts'
import { assertFault, userApi } from '../support/user-api.ts'

const time = { now: Date.parse('2030-01-01T00:00:00Z') }
const clock = { now: () => time.now, monotonic: () => time.now }
const app = await startApp({ after }, clock, { perSecond: 2, burst: 5 })
const body = { user_group_id: 'x', name: 'Name' }
const write = ['write'] as const

const times = async (count: number, work: () => Promise<HttpResponse>) => {
  const responses: HttpResponse[] = []
  for (let i = 0; i < count; i++) responses.push(await work())
  return responses
}
const statuses = (responses: readonly HttpResponse[]) => responses.map(({ status }) => status)
const headersOf = ({ headers }: HttpResponse) =>
  ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => headers[name])

test('responses have the remaining requests, and a 429 has the time to wait', async () => {
  const api = userApi(app.origin, await app.createApiToken(undefined, write))
  const responses = await times(6, () => api.get(body))
  assert.deepEqual(responses.map(headersOf), [
    ...[4, 3, 2, 1].map((left) => [
      `"api-token";q=5;w=3`,
      `"api-token";r=${left};t=${left > 2 ? 1 : 2}`,
      undefined,
    ]),
    ['"api-token";q=5;w=3', '"api-token";r=0;t=3', undefined],
    ['"api-token";q=5;w=3', '"api-token";r=0;t=3', '1'],
  ])
  const refused = responses[5] as HttpResponse
  assert.equal(refused.status, 429)
  assertFault(refused, 'rate_limited')
  assert.match(refused.text, /is allowed 2 requests per second, in bursts of up to 5. Retry in 1 s/)
  time.now += 500
  assert.deepEqual(statuses(await times(2, () => api.get(body))), [200, 429])
})

test('a refused request changes nothing', async () => {
  const token = await app.createApiToken(undefined, write)
  const api = userApi(app.origin, token)
  await times(5, () => api.get(body))
  assertFault(await api.put({ ...body, name: 'Other' }), 'rate_limited')
  assertFault(await api.get({ user_group_id: 'new', name: 'New' }), 'rate_limited')
  time.now += 60_000
  assert.match((await api.get({ user_group_id: 'x' })).text, /"name":"Name"/)
  assert.match((await api.get({ user_group_id: 'new' })).text, /"name_required"/)
})

test('each API token has its own limit, and invalid ones have none', async () => {
  const [one, other] = [
    userApi(app.origin, await app.createApiToken(undefined, write)),
    userApi(app.origin, await app.createApiToken(undefined, write)),
  ]
  assert.deepEqual(statuses(await times(6, () => one.get(body))), [200, 200, 200, 200, 200, 429])
  assert.equal((await other.get(body)).status, 200)
  const wrong = await times(9, () => userApi(app.origin, 'wrong').get(body))
  for (const response of wrong) {
    assertFault(response, 'unauthenticated')
    assert.deepEqual(headersOf(response), [undefined, undefined, undefined])
  }
})

describe('the rate limit counts requests', () => {
  const kinds: Record<
    string,
    [scope: 'write' | 'introspect' | 'admin', work: (token: string) => Promise<HttpResponse>]
  > = {
    'of /api/user': ['write', (token) => userApi(app.origin, token).get(body)],
    'of introspection': ['introspect', (token) => introspector(app.origin, token)('ugt_customer_unknown')],
    'of management': ['admin', (token) => adminApi(app.origin, token).listApiTokens()],
    'that are not valid': ['write', (token) => userApi(app.origin, token).get({ user_group_id: 5 })],
    'that the API token lacks the scope for': ['introspect', (token) => userApi(app.origin, token).get(body)],
  }
  for (const [title, [scope, work]] of Object.entries(kinds)) {
    it(title, async () => {
      const token = await app.createApiToken(undefined, [scope])
      const responses = await times(6, () => work(token))
      assert.deepEqual(
        responses.map(({ status }) => status === 429),
        [false, false, false, false, false, true],
      )
      const assertRefusal = title === 'of introspection' ? assertOAuthFault : assertFault
      assertRefusal(responses[5] as HttpResponse, 'rate_limited')
    })
  }

  it('except those that need no API token', async () => {
    for (const response of await times(9, () => sendRequest(app.origin, { path: '/healthz' })))
      assert.equal(response.status, 200)
  })
})

test('a limit that the operator sets for an API token applies to a running service', async (t) => {
  const service = await startService(t, { UGS_API_TOKEN_CACHE_MS: '0', UGS_RATE_LIMIT: 'off' })
  const token = await createApiToken(service, 'Testing', '--rate-limit', '1:3')
  const api = userApi(service.origin, token)
  const [first] = await times(3, () => api.get(body))
  assert.equal(first?.headers['ratelimit-policy'], '"api-token";q=3;w=3')
  await times(3, () => api.get(body))
  const line =
    /"level":40,"time":\d+,"api_token_id":\d+,"workspace_id":1,"environment":"Testing","msg":"an API token exceeds/g
  await service.logged('an API token exceeds its rate limit')
  assert.equal(service.stderr().match(line)?.length, 1)
  assert.ok(!service.stderr().includes(token))
  const all = JSON.parse(await runCommand(service, 'api-token', 'list', '--json')) as {
    id: number
    rate_limit: string | null
  }[]
  const id = String(all.at(-1)?.id)
  assert.equal(all.at(-1)?.rate_limit, '1:3')
  await runCommand(service, 'api-token', 'limit', id, '1000')
  assert.equal((await api.get(body)).headers['ratelimit-policy'], '"api-token";q=2000;w=2')
  await runCommand(service, 'api-token', 'limit', id, 'default')
  assert.deepEqual(headersOf(await api.get(body)), [undefined, undefined, undefined])
})

test('a service that stops logs the last refusals too', async (t) => {
  const service = await startService(t, { UGS_RATE_LIMIT: '1:1', UGS_AUTH_FAILURES_PER_MINUTE: '1' })
  const { Testing: valid } = service.tokens
  for (const token of [valid, valid.replace(/.{9}$/, '000000000')])
    for (let refused = 0; refused < 3;)
      if ((await userApi(service.origin, token).get(body)).status === 429) refused++
  assert.equal(await service.stop(), 0)
  const lines = service.stderr().trim().split('\n')
  for (const message of ['an API token exceeds its rate limit', 'too many failed authentications']) {
    const logged = lines.filter((line) => line.includes(message))
    assert.deepEqual(
      logged.map((line) => (JSON.parse(line) as { suppressed?: number }).suppressed),
      [undefined, 1],
    )
  }
})

test('replicas share the limit, within the documented bound', async (t) => {
  // A busy machine sends more requests than this too.
  const limit = { perSecond: 5, burst: 10 }
  const { all, token } = await startReplicas(t, 3, { UGS_RATE_LIMIT: '5:10' })
  const [one, ...others] = all.map(({ service }) => userApi(service.origin, token))
  assert.ok(one)
  const until = async (ms: number, work: () => Promise<HttpResponse>) => {
    const responses: HttpResponse[] = []
    for (const end = performance.now() + ms; performance.now() < end;) {
      responses.push(await work())
      await sleep(5)
    }
    return responses
  }
  const from = performance.now()
  const responses = (
    await Promise.all(
      [one, ...others].map((api) => until(4000, () => api.get({ user_group_id: 'x', name: 'Name' }))),
    )
  ).flat()
  const seconds = (performance.now() - from) / 1000
  const passed = responses.filter(({ status }) => status === 200).length
  assert.deepEqual(new Set(statuses(responses)), new Set([200, 429]))
  // Sharing takes a second and the time of a statement. The test allows two seconds for a busy machine.
  const bound = limit.perSecond * seconds + limit.burst + 2 * (limit.burst + limit.perSecond * 2)
  assert.ok(passed <= bound, `${passed} > ${bound}`)
  // Without sharing, each replica would allow the whole limit.
  assert.ok(passed < 3 * (limit.perSecond * seconds + limit.burst), String(passed))
})
