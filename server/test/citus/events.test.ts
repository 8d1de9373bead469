import assert from 'node:assert/strict'
import { it } from 'node:test'
import { databaseWithTokens } from '../support/database.ts'
import { sendRequest } from '../support/http.ts'
import { startService } from '../support/service.ts'
import { assertFault } from '../support/user-api.ts'

it('on Citus, events and webhooks are refused with their reason, and introspections have no position', async (t) => {
  const { url: DATABASE_URL } = await databaseWithTokens(t)
  const service = await startService(t, { DATABASE_URL })
  const { stdout } = await service.ugs(
    ...[
      'api-token',
      'create',
      '--environment',
      'Testing',
      '--name',
      'x',
      '--scopes',
      'admin,introspect,write',
    ],
  )
  const token = stdout.trim()
  const body = { name: 'x', url: 'https://receiver.invalid/' }
  for (const request of [
    { path: '/events' },
    { path: '/events?wait=1' },
    { method: 'POST', path: '/admin/v1/webhook-endpoints', body },
  ]) {
    const response = await sendRequest(service.origin, { ...request, token })
    assertFault(response, 'not_implemented')
    assert.match(response.text, /on Citus, events have no common order/)
  }
  for (let i = 0; i < 2; i++) {
    const response = await sendRequest(service.origin, {
      ...{ method: 'POST', path: '/oauth2/introspect', token, body: 'token=x' },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    assert.deepEqual([response.status, response.text], [200, '{"active":false}'])
    assert.equal(response.headers['x-event-position'], undefined)
  }
})
