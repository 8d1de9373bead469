import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { showUserGroup } from '../../support/command.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, userApi, userGroupIn } from '../../support/user-api.ts'

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)

test('PUT changes an existing user group and returns it with its environment tag', async () => {
  const before = userGroupIn(await api.get({ user_group_id: 'put', name: 'Old', properties: { a: 1 } }))
  const response = await api.put({ user_group_id: 'put', name: 'New', properties: { b: 2 } })
  assert.deepEqual(assertSuccess(response), {
    success: 1,
    new_user_group: false,
    user_group: { ...before, name: 'New', properties: { b: 2 }, api_environment_tag: 'Testing' },
  })
  assert.deepEqual(userGroupIn(await api.get({ user_group_id: 'put' })), {
    ...before,
    name: 'New',
    properties: { b: 2 },
  })
})

test('the environment tag comes from the API token', async () => {
  const customers = userApi(service.origin, service.tokens.Customer)
  await customers.get({ user_group_id: 'tagged', name: 'Name' })
  assert.equal(userGroupIn(await customers.put({ user_group_id: 'tagged' })).api_environment_tag, 'Customer')
})

test('PUT of an unknown id is 404 and creates nothing', async () => {
  const body = { user_group_id: 'unknown', name: 'Name', mapping: {}, properties: {} }
  assertFault(await api.put(body), 'user_group_not_found')
  assertFault(await api.put(body), 'user_group_not_found')
  assert.equal(assertSuccess(await api.get(body)).new_user_group, true)
})

test('PUT stores each field that is sent, keeps the others, and never merges', async () => {
  const id = 'field-rule'
  const { team_id, token } = userGroupIn(
    await api.get({ user_group_id: id, name: 'Old', mapping: { a: '1' }, properties: { p: 1 } }),
  )
  const steps = [
    { sent: {}, name: 'Old', mapping: { a: '1' }, properties: { p: 1 } },
    { sent: { name: 'New' }, name: 'New', mapping: { a: '1' }, properties: { p: 1 } },
    { sent: { mapping: { b: '2' } }, name: 'New', mapping: { b: '2' }, properties: { p: 1 } },
    { sent: { properties: { q: { r: 2 } } }, name: 'New', mapping: { b: '2' }, properties: { q: { r: 2 } } },
    { sent: { properties: { q: {} } }, name: 'New', mapping: { b: '2' }, properties: { q: {} } },
    { sent: { mapping: {} }, name: 'New', mapping: null, properties: { q: {} } },
    { sent: { mapping: { c: '3' }, properties: null }, name: 'New', mapping: { c: '3' }, properties: null },
    { sent: { mapping: null, properties: {} }, name: 'New', mapping: null, properties: {} },
  ]
  for (const { sent, name, mapping, properties } of steps) {
    assert.deepEqual(assertSuccess(await api.put({ user_group_id: id, ...sent })), {
      success: 1,
      new_user_group: false,
      user_group: { team_id, token, name, provided_id: id, properties, api_environment_tag: 'Testing' },
    })
    const shown = await showUserGroup(service, id)
    assert.deepEqual([shown.name, shown.mapping, shown.properties], [name, mapping, properties])
  }
})

test('PUT changes the user group that it names and no other', async () => {
  const other = userGroupIn(await api.get({ user_group_id: 'other', name: 'Other', properties: { a: 1 } }))
  await api.get({ user_group_id: 'named', name: 'Old' })
  await api.put({ user_group_id: 'named', name: 'New', properties: { b: 2 } })
  assert.deepEqual(userGroupIn(await api.get({ user_group_id: 'other' })), other)
})

test('a refused PUT changes nothing, not even the fields that are valid', async () => {
  const before = userGroupIn(await api.get({ user_group_id: 'whole', name: 'Old', properties: { a: 1 } }))
  const refused = await api.put({
    user_group_id: 'whole',
    name: 'New',
    properties: 'none',
    mapping: { a: 1 },
  })
  assertFault(refused, 'validation_failed', ['/mapping/a', '/properties'])
  assert.deepEqual(userGroupIn(await api.get({ user_group_id: 'whole' })), before)
})
