import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { runUgs, startService, temporaryFolder } from '../support/service.ts'
import { adminApi } from '../support/admin-api.ts'
import { runCommand } from '../support/command.ts'
import { tokenPattern } from '../support/secrets.ts'
import { generateApiToken, hashToken } from '../../src/domain/token/token.ts'

const folder = temporaryFolder({ after })
let files = 0

/** Writes a configuration file. */
function fileOf(content: object | string): string {
  const file = join(folder, `${++files}.json`)
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
  return file
}

const admin = generateApiToken('Customer')
const sales = { provided_id: 'sales', name: 'Sales', data_sources: [{ provided_id: 'eu', name: 'EU' }] }
const document = {
  version: 1,
  schemas: [sales],
  webhook_endpoints: [{ name: 'Backend', url: 'https://example.com/hook?key=secret-part' }],
  api_tokens: [{ name: 'admin', scopes: ['admin'], token_env: 'ADMIN_TOKEN' }],
}

test('a start applies the files before it listens, and starting again or twice at once changes nothing', async (t) => {
  const testing = { version: 1, schemas: [{ provided_id: 'of testing', name: 'x' }] }
  const settings = {
    UGS_CONFIG_FILE: `${fileOf(document)}, Testing=${fileOf(testing)}`,
    UGS_DATA_DIR: join(temporaryFolder(t), 'data'),
    ADMIN_TOKEN: admin,
  }
  const service = await startService(t, settings)
  const api = adminApi(service.origin, admin)
  const exported = await api.exportConfiguration()
  assert.deepEqual(exported.body, {
    success: 1,
    version: 1,
    schemas: [sales],
    webhook_endpoints: [{ ...document.webhook_endpoints[0], event_types: [] }],
    api_tokens: [
      ...(exported.body as { api_tokens: { name: string }[] }).api_tokens.filter(
        ({ name }) => name !== 'admin',
      ),
      {
        ...{ name: 'admin', scopes: ['admin'], rate_limit: null, expires_at: null },
        token_sha256: hashToken(admin).toString('hex'),
      },
    ].sort((a, b) => (a.name < b.name ? -1 : 1)),
  })
  const list = async () => {
    const { audit_events } = (await api.listAuditEvents({ query: { limit: 200 } })).body as {
      audit_events: { details: { name?: string } | null }[]
    }
    // On PostgreSQL, starting a service for a test creates API tokens of this name.
    return audit_events.filter(({ details }) => details?.name !== 'test')
  }
  const events = await list()
  assert.doesNotMatch(service.stderr(), tokenPattern)
  assert.ok(!service.stderr().includes('secret-part'))
  const location = service.databaseUrl === undefined ? {} : { DATABASE_URL: service.databaseUrl }
  const others = await Promise.all([1, 2].map(() => startService(t, { ...settings, ...location })))
  assert.equal(others.length, 2)
  assert.deepEqual(await list(), events)
})

