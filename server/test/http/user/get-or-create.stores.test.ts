import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { showUserGroup } from '../../support/command.ts'
import { written, writingNothing } from '../../support/kept.ts'
import { startNewProcess, startService } from '../../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi, userGroupIn } from '../../support/user-api.ts'

const service = await startService({ after })
const api = userApi(service.origin, service.tokens.Testing)

test('the first GET of an id creates the user group', async () => {
  const body = assertSuccess(
    await api.get({
      user_group_id: 'first',
      name: 'Example customer',
      mapping: { '40': '213' },
      properties: { region: 'EU', seats: 12 },
    }),
  )
  const { team_id, token } = body.user_group
  assert.deepEqual(body, {
    success: 1,
    new_user_group: true,
    user_group: {
      team_id,
      token,
      name: 'Example customer',
      provided_id: 'first',
      properties: { region: 'EU', seats: 12 },
    },
  })
  assert.ok(Number.isSafeInteger(team_id) && team_id > 0)
})

test('a token has its prefix, at least 190 bits and a checksum, in at most 80 characters', async () => {
  const testing = tokenIn(await api.get({ user_group_id: 'token-form', name: 'Name' }))
  assert.match(testing, /^ugt_testing_[0-9A-Za-z]{38,}$/)
  assert.ok(testing.length <= 80)
  const customers = userApi(service.origin, service.tokens.Customer)
  const customer = tokenIn(await customers.get({ user_group_id: 'token-form', name: 'Name' }))
  assert.match(customer, /^ugt_customer_[0-9A-Za-z]{38,}$/)
  assert.ok(customer.length <= 80)
  assert.match(service.tokens.Testing, /^uga_testing_[0-9A-Za-z]{38,}$/)
  assert.match(service.tokens.Customer, /^uga_customer_[0-9A-Za-z]{38,}$/)
})

test('another GET of the same id returns the same user group, not as new', async () => {
  const body = { user_group_id: 'again', name: 'Name', properties: { a: [1, 'two', null] } }
  const first = assertSuccess(await api.get(body))
  assert.equal(first.new_user_group, true)
  const second = assertSuccess(await api.get(body))
  assert.deepEqual(second, { ...first, new_user_group: false })
})

test('an id alone is enough if the user group exists', async () => {
  const first = assertSuccess(
    await api.get({ user_group_id: 'id-alone', name: 'Name', properties: { a: 1 } }),
  )
  const second = assertSuccess(await api.get({ user_group_id: 'id-alone' }))
  assert.deepEqual(second, { ...first, new_user_group: false })
})

test('without a name nothing is created', async () => {
  const body = { user_group_id: 'no-name', mapping: { '1': '2' }, properties: {} }
  assertFault(await api.get(body), 'name_required', ['/name'])
  assertFault(await api.put({ user_group_id: 'no-name' }), 'user_group_not_found')
  const created = assertSuccess(await api.get({ user_group_id: 'no-name', name: 'Name' }))
  assert.equal(created.new_user_group, true)
  assert.equal(created.user_group.properties, null)
})

test('an existing user group stores each field that is sent and keeps the others', async () => {
  const id = 'field-rule'
  const first = userGroupIn(
    await api.get({ user_group_id: id, name: 'Old', mapping: { a: '1' }, properties: { p: 1 } }),
  )
  const steps = [
    { sent: { name: 'New' }, name: 'New', mapping: { a: '1' }, properties: { p: 1 } },
    { sent: { properties: { q: 2 } }, name: 'New', mapping: { a: '1' }, properties: { q: 2 } },
    { sent: { mapping: { b: '2' } }, name: 'New', mapping: { b: '2' }, properties: { q: 2 } },
    { sent: { mapping: null }, name: 'New', mapping: null, properties: { q: 2 } },
    { sent: { properties: {} }, name: 'New', mapping: null, properties: {} },
    { sent: { mapping: { c: '3' } }, name: 'New', mapping: { c: '3' }, properties: {} },
    { sent: { mapping: {} }, name: 'New', mapping: null, properties: {} },
    { sent: { properties: null }, name: 'New', mapping: null, properties: null },
  ]
  for (const { sent, name, mapping, properties } of steps) {
    const body = assertSuccess(await api.get({ user_group_id: id, ...sent }))
    assert.deepEqual(body, { success: 1, new_user_group: false, user_group: { ...first, name, properties } })
    const shown = await showUserGroup(service, id)
    assert.deepEqual([shown.name, shown.mapping, shown.properties], [name, mapping, properties])
  }
})

