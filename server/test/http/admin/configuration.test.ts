import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  adminApi,
  assertRefused,
  assertSucceeded,
  manage,
  startManaged,
  type EventView,
} from '../../support/admin-api.ts'
import { generateApiToken, hashToken } from '../../../src/domain/token/token.ts'

const { service, admin, create, introspect } = await startManaged({ after })

interface Exported {
  readonly schemas: { provided_id: string; name: string; data_sources: object[] }[]
  readonly webhook_endpoints?: { name: string }[]
  readonly api_tokens: { name: string; token_sha256: string }[]
}
interface Applied {
  readonly results: {
    kind: string
    key: string
    outcome: string
    differences: object[]
    message: string | null
  }[]
  readonly summary: Record<string, number>
}

const exportOf = async (api = admin) =>
  assertSucceeded<Exported>(await api.exportConfiguration(), 'exportConfiguration')
const apply = async (body: object, query = {}, headers = {}) =>
  assertSucceeded<Applied>(await admin.applyConfiguration({ body, query, headers }), 'applyConfiguration')
const sales = (name: string) => ({
  ...{ provided_id: 'sales', name: 'Sales' },
  data_sources: [{ provided_id: 'eu', name }],
})

test('an export can be sent back, which changes nothing', async () => {
  await apply({
    version: 1,
    schemas: [sales('EU')],
    webhook_endpoints: [{ name: 'A', url: 'https://a.example/' }],
  })
  const exported = await exportOf()
  // The API tokens of the test all have one name.
  const { summary } = await apply({ ...exported, api_tokens: undefined }, { prune: true })
  // There are no webhooks on Citus.
  const unchanged = 2 + (exported.webhook_endpoints?.length ?? 0)
  assert.deepEqual(summary, { created: 0, updated: 0, unchanged, deleted: 0, refused: 0 })
  assert.deepEqual(await exportOf(), exported)
})

test('a new name of a data source is seen by the next introspection', async () => {
  await apply({ version: 1, schemas: [sales('EU')] })
  const { token } = await create('mapped', { mapping: { sales: 'eu' } })
  const nameOf = async () =>
    ((await introspect(token)).body as { data_sources: Record<string, { name: string }> }).data_sources.sales
      ?.name
  assert.equal(await nameOf(), 'EU')
  const { results } = await apply({ version: 1, schemas: [sales('Europe')] })
  assert.deepEqual(results[1]?.differences, [{ path: '/name', before: 'EU', after: 'Europe' }])
  assert.equal(await nameOf(), 'Europe')
  const pruned = await apply({ version: 1, schemas: [] }, { prune: true, dry_run: true })
  assert.deepEqual(
    pruned.results.map(({ outcome }) => outcome),
    ['refused', 'refused'],
  )
  assert.deepEqual(
    await apply({ version: 1, schemas: [] }, { prune: true }).then((one) => one.summary.refused),
    2,
  )
})

test('each change is an event of the request', async () => {
  const token = generateApiToken('Customer')
  const api_tokens = [
    { name: 'new', scopes: ['admin'], token_sha256: hashToken(token).toString('hex').toUpperCase() },
  ]
  const response = await admin.applyConfiguration({
    body: { version: 1, schemas: [sales('E'), { provided_id: 'b', name: 'B' }], api_tokens },
  })
  assertSucceeded(response, 'applyConfiguration')
  const query = { request_id: response.headers['x-request-id'] ?? '' }
  const { audit_events } = assertSucceeded<{ audit_events: EventView[] }>(
    await admin.listAuditEvents({ query }),
    'listAuditEvents',
  )
  assert.deepEqual(
    audit_events.map(({ action }) => action),
    ['api_token.created', 'data_source.updated', 'schema.created'],
  )
  // Its own API token is not revoked.
  const own = adminApi(service.origin, token)
  const { results } = assertSucceeded<Applied>(
    await own.applyConfiguration({ body: { version: 1, api_tokens: [] }, query: { prune: true } }),
    'applyConfiguration',
  )
  assert.deepEqual(
    results.filter(({ outcome }) => outcome !== 'deleted').map(({ key, outcome }) => [key, outcome]),
    [['new', 'refused']],
  )
  assert.equal((await own.listSchemas()).status, 200)
  assertRefused(await admin.listSchemas(), 'listSchemas', 'unauthenticated')
})

test('If-Match refuses a change after that of somebody else', async () => {
  const { admin } = await manage(service, 'Testing')
  const { headers } = await admin.exportConfiguration()
  const etag = headers.etag ?? ''
  assert.match(etag, /^"[0-9a-f]{64}"$/)
  const body = { version: 1, schemas: [{ provided_id: 'first', name: 'x' }] }
  const send = (ifMatch: string) => admin.applyConfiguration({ body, headers: { 'if-match': ifMatch } })
  assertRefused(await send('"other"'), 'applyConfiguration', 'revision_mismatch')
  assertSucceeded(await send(`"other", ${etag}`), 'applyConfiguration')
  assertRefused(await send(etag), 'applyConfiguration', 'revision_mismatch')
  assertSucceeded(await send('*'), 'applyConfiguration')
})

