import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { AdminOperationId } from '../../../src/http/admin/operations.ts'
import {
  adminPath,
  assertSucceeded,
  assertRefused,
  managedIn,
  of,
  operationIds,
  operationOf,
  startManaged,
} from '../../support/admin-api.ts'
import { sendRequest } from '../../support/http.ts'
import { shareOf } from '../../support/cases.ts'
import { assertFault } from '../../support/user-api.ts'

const { service, admin, adminToken, create } = await startManaged({ after })
const created = await create('known', { properties: { a: 1 } })
const { origin } = service

// Operations with rows are tested in import.test.ts, because each row is validated separately.
const withBody = operationIds.filter((id) => operationOf(id).body !== undefined && !operationOf(id).takesRows)
const paths = new Set(operationIds.map((id) => operationOf(id).path))

for (const path of paths) {
  const ids = operationIds.filter((id) => operationOf(id).path === path)
  const methods = ids.map((id) => operationOf(id).method)
  test(`${path} refuses any other method with 405 and lists the allowed ones`, async () => {
    const url = adminPath(ids[0] as AdminOperationId, { params: { ...of(created).params } })
    const others = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'].filter(
      (method) => !(methods as string[]).includes(method),
    )
    for (const [turn, method] of others.entries()) {
      for (const suffix of shareOf(['', '/', '?limit=1'], turn, 1)) {
        // The path and method are checked before the API token.
        for (const token of shareOf([adminToken, undefined], turn, 1)) {
          const response = await sendRequest(origin, { method, path: url + suffix, token, body: {} })
          assertFault(response, 'method_not_allowed')
          assert.deepEqual((response.headers.allow ?? '').split(', ').sort(), [...methods].sort())
        }
      }
    }
  })
}

test('refuses HEAD with 405', async () => {
  for (const id of operationIds) {
    const response = await sendRequest(origin, { method: 'HEAD', path: adminPath(id), token: adminToken })
    assert.deepEqual([response.status, response.text], [405, ''])
  }
})

test('names a Content-Type that is not valid, even where no body is read', async () => {
  const headers = { 'content-type': 'nothing' }
  const response = await admin.deleteUserGroup({ ...of(created), body: '{}', headers })
  const { message } = assertFault(response, 'unsupported_media_type')
  assert.equal(message, 'Content-Type: is not valid: "nothing"')
})

test('accepts a trailing slash', async () => {
  const path = `/admin/v1/user-groups/${created.team_id}/?`
  assert.equal(
    managedIn(await sendRequest(origin, { path, token: adminToken }), 'getUserGroup').name,
    'known',
  )
})

for (const path of [
  '',
  '/',
  '/user-group',
  '/user-groups/1/tokens',
  '/User-Groups',
  '/user-groups/1//view',
]) {
  test(`/admin/v1${path} is unknown`, async () => {
    const response = await sendRequest(origin, { path: `/admin/v1${path}`, token: adminToken })
    assertFault(response, 'not_found')
  })
}

