import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken } from '../../support/command.ts'
import type { HttpResponse } from '../../support/http.ts'
import {
  assertActive,
  assertInactive,
  assertOAuthFault,
  basic,
  introspector,
  revocationPath,
  sendIntrospection,
} from '../../support/introspection.ts'
import { startService } from '../../support/service.ts'
import { unknownToken } from '../../support/tokens.ts'
import { assertCommonHeaders, assertFault, tokenIn, userApi } from '../../support/user-api.ts'

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)
const introspect = introspector(
  service.origin,
  await createApiToken(service, 'Testing', '--scopes', 'introspect'),
)
const create = async (id: string) => tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
const currentToken = async (id: string) => tokenIn(await api.get({ user_group_id: id }))
const post = (body: string, headers: Record<string, string> = {}) =>
  sendIntrospection(service.origin, { path: revocationPath, headers, body })
const authorization = `Token ${service.tokens.Testing}`
const revoke = (token: string) => post(`token=${token}`, { authorization })

function assertRevoked(response: HttpResponse): void {
  assert.deepEqual([response.status, response.text], [200, '{}'])
  assertCommonHeaders(response)
}

test('revocation replaces the token by one that nobody has yet, and GET shows it', async () => {
  const token = await create('revoked')
  assertActive(await introspect(token))
  assertRevoked(await revoke(token))
  assertInactive(await introspect(token))
  assertFault(await api.post({ current_token: token }), 'token_superseded')
  const next = await currentToken('revoked')
  assert.notEqual(next, token)
  assertActive(await introspect(next))
  assertRevoked(await revoke(token))
  assert.equal(await currentToken('revoked'), next)
})

test('revocation ends a grace period, and keeps the current token', async () => {
  const old = await create('grace')
  const current = tokenIn(await api.post({ current_token: old, grace_period_seconds: 3600 }))
  assertActive(await introspect(old))
  assertRevoked(await revoke(old))
  assertInactive(await introspect(old))
  assertActive(await introspect(current))
  assert.equal(await currentToken('grace'), current)
})

test('of simultaneous revocations one replaces the token, and all succeed', async () => {
  const token = await create('simultaneous')
  for (const response of await Promise.all(Array.from({ length: 10 }, () => revoke(token))))
    assertRevoked(response)
  assertInactive(await introspect(token))
  assertActive(await introspect(await currentToken('simultaneous')))
})

test('an unknown, malformed or foreign token gets the same response, and nothing changes', async () => {
  const customer = userApi(service.origin, service.tokens.Customer)
  const foreign = tokenIn(await customer.get({ user_group_id: 'foreign', name: 'Name' }))
  for (const token of [foreign, unknownToken('Testing'), 'x', service.tokens.Testing]) {
    assertRevoked(await revoke(token))
  }
  assert.equal(tokenIn(await customer.get({ user_group_id: 'foreign' })), foreign)
  await create('still allowed')
})

test('revocation needs the scope write, and names it', async () => {
  const token = await create('scope')
  for (const scopes of ['read', 'introspect', 'admin']) {
    const secret = await createApiToken(service, 'Testing', '--scopes', scopes)
    const response = await post(`token=${token}`, { authorization: `Bearer ${secret}` })
    assertOAuthFault(response, 'forbidden')
    assert.match(response.headers['www-authenticate'] ?? '', /error="insufficient_scope", scope="write"/)
  }
  assertOAuthFault(await post(`token=${token}`), 'unauthenticated')
  assert.equal(await currentToken('scope'), token)
})

test('the API token is accepted in each way that introspection accepts', async () => {
  const secret = service.tokens.Testing
  for (const [i, headers] of [
    { authorization: `Bearer ${secret}` },
    { authorization: basic('a', secret) },
  ].entries()) {
    const token = await create(`way ${i}`)
    assertRevoked(await post(`token=${token}&token_type_hint=access_token`, headers))
    assertInactive(await introspect(token))
  }
  const token = await create('form')
  assertRevoked(await post(`token=${token}&client_id=a&client_secret=${secret}`))
  assertInactive(await introspect(token))
})

test('a request without a token is 400, another method 405', async () => {
  assertOAuthFault(await post('a=b', { authorization }), 'validation_failed', ['token'])
  const token = await create('method')
  const got = await sendIntrospection(service.origin, {
    ...{ method: 'GET', path: revocationPath, headers: { authorization }, body: `token=${token}` },
  })
  assertOAuthFault(got, 'method_not_allowed')
  assert.equal(got.headers.allow, 'POST')
  assert.equal(await currentToken('method'), token)
})
