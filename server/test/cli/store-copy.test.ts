import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import { LocatorCodec } from '../../src/domain/user-group/locator.ts'
import { hashToken, locatorOf } from '../../src/domain/token/token.ts'
import { openStore } from '../../src/store/open-store.ts'
import { defaults } from '../store/store-options.ts'
import { createApiToken, runCommand } from '../support/command.ts'
import { freshDatabase } from '../support/database.ts'
import {
  sharedService,
  startNewProcess,
  startService,
  temporaryFolder,
  type RunningService,
} from '../support/service.ts'
import { assertSameRows, copiedTables, copyStore, stateOf } from '../support/store-copy.ts'
import { assertFault, assertSuccess, tokenIn, userApi, userGroupIn } from '../support/user-api.ts'
import { secretKeyText } from '../support/secret-key.ts'

const dataFolder = join(temporaryFolder({ after }), 'data')
const sourceUrl = `sqlite:${join(dataFolder, 'ugs.db')}`
const grace = 3600
const tenantScopes = ['Customer', 'Testing', 'second Customer', 'second Testing'] as const
type TenantScope = (typeof tenantScopes)[number]

/** Request bodies that a copy could easily alter. */
const oddBodies = [
  String.raw`{"user_group_id":"escapes","name":"A","mapping":{"\u0001":"\uffff","\u001f":"\\u0000"}}`,
  String.raw`{"user_group_id":"more","name":"\\","properties":{"\u0001":"\\ \" \/ \b\f\n\r\t \u007f \u00e9"}}`,
  '{"user_group_id":"😀","name":"\u{10ffff}","mapping":{"😀":"𝟚"},"properties":{"𝔘":"\u0085\u2028"}}',
  '{"user_group_id":"\uff61","name":"after 😀 in UTF-16, before it in UTF-8"}',
  '{"user_group_id":"e\u0301","name":"\u00e9"}',
  '{"user_group_id":"\u00e9","name":"e\u0301"}',
  '{"user_group_id":"NULL","name":"null","mapping":null,"properties":null}',
  '{"user_group_id":"{NULL,\\"a\\"}","name":"{}","mapping":{},"properties":{}}',
  '{"user_group_id":"\\\\x00","name":"\'; DROP TABLE user_group; --"}',
  '{"user_group_id":"Case","name":" spaces  kept "}',
  '{"user_group_id":"case","name":"A"}',
  '{"user_group_id":"__proto__","name":"__proto__","mapping":{"__proto__":"1"},"properties":{"__proto__":{"a":1}}}',
  '{"user_group_id":"numbers","name":"1","properties":{"n":[1.50,1E2,-0,1e-7,9007199254740991,true,null]}}',
  `{"user_group_id":"64 KiB","name":"A","properties":{"text":"${'x'.repeat(64 * 1024 - 11)}"}}`,
  `{"user_group_id":"64 KiB of quotes","name":"A","properties":{"t":"${'\\"'.repeat(32 * 1024 - 4)}"}}`,
  JSON.stringify({
    user_group_id: 'i'.repeat(255),
    name: 'n'.repeat(255),
    mapping: { ['k'.repeat(255)]: 'v' },
  }),
  JSON.stringify({
    user_group_id: '𝔘'.repeat(255),
    name: '𝔫'.repeat(255),
    properties: { a: [[{}], [], ''] },
  }),
]
const oddIds = oddBodies.map((body) => (JSON.parse(body) as { user_group_id: string }).user_group_id)
const bulkIds = Array.from({ length: 1100 }, (_, i) => `bulk ${i}`)

