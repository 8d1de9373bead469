import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createApiToken, runCommand, showUserGroup } from '../../support/command.ts'
import type { HttpResponse } from '../../support/http.ts'
import { assertActive, introspector } from '../../support/introspection.ts'
import { runUgs, startService, temporaryFolder, type RunningService } from '../../support/service.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../../support/user-api.ts'

const service = await startService({ after }, { UGS_MAPPING: 'registered' })
const free = await startService({ after }, { UGS_MAPPING: 'free' })
const api = userApi(service.origin, service.tokens.Testing)

interface Registered {
  readonly id: number
  readonly provided_id: string
  readonly name: string
}

/** Returns a data source as introspection shows it. */
const of = (schema: Registered, dataSource: Registered) => ({
  ...dataSource,
  schema: { id: schema.id, provided_id: schema.provided_id },
})

async function register(
  { ugs }: Pick<RunningService, 'ugs'>,
  kind: 'schema' | 'data-source',
  providedId: string,
  ...options: string[]
): Promise<Registered> {
  const args = ['--environment', 'Testing', '--provided-id', providedId, '--name', `Name of ${providedId}`]
  const json = await runCommand({ ugs }, kind, 'create', ...args, ...options, '--json')
  const { id, provided_id, name } = JSON.parse(json) as Registered
  return { id, provided_id, name }
}

const sales = await register(service, 'schema', 'sales')
const support = await register(service, 'schema', 'support')
const eu = await register(service, 'data-source', 'eu', '--schema', String(sales.id))
const us = await register(service, 'data-source', 'us 😀', '--schema', String(support.id))

const introspect = introspector(
  service.origin,
  await createApiToken(service, 'Testing', '--scopes', 'introspect'),
)
const dataSourcesOf = async (token: string) => assertActive(await introspect(token)).data_sources

const override = { 'x-http-method-override': 'PUT' }
const asGet = { 'x-http-method-override': 'GET' }

/** Each way to send a mapping for an existing user group. */
const ways: Record<string, (body: object) => Promise<HttpResponse>> = {
  GET: (body) => api.get(body),
  PUT: (body) => api.put(body),
  'the override of GET': (body) => api.post(body, asGet),
  'the override of PUT': (body) => api.post(body, override),
}

const unregistered: Record<string, { mapping: Record<string, string>; faults: Record<string, string> }> = {
  'a key that is no schema': {
    mapping: { '40': 'eu' },
    faults: { '/mapping/40': 'is not a registered schema' },
  },
  'a value that is no data source': {
    mapping: { sales: '213' },
    faults: { '/mapping/sales': 'is not a registered data source of this schema' },
  },
  "a value that is another schema's data source": {
    mapping: { sales: 'us 😀', support: 'us 😀' },
    faults: { '/mapping/sales': 'is not a registered data source of this schema' },
  },
  'several of that': {
    mapping: { '40': 'eu', sales: 'eu', support: 'eu', 'a/b~c': 'x' },
    faults: {
      '/mapping/40': 'is not a registered schema',
      '/mapping/support': 'is not a registered data source of this schema',
      '/mapping/a~1b~0c': 'is not a registered schema',
    },
  },
  'names that objects have already': {
    mapping: JSON.parse('{"__proto__":"eu","constructor":"eu"}') as Record<string, string>,
    faults: JSON.parse(
      '{"/mapping/__proto__":"is not a registered schema","/mapping/constructor":"is not a registered schema"}',
    ) as Record<string, string>,
  },
  'a schema by both of its ids': {
    mapping: { sales: 'eu', [sales.id]: String(eu.id) },
    faults: {
      '/mapping/sales': `names the same schema as the key "${sales.id}"; use one of them`,
      [`/mapping/${sales.id}`]: 'names the same schema as the key "sales"; use one of them',
    },
  },
  'ids with leading zeros': {
    mapping: { [`0${sales.id}`]: 'eu', sales: `0${eu.id}` },
    faults: {
      [`/mapping/0${sales.id}`]: 'is not a registered schema',
      '/mapping/sales': 'is not a registered data source of this schema',
    },
  },
  'numbers beyond all ids': {
    mapping: { '9223372036854775808': 'eu', sales: '99999999999999999999999999' },
    faults: {
      '/mapping/9223372036854775808': 'is not a registered schema',
      '/mapping/sales': 'is not a registered data source of this schema',
    },
  },
}

