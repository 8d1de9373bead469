import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sendRequest } from '../../support/http.ts'
import { responseTo, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import {
  assertCommonHeaders,
  assertFault,
  assertSuccess,
  tokenIn,
  userApi,
  userGroupIn,
} from '../../support/user-api.ts'

const service = await startService({ after })
const token = service.tokens.Testing
const api = userApi(service.origin, token)
const body = { user_group_id: 'known', name: 'Name' }
const group = userGroupIn(await api.get(body))

for (const method of [
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'MKCOL',
  'LOCK',
  'REPORT',
  'PURGE',
  'LINK',
  'SEARCH',
  'M-SEARCH',
]) {
  test(`${method} is 405 with Allow`, async () => {
    for (const path of ['/api/user', '/api/user/', '/api/user?x=1']) {
      for (const sent of [body, undefined]) {
        const response = await sendRequest(service.origin, { method, path, token, body: sent })
        assertFault(response, 'method_not_allowed')
        assert.equal(response.headers.allow, 'GET, POST, PUT')
      }
    }
    assert.deepEqual(userGroupIn(await api.get({ user_group_id: 'known' })), group)
  })
}

test('HEAD is 405 too, without a body', async () => {
  for (const sent of [JSON.stringify(body), '']) {
    const request = requestText({ method: 'HEAD', token, headers: ['Connection: close'], body: sent })
    const response = await responseTo(service.origin, request, 'HEAD')
    assert.equal(response.status, 405)
    assert.equal(response.headers.allow, 'GET, POST, PUT')
    assertCommonHeaders(response)
  }
})

test('an unknown method is 405 too', async () => {
  for (const method of ['FETCH', 'get', 'X-Y']) {
    const response = await responseTo(
      service.origin,
      requestText({ method, token, body: JSON.stringify(body) }),
    )
    assertFault(response, 'method_not_allowed')
    assert.equal(response.headers.allow, 'GET, POST, PUT')
  }
})

test('CONNECT is 405', async () => {
  for (const path of ['/api/user', 'localhost:443']) {
    assertFault(
      await responseTo(service.origin, requestText({ method: 'CONNECT', path, token })),
      'method_not_allowed',
    )
  }
})

for (const path of [
  '/api/user/',
  '/api/user?',
  '/api/user?x=1&y',
  '/api/user/?x=1',
  '/api/user?user_group_id=other&name=Other&method=PUT&_method=DELETE',
  '/api/user?a=/b/',
]) {
  test(`${path} is the same path, without a redirect, and its query is ignored`, async () => {
    const got = await sendRequest(service.origin, { path, token, body })
    assert.deepEqual(assertSuccess(got), { success: 1, new_user_group: false, user_group: group })
    const put = await sendRequest(service.origin, { path, token, method: 'PUT', body })
    assert.equal(userGroupIn(put).provided_id, 'known')
    const unknown = { current_token: 'unknown' }
    assertFault(
      await sendRequest(service.origin, { path, token, method: 'POST', body: unknown }),
      'token_not_found',
    )
  })
}

test('a target in the absolute form is the same path', async () => {
  const path = `${service.origin}/api/user`
  assert.equal(
    tokenIn(await responseTo(service.origin, requestText({ path, token, body: JSON.stringify(body) }))),
    group.token,
  )
})

for (const path of [
  '/',
  '/api',
  '/api/',
  '/api/users',
  '/api/user/known',
  '/api/user/x/',
  '/API/USER',
  '/api/User',
  '/user',
  '/v1/api/user',
  '/api/user%2f',
  '/api/user;x=1',
  '/api//user',
  '/favicon.ico',
  '/.env',
  '/?x=/api/user',
]) {
  test(`${path} is 404, for every method and client`, async () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
      assertFault(await sendRequest(service.origin, { method, path, token, body }), 'not_found')
      assertFault(await sendRequest(service.origin, { method, path }), 'not_found')
    }
  })
}

test('a path that cannot be decoded gets an error in the common format that does not repeat the path', async () => {
  for (const path of ['/%', '/api/user%', '/api/%zz', '/%c3%28', '/%00']) {
    const response = await sendRequest(service.origin, { path: `${path}?${token}`, token, body })
    assert.ok(response.status === 400 || response.status === 404, response.text)
    assertFault(response, response.status === 400 ? 'malformed_request' : 'not_found')
  }
})

test('a path similar to an existing one is 404', async () => {
  for (const path of [
    '/openapiXjson',
    '/api/userX',
    '/Xapi/user',
    '/admin/v1/user-groups/1/view/more',
    '/admin/v1',
  ])
    assertFault(await sendRequest(service.origin, { method: 'GET', path, token }), 'not_found')
})
