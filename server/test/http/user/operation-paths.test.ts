import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken } from '../../support/command.ts'
import { sendRequest } from '../../support/http.ts'
import { responseTo, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../../support/user-api.ts'

const service = await startService({ after })
const token = service.tokens.Testing
const api = userApi(service.origin, token)

const paths = ['/api/user/get-or-create', '/api/user/update', '/api/user/rotate-token'] as const
const post = (path: (typeof paths)[number], body: unknown, headers: Record<string, string> = {}) =>
  sendRequest(service.origin, { method: 'POST', path, token, headers, body })

test('get-or-create is the operation of GET', async () => {
  const body = { user_group_id: 'created', name: 'Name', properties: { a: 1 } }
  const created = assertSuccess(await post('/api/user/get-or-create', body))
  assert.equal(created.new_user_group, true)
  assert.equal((await api.get(body)).text, (await post('/api/user/get-or-create', body)).text)
  assertFault(await post('/api/user/get-or-create', { user_group_id: 'nobody' }), 'name_required', ['/name'])
  const reader = await createApiToken(service, 'Testing', '--scopes', 'read')
  const read = { method: 'POST', path: '/api/user/get-or-create', token: reader }
  assertSuccess(await sendRequest(service.origin, { ...read, body }))
  assertFault(await sendRequest(service.origin, { ...read, body: { ...body, name: 'New' } }), 'forbidden')
})

test('update is the operation of PUT', async () => {
  const body = { user_group_id: 'updated', name: 'New' }
  assertFault(await post('/api/user/update', body), 'user_group_not_found')
  await api.get({ ...body, name: 'Old' })
  const updated = assertSuccess(await post('/api/user/update', body))
  assert.deepEqual([updated.new_user_group, updated.user_group.name], [false, 'New'])
  assert.equal((await api.put(body)).text, (await post('/api/user/update', body)).text)
})

test('rotate-token is the operation of POST, with its idempotency key', async () => {
  const current_token = tokenIn(await api.get({ user_group_id: 'rotated', name: 'Name' }))
  const key = { 'idempotency-key': 'first' }
  const rotated = await post('/api/user/rotate-token', { current_token }, key)
  assert.notEqual(tokenIn(rotated), current_token)
  assert.equal(assertSuccess(rotated).user_group.api_environment_tag, 'Testing')
  // The path is another spelling of the operation, so the key covers both.
  assert.equal((await api.post({ current_token }, key)).text, rotated.text)
  assertFault(await post('/api/user/rotate-token', { current_token }), 'token_superseded')
})

test('the method override is ignored', async () => {
  const body = { user_group_id: 'override', name: 'Name' }
  const override = { 'x-http-method-override': 'PUT' }
  assert.equal(assertSuccess(await post('/api/user/get-or-create', body, override)).new_user_group, true)
  const nonsense = { 'x-http-method-override': 'nonsense' }
  assertFault(await post('/api/user/rotate-token', { current_token: 'x' }, nonsense), 'token_not_found')
})

for (const path of paths) {
  test(`${path} has no other methods`, async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await sendRequest(service.origin, {
        method,
        path,
        token,
        body: { user_group_id: 'x' },
      })
      assertFault(response, 'method_not_allowed')
      assert.equal(response.headers.allow, 'POST')
    }
    const unknown = await responseTo(
      service.origin,
      requestText({ method: 'FETCH', path, token, body: '{}' }),
    )
    assertFault(unknown, 'method_not_allowed')
    assert.equal(unknown.headers.allow, 'POST')
  })

  test(`${path} checks the API token, the media type and the body`, async () => {
    const stranger = await sendRequest(service.origin, { method: 'POST', path, body: {} })
    assertFault(stranger, 'unauthenticated')
    assert.equal(stranger.headers['www-authenticate'], 'Token')
    assertFault(await post(path, '{}', { 'content-type': 'text/plain' }), 'unsupported_media_type')
    assertFault(await post(path, undefined), 'body_required')
    assertFault(await post(path, '{'), 'malformed_json')
    assert.equal((await post(path, { unknown: 1 })).status, 400)
    const slash = await sendRequest(service.origin, {
      method: 'POST',
      path: `${path}/?x=1`,
      token,
      body: '{',
    })
    assertFault(slash, 'malformed_json')
  })
}

test('a GET that a client turned into a POST gets an error that says so', async () => {
  for (const path of ['/api/user', '/api/user/rotate-token']) {
    for (const body of [
      { user_group_id: 'lost', name: 'Name' },
      { user_group_id: 1, x: 1 },
    ]) {
      const response = await sendRequest(service.origin, { method: 'POST', path, token, body })
      const { message } = assertFault(response, 'validation_failed', ['/current_token'])
      assert.match(message, /GET .*into a POST.*X-HTTP-Method-Override: GET/)
    }
  }
  assertFault(await api.put({ user_group_id: 'lost' }), 'user_group_not_found')
})
