import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken, runCommand } from '../support/command.ts'
import { startService } from '../support/service.ts'
import {
  assertFault,
  assertSuccess,
  tokenIn,
  userApi,
  userGroupIn,
  withoutRequestId,
} from '../support/user-api.ts'

const service = await startService({ after })
await runCommand(service, 'workspace', 'create', 'second')

/** One client per workspace and environment. */
const callers = {
  'default, Customer': userApi(service.origin, service.tokens.Customer),
  'default, Testing': userApi(service.origin, service.tokens.Testing),
  'second, Customer': userApi(
    service.origin,
    await createApiToken(service, 'Customer', '--workspace', 'second'),
  ),
  'second, Testing': userApi(
    service.origin,
    await createApiToken(service, 'Testing', '--workspace', 'second'),
  ),
}
type Caller = keyof typeof callers
const names = Object.keys(callers) as Caller[]
const pairs = names.flatMap((owner) =>
  names.filter((name) => name !== owner).map((stranger) => ({ owner, stranger })),
)

test('one id in two environments or workspaces is two user groups with two tokens', async () => {
  const groups = await Promise.all(
    names.map(async (name) =>
      assertSuccess(await callers[name].get({ user_group_id: 'shared', name, properties: { of: name } })),
    ),
  )
  groups.forEach(({ new_user_group, user_group }, i) => {
    assert.equal(new_user_group, true)
    assert.equal(user_group.name, names[i])
    assert.match(user_group.token, names[i]?.endsWith('Testing') ? /^ugt_testing_/ : /^ugt_customer_/)
  })
  assert.equal(new Set(groups.map(({ user_group }) => user_group.token)).size, names.length)
  assert.equal(new Set(groups.map(({ user_group }) => user_group.team_id)).size, names.length)
  for (const [i, name] of names.entries()) {
    assert.deepEqual(userGroupIn(await callers[name].get({ user_group_id: 'shared' })), groups[i]?.user_group)
  }
})

test('the environment tag comes from the API token, in every workspace', async () => {
  for (const name of names) {
    await callers[name].get({ user_group_id: 'tagged', name })
    const tag = name.endsWith('Testing') ? 'Testing' : 'Customer'
    const updated = userGroupIn(await callers[name].put({ user_group_id: 'tagged' }))
    assert.equal(updated.api_environment_tag, tag)
    const rotated = userGroupIn(await callers[name].post({ current_token: updated.token }))
    assert.equal(rotated.api_environment_tag, tag)
  }
})

for (const { owner, stranger } of pairs) {
  test(`to (${stranger}), data of (${owner}) looks absent`, async () => {
    const id = `of ${owner}, for ${stranger}`
    const owned = userGroupIn(
      await callers[owner].get({ user_group_id: id, name: 'Name', properties: { a: 1 } }),
    )
    const other = callers[stranger]

    const put = await other.put({ user_group_id: id, name: 'Taken', properties: null })
    assertFault(put, 'user_group_not_found')
    const unknownPut = await other.put({ user_group_id: 'nobody' })
    assert.equal(withoutRequestId(put), withoutRequestId(unknownPut))

    const post = await other.post({ current_token: owned.token })
    assertFault(post, 'token_not_found')
    const malformed = await other.post({ current_token: 'malformed' })
    assert.equal(withoutRequestId(post), withoutRequestId(malformed))

    const getById = await other.get({ user_group_id: id })
    assertFault(getById, 'name_required', ['/name'])
    const unknownGet = await other.get({ user_group_id: 'nobody' })
    assert.equal(withoutRequestId(getById), withoutRequestId(unknownGet))

    const created = assertSuccess(await other.get({ user_group_id: id, name: 'Own' }))
    assert.equal(created.new_user_group, true)
    assert.equal(created.user_group.properties, null)
    assert.notEqual(created.user_group.token, owned.token)
    assert.notEqual(created.user_group.team_id, owned.team_id)

    assertSuccess(await other.post({ current_token: created.user_group.token }))
    assertSuccess(await other.put({ user_group_id: id, name: 'New', properties: { b: 2 } }))
    assert.deepEqual(userGroupIn(await callers[owner].get({ user_group_id: id })), owned)
  })

  test(`to (${stranger}), a superseded token of (${owner}) is unknown`, async () => {
    const id = `replaced of ${owner}, for ${stranger}`
    const old = tokenIn(await callers[owner].get({ user_group_id: id, name: 'Name' }))
    assertSuccess(await callers[owner].post({ current_token: old, grace_period_seconds: 3600 }))
    assertFault(await callers[owner].post({ current_token: old }), 'token_superseded')
    assertFault(await callers[stranger].post({ current_token: old }), 'token_not_found')
  })

  test(`to (${stranger}), an idempotency key of (${owner}) is unused`, async () => {
    const key = { 'idempotency-key': `${owner}/${stranger}`.replaceAll(' ', '') }
    const id = `key of ${owner}, for ${stranger}`
    const owned = tokenIn(await callers[owner].get({ user_group_id: id, name: 'Name' }))
    const first = await callers[owner].post({ current_token: owned }, key)
    assertSuccess(first)

    assertFault(await callers[stranger].post({ current_token: owned }, key), 'token_not_found')
    const own = tokenIn(await callers[stranger].get({ user_group_id: id, name: 'Own' }))
    const rotated = tokenIn(await callers[stranger].post({ current_token: own }, key))
    assert.notEqual(rotated, tokenIn(first))
    assert.equal((await callers[owner].post({ current_token: owned }, key)).text, first.text)
  })
}

test('two API tokens of one workspace and environment see the same data', async () => {
  const colleague = userApi(service.origin, await createApiToken(service, 'Testing'))
  const group = userGroupIn(await callers['default, Testing'].get({ user_group_id: 'of both', name: 'Name' }))
  assert.deepEqual(assertSuccess(await colleague.get({ user_group_id: 'of both' })), {
    success: 1,
    new_user_group: false,
    user_group: group,
  })
  const rotated = tokenIn(await colleague.post({ current_token: group.token }))
  assert.equal(tokenIn(await callers['default, Testing'].get({ user_group_id: 'of both' })), rotated)
})
