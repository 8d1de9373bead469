import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sendRequest } from '../../support/http.ts'
import { startService } from '../../support/service.ts'
import { assertCommonHeaders, assertFault } from '../../support/user-api.ts'

const service = await startService({ after })
const path = '/.well-known/oauth-authorization-server'

async function metadata(headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const response = await sendRequest(service.origin, { path, headers })
  assert.equal(response.status, 200, response.text)
  assert.equal(response.headers['content-type'], 'application/json')
  assertCommonHeaders(response)
  return response.body as Record<string, unknown>
}

test('the metadata names the endpoints, the ways to authenticate and the scopes', async () => {
  const methods = ['client_secret_basic', 'client_secret_post', 'Bearer']
  assert.deepEqual(await metadata(), {
    issuer: service.origin,
    introspection_endpoint: `${service.origin}/oauth2/introspect`,
    introspection_endpoint_auth_methods_supported: methods,
    revocation_endpoint: `${service.origin}/oauth2/revoke`,
    revocation_endpoint_auth_methods_supported: methods,
    scopes_supported: ['read', 'write', 'introspect', 'observe', 'support', 'admin'],
    response_types_supported: [],
    grant_types_supported: [],
    service_documentation: `${service.origin}/docs`,
  })
})

test('the issuer is the origin that the client used', async () => {
  const host = 'groups.example.com'
  assert.equal((await metadata({ host })).issuer, `http://${host}`)
  for (const [forwarded, scheme] of [
    ['https', 'https'],
    ['HTTPS, http', 'https'],
    ['http, https', 'http'],
    ['javascript', 'http'],
  ] as const)
    assert.equal((await metadata({ host, 'x-forwarded-proto': forwarded })).issuer, `${scheme}://${host}`)
})

test('the metadata allows only GET', async () => {
  const response = await sendRequest(service.origin, { method: 'POST', path })
  assertFault(response, 'method_not_allowed')
})