test('of changes at once with the same If-Match exactly one is made', async () => {
  const { admin } = await manage(service, 'Testing')
  for (let round = 0; round < 5; round++) {
    const { headers } = await admin.exportConfiguration()
    const send = (name: string) =>
      admin.applyConfiguration({
        body: { version: 1, schemas: [{ provided_id: 'raced', name: `${name} ${round}` }] },
        headers: { 'if-match': headers.etag ?? '' },
      })
    const responses = await Promise.all(['a', 'b', 'c'].map(send))
    assert.deepEqual(responses.map(({ status }) => status).sort(), [200, 412, 412])
  }
})

test('ids with slashes do not make two data sources one', async () => {
  const { admin } = await manage(service, 'Testing')
  const schema = (provided_id: string, source: string) => ({
    ...{ provided_id, name: 'x' },
    data_sources: [{ provided_id: source, name: source }],
  })
  const [first, second] = [schema('a/b', 'c'), schema('a', 'b/c')]
  const send = async (schemas: object[], query = {}) =>
    assertSucceeded<Applied>(
      await admin.applyConfiguration({ body: { version: 1, schemas }, query }),
      'applyConfiguration',
    )
  await send([first])
  assert.equal((await send([second])).summary.created, 2)
  assert.equal((await send([first, second])).summary.unchanged, 4)
  const pruned = await send([{ ...first, data_sources: [] }, second], { prune: true })
  assert.equal(
    pruned.results.filter(({ kind, outcome }) => kind === 'data_source' && outcome === 'deleted').length,
    1,
  )
  const { schemas } = await exportOf(admin)
  assert.deepEqual(
    schemas.filter(({ provided_id }) => provided_id.startsWith('a')),
    [second, { ...first, data_sources: [] }],
  )
})

test('an API token that has expired is refused each time', async () => {
  const { admin } = await manage(service, 'Testing')
  const token = (expires_at: string | null) => ({
    ...{ name: 'expired', scopes: ['read'], expires_at },
    token_sha256: hashToken(generateApiToken('Testing')).toString('hex'),
  })
  const send = async (one: object) => {
    const body = { version: 1, api_tokens: [one] }
    return assertSucceeded<Applied>(await admin.applyConfiguration({ body }), 'applyConfiguration').results
  }
  const old = token('2020-01-01T00:00:00Z')
  for (const [result] of [await send(old), await send(old)])
    assert.deepEqual([result?.outcome, result?.message?.split(';')[0]], ['refused', 'expires_at: has passed'])
  await send(token(null))
  assert.equal((await send(old))[0]?.outcome, 'refused')
})

test('a document may have as many objects as fit into a body', async () => {
  const { admin } = await manage(service, 'Testing')
  const data_sources = Array.from({ length: 1500 }, (_, i) => ({
    ...{ provided_id: `customer ${i}`, name: 'x'.repeat(100) },
  }))
  const response = await admin.applyConfiguration({
    body: { version: 1, schemas: [{ provided_id: 'large', name: 'x', data_sources }] },
    query: { dry_run: true },
  })
  assert.equal(assertSucceeded<Applied>(response, 'applyConfiguration').summary.created, 1501)
})

test('a document that is not valid is refused as a whole', async () => {
  const { admin } = await manage(service, 'Testing')
  const token = { name: 'a', scopes: ['read'], token_sha256: 'ab'.repeat(32) }
  const refused: [body: object, ...fields: string[]][] = [
    [{}, '/version'],
    [{ version: 2 }, '/version'],
    [{ version: 1, api_tokens: [{ ...token, token_env: 'HOME' }] }, '/api_tokens/0/token_env'],
    [{ version: 1, api_tokens: [{ ...token, scopes: [] }] }, '/api_tokens/0/scopes'],
    [
      { version: 1, api_tokens: [{ ...token, rate_limit: 'fast' }, token] },
      '/api_tokens/0/rate_limit',
      '/api_tokens/1/name',
    ],
    [
      { version: 1, api_tokens: [{ ...token, expires_at: '2026-02-30T00:00:00Z' }] },
      '/api_tokens/0/expires_at',
    ],
    [
      { version: 1, schemas: [{ ...sales('A'), data_sources: [{ provided_id: '', name: 'x' }] }] },
      '/schemas/0/data_sources/0/provided_id',
    ],
  ]
  const before = await exportOf(admin)
  for (const [body, ...fields] of refused)
    assertRefused(await admin.applyConfiguration({ body }), 'applyConfiguration', 'validation_failed', fields)
  assert.deepEqual(await exportOf(admin), before)
})