const first = await startService(
  { after },
  { UGS_DATA_DIR: dataFolder, UGS_SECRET_KEYS: secretKeyText('one', 1) },
)
await runCommand(first, 'workspace', 'create', 'second')
const ofSecond = ['--workspace', 'second']
const apiTokens: Record<TenantScope, string> = {
  ...first.tokens,
  'second Customer': await createApiToken(first, 'Customer', ...ofSecond, '--scopes', 'write,introspect'),
  'second Testing': await createApiToken(first, 'Testing', ...ofSecond, '--expires-in', '90d'),
}
const otherApiTokens = {
  read: await createApiToken(first, 'Testing', '--scopes', 'read'),
  expired: await createApiToken(first, 'Testing', '--expires-in', '1s', '--name', 'expired'),
  revoked: await createApiToken(first, 'Customer', '--name', 'revoked'),
}
const revoked = /^(\d+) .* revoked /m.exec(await runCommand(first, 'api-token', 'list'))?.[1] ?? ''
await runCommand(first, 'api-token', 'revoke', revoked)
const outdated = new BetterSqlite3(join(dataFolder, 'ugs.db'))
outdated.exec("UPDATE api_token SET expires_at = 1000 WHERE name = 'expired'")
outdated.exec('INSERT INTO last_introspection VALUES (1, 1, 60000)')
outdated.exec(
  "INSERT INTO console_session VALUES (x'00ff', 1, 'Customer', 1, NULL, NULL, NULL, NULL, 9000000000000, 9000000000000)",
)
outdated.close()
for (const tenantScope of tenantScopes) {
  for (const body of oddBodies) assertSuccess(await userApi(first.origin, apiTokens[tenantScope]).get(body))
}
await first.stop()

// From here on, another key encrypts.
const keys = { UGS_SECRET_KEYS: `${secretKeyText('two', 2)},${secretKeyText('one', 1)}` }
const source = await startNewProcess({ after }, { UGS_DATA_DIR: dataFolder, ...keys })
const atSource = (tenantScope: TenantScope) => userApi(source.origin, apiTokens[tenantScope])
for (let next = 0; next < bulkIds.length; next += 50) {
  const ids = bulkIds.slice(next, next + 50)
  const created = ids.map((id) => atSource('Customer').get({ user_group_id: id, name: `name of ${id}` }))
  for (const response of await Promise.all(created)) assertSuccess(response)
}

async function rotate(id: string, gracePeriod: number, headers = {}) {
  const current_token = tokenIn(await atSource('Testing').get({ user_group_id: id }))
  const body = { current_token, grace_period_seconds: gracePeriod }
  const response = await atSource('Testing').post(body, headers)
  assertSuccess(response)
  return { old: current_token, body, response }
}
const idempotencyKey = { 'idempotency-key': 'moved' }
const withKey = await rotate('escapes', 0, idempotencyKey)
const rotations = {
  stopped: await rotate('😀', 0),
  withGrace: await rotate('more', grace),
  again: await rotate('more', grace),
  withKey,
  afterKey: await rotate('escapes', 0),
}
const highestTeamId = userGroupIn(
  await atSource('second Testing').get({ user_group_id: 'newest', name: 'A' }),
).team_id
await runCommand(source, ...['user-group', 'delete', 'newest', '--environment', 'Testing', ...ofSecond])

/** Registers a schema or data source and returns its id. */
async function register(service: RunningService, ...args: string[]): Promise<number> {
  const [noun = '', providedId = '', ...more] = args
  const options = ['--environment', 'Testing', '--provided-id', providedId, '--name', 'A', ...more, '--json']
  return (JSON.parse(await runCommand(service, noun, 'create', ...options)) as { id: number }).id
}
const schema = await register(source, 'schema', 'orders 😀')
const ofSchema = ['--schema', String(schema)]
const mappedDataSource = await register(source, 'data-source', 'eu', ...ofSchema)
const freeDataSource = await register(source, 'data-source', 'us', ...ofSchema)
const highest = {
  dataSource: await register(source, 'data-source', 'newest', ...ofSchema),
  schema: await register(source, 'schema', 'newest'),
}
await runCommand(source, 'data-source', 'delete', String(highest.dataSource), '--environment', 'Testing')
await runCommand(source, 'schema', 'delete', String(highest.schema), '--environment', 'Testing')
assertSuccess(await atSource('Testing').put({ user_group_id: 'case', mapping: { 'orders 😀': 'eu' } }))

/** Returns all responses of the API and outputs of the commands. */
async function readAll(service: RunningService): Promise<Record<string, string>> {
  const results: Record<string, string> = {}
  for (const tenantScope of tenantScopes) {
    for (const id of [...oddIds, ...(tenantScope === 'Customer' ? bulkIds : [])]) {
      const response = await userApi(service.origin, apiTokens[tenantScope]).get({ user_group_id: id })
      assertSuccess(response)
      results[`${tenantScope} ${id}`] = response.text
    }
  }
  const commands = [
    ['workspace', 'list'],
    ['api-token', 'list'],
    ['user-group', 'list', '--environment', 'Customer', '--limit', '2000'],
    ['user-group', 'list', '--environment', 'Customer', ...ofSecond],
    ...['schema', 'data-source'].map((noun) => [noun, 'list', '--environment', 'Testing']),
    // Only this command shows mappings.
    ...oddIds.map((id) => ['user-group', 'show', id, '--environment', 'Testing']),
  ]
  const outputs = await Promise.all(commands.map((args) => runCommand(service, ...args, '--json')))
  commands.forEach((args, i) => {
    // The requests above change this time each minute.
    results[args.join(' ')] = (outputs[i] ?? '').replaceAll(/"last_used_at": .*/g, '')
  })
  return results
}
const sourceResults = await readAll(source)
// All acknowledged changes must be copied, even if they are only in the write-ahead log.
await source.stop('SIGKILL')