for (const [title, { mapping, faults }] of Object.entries(unregistered)) {
  for (const [way, send] of Object.entries(ways)) {
    test(`${title} is 400 with ${way}, names each entry, and writes nothing`, async () => {
      const id = `refused ${title}, ${way}`
      assertSuccess(await api.get({ user_group_id: id, name: 'Name', mapping: { sales: 'eu' } }))
      const before = await showUserGroup(service, id)
      const response = await send({ user_group_id: id, name: 'New', mapping, properties: { a: 1 } })
      const { fields, message } = assertFault(response, 'validation_failed', Object.keys(faults))
      assert.deepEqual(Object.fromEntries((fields ?? []).map((field) => [field.path, field.message])), faults)
      assert.match(message, /mapping\/.*(is not a registered|names the same schema)/)
      assert.deepEqual(await showUserGroup(service, id), before)
    })
  }

  test(`${title} is 400 for a new user group, and creates nothing`, async () => {
    const body = { user_group_id: `created ${title}`, name: 'Name', mapping }
    for (const response of [await api.get(body), await api.post(body, asGet)]) {
      assertFault(response, 'validation_failed', Object.keys(faults))
    }
    assertFault(await api.put({ user_group_id: body.user_group_id }), 'user_group_not_found')
  })
}

test('of many invalid entries, 100 are named', async () => {
  const mapping = Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`schema ${i}`, 'eu']))
  const response = await api.get({ user_group_id: 'many', name: 'Name', mapping })
  const { error } = response.body as { error: { code: string; fields: unknown[] } }
  assert.deepEqual([response.status, error.code, error.fields.length], [400, 'validation_failed', 100])
})

test('registered schemas and data sources are accepted by id or provided id, and returned with the token', async () => {
  const mappings: [Record<string, string>, Record<string, Registered>][] = [
    [{ sales: 'eu' }, { sales: of(sales, eu) }],
    [{ sales: String(eu.id) }, { sales: of(sales, eu) }],
    [
      { [sales.id]: 'eu', support: String(us.id) },
      { [sales.id]: of(sales, eu), support: of(support, us) },
    ],
    [{ [support.id]: String(us.id) }, { [support.id]: of(support, us) }],
  ]
  for (const [way, send] of Object.entries(ways)) {
    const id = `taken by ${way}`
    const token = tokenIn(await api.get({ user_group_id: id, name: 'Name' }))
    for (const [mapping, dataSources] of mappings) {
      assertSuccess(await send({ user_group_id: id, mapping }))
      const response = await introspect(token)
      const claims = assertActive(response)
      assert.deepEqual([claims.mapping, claims.data_sources], [mapping, dataSources])
      for (const dataSource of Object.values(claims.data_sources)) {
        assert.deepEqual(Object.keys(dataSource), ['id', 'provided_id', 'name', 'schema'])
      }
    }
  }
})

test('an absent mapping is accepted', async () => {
  for (const mapping of [null, {}]) {
    for (const [way, send] of Object.entries(ways)) {
      const id = `none by ${way}`
      const token = tokenIn(await api.get({ user_group_id: id, name: 'Name', mapping: { sales: 'eu' } }))
      assertSuccess(await send({ user_group_id: id, mapping }))
      const claims = assertActive(await introspect(token))
      assert.deepEqual([claims.mapping, claims.data_sources], [null, {}])
    }
  }
})

test('a missing scope is reported before an invalid mapping', async () => {
  const mapping = { '40': '213' }
  const reader = userApi(service.origin, await createApiToken(service, 'Testing', '--scopes', 'read'))
  assertFault(await reader.get({ user_group_id: 'nobody', name: 'Name', mapping }), 'forbidden')
  assertFault(await api.get({ user_group_id: 'nobody', mapping }), 'name_required', ['/name'])
  assertFault(await api.put({ user_group_id: 'nobody', mapping }), 'user_group_not_found')
  const body = { user_group_id: 'nobody', name: '', mapping: { '40': 213 } }
  assertFault(await api.get(body), 'validation_failed', ['/name', '/mapping/40'])
})

test('a mapping that was accepted earlier stays valid', async (t) => {
  const folder = temporaryFolder(t)
  const before = await startService(t, { UGS_DATA_DIR: folder })
  const tokens = before.tokens
  const body = { user_group_id: 'known', name: 'Name', mapping: { '40': '213' } }
  const token = tokenIn(await userApi(before.origin, tokens.Testing).get(body))
  const ofRenderer = await createApiToken(before, 'Testing', '--scopes', 'introspect')
  await before.stop()

  const now = await startService(t, { UGS_DATA_DIR: folder, UGS_MAPPING: 'registered' })
  const { get, put } = userApi(now.origin, tokens.Testing)
  assert.equal(tokenIn(await get(body)), token)
  assertSuccess(await put(body))
  assertSuccess(await put({ user_group_id: 'known', name: 'New', properties: { a: 1 } }))
  assertFault(await put({ ...body, mapping: { '40': '214' } }), 'validation_failed', ['/mapping/40'])
  const claims = assertActive(await introspector(now.origin, ofRenderer)(token))
  assert.deepEqual([claims.name, claims.mapping, claims.data_sources], ['New', { '40': '213' }, {}])

  const schema = await register(now, 'schema', '40')
  const dataSource = await register(now, 'data-source', '213', '--schema', String(schema.id))
  assert.deepEqual(assertActive(await introspector(now.origin, ofRenderer)(token)).data_sources, {
    '40': of(schema, dataSource),
  })
})

