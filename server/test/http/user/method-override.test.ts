import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sendRequest } from '../../support/http.ts'
import { responseTo, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi, userGroupIn } from '../../support/user-api.ts'

const service = await startService({ after })
const token = service.tokens.Testing
const api = userApi(service.origin, token)

const override = (method: string) => ({ 'x-http-method-override': method })

test('POST with the override GET is get-or-create', async () => {
  const body = { user_group_id: 'as-get', name: 'Name', properties: { a: 1 } }
  const created = assertSuccess(await api.post(body, override('GET')))
  const { team_id, token } = created.user_group
  assert.deepEqual(created, {
    success: 1,
    new_user_group: true,
    user_group: { team_id, token, name: 'Name', provided_id: 'as-get', properties: { a: 1 } },
  })
  assert.deepEqual(assertSuccess(await api.post({ user_group_id: 'as-get' }, override('GET'))), {
    ...created,
    new_user_group: false,
  })
  assert.deepEqual(userGroupIn(await api.get({ user_group_id: 'as-get' })), created.user_group)
})

test('POST with the override PUT is an update', async () => {
  const before = userGroupIn(await api.get({ user_group_id: 'as-put', name: 'Old' }))
  assert.deepEqual(assertSuccess(await api.post({ user_group_id: 'as-put', name: 'New' }, override('PUT'))), {
    success: 1,
    new_user_group: false,
    user_group: { ...before, name: 'New', api_environment_tag: 'Testing' },
  })
  assertFault(
    await api.post({ user_group_id: 'nobody', name: 'Name' }, override('PUT')),
    'user_group_not_found',
  )
})

test('an overridden request has the body of its operation, not that of POST', async () => {
  const current_token = tokenIn(await api.get({ user_group_id: 'body', name: 'Name' }))
  for (const method of ['GET', 'PUT']) {
    const response = await api.post({ current_token }, override(method))
    assertFault(response, 'validation_failed', ['/current_token', '/user_group_id'])
  }
  assert.equal(tokenIn(await api.get({ user_group_id: 'body' })), current_token)
  assertFault(await api.post(undefined, override('GET')), 'body_required')
})

for (const value of ['POST', 'DELETE', 'PATCH', 'get', 'Put', '', 'GET,PUT', 'GET PUT', '*']) {
  test(`the override ${JSON.stringify(value)} is refused and changes nothing`, async () => {
    const current_token = tokenIn(await api.get({ user_group_id: 'refused', name: 'Name' }))
    assertFault(await api.post({ current_token }, override(value)), 'invalid_method_override')
    assertFault(
      await api.post({ user_group_id: 'refused', name: 'New' }, override(value)),
      'invalid_method_override',
    )
    const { name, token } = userGroupIn(await api.get({ user_group_id: 'refused' }))
    assert.deepEqual([name, token], ['Name', current_token])
  })
}

test('two override headers are refused', async () => {
  const body = JSON.stringify({ user_group_id: 'twice', name: 'Name' })
  const headers = ['X-HTTP-Method-Override: GET', 'X-HTTP-Method-Override: PUT']
  const request = requestText({ method: 'POST', token, headers, body })
  assertFault(await responseTo(service.origin, request), 'invalid_method_override')
})

for (const value of ['GET', 'PUT', 'POST', 'DELETE', '']) {
  test(`the override ${JSON.stringify(value)} is ignored on GET and PUT`, async () => {
    const id = `ignored-${value}`
    assertFault(await api.put({ user_group_id: id, name: 'Name' }, override(value)), 'user_group_not_found')
    const created = assertSuccess(await api.get({ user_group_id: id, name: 'Name' }, override(value)))
    assert.equal(created.new_user_group, true)
    assert.ok(!('api_environment_tag' in created.user_group))
    const updated = userGroupIn(await api.put({ user_group_id: id }, override(value)))
    assert.equal(updated.api_environment_tag, 'Testing')
  })
}

test('the override does not turn other methods into operations', async () => {
  for (const method of ['PATCH', 'DELETE']) {
    const body = { user_group_id: 'another', name: 'Name' }
    const response = await sendRequest(service.origin, { method, token, headers: override('GET'), body })
    assertFault(response, 'method_not_allowed')
  }
  assertFault(await api.put({ user_group_id: 'another' }), 'user_group_not_found')
})