const targetUrl = await freshDatabase({ after })
const copied = copiedTables(await copyStore(sourceUrl, targetUrl))

describe('ugs store copy', () => {
  it('copies every row', async (t) => {
    await assertSameRows(t, join(dataFolder, 'ugs.db'), targetUrl)
  })

  it('prints the number of rows of each table and their SHA-256', () => {
    const database = new BetterSqlite3(join(dataFolder, 'ugs.db'), { readonly: true })
    const count = (table: string) =>
      database.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0
    const [entries, events, changes] = [
      count('mapping_entry'),
      count('audit_event'),
      count('unindexed_user_group'),
    ]
    database.close()
    assert.ok(entries > 0 && events > bulkIds.length)
    assert.deepEqual(
      copied.map(({ name, rows }) => [name, rows]),
      [
        ['workspace', 2],
        ['api_token', 7],
        ['user_group', 4 * oddBodies.length + bulkIds.length],
        ['unindexed_user_group', changes],
        ['search_posting', 0],
        ['user_group_version', 1],
        ['deleted_user_group', 1],
        ['last_introspection', 1],
        ['viewing', 0],
        ['schema', 1],
        ['data_source', 2],
        ['registry', 1],
        ['mapping_entry', entries],
        ['accepted_finding', 0],
        ['superseded_token', 5],
        ['idempotency_key', 1],
        ['ended_session', 0],
        ['signing_key', 0],
        ['console_session', 1],
        ['audit_event', events],
        ['job', 0],
        ['job_result', 0],
        ['webhook_endpoint', 0],
        ['webhook_secret', 0],
        ['locator_key', 1],
        ['retired_secret_key', 0],
        ['secret_key_check', 2],
      ],
    )
    // Ten tables are empty.
    assert.equal(new Set(copied.map(({ checksum }) => checksum)).size, copied.length - 9)
  })

  it('prints the same when run again, also as JSON, and changes nothing', async (t) => {
    const before = await stateOf(t, targetUrl)
    const again = await copyStore(sourceUrl, targetUrl)
    assert.deepEqual(copiedTables(again), copied)
    assert.match(again.stderr, /^Already copied\. Start the service /m)
    const asJson = await copyStore(sourceUrl, targetUrl, '--json')
    assert.equal(asJson.code, 0, asJson.stderr)
    assert.deepEqual(JSON.parse(asJson.stdout), copied)
    assert.deepEqual(await stateOf(t, targetUrl), before)
  })

  it('prints the same for a copy from PostgreSQL to PostgreSQL', async (t) => {
    const url = await freshDatabase(t)
    assert.deepEqual(copiedTables(await copyStore(targetUrl, url)), copied)
    await assertSameRows(t, join(dataFolder, 'ugs.db'), url)
  })
})

