import assert from 'node:assert/strict'
import { it } from 'node:test'
import { errorTable } from '../../server/src/contract/errors.ts'
import { serviceFailure, token } from './support/client.ts'
import { describeClients } from './support/clients.ts'
import { respond, fault, serve } from './support/scripted-server.ts'

describeClients('a service error keeps its code, status and request id', ({ clientOf }) => {
  for (const [code, { status }] of Object.entries(errorTable)) {
    it(code, async (t) => {
      const { origin } = await serve(t, fault(status, code))
      const error = await serviceFailure(clientOf(origin, { maxTries: 1 }).update({ userGroupId: 'a' }))
      assert.deepEqual(
        [error.name, error.code, error.status, error.requestId, error.message, error.fields],
        ['ServiceError', code, status, 'request-1', `message of ${code}`, []],
      )
      assert.equal(error.retryAfterMs, undefined)
    })
  }

  it('keeps a code that only a newer service knows', async (t) => {
    const { origin } = await serve(t, fault(418, 'teapot'))
    const error = await serviceFailure(clientOf(origin).update({ userGroupId: 'a' }))
    assert.deepEqual([error.code as string, error.status], ['teapot', 418])
  })

  it('keeps the invalid fields', async (t) => {
    const fields = [{ path: '/name', message: 'must be a string' }]
    const error = { code: 'validation_failed', message: 'name: must be a string', request_id: 'r', fields }
    const { origin } = await serve(t, respond(400, JSON.stringify({ success: 0, error })))
    assert.deepEqual((await serviceFailure(clientOf(origin).update({ userGroupId: 'a' }))).fields, fields)
  })

  it('removes tokens, even if the service sends one', async (t) => {
    const fields = [{ path: `/${token}`, message: `${token} is not known` }]
    const error = { code: 'validation_failed', message: `no ${token}`, request_id: token, fields }
    const { origin } = await serve(t, respond(400, JSON.stringify({ success: 0, error })))
    // serviceFailure asserts that the error holds no token.
    const { message, requestId } = await serviceFailure(clientOf(origin).rotate({ currentToken: token }))
    assert.deepEqual([message, requestId], ['no [token]', '[token]'])
  })
})