test('ugs user-group follows the same rule', async () => {
  const ugs = (...args: string[]) => service.ugs('user-group', ...args, '--environment', 'Testing')
  const refused = await ugs('get-or-create', 'by-ugs', '--name', 'A', '--mapping', '{"40":"213"}')
  assert.deepEqual([refused.code, refused.stdout], [2, ''])
  assert.match(refused.stderr, /^ugs: mapping\/40: is not a registered schema$/m)
  const taken = await ugs('get-or-create', 'by-ugs', '--name', 'A', '--mapping', '{"sales":"eu"}')
  assert.equal(taken.code, 0, taken.stderr)
  const update = await ugs('update', 'by-ugs', '--mapping', '{"sales":"213"}')
  assert.equal(update.code, 2)
  assert.deepEqual((await showUserGroup(service, 'by-ugs')).mapping, { sales: 'eu' })
})

test('free accepts any strings, and returns the data sources of registered ones', async () => {
  const own = userApi(free.origin, free.tokens.Testing)
  const schema = await register(free, 'schema', '40')
  const dataSource = await register(free, 'data-source', '213', '--schema', String(schema.id))
  const ask = introspector(free.origin, await createApiToken(free, 'Testing', '--scopes', 'introspect'))
  for (const mapping of [
    { '40': '214', '41': '213' },
    { '40': '213', 'a/b~c': 'x' },
    { '\uffff': '\uffff', '40': '213' },
  ]) {
    const token = tokenIn(await own.get({ user_group_id: 'free', name: 'Name', mapping }))
    assertSuccess(await own.put({ user_group_id: 'free', mapping }))
    const claims = assertActive(await ask(token))
    assert.deepEqual(claims.mapping, mapping)
    assert.deepEqual(claims.data_sources, mapping['40'] === '213' ? { '40': of(schema, dataSource) } : {})
  }
})

test('free mode refuses two keys of one registered schema, and names both', async () => {
  const own = userApi(free.origin, free.tokens.Testing)
  const schema = await register(free, 'schema', 'twice')
  const mapping = { twice: 'anything', [schema.id]: 'another' }
  const paths = ['/mapping/twice', `/mapping/${schema.id}`]
  const body = { user_group_id: 'twice', name: 'Name', mapping }
  for (const send of [own.get, (sent: object) => own.post(sent, asGet)])
    assertFault(await send(body), 'validation_failed', paths)
  assertSuccess(await own.get({ ...body, mapping: { twice: 'anything', [schema.id + 1000]: 'another' } }))
  for (const send of [own.put, (sent: object) => own.post(sent, override)])
    assertFault(await send({ user_group_id: 'twice', mapping }), 'validation_failed', paths)
})

test('a token returns the current data sources of its workspace and environment', async () => {
  const token = tokenIn(await api.get({ user_group_id: 'now', name: 'Name', mapping: { sales: 'eu' } }))
  assert.deepEqual(await dataSourcesOf(token), { sales: of(sales, eu) })
  // The provided id wins over the id.
  const byId = await register(service, 'data-source', 'by id', '--schema', String(sales.id))
  const wins = await register(service, 'data-source', String(byId.id), '--schema', String(sales.id))
  assertSuccess(await api.put({ user_group_id: 'now', mapping: { sales: String(byId.id) } }))
  assert.deepEqual(await dataSourcesOf(token), { sales: of(sales, wins) })
  // The meaning of a stored mapping does not change.
  assertSuccess(await api.put({ user_group_id: 'now', mapping: { sales: String(wins.id) } }))
  const taken = ['--provided-id', String(wins.id), '--schema', String(sales.id), '--name', 'Another']
  const { code } = await service.ugs('data-source', 'create', '--environment', 'Testing', ...taken)
  assert.equal(code, 1)
  assert.deepEqual(await dataSourcesOf(token), { sales: of(sales, wins) })
  const customer = userApi(service.origin, service.tokens.Customer)
  const refused = await customer.get({ user_group_id: 'now', name: 'Name', mapping: { sales: 'eu' } })
  assertFault(refused, 'validation_failed', ['/mapping/sales'])
})

for (const value of ['nonsense', 'registered free', 'Registered', 'free,registered']) {
  test(`UGS_MAPPING=${JSON.stringify(value)} keeps the service from starting and lists the valid values`, async (t) => {
    const environment = { UGS_DATA_DIR: temporaryFolder(t), UGS_MAPPING: value, PORT: '0' }
    const { code, stdout, stderr } = await runUgs(['serve'], environment)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /UGS_MAPPING: must be one of free, registered/)
  })
}
