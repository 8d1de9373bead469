import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken } from '../support/command.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { responseTo, requestText } from '../support/raw-connection.ts'
import { startService } from '../support/service.ts'
import {
  assertCommonHeaders,
  assertFault,
  assertSuccess,
  errorCodes,
  tokenIn,
  userApi,
  type ErrorCode,
} from '../support/user-api.ts'

const service = await startService({ after })
const token = service.tokens.Testing
const api = userApi(service.origin, token)
const reader = userApi(service.origin, await createApiToken(service, 'Testing', '--scopes', 'read'))

const body = { user_group_id: 'known', name: 'Name' }
const override = (method: string) => ({ 'x-http-method-override': method })
const raw = (...headers: string[]) => responseTo(service.origin, requestText({ token, headers }))

const superseded = tokenIn(await api.get(body))
const rotated = tokenIn(await api.post({ current_token: superseded }, { 'idempotency-key': 'used' }))

/** One request per error that a single request can cause, with the paths of its `fields`. */
const failures: { code: ErrorCode; paths?: string[]; send: () => Promise<HttpResponse> }[] = [
  { code: 'malformed_request', send: () => responseTo(service.origin, 'broken\r\n\r\n') },
  { code: 'malformed_json', send: () => api.get('{') },
  { code: 'malformed_json', paths: ['/name'], send: () => api.get('{"name":1,"name":1}') },
  { code: 'body_required', send: () => api.get() },
  { code: 'validation_failed', paths: ['/user_group_id'], send: () => api.put({ user_group_id: 1 }) },
  { code: 'name_required', paths: ['/name'], send: () => api.get({ user_group_id: 'unknown' }) },
  { code: 'invalid_method_override', send: () => api.post(body, override('DELETE')) },
  {
    code: 'invalid_idempotency_key',
    send: () => api.post({ current_token: '' }, { 'idempotency-key': 'a b' }),
  },
  { code: 'unauthenticated', send: () => userApi(service.origin).get(body) },
  { code: 'forbidden', send: () => reader.put(body) },
  { code: 'user_group_not_found', send: () => api.put({ user_group_id: 'unknown' }) },
  { code: 'token_not_found', send: () => api.post({ current_token: 'unknown' }) },
  { code: 'not_found', send: () => sendRequest(service.origin, { path: '/nothing', token, body }) },
  { code: 'method_not_allowed', send: () => sendRequest(service.origin, { method: 'DELETE', token, body }) },
  { code: 'token_superseded', send: () => api.post({ current_token: superseded }) },
  { code: 'body_too_large', send: () => api.get(Buffer.alloc(1024 * 1024 + 1, ' ')) },
  { code: 'unsupported_media_type', send: () => api.get(body, { 'content-type': 'text/plain' }) },
  {
    code: 'idempotency_key_reused',
    send: () => api.post({ current_token: rotated }, { 'idempotency-key': 'used' }),
  },
  { code: 'headers_too_large', send: () => raw(`X-Header: ${'x'.repeat(20_000)}`) },
  { code: 'not_implemented', send: () => raw('Transfer-Encoding: gzip, chunked') },
]
for (const { code, paths = [], send } of failures) {
  test(`the error ${code}${paths.length > 0 ? ' of a field' : ''} has its status and the format of all errors`, async () => {
    const response = await send()
    assertFault(response, code, paths)
    assert.equal(Number(response.headers['content-length']), Buffer.byteLength(response.text))
  })
}

const successes: Record<string, { send: () => Promise<HttpResponse>; keys: string[]; groupKeys: string[] }> =
  {
    GET: {
      send: () => api.get(body),
      keys: ['new_user_group', 'success', 'user_group'],
      groupKeys: ['name', 'properties', 'provided_id', 'team_id', 'token'],
    },
    'POST as GET': {
      send: () => api.post(body, override('GET')),
      keys: ['new_user_group', 'success', 'user_group'],
      groupKeys: ['name', 'properties', 'provided_id', 'team_id', 'token'],
    },
    PUT: {
      send: () => api.put(body),
      keys: ['new_user_group', 'success', 'user_group'],
      groupKeys: ['api_environment_tag', 'name', 'properties', 'provided_id', 'team_id', 'token'],
    },
    'POST as PUT': {
      send: () => api.post(body, override('PUT')),
      keys: ['new_user_group', 'success', 'user_group'],
      groupKeys: ['api_environment_tag', 'name', 'properties', 'provided_id', 'team_id', 'token'],
    },
    POST: {
      send: async () => api.post({ current_token: tokenIn(await api.get(body)) }),
      keys: ['success', 'user_group'],
      groupKeys: ['api_environment_tag', 'name', 'provided_id', 'team_id', 'token'],
    },
  }
for (const [title, { send, keys, groupKeys }] of Object.entries(successes)) {
  test(`${title} returns exactly its keys, and success as the number 1`, async () => {
    const response = await send()
    const { user_group, ...rest } = assertSuccess(response)
    assert.deepEqual(Object.keys({ ...rest, user_group }).sort(), keys)
    assert.deepEqual(Object.keys(user_group).sort(), groupKeys)
    assert.match(response.text, /"success":1[,}]/)
    assert.equal(typeof user_group.team_id, 'number')
    for (const text of [user_group.token, user_group.name, user_group.provided_id]) {
      assert.equal(typeof text, 'string')
    }
    if (keys.includes('new_user_group')) assert.equal(rest.new_user_group, false)
    if (groupKeys.includes('properties')) assert.equal(user_group.properties, null)
    assert.equal(Number(response.headers['content-length']), Buffer.byteLength(response.text))
  })
}

test('an error has success as the number 0', async () => {
  for (const response of [await api.get(), await userApi(service.origin).get(body), await api.post({})]) {
    assert.match(response.text, /"success":0[,}]/)
  }
})

test('every response has its own request id', async () => {
  const senders = [...Object.values(successes), ...failures].map(({ send }) => send)
  const ids: (string | undefined)[] = []
  for (const send of [...senders, ...senders]) ids.push((await send()).headers['x-request-id'])
  assert.ok(ids.every((id) => id !== undefined && id !== ''))
  assert.equal(new Set(ids).size, ids.length)
})

test('no response allows access to pages of other origins', async () => {
  const headers = { origin: 'https://page.example', cookie: 'a=b' }
  const preflight = {
    ...headers,
    'access-control-request-method': 'PUT',
    'access-control-request-headers': 'authorization,content-type',
  }
  for (const path of ['/api/user', '/healthz', '/readyz', '/openapi.json', '/nothing']) {
    for (const response of [
      await sendRequest(service.origin, { path, token, body, headers }),
      await sendRequest(service.origin, { path, headers }),
      await sendRequest(service.origin, { path, method: 'OPTIONS', headers: preflight }),
    ]) {
      assertCommonHeaders(response)
      assert.ok(!('set-cookie' in response.headers))
    }
    const response = await sendRequest(service.origin, { path, method: 'OPTIONS', headers: preflight })
    assertFault(response, path === '/nothing' ? 'not_found' : 'method_not_allowed')
  }
})

test('the API reference lists every error code', async () => {
  const document = (await sendRequest(service.origin, { path: '/openapi.json' })).body as {
    components: {
      schemas: { ErrorResponse: { properties: { error: { properties: { code: { enum: string[] } } } } } }
    }
  }
  const listed = document.components.schemas.ErrorResponse.properties.error.properties.code.enum
  for (const code of [...errorCodes, 'internal']) assert.ok(listed.includes(code), code)
})