describe('a service on the copy', () => {
  const target = sharedService({ DATABASE_URL: targetUrl, ...keys })
  const atTarget = (tenantScope: TenantScope) => userApi(target().origin, apiTokens[tenantScope])

  it('returns the same responses, byte for byte', async () => {
    const results = await readAll(target())
    for (const [query, result] of Object.entries(sourceResults)) assert.equal(results[query], result, query)
    assert.equal(Object.keys(results).length, Object.keys(sourceResults).length)
  })

  it('accepts the same API tokens with the same scopes', async () => {
    const { read, ...others } = otherApiTokens
    assertSuccess(await userApi(target().origin, read).get({ user_group_id: 'case' }))
    assertFault(await userApi(target().origin, read).put({ user_group_id: 'case', name: 'B' }), 'forbidden')
    for (const token of Object.values(others)) {
      assertFault(await userApi(target().origin, token).get({ user_group_id: 'case' }), 'unauthenticated')
    }
  })

  it('refuses to rotate superseded tokens', async () => {
    for (const { old } of Object.values(rotations)) {
      assertFault(await atTarget('Testing').post({ current_token: old }), 'token_superseded')
    }
  })

  it('returns the first response to a retry, and refuses its key for another request', async () => {
    const { body, response } = rotations.withKey
    assert.equal((await atTarget('Testing').post(body, idempotencyKey)).text, response.text)
    const other = await atTarget('Testing').post({ ...body, grace_period_seconds: 1 }, idempotencyKey)
    assertFault(other, 'idempotency_key_reused')
  })

  it('keeps the grace periods, to the millisecond', async (t) => {
    const stores = [sourceUrl, targetUrl].map((url) => openStore(parseDatabaseUrl(url), defaults))
    const [before, now] = await Promise.all(stores)
    assert.ok(before && now)
    t.after(async () => {
      await before.close()
      await now.close()
    })
    const validUntil = async (token: string, at: number) => {
      const found = [before, now].map((store) => {
        const location = new LocatorCodec(store.locatorKey).decode(locatorOf(token) ?? '')
        assert.ok(location)
        return store.userGroups.findByToken(1, 'Testing', { ...location, hash: hashToken(token) }, at)
      })
      const [expected, actual] = (await Promise.all(found)).map((owner) => owner?.validUntil)
      assert.equal(actual, expected)
      return actual
    }
    for (const { old } of [rotations.withGrace, rotations.again]) {
      const until = await validUntil(old, Date.now())
      assert.ok(until)
      assert.equal(await validUntil(old, until - 1), until)
      assert.equal(await validUntil(old, until), undefined)
    }
    assert.equal(await validUntil(tokenIn(rotations.again.response), Date.now()), null)
    assert.equal(await validUntil(rotations.stopped.old, Date.now()), undefined)
  })

  it('rotates and updates copied user groups', async () => {
    const before = userGroupIn(await atTarget('second Testing').get({ user_group_id: 'case' }))
    const rotated = await atTarget('second Testing').post({ current_token: before.token })
    assert.equal(userGroupIn(rotated).team_id, before.team_id)
    const updated = await atTarget('second Testing').put({ user_group_id: 'case', name: 'B' })
    assert.deepEqual(
      [userGroupIn(updated).name, userGroupIn(updated).token],
      ['B', userGroupIn(rotated).token],
    )
    await runCommand(target(), 'user-group', 'delete', 'escapes', '--environment', 'Testing')
  })

  it('continues after the highest id ever assigned', async () => {
    const created = await atTarget('Customer').get({ user_group_id: 'first after it', name: 'A' })
    assert.equal(userGroupIn(created).team_id, highestTeamId + 1)
    const token = JSON.parse(
      await runCommand(
        target(),
        ...['api-token', 'create', '--environment', 'Testing', '--name', 'x', '--json'],
      ),
    ) as { id: number }
    assert.equal(token.id, 8)
    const workspace = JSON.parse(await runCommand(target(), 'workspace', 'create', 'third', '--json')) as {
      id: number
    }
    assert.equal(workspace.id, 3)
  })

  it('refuses to delete a mapped data source, and deletes an unused one', async () => {
    const remove = (id: number) =>
      target().ugs('data-source', 'delete', String(id), '--environment', 'Testing')
    const { code, stderr } = await remove(mappedDataSource)
    assert.equal(code, 1)
    assert.match(stderr, /User groups are mapped to the data source/)
    assert.equal((await remove(freeDataSource)).code, 0)
    assertSuccess(await atTarget('Testing').put({ user_group_id: 'case', mapping: null }))
    assert.equal((await remove(mappedDataSource)).code, 0)
  })

  it('reuses no id of a schema or data source', async () => {
    assert.equal(await register(target(), 'schema', 'next'), highest.schema + 1)
    assert.equal(await register(target(), 'data-source', 'next', ...ofSchema), highest.dataSource + 1)
  })

  it('makes another copy refuse the target', async (t) => {
    const before = await stateOf(t, targetUrl)
    const { code, stderr } = await copyStore(sourceUrl, targetUrl)
    assert.equal(code, 1)
    assert.match(stderr, /^ugs: the target already contains other data; use an empty database$/m)
    assert.deepEqual(await stateOf(t, targetUrl), before)
  })
})
