import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as oauth from 'oauth4webapi'
import { createApiToken } from '../support/command.ts'
import { introspectionPath } from '../support/introspection.ts'
import { startService } from '../support/service.ts'
import { assertSuccess, tokenIn, userApi, userGroupIn } from '../support/user-api.ts'

test('oauth4webapi introspects, as a resource server does', async (t) => {
  const service = await startService(t)
  const secret = await createApiToken(service, 'Testing', '--scopes', 'introspect')
  const api = userApi(service.origin, service.tokens.Testing)
  // The option is marked as deprecated to draw attention. The service has no TLS; a proxy in front of it does.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const insecure = { [oauth.allowInsecureRequests]: true }
  const issuer = new URL(service.origin)
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' }),
  )
  assert.equal(server.introspection_endpoint, service.origin + introspectionPath)
  const client: oauth.Client = { client_id: 'the renderer' }
  const options = { ...insecure, additionalParameters: { token_type_hint: 'access_token' } }
  const introspect = async (token: string, clientAuthentication = oauth.ClientSecretBasic(secret)) =>
    oauth.processIntrospectionResponse(
      server,
      client,
      await oauth.introspectionRequest(server, client, clientAuthentication, token, options),
    )

  const body = {
    user_group_id: 'customer-42',
    name: 'Näme',
    mapping: { '40': '213' },
    properties: { region: 'EU' },
  }
  const group = userGroupIn(await api.get(body))
  const { iat, ...claims } = await introspect(group.token)
  assert.equal(typeof iat, 'number')
  assert.deepEqual(claims, {
    active: true,
    token_type: 'user_group',
    sub: 'customer-42',
    team_id: group.team_id,
    name: 'Näme',
    api_environment_tag: 'Testing',
    mapping: { '40': '213' },
    data_sources: {},
    properties: { region: 'EU' },
  })

  const rotated = await api.post({ current_token: group.token, grace_period_seconds: 3600 })
  const { active, exp } = await introspect(group.token)
  assert.equal(active, true)
  assert.ok(Number(exp) > Date.now() / 1000 + 3000)

  const next = tokenIn(rotated)
  assert.equal((await introspect(next)).exp, undefined)
  assertSuccess(await api.post({ current_token: next }))
  for (const token of [next, 'forged', `${next}x`]) {
    assert.deepEqual(await introspect(token), { active: false })
    assert.deepEqual(await introspect(token, oauth.ClientSecretPost(secret)), { active: false })
  }

  const revoke = async (token: string, apiToken: string) =>
    oauth.processRevocationResponse(
      await oauth.revocationRequest(server, client, oauth.ClientSecretPost(apiToken), token, options),
    )
  const current = tokenIn(await api.get({ user_group_id: 'customer-42' }))
  await assert.rejects(revoke(current, secret), oauth.WWWAuthenticateChallengeError)
  await revoke(current, service.tokens.Testing)
  assert.deepEqual(await introspect(current), { active: false })
  assert.equal((await introspect(tokenIn(await api.get({ user_group_id: 'customer-42' })))).active, true)

  await assert.rejects(introspect(next, oauth.ClientSecretBasic(`${secret}x`)), (error) => {
    assert.ok(error instanceof oauth.WWWAuthenticateChallengeError)
    assert.deepEqual(
      error.cause.map(({ scheme, parameters: { realm, error } }) => [scheme, realm, error]),
      [
        ['token', undefined, undefined],
        ['bearer', 'User Group Service', 'invalid_token'],
        ['basic', 'User Group Service', undefined],
      ],
    )
    return true
  })
})
