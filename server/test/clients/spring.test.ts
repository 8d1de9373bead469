import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiToken } from '../support/command.ts'
import { sendRequest } from '../support/http.ts'
import { introspectionPath } from '../support/introspection.ts'
import { startService } from '../support/service.ts'
import { tokenIn, userApi } from '../support/user-api.ts'

// Spring Security's SpringOpaqueTokenIntrospector, as its source sends it: Basic of the plain client id and secret, a charset in the
// Content-Type of the form, and a response that must be JSON.
test('a form client such as Spring Security introspects', async (t) => {
  const service = await startService(t)
  const secret = await createApiToken(service, 'Testing', '--scopes', 'introspect')
  const api = userApi(service.origin, service.tokens.Testing)
  const token = tokenIn(await api.get({ user_group_id: 'customer-42', name: 'Name' }))
  const introspect = async (sent: string, clientSecret = secret) => {
    const response = await sendRequest(service.origin, {
      method: 'POST',
      path: introspectionPath,
      headers: {
        accept: 'application/json, application/*+json',
        'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
        authorization: `Basic ${Buffer.from(`renderer:${clientSecret}`).toString('base64')}`,
      },
      body: `token=${encodeURIComponent(sent)}`,
    })
    assert.equal(response.headers['content-type'], 'application/json')
    return { status: response.status, claims: response.body as { active?: boolean; sub?: string } }
  }

  const { status, claims } = await introspect(token)
  assert.deepEqual([status, claims.active, claims.sub], [200, true, 'customer-42'])
  assert.deepEqual(await introspect('forged'), { status: 200, claims: { active: false } })
  assert.equal((await introspect(token, 'wrong')).status, 401)
})