const invalidIds = [
  '0',
  '01',
  '-1',
  '+1',
  '1.0',
  '1e3',
  '%20',
  'x',
  '1%2F1',
  '%00',
  '12345678901234567',
  '१',
  '9'.repeat(99),
]
for (const [turn, id] of operationIds.filter((id) => operationOf(id).path.includes('{')).entries()) {
  test(`${id} returns 404 for an invalid id in the path`, async () => {
    const names = [...operationOf(id).path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    for (const name of names) {
      for (const text of shareOf(invalidIds, turn, 3)) {
        const params = { ...of(created).params, revision: 1, [name]: encodeURI(text).replace('%25', '%') }
        const response = await admin[id]({ params, ...(operationOf(id).body && { body: {} }) })
        assert.deepEqual(
          [response.status, response.body.error.code],
          [404, 'not_found'],
          `${text}: ${response.text}`,
        )
      }
    }
    const params = Object.fromEntries(names.map((name) => [name, 'x'.repeat(101)]))
    assertFault(await admin[id]({ params }), 'malformed_request')
  })
}

const unknownParameters = [
  ['nonsense=1', '/nonsense'],
  ['Limit=1', '/Limit'],
  ['=1', '/'],
  ['__proto__=1', '/__proto__'],
  ['constructor', '/constructor'],
  ['a%7Eb=1', '/a~0b'],
] as const
for (const [turn, id] of operationIds.entries()) {
  test(`${id} accepts only its own query parameters, each once`, async () => {
    const { properties = {}, required = [] } = (operationOf(id).query ?? {}) as {
      properties?: object
      required?: readonly string[]
    }
    const own = Object.keys(properties)
    const missing = required.map((name) => `/${name}`)
    const input = { params: { ...of(created).params, revision: 1 }, body: operationOf(id).body && {} }
    for (const [query, field] of shareOf(unknownParameters, turn, 2))
      assertRefused(await admin[id]({ ...input, query }), id, 'validation_failed', [field, ...missing])
    for (const name of ['a/b', ...own]) {
      const twice = await admin[id]({ ...input, query: `${name}=1&${name}=1` })
      assertRefused(twice, id, 'validation_failed', [`/${name.replace('/', '~1')}`])
    }
  })
}

const malformed: readonly [body: string | Buffer, ...fields: string[]][] = [
  ['{'],
  ['{"a":1,}'],
  ['{"a":1,"a":1}', '/a'],
  ['{"a":{"b":1,"\\u0062":2}}', '/a/b'],
  ['{"a":9007199254740993}', '/a'],
  ['{"a":1e400}', '/a'],
  ['{"a":0.12345678901234567890}', '/a'],
  ['{"a":"\\ud800"}', '/a'],
  [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ['\ufeff{}'],
]

for (const [turn, id] of withBody.entries()) {
  const input = { params: of(created).params }
  test(`${id} reads its body as strictly as /api/user`, async () => {
    const type = { 'content-type': 'application/json' }
    assertRefused(await admin[id](input), id, 'body_required')
    assertRefused(await admin[id]({ ...input, body: '', headers: type }), id, 'body_required')
    for (const contentType of [
      'text/plain',
      'application/merge-patch+json',
      'application/json; charset=latin1',
    ])
      assertRefused(
        await admin[id]({ ...input, body: '{}', headers: { 'content-type': contentType } }),
        id,
        'unsupported_media_type',
      )
    const gzip = { ...type, 'content-encoding': 'gzip' }
    assertRefused(await admin[id]({ ...input, body: '{}', headers: gzip }), id, 'unsupported_media_type')
    assertRefused(await admin[id]({ ...input, body: ' '.repeat(1024 * 1024 + 1) }), id, 'body_too_large')
    for (const [body, ...fields] of shareOf(malformed, turn, 3))
      assertRefused(await admin[id]({ ...input, body }), id, 'malformed_json', fields)
    for (const body of shareOf(['null', '[]', '"text"', '1'], turn, 2))
      assertRefused(await admin[id]({ ...input, body }), id, 'validation_failed', [''])
    const unknown = await admin[id]({ ...input, body: { nonsense: 1 } })
    assert.ok(
      (unknown.body as { error: { fields: { path: string }[] } }).error.fields.some(
        ({ path }) => path === '/nonsense',
      ),
      unknown.text,
    )
  })
}

/** Invalid bodies and the paths of their invalid fields. */
const invalidBodies: Partial<Record<AdminOperationId, readonly [body: unknown, ...fields: string[]][]>> = {
  createUserGroup: [
    [{ name: 'A' }, '/user_group_id'],
    [{ user_group_id: '', name: '' }, '/user_group_id', '/name'],
    [{ user_group_id: 'a', name: 'A', mapping: { a: 1 }, token: 'x' }, '/mapping/a', '/token'],
  ],
  patchUserGroup: [
    [{ name: null }, '/name'],
    [{ name: '' }, '/name'],
    [{ name: ' ' }, '/name'],
    [{ name: 'a\u0000' }, '/name'],
    [{ name: 'x'.repeat(256) }, '/name'],
    [{ mapping: [] }, '/mapping'],
    [{ mapping: { a: 1, b: '' } }, '/mapping/a', '/mapping/b'],
    [{ properties: 'text' }, '/properties'],
    [{ properties: { a: '\u0000' } }, '/properties/a'],
    [{ properties: { a: 'x'.repeat(65_536) } }, '/properties'],
    [`{"properties":${'{"a":'.repeat(33)}1${'}'.repeat(33)}}`, '/properties'],
    [{ user_group_id: 'other' }, '/user_group_id'],
    [
      { token: 'x', team_id: 2, revision: 1, suspended_at: null },
      '/token',
      '/team_id',
      '/revision',
      '/suspended_at',
    ],
  ],
  rotateTokenOfUserGroup: [
    [{ grace_period_seconds: -1 }, '/grace_period_seconds'],
    [{ grace_period_seconds: 604_801 }, '/grace_period_seconds'],
    [{ grace_period_seconds: 1.5 }, '/grace_period_seconds'],
    [{ grace_period_seconds: '60' }, '/grace_period_seconds'],
    [{ grace_period_seconds: null }, '/grace_period_seconds'],
    [{ current_token: 'x' }, '/current_token'],
  ],
  endSessionsOfUserGroup: [
    [{ viewer_id: '' }, '/viewer_id'],
    [{ viewer_id: null }, '/viewer_id'],
    [{ viewer_id: 'a\u0007' }, '/viewer_id'],
    [{ viewer: 'a' }, '/viewer'],
  ],
  createJob: [
    [{}, '/action'],
    [{ action: 'rename', all: true }, '/action'],
    [{ action: 'suspend' }, ''],
    [{ action: 'suspend', all: true, team_ids: [1] }, ''],
    [{ action: 'suspend', all: true, text: 'a' }, ''],
    [{ action: 'suspend', all: false }, '/all'],
    [{ action: 'suspend', team_ids: [] }, '/team_ids'],
    [{ action: 'suspend', team_ids: [0] }, '/team_ids/0'],
    [{ action: 'suspend', team_ids: [2 ** 53, 1e300] }, '/team_ids/0', '/team_ids/1'],
    [{ action: 'suspend', team_ids: [1, 1] }, '/team_ids'],
    [{ action: 'suspend', team_ids: Array.from({ length: 1001 }, (_, i) => i + 1) }, '/team_ids'],
    [{ action: 'suspend', suspended: 'true' }, '/suspended'],
    [{ action: 'suspend', property: '/plan' }, '/property_value'],
    [{ action: 'suspend', all: true, grace_period_seconds: 60 }, '/grace_period_seconds'],
    [{ action: 'rotate', all: true, grace_period_seconds: 604_801 }, '/grace_period_seconds'],
  ],
  acceptIsolationFinding: [
    [{}, '/kind', '/schema', '/data_source', '/version', '/reason'],
    [
      { kind: 'all', schema: '', data_source: 'a\u0000', version: 1, reason: ' ' },
      '/kind',
      '/schema',
      '/data_source',
      '/version',
      '/reason',
    ],
    [{ kind: 'shared', schema: 'a', data_source: 'a', version: 'v', reason: 'x'.repeat(256) }, '/reason'],
  ],
  reopenIsolationFinding: [
    [{}, '/kind', '/schema', '/data_source'],
    [{ kind: 'shared', schema: 'a', data_source: 'a', reason: 'x' }, '/reason'],
  ],
  promoteUserGroups: [
    [{}, '/user_group_ids'],
    [{ user_group_ids: [] }, '/user_group_ids'],
    [{ user_group_ids: 'a' }, '/user_group_ids'],
    [{ user_group_ids: ['a', 'a'] }, '/user_group_ids'],
    [{ user_group_ids: ['', 'a\u0000', 1] }, '/user_group_ids/0', '/user_group_ids/1', '/user_group_ids/2'],
    [{ user_group_ids: Array.from({ length: 201 }, (_, i) => String(i)) }, '/user_group_ids'],
    [{ user_group_ids: ['a'], dry_run: 'true' }, '/dry_run'],
  ],
  reportLeakedToken: [
    [{}, '/token'],
    [{ token: '' }, '/token'],
    [{ token: 'x'.repeat(6145) }, '/token'],
    [{ token: 'x', rotate: 1 }, '/rotate'],
  ],
  createApiToken: [
    [{}, '/name', '/scopes'],
    [{ name: 'a', scopes: [] }, '/scopes'],
    [{ name: 'a', scopes: ['read', 'read'] }, '/scopes'],
    [{ name: 'a', scopes: ['read', 'root'] }, '/scopes/1'],
    [{ name: 'a', scopes: ['read'], expires_in_seconds: 0 }, '/expires_in_seconds'],
    [{ name: 'a', scopes: ['read'], expires_in_seconds: 315_360_001 }, '/expires_in_seconds'],
    [{ name: 'a', scopes: ['read'], api_environment_tag: 'Testing' }, '/api_environment_tag'],
    [{ name: 'a', scopes: ['read'], workspace: 'second' }, '/workspace'],
  ],
  rotateApiToken: [
    [{ overlap_seconds: -1 }, '/overlap_seconds'],
    [{ overlap_seconds: 2_592_001 }, '/overlap_seconds'],
    [{ overlap_seconds: 0.5 }, '/overlap_seconds'],
    [{ overlap_seconds: '60' }, '/overlap_seconds'],
    [{ overlap_seconds: null }, '/overlap_seconds'],
    [{ name: 'a' }, '/name'],
  ],
  createWorkspace: [
    [{}, '/name'],
    [{ name: '\n' }, '/name'],
  ],
  createSchema: [
    [{}, '/provided_id', '/name'],
    [{ provided_id: 1, name: 'x'.repeat(256) }, '/provided_id', '/name'],
  ],
  createDataSource: [
    [{}, '/schema_id', '/provided_id', '/name'],
    [{ schema_id: '1', provided_id: 'a', name: 'a' }, '/schema_id'],
    [{ schema_id: 0, provided_id: 'a', name: 'a' }, '/schema_id'],
    [{ schema_id: 999_999, provided_id: 'a', name: 'a' }, '/schema_id'],
    ['{"schema_id":1e20,"provided_id":"a","name":"a"}', '/schema_id'],
    ['{"schema_id":1e300,"provided_id":"a","name":"a"}', '/schema_id'],
  ],
  applyConfiguration: [
    [{}, '/version'],
    [{ version: 1, schemas: [{}] }, '/schemas/0/provided_id', '/schemas/0/name'],
    [{ version: 1, api_tokens: [{ name: 'a', scopes: ['all'], token_sha256: 'x' }] }, '/api_tokens/0/scopes/0', '/api_tokens/0/token_sha256'], // prettier-ignore
  ],
  createWebhookEndpoint: [
    [{}, '/name', '/url'],
    [{ name: 'a', url: 'http://example.com/' }, '/url'],
    [{ name: 'a', url: 'https://user:password@example.com/' }, '/url'],
    [{ name: 'a', url: 'https://169.254.169.254/' }, '/url'],
    [{ name: 'a', url: 'https://example.com/', event_types: ['user_group.renamed'] }, '/event_types/0'],
    [{ name: 'a', url: 'https://example.com/', secret: 'whsec_' }, '/secret'],
  ],
  updateWebhookEndpoint: [
    [{ state: 'disabled' }, '/state'],
    [{ url: 'https://localhost:x/' }, '/url'],
    [{ name: '' }, '/name'],
  ],
  rotateWebhookEndpoint: [
    [{ overlap_seconds: -1 }, '/overlap_seconds'],
    [{ overlap_seconds: 2_592_001 }, '/overlap_seconds'],
  ],
  redeliverWebhooks: [
    [{}, '/since'],
    [{ since: 'yesterday' }, '/since'],
    [{ since: '2026-02-30T00:00:00Z' }, '/since'],
    [{ since: '2026-02-27T00:00:00Z', until: '2026-02-30T00:00:00Z' }, '/until'],
  ],
}

for (const id of withBody) {
  test(`${id} lists each invalid field and changes nothing`, async () => {
    const cases = invalidBodies[id] ?? []
    assert.ok(cases.length > 0, `${id} has no case`)
    const lists = ['listApiTokens', 'listSchemas', 'listDataSources', 'searchUserGroups'] as const
    // The last use of an API token is written asynchronously.
    const state = () =>
      Promise.all(
        lists.map(async (list) => (await admin[list]()).text.replaceAll(/"last_used_at":[^,]+/g, '')),
      )
    const before = await state()
    for (const [body, ...fields] of cases)
      assertRefused(await admin[id]({ params: of(created).params, body }), id, 'validation_failed', fields)
    assert.deepEqual(await state(), before)
  })
}

test('operations without a body ignore one', async () => {
  const response = await admin.suspendUserGroup({ ...of(created), body: '{"nonsense"' })
  assertSucceeded(response, 'suspendUserGroup')
  assertSucceeded(await admin.getUserGroup({ ...of(created), body: 'x'.repeat(2_000_000) }), 'getUserGroup')
})

test('these requests caused no error in the log', () => {
  assert.doesNotMatch(service.stderr(), /"level":[56]0/)
})
