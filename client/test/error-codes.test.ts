import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { errorTable } from '../../server/src/contract/errors.ts'
import { clientOf, serviceFailure, token } from './support/calls.ts'
import { answer, fault, serve } from './support/scripted-server.ts'

describe('an error of the service keeps its code, its status and its request id', () => {
  for (const [code, { status }] of Object.entries(errorTable)) {
    it(code, async (t) => {
      const { origin } = await serve(t, fault(status, code))
      const error = await serviceFailure(clientOf(origin, { maxTries: 1 }).update({ userGroupId: 'a' }))
      assert.deepEqual(
        [error.name, error.code, error.status, error.requestId, error.message, error.fields],
        ['ServiceError', code, status, 'request-1', `said of ${code}`, []],
      )
      assert.equal(error.retryAfterMs, undefined)
    })
  }

  it('one that a newer service may have', async (t) => {
    const { origin } = await serve(t, fault(418, 'teapot'))
    const error = await serviceFailure(clientOf(origin).update({ userGroupId: 'a' }))
    assert.deepEqual([error.code as string, error.status], ['teapot', 418])
  })

  it('and its fields', async (t) => {
    const fields = [{ path: '/name', message: 'must be a string' }]
    const error = { code: 'validation_failed', message: 'name: must be a string', request_id: 'r', fields }
    const { origin } = await serve(t, answer(400, JSON.stringify({ success: 0, error })))
    assert.deepEqual((await serviceFailure(clientOf(origin).update({ userGroupId: 'a' }))).fields, fields)
  })

  it('and no token, even where it is sent one', async (t) => {
    const fields = [{ path: `/${token}`, message: `${token} is not known` }]
    const error = { code: 'validation_failed', message: `no ${token}`, request_id: token, fields }
    const { origin } = await serve(t, answer(400, JSON.stringify({ success: 0, error })))
    // serviceFailure looks for one.
    const { message, requestId } = await serviceFailure(clientOf(origin).rotate({ currentToken: token }))
    assert.deepEqual([message, requestId], ['no [token]', '[token]'])
  })
})
