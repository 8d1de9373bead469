import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken } from '../support/command.ts'
import { startService } from '../support/service.ts'
import { assertFault, assertSuccess, userApi, userGroupIn } from '../support/user-api.ts'

const service = await startService({ after })
const writer = userApi(service.origin, service.tokens.Testing)

const withScopes = async (scopes: string) =>
  userApi(service.origin, await createApiToken(service, 'Testing', '--scopes', scopes))

const reader = await withScopes('read')

const asGet = { 'x-http-method-override': 'GET' }
const asPut = { 'x-http-method-override': 'PUT' }

const group = userGroupIn(
  await writer.get({ user_group_id: 'known', name: 'Name', mapping: { a: '1' }, properties: { p: 1 } }),
)

async function assertUntouched(): Promise<void> {
  assert.deepEqual(userGroupIn(await writer.get({ user_group_id: 'known' })), group)
}

for (const body of [
  { user_group_id: 'known' },
  { user_group_id: 'known', name: 'Name' },
  { user_group_id: 'known', mapping: { a: '1' } },
  { user_group_id: 'known', name: 'Name', mapping: { a: '1' }, properties: { p: 1 } },
]) {
  test(`read: a GET that changes nothing is allowed: ${JSON.stringify(body)}`, async () => {
    for (const response of [await reader.get(body), await reader.post(body, asGet)]) {
      assert.deepEqual(assertSuccess(response), { success: 1, new_user_group: false, user_group: group })
    }
  })
}

for (const body of [
  { user_group_id: 'unknown', name: 'Name' },
  { user_group_id: 'known', name: 'New' },
  { user_group_id: 'known', mapping: { a: '2' } },
  { user_group_id: 'known', mapping: null },
  { user_group_id: 'known', mapping: {} },
  { user_group_id: 'known', properties: { p: 2 } },
  { user_group_id: 'known', properties: null },
  { user_group_id: 'known', properties: {} },
]) {
  test(`read: a GET that would write is 403 and writes nothing: ${JSON.stringify(body)}`, async () => {
    assertFault(await reader.get(body), 'forbidden')
    assertFault(await reader.post(body, asGet), 'forbidden')
    await assertUntouched()
    // No response contains the mapping. A GET that sends the same mapping shows that it is unchanged.
    assertSuccess(await reader.get({ user_group_id: 'known', mapping: { a: '1' } }))
    assertFault(await writer.put({ user_group_id: 'unknown' }), 'user_group_not_found')
  })
}

for (const scopes of ['read', 'introspect', 'admin', 'read,introspect,admin']) {
  test(`${scopes}: PUT and POST are 403 and do nothing`, async () => {
    const caller = await withScopes(scopes)
    const responses = [
      await caller.put({ user_group_id: 'known', name: 'New' }),
      await caller.put({ user_group_id: 'known' }),
      await caller.put({ user_group_id: 'unknown', name: 'Name' }),
      await caller.post({ user_group_id: 'known', name: 'New' }, asPut),
      await caller.post({ current_token: group.token }),
      await caller.post({ current_token: group.token }, { 'idempotency-key': 'forbidden' }),
      await caller.post({ current_token: 'unknown' }),
    ]
    for (const response of responses) assertFault(response, 'forbidden')
    await assertUntouched()
  })
}

for (const scopes of ['introspect', 'admin', 'introspect,admin']) {
  test(`${scopes}: GET is 403 too`, async () => {
    const caller = await withScopes(scopes)
    const responses = [
      await caller.get({ user_group_id: 'known' }),
      await caller.get({ user_group_id: 'unknown', name: 'Name' }),
      await caller.post({ user_group_id: 'known' }, asGet),
    ]
    for (const response of responses) assertFault(response, 'forbidden')
    assertFault(await writer.put({ user_group_id: 'unknown' }), 'user_group_not_found')
  })
}

for (const scopes of ['write', 'read,write', 'write,introspect,admin']) {
  test(`${scopes}: all of /api/user is allowed`, async () => {
    const caller = await withScopes(scopes)
    const id = `of ${scopes}`
    const created = assertSuccess(await caller.get({ user_group_id: id, name: 'Name' }))
    assert.equal(created.new_user_group, true)
    assertSuccess(await caller.get({ user_group_id: id }))
    assertSuccess(await caller.get({ user_group_id: id, name: 'New' }))
    assertSuccess(await caller.put({ user_group_id: id, name: 'Newer' }))
    assertSuccess(await caller.post({ current_token: created.user_group.token }))
  })
}
