import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken } from '../support/command.ts'
import { sendRequest } from '../support/http.ts'
import { kept } from '../support/kept.ts'
import { responsesTo, responseTo, requestText } from '../support/raw-connection.ts'
import { assertNoSecret, randomPartOf, tokenPattern } from '../support/secrets.ts'
import { startService } from '../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../support/user-api.ts'

const service = await startService({ after }, { LOG_LEVEL: 'trace', UGS_ACCESS_LOG: 'full' })
const { Customer, Testing } = service.tokens
const api = userApi(service.origin, Testing)

const reader = await createApiToken(service, 'Testing', '--scopes', 'read')
const current = tokenIn(await api.get({ user_group_id: 'known', name: 'Name', properties: { a: 1 } }))
const rotated = tokenIn(await api.post({ current_token: current, grace_period_seconds: 3600 }))
const withKey = tokenIn(await api.post({ current_token: rotated }, { 'idempotency-key': 'key' }))
const ofCustomer = tokenIn(
  await userApi(service.origin, Customer).get({ user_group_id: 'known', name: 'Name' }),
)
const others = await Promise.all(
  Array.from({ length: 20 }, async (_, i) =>
    tokenIn(await api.get({ user_group_id: `group ${i}`, name: 'Name' })),
  ),
)
const tokens = [Customer, Testing, reader, current, rotated, withKey, ofCustomer, ...others]

/** Requests that fail and contain a token in a wrong place. Where any value is valid, the token would rightly be stored. */
const misplaced: Record<string, (secret: string) => Promise<{ text: string; headers: object }>> = {
  'as an unknown field': (secret) => api.get({ user_group_id: 'x', [secret]: 1 }),
  'in a long unknown field': (secret) => api.get({ user_group_id: 'x', [`${'x'.repeat(30)}${secret}`]: 1 }),
  'as an escaped unknown field': (secret) => api.get(`{"\\u0075${secret.slice(1)}":1}`),
  'as the key of a mapping that is wrong': (secret) =>
    api.get({ user_group_id: 'x', mapping: { [secret]: 1 } }),
  'as the value of a field that is wrong': (secret) =>
    api.put({ user_group_id: [secret], name: { secret }, mapping: secret, properties: secret }),
  'as a duplicate key': (secret) => api.get(`{"properties":{"${secret}":1,"${secret}":2}}`),
  'as the key of a number that is refused': (secret) => api.get(`{"properties":{"${secret}":1e999}}`),
  'next to a lone surrogate': (secret) => api.get(`{"properties":{"${secret}":"${secret}\\ud800"}}`),
  'in what is not JSON': (secret) => api.get(`{"name":"${secret}`),
  'as the body': (secret) => api.post(secret),
  'as a longer current_token': (secret) => api.post({ current_token: `${secret}x` }),
  'in a rotation with a field too many': (secret) => api.post({ current_token: secret, [secret]: secret }),
  'in the path': (secret) => sendRequest(service.origin, { path: `/api/user/${secret}`, token: Testing }),
  'in a path below the docs': (secret) => sendRequest(service.origin, { path: `/docs/static/${secret}` }),
  'in a path that cannot be decoded': (secret) => sendRequest(service.origin, { path: `/%zz/${secret}` }),
  'in the query': (secret) => sendRequest(service.origin, { path: `/api/user?token=${secret}` }),
  'as a Bearer': (secret) => userApi(service.origin).get({}, { authorization: `Bearer ${secret}` }),
  'as a longer API token': (secret) => userApi(service.origin, `${secret}x`).get({}),
  'as the override': (secret) => api.post({}, { 'x-http-method-override': secret }),
  'as an Idempotency-Key that is wrong': (secret) => api.post({}, { 'idempotency-key': `${secret} x` }),
  'as the Content-Type': (secret) => api.get({}, { 'content-type': secret }),
  'as the Content-Encoding': (secret) => api.get({}, { 'content-encoding': secret }),
  'as the Transfer-Encoding': (secret) =>
    responseTo(service.origin, requestText({ token: Testing, headers: [`Transfer-Encoding: ${secret}`] })),
  'as the Host': (secret) => sendRequest(service.origin, { path: '/nothing', headers: { host: secret } }),
  'as the method': (secret) => responseTo(service.origin, requestText({ method: secret, token: Testing })),
  'in a broken request line': (secret) => responseTo(service.origin, `${secret}\r\n\r\n`),
  'in a broken header': (secret) => responseTo(service.origin, `GET / HTTP/1.1\r\n${secret}\r\n\r\n`),
  'in headers that are too large': (secret) =>
    responseTo(service.origin, requestText({ headers: [`X-Header: ${secret.repeat(500)}`] })),
  'as the API token of a forbidden request': (secret) =>
    userApi(service.origin, reader).post({ current_token: secret }),
}
for (const [title, send] of Object.entries(misplaced)) {
  test(`a token sent ${title} is in no part of the response`, async () => {
    // The prefix is the longest part of a token that is not secret.
    for (const secret of [Testing, reader, withKey, current]) {
      const { text, headers } = await send(secret)
      const random = randomPartOf(secret)
      assert.match(text, /"success":0/)
      for (const part of [random.slice(0, 12), random.slice(-12)]) {
        assert.ok(!text.includes(part) && !JSON.stringify(headers).includes(part), text)
      }
    }
  })
}

test('a token sent as Idempotency-Key works as one, and is not stored', async () => {
  const old = others[0] as string
  const key = { 'idempotency-key': old }
  const response = await api.post({ current_token: old }, key)
  tokens.push(tokenIn(response))
  assert.equal((await api.post({ current_token: old }, key)).text, response.text)
  const otherBody = { current_token: old, grace_period_seconds: 1 }
  assertFault(await api.post(otherBody, key), 'idempotency_key_reused')
})

test('interrupted requests leave no token behind', async () => {
  await responsesTo(service.origin, `${requestText({ token: Testing, body: '{}' })}broken ${withKey}\r\n\r\n`)
  const body = Buffer.alloc(1024 * 1024 + 1, withKey)
  assertFault(await api.get(body), 'body_too_large')
  assertSuccess(await api.get({ user_group_id: 'known' }))
})

async function assertNoTokenIsKept(): Promise<void> {
  const all = await kept(service)
  assert.ok([...all.values()].some((bytes) => bytes.includes('known')))
  for (const [where, bytes] of all) assertNoSecret(where, bytes, tokens)
}

test('no file contains a token, while the service runs and afterwards', async () => {
  await assertNoTokenIsKept()
  assert.equal(await service.stop(), 0)
  await assertNoTokenIsKept()
})

test('the most verbose log contains requests, but no token and no stack', () => {
  const log = service.stderr()
  const lines = log
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { msg: string; operation?: string })
  assert.ok(lines.some(({ msg, operation }) => msg === 'request' && operation === 'rotate'))
  assertNoSecret('the log', log, tokens)
  assert.doesNotMatch(log, /ug[at]_(customer|testing)_/)
  assert.doesNotMatch(log, /"stack"|\bat [^"]*:\d+:\d+|node:internal|SqliteError/)
})

test('standard output contains only the tokens of the first start', () => {
  const shown = service.stdout().match(tokenPattern) ?? []
  assert.deepEqual(
    shown.filter((token) => token !== Customer && token !== Testing),
    [],
  )
})
