import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiToken, runCommand } from '../../support/command.ts'
import { assertActive, assertInactive, introspector, type Introspect } from '../../support/introspection.ts'
import { startService } from '../../support/service.ts'
import { forged, unknownToken } from '../../support/tokens.ts'
import { tokenIn, userApi, userGroupIn, type UserGroupView } from '../../support/user-api.ts'

const service = await startService({ after })
await runCommand(service, 'workspace', 'create', 'second')

const api = userApi(service.origin, service.tokens.Testing)
const introspect = introspector(
  service.origin,
  await createApiToken(service, 'Testing', '--scopes', 'introspect'),
)

const create = async (id: string, more: object = {}): Promise<UserGroupView> =>
  userGroupIn(await api.get({ user_group_id: id, name: 'Name', ...more }))

const keys = [
  ...['active', 'token_type', 'sub', 'iat', 'team_id', 'name', 'api_environment_tag'],
  ...['mapping', 'data_sources', 'properties'],
]

const nowSeconds = () => Math.floor(Date.now() / 1000)

test('an active token gets the claims of RFC 7662 and those of the renderer', async () => {
  const before = nowSeconds()
  const group = await create('whole', { name: 'Näme "😀"', mapping: { '40': '213' }, properties: { a: [1] } })
  const claims = assertActive(await introspect(group.token))
  assert.deepEqual(Object.keys(claims), keys)
  const { iat, ...rest } = claims
  assert.deepEqual(rest, {
    active: true,
    token_type: 'user_group',
    sub: 'whole',
    team_id: group.team_id,
    name: 'Näme "😀"',
    api_environment_tag: 'Testing',
    mapping: { '40': '213' },
    data_sources: {},
    properties: { a: [1] },
  })
  assert.ok(Number.isInteger(iat) && iat >= before && iat <= nowSeconds(), String(iat))
})

test('absent properties are null, and absent mappings are empty', async () => {
  const claims = assertActive(await introspect((await create('bare')).token))
  assert.deepEqual(Object.keys(claims), keys)
  assert.deepEqual([claims.mapping, claims.data_sources, claims.properties], [null, {}, null])
})

test('the environment comes from the API token', async () => {
  const token = await createApiToken(service, 'Customer', '--scopes', 'introspect')
  const { Customer } = service.tokens
  const group = userGroupIn(
    await userApi(service.origin, Customer).get({ user_group_id: 'whole', name: 'B' }),
  )
  const claims = assertActive(await introspector(service.origin, token)(group.token))
  assert.deepEqual([claims.api_environment_tag, claims.sub, claims.name], ['Customer', 'whole', 'B'])
})

for (const [title, text] of Object.entries({
  'numbers as they were written': '{"a":1.0,"b":1e2,"c":-0,"d":0.10,"e":123e45}',
  escapes: '{"\\u00e9":"\\u0041\\/\\u2028\\n","b":[]}',
  'the order of keys': '{"10":1,"9":2,"b":3,"a":4}',
  'keys that objects have already': '{"__proto__":{"a":1},"constructor":null,"toString":"x"}',
  'what could end a script': '{"a":"</script><!--","b":"\u2028😀"}',
})) {
  test(`properties are returned byte for byte, ${title}`, async () => {
    const body = `{"user_group_id":"properties ${title}","name":"A","properties":${text}}`
    const token = tokenIn(await api.get(body))
    const response = await introspect(token)
    assertActive(response)
    assert.ok(response.text.endsWith(`,"properties":${text}}`), response.text)
  })
}

for (const [title, text] of Object.entries({
  escapes: '{"\\u00e9":"\\u0041\\/\\u2028\\n","b":"2"}',
  'the order of keys': '{"10":"1","9":"2","b":"3","a":"4"}',
  'keys that objects have already': '{"__proto__":"1","constructor":"2"}',
  backslashes: '{"\\\\u0000":"\\\\\\\\"}',
})) {
  test(`the mapping is returned byte for byte, ${title}`, async () => {
    const body = `{"user_group_id":"mapping ${title}","name":"A","mapping":${text}}`
    const token = tokenIn(await api.get(body))
    const response = await introspect(token)
    assertActive(response)
    assert.ok(
      response.text.includes(`,"mapping":${text},"data_sources":{},"properties":null}`),
      response.text,
    )
  })
}

test('ids and names are returned as sent', async () => {
  for (const id of ['</script>', '"\\', 'é', 'e\u0301', '😀'.repeat(255), '\u2028a', '__proto__']) {
    const { token } = await create(id, { name: id })
    const { sub, name } = assertActive(await introspect(token))
    assert.deepEqual([sub, name], [id, id])
  }
})

test('the largest user group is returned completely', async () => {
  const mapping = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [String(i).padStart(255, 'k'), 'v'.repeat(255)]),
  )
  const properties = { a: 'x'.repeat(64 * 1024 - 8) }
  const { token } = await create('large', { mapping, properties })
  const claims = assertActive(await introspect(token))
  assert.deepEqual([claims.mapping, claims.properties], [mapping, properties])
})

test('each response has the current state', async () => {
  const { token, team_id } = await create('changing', { properties: { a: 1 } })
  const first = assertActive(await introspect(token))
  for (let i = 0; i < 5; i++) {
    await api.put({ user_group_id: 'changing', name: `Name ${i}`, mapping: { a: `${i}` }, properties: { i } })
    assert.deepEqual(assertActive(await introspect(token)), {
      ...first,
      name: `Name ${i}`,
      mapping: { a: `${i}` },
      properties: { i },
    })
  }
  await api.put({ user_group_id: 'changing', mapping: null, properties: null })
  const last = assertActive(await introspect(token))
  assert.deepEqual([last.mapping, last.properties, last.team_id], [null, null, team_id])
})