test('a start with a refused object logs it and goes on', async (t) => {
  const used = { name: 'other name', scopes: ['read'], token_env: 'ADMIN_TOKEN' }
  const settings = {
    UGS_CONFIG_FILE: fileOf({ version: 1, api_tokens: [{ ...used, name: 'first' }, used], schemas: [sales] }),
    ADMIN_TOKEN: admin,
  }
  const service = await startService(t, settings)
  await service.logged('the configuration was refused')
  assert.match(service.stderr(), /"kind":"api_token","key":"other name","refusal":"token_sha256: /)
  const schemas = await runCommand(service, 'schema', 'list', '--environment', 'Customer')
  assert.match(schemas, /sales/)
})

const broken: Record<
  string,
  [content: object | string, message: RegExp, variables?: Record<string, string>]
> = {
  'no JSON': [
    '{\n  "version": 1,\n  nonsense\n}',
    /: The file is not JSON: unexpected character at line 3, column 3/,
  ],
  'a duplicate key': ['{\n"version": 1,\n"version": 1}', /\/version is a duplicate key, at line 3, column 1/],
  'an unknown member': ['{\n"version": 1,\n"user_groups": []}', /line 3: \/user_groups is not a known field/],
  'no version': ['{\n"schemas": []}', /line 1: \/version is required/],
  'a wrong scope': [
    '{\n"version": 1,\n"api_tokens": [\n{"name": "a",\n"scopes": [\n"read",\n"everything"], "token_env": "ADMIN_TOKEN"}]}',
    /line 7: \/api_tokens\/0\/scopes\/1 must be read or /,
  ],
  'a hash that is too short': [
    { version: 1, api_tokens: [{ name: 'a', scopes: ['read'], token_sha256: 'ab' }] },
    /line 9: \/api_tokens\/0\/token_sha256 must be a SHA-256, as 64 hex digits/,
  ],
  'two of a name': [
    { version: 1, schemas: [sales, sales] },
    /line 15: \/schemas\/1\/provided_id is a duplicate in this list/,
  ],
  // Each problem takes a search of the file for its line.
  'a thousand problems': [
    { version: 1, schemas: Array.from({ length: 1001 }, () => sales) },
    /\/schemas\/20\/provided_id is a duplicate in this list\s*\S* {2}and 980 more/,
  ],
  'a variable that is not set': [
    document,
    /line \d+: \/api_tokens\/0\/token_env names ADMIN_TOKEN, which is not set/,
    { ADMIN_TOKEN: '' },
  ],
  'a token of the other environment': [
    document,
    /names ADMIN_TOKEN, which has an API token of Testing, not Customer/,
    { ADMIN_TOKEN: generateApiToken('Testing') },
  ],
  'a password as a token': [
    document,
    /names ADMIN_TOKEN, which has no API token; generate one with `ugs api-token generate --environment Customer`/,
    { ADMIN_TOKEN: 'hunter2' },
  ],
  'a hash that is not that of the token': [
    {
      version: 1,
      api_tokens: [{ name: 'a', scopes: ['read'], token_env: 'ADMIN_TOKEN', token_sha256: 'ab'.repeat(32) }],
    },
    /\/api_tokens\/0\/token_sha256 is not the hash of the token in token_env/,
  ],
}

for (const [name, [content, message, variables]] of Object.entries(broken)) {
  test(`a file with ${name} stops a start, which leaves no store, and is refused by ugs config`, async (t) => {
    const file = fileOf(content)
    const dataFolder = join(temporaryFolder(t), 'data')
    const settings = { UGS_CONFIG_FILE: file, UGS_DATA_DIR: dataFolder, ADMIN_TOKEN: admin, ...variables }
    await assert.rejects(startService(t, settings), (error: Error) => {
      assert.match(error.message, message)
      assert.ok(error.message.includes(file))
      assert.doesNotMatch(error.message, tokenPattern)
      return true
    })
    const diff = await runUgs(['config', 'diff', file, '--environment', 'Customer'], settings)
    assert.equal(diff.code, 1)
    assert.match(diff.stderr, message)
  })
}

test('a file that is missing, and a setting that names no environment, stop a start', async (t) => {
  const missing = join(folder, 'missing.json')
  await assert.rejects(
    startService(t, { UGS_CONFIG_FILE: missing }),
    /missing\.json: the file cannot be read \(ENOENT\)/,
  )
  const wrong = { UGS_CONFIG_FILE: `Staging=${missing}` }
  await assert.rejects(startService(t, wrong), /UGS_CONFIG_FILE: must be a path, or a list such as/)
})

test('ugs config shows differences, and changes nothing without --yes', async (t) => {
  const service = await startService(t)
  const token = (await runCommand(service, 'api-token', 'generate', '--environment', 'Customer')).trim()
  const hash = hashToken(token).toString('hex')
  const file = fileOf({
    ...document,
    api_tokens: [{ name: 'r', scopes: ['introspect'], token_sha256: hash }],
  })
  const config = (name: string, ...args: string[]) =>
    service.ugs('config', name, ...(name === 'export' ? [] : [file]), '--environment', 'Customer', ...args)
  const before = (await config('export')).stdout
  const diff = await config('diff')
  assert.equal(diff.code, 0, diff.stderr)
  assert.match(diff.stdout, /^schema +sales +created/m)
  assert.match(diff.stderr, /4 would be created, 0 would be updated/)
  const unsure = await config('apply')
  assert.equal(unsure.code, 2)
  assert.match(unsure.stderr, /nothing is changed yet; add --yes to do it/)
  assert.equal((await config('export')).stdout, before)
  const applied = await config('apply', '--yes')
  assert.equal(applied.code, 0, applied.stderr)
  assert.match(applied.stderr, /4 were created/)
  assert.doesNotMatch(applied.stdout + applied.stderr, /whsec_|uga_/)
  assert.match((await config('apply')).stderr, /4 would be unchanged/)
  const response = await adminApi(service.origin, token).listSchemas()
  assert.equal(response.status, 403)
})