test('null clears in the first GET too', async () => {
  const group = userGroupIn(
    await api.get({ user_group_id: 'nulls', name: 'Name', mapping: null, properties: null }),
  )
  assert.equal(group.properties, null)
  const shown = await showUserGroup(service, 'nulls')
  assert.deepEqual([shown.mapping, shown.properties], [null, null])
})

test('a GET that changes nothing writes nothing', async () => {
  const body = { user_group_id: 'unchanged', name: 'Name', mapping: { a: '1' }, properties: { p: [1] } }
  await api.get(body)
  await writingNothing(service, async () => {
    for (const sent of [body, { user_group_id: 'unchanged' }, { ...body, mapping: undefined }])
      assert.equal(assertSuccess(await api.get(sent)).new_user_group, false)
  })
  const before = await written(service)
  assertSuccess(await api.get({ ...body, name: 'Other' }))
  assert.notDeepEqual(await written(service), before)
})

test('ids are compared exactly: no folding, trimming or normalization', async () => {
  const ids = [
    'Exact',
    'exact',
    ' exact',
    'exact ',
    'exa%',
    'exac_',
    '\u00e9',
    'e\u0301',
    '1',
    '01',
    '1.0',
    'ﬁ',
    'fi',
    '__proto__',
    'constructor',
  ]
  const groups = await Promise.all(
    ids.map(async (id) => assertSuccess(await api.get({ user_group_id: id, name: `name of ${id}` }))),
  )
  groups.forEach(({ new_user_group, user_group }, i) => {
    assert.equal(new_user_group, true)
    assert.equal(user_group.provided_id, ids[i])
  })
  assert.equal(new Set(groups.map(({ user_group }) => user_group.token)).size, ids.length)
  assert.equal(new Set(groups.map(({ user_group }) => user_group.team_id)).size, ids.length)
  for (const [i, id] of ids.entries()) {
    assert.deepEqual(userGroupIn(await api.get({ user_group_id: id })), groups[i]?.user_group)
  }
})

const texts = [
  '"quoted" \\ back/slash',
  '<script>&amp;</script>',
  "'; DROP TABLE user_group; --",
  '\u2028\u2029a\ufeff\u200b',
  '😀 𝒳 한국어 العربية',
  '${name} %s {{x}}',
  '\ufffd\uffff',
]
for (const text of texts) {
  test(`an id, a name and properties are returned as sent: ${JSON.stringify(text)}`, async () => {
    const group = userGroupIn(
      await api.get({ user_group_id: text, name: text, properties: { [text]: text } }),
    )
    assert.equal(group.provided_id, text)
    assert.equal(group.name, text)
    assert.deepEqual(group.properties, { [text]: text })
    assert.deepEqual(userGroupIn(await api.get({ user_group_id: text })), group)
  })
}

test('user groups survive a kill and restart of the service', async (t) => {
  const first = await startNewProcess(t)
  const group = userGroupIn(
    await userApi(first.origin, first.tokens.Testing).get({ user_group_id: 'kept', name: 'Name' }),
  )
  await first.stop('SIGKILL')
  const second = await startService(t, { UGS_DATA_DIR: first.dataFolder })
  const again = assertSuccess(
    await userApi(second.origin, first.tokens.Testing).get({ user_group_id: 'kept' }),
  )
  assert.deepEqual(again, { success: 1, new_user_group: false, user_group: group })
})