test('a rotated token is inactive in the next request, and the new one is active', async () => {
  let { token } = await create('rotated')
  for (let i = 0; i < 10; i++) {
    assertActive(await introspect(token))
    const next = tokenIn(await api.post({ current_token: token }))
    assertInactive(await introspect(token))
    assertActive(await introspect(next))
    token = next
  }
})

test('within its grace period a superseded token is active, with its own iat and exp', async () => {
  const { token } = await create('grace', { mapping: { a: 'b' } })
  const first = assertActive(await introspect(token))
  // The second of issue distinguishes the two tokens.
  while (nowSeconds() === first.iat) await sleep(20)
  const before = nowSeconds()
  const next = tokenIn(await api.post({ current_token: token, grace_period_seconds: 3600 }))
  const after = nowSeconds()

  const response = await introspect(token)
  const { exp = 0, ...old } = assertActive(response)
  assert.deepEqual(Object.keys(assertActive(response)), [...keys.slice(0, 4), 'exp', ...keys.slice(4)])
  assert.deepEqual(old, first)
  assert.ok(Number.isInteger(exp) && exp >= before + 3600 && exp <= after + 3600, String(exp))

  const { iat, ...current } = assertActive(await introspect(next))
  assert.ok(iat >= before && iat <= after && iat > first.iat)
  assert.deepEqual({ iat: first.iat, ...current }, { ...first })
  assert.ok(!('exp' in current))

  // The superseded token returns the current state of the user group.
  await api.put({ user_group_id: 'grace', name: 'New', mapping: null })
  const claims = assertActive(await introspect(token))
  assert.deepEqual([claims.name, claims.mapping, claims.exp, claims.iat], ['New', null, exp, first.iat])

  // Another rotation does not change the deadline.
  const third = tokenIn(await api.post({ current_token: next, grace_period_seconds: 604_800 }))
  assert.equal(assertActive(await introspect(token)).exp, exp)
  assert.ok((assertActive(await introspect(next)).exp ?? 0) > exp)
  assert.ok(!('exp' in assertActive(await introspect(third))))
})

test('after its grace period a superseded token is inactive', async () => {
  const { token } = await create('graceless')
  await api.post({ current_token: token, grace_period_seconds: 5 })
  let response = await introspect(token)
  assert.equal(typeof assertActive(response).exp, 'number')
  while (response.text !== '{"active":false}') {
    await sleep(20)
    response = await introspect(token)
  }
  assertInactive(await introspect(token))
})

test('the current and superseded tokens of a deleted user group are inactive', async () => {
  const { token } = await create('deleted')
  const next = tokenIn(await api.post({ current_token: token, grace_period_seconds: 3600 }))
  for (const known of [token, next]) assertActive(await introspect(known))
  await runCommand(service, 'user-group', 'delete', 'deleted', '--environment', 'Testing')
  for (const known of [token, next]) assertInactive(await introspect(known))
  assert.notEqual((await create('deleted')).token, next)
  for (const known of [token, next]) assertInactive(await introspect(known))
})

const known = (await create('known')).token
const lastReplaced = known.slice(0, -1) + (known.endsWith('0') ? '1' : '0')
const unknown: Record<string, string> = {
  'a text': 'token',
  'one character': 'x',
  'a space': ' ',
  'U+0000': '\0',
  'a token of nobody': unknownToken('Testing'),
  'a token with the locator of a user group and another secret': forged(known),
  'an API token under the prefix of a user group token': service.tokens.Testing.replace('uga', 'ugt'),
  'a wrong checksum': lastReplaced,
  'a character more': `${known}0`,
  'a character less': known.slice(0, -1),
  'a space before it': ` ${known}`,
  'a line feed after it': `${known}\n`,
  'other capitals': known.toUpperCase(),
  'the prefix of the other environment': known.replace('testing', 'customer'),
  'the prefix of an API token': known.replace('ugt', 'uga'),
  'its scheme': `Bearer ${known}`,
  'quotation marks': `"${known}"`,
  'full-width characters': known.replace('u', 'ｕ'),
  'the API token that asks': service.tokens.Testing,
  'an API token of the other environment': service.tokens.Customer,
  'a JSON Web Token': 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJrbm93biJ9.',
  'something long': 'x'.repeat(100_000),
  SQL: "' OR '1'='1",
}
for (const [title, token] of Object.entries(unknown)) {
  test(`${title} is inactive, with the same response for all`, async () => {
    assertInactive(await introspect(token))
    assertActive(await introspect(known))
  })
}

test('a token of another workspace or environment is inactive for every API token', async () => {
  const tenantScopes = ['default', 'second'].flatMap((workspace) =>
    (['Customer', 'Testing'] as const).map((environment) => ({ workspace, environment })),
  )
  const all: { token: string; ask: Introspect }[] = []
  for (const { workspace, environment } of tenantScopes) {
    const issueWithScope = (scope: string) =>
      createApiToken(service, environment, '--workspace', workspace, '--scopes', scope)
    const owner = userApi(service.origin, await issueWithScope('write'))
    const old = tokenIn(await owner.get({ user_group_id: 'same', name: 'Name' }))
    const token = tokenIn(await owner.post({ current_token: old, grace_period_seconds: 3600 }))
    const ask = introspector(service.origin, await issueWithScope('introspect'))
    all.push({ token, ask }, { token: old, ask })
  }
  for (const { token, ask } of all) {
    for (const other of all) {
      const response = await other.ask(token)
      if (other.ask === ask) assert.equal(assertActive(response).sub, 'same')
      else assertInactive(response)
    }
  }
})
