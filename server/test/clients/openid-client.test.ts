import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as client from 'openid-client'
import { createApiToken } from '../support/command.ts'
import { startService } from '../support/service.ts'
import { tokenIn, userApi } from '../support/user-api.ts'

test('openid-client discovers, introspects and revokes with its default settings', async (t) => {
  const service = await startService(t)
  const api = userApi(service.origin, service.tokens.Testing)
  // The option is marked as deprecated to draw attention. The service has no TLS; a proxy in front of it does.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  const execute = [client.allowInsecureRequests]
  const configure = (secret: string) =>
    client.discovery(new URL(service.origin), 'renderer', secret, undefined, { algorithm: 'oauth2', execute })
  const renderer = await configure(await createApiToken(service, 'Testing', '--scopes', 'introspect'))
  const backend = await configure(service.tokens.Testing)

  const token = tokenIn(await api.get({ user_group_id: 'customer-42', name: 'Name' }))
  const { active, sub } = await client.tokenIntrospection(renderer, token)
  assert.deepEqual([active, sub], [true, 'customer-42'])
  assert.deepEqual(await client.tokenIntrospection(renderer, 'forged'), { active: false })

  await client.tokenRevocation(backend, token)
  assert.deepEqual(await client.tokenIntrospection(renderer, token), { active: false })
  const next = tokenIn(await api.get({ user_group_id: 'customer-42' }))
  assert.equal((await client.tokenIntrospection(renderer, next)).active, true)

  const refused = [
    [await configure('wrong'), 401],
    [backend, 403],
  ] as const
  for (const [configuration, status] of refused) {
    await assert.rejects(client.tokenIntrospection(configuration, next), (error) => {
      assert.ok(error instanceof client.WWWAuthenticateChallengeError)
      assert.equal(error.status, status)
      return true
    })
  }
})
