import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { buildProgram } from '../../src/cli/program.ts'
import { startManaged } from '../support/admin-api.ts'
import { giveBelongings } from '../support/belongings.ts'
import { leavesOf } from '../support/commands.ts'
import { letSettle } from '../support/secret-key.ts'
import { assertNoSecret, assertNothingOfSecrets, tokenPattern } from '../support/secrets.ts'
import { runUgs, runUgsInNewProcess, temporaryFolder } from '../support/service.ts'

const owner = await startManaged({ after })
const { service } = owner
const owned = await giveBelongings(owner)
const folder = temporaryFolder({ after })
const settings = {
  UGS_DATA_DIR: service.dataFolder,
  ...(service.databaseUrl && { DATABASE_URL: service.databaseUrl }),
}
const keyFile = join(service.dataFolder, 'secret-keys')
const [keyId, key] = readFileSync(keyFile, 'utf8').trim().split(':') as [string, string]
const password = 'a-password-of-a-database'

/** All secrets in the test. */
const secrets = new Set([
  ...[owner.adminToken, service.tokens.Customer, owned.token, owned.replacedToken, owned.apiToken],
  ...[owned.idempotencyKey, owned.webhookSecret, key, Buffer.from(key, 'base64').toString('hex'), password],
])

const rows = join(folder, 'rows.ndjson')
writeFileSync(rows, JSON.stringify({ user_group_id: owned.userGroupId, name: 'Name' }))
const configuration = join(folder, 'configuration.json')
writeFileSync(configuration, JSON.stringify({ version: 1, schemas: [{ provided_id: 'more', name: 'x' }] }))
const inCustomer = ['--environment', 'Customer']
const one = [owned.userGroupId, ...inCustomer]
const finding = ['unresolved', 'nowhere', 'nothing']
const job = [String(owned.jobId), ...inCustomer]
const endpoint = [String(owned.webhookEndpointId), ...inCustomer]

/** On PostgreSQL in a new process, to show that each command ends: an open connection would keep it. */
const run = service.databaseUrl === undefined ? runUgs : runUgsInNewProcess

interface Run {
  readonly args: readonly string[]
  readonly stdin?: string
  /** Number of tokens on standard output. Default: 0. */
  readonly shows?: number
  /** Exit code. Default: 0. */
  readonly code?: number
}

/** All commands except `serve`, in an order in which they succeed. */
const commands: Record<string, Run> = {
  completion: { args: ['bash'] },
  'console-link': { args: ['--url', service.origin] },
  open: { args: ['--url', service.origin] },
  migrate: { args: [] },
  doctor: { args: ['--json', '--skip', service.databaseUrl ? 'durability,disk' : 'disk'] },
  'log-level': { args: ['info'] },
  'accept-timeline': { args: [], ...(!service.databaseUrl && { code: 1 }) },
  'store resume': { args: [], ...(service.databaseUrl && { code: 1 }) },
  'store copy': { args: ['--from', 'sqlite:nowhere', '--to', `postgres://u:${password}@[/x`], code: 2 },
  backup: { args: [join(folder, 'backup.db')], ...(service.databaseUrl && { code: 2 }) },
  'backup verify': { args: [join(folder, 'backup.db')], ...(service.databaseUrl && { code: 1 }) },
  restore: { args: [join(folder, 'backup.db')], code: service.databaseUrl ? 2 : 1 },
  'workspace create': { args: ['second'] },
  'workspace list': { args: [] },
  'api-token create': { args: [...inCustomer, '--name', 'x'], shows: 1 },
  'api-token generate': { args: [...inCustomer, '--json'], shows: 1 },
  'api-token list': { args: ['--json'] },
  'api-token limit': { args: [String(owned.apiTokenId), '500:2000', '--json'] },
  'api-token rotate': { args: [String(owned.apiTokenId), '--json'], shows: 1 },
  'api-token revoke': { args: [String(owned.apiTokenId)] },
  'user-group list': { args: [...inCustomer, '--json'] },
  'user-group show': { args: [...one, '--show-token'], shows: 1 },
  'user-group get-or-create': { args: one, shows: 1 },
  'user-group update': { args: [...one, '--name', 'New', '--json'] },
  'user-group rotate': { args: [...one, '--json'], shows: 1 },
  'user-group search': { args: [...inCustomer, '--json'] },
  'user-group view': { args: [...one, '--json'] },
  'user-group versions': { args: [...one, '--json'] },
  'user-group undo': { args: [...one, '--json'] },
  'user-group suspend': { args: [...one, '--json'] },
  'user-group resume': { args: [...one, '--json'] },
  'isolation-finding list': { args: [...inCustomer, '--json'] },
  'isolation-finding export': { args: inCustomer },
  'isolation-finding reopen': { args: [...finding, ...inCustomer, '--json'] },
  'isolation-finding accept': { args: [...finding, ...inCustomer, '--reason', 'Later', '--json'] },
  'user-group promote': { args: [owned.userGroupId, '--json'], code: 1 },
  'user-group whose-token': { args: [...inCustomer, '--rotate', '--json'], stdin: owned.token },
  'session create': { args: [...one, '--viewer', 'u-7', '--json'], shows: 1 },
  'session end': { args: [...one, '--json'] },
  'console-session list': { args: [...inCustomer, '--json'] },
  'console-session end': { args: [String(owned.consoleSessionId), ...inCustomer, '--json'] },
  'signing-key list': { args: [...inCustomer, '--json'] },
  'signing-key rotate': { args: [...inCustomer, '--json'] },
  'job run': { args: ['resume', '--all', '--yes', ...inCustomer, '--json'] },
  'job list': { args: [...inCustomer, '--json'] },
  'job show': { args: [...job, '--json'] },
  'job results': { args: [...job, '--json'] },
  'job cancel': { args: [...job, '--json'] },
  import: { args: [rows, ...inCustomer, '--json'] },
  export: { args: ['-', '--format', 'csv', ...inCustomer] },
  'usage list': { args: [...inCustomer, '--json'] },
  'usage export': { args: inCustomer },
  'usage erase': { args: ['u-7', ...inCustomer, '--json'] },
  'schema create': { args: ['--provided-id', 'new', '--name', 'x', ...inCustomer, '--json'] },
  'schema list': { args: [...inCustomer, '--json'] },
  'schema delete': { args: [String(owned.unusedSchemaId), ...inCustomer, '--json'] },
  'data-source create': {
    args: ['--schema', owned.schemaProvidedId, '--provided-id', 'new', '--name', 'x', ...inCustomer],
  },
  'data-source list': { args: [...inCustomer, '--json'] },
  'data-source delete': { args: [String(owned.dataSourceId), ...inCustomer], code: 1 },
  'user-group delete': { args: one },
  'user-group list-deleted': { args: [...inCustomer, '--json'] },
  'user-group restore': { args: [String(owned.deletedTeamId), ...inCustomer, '--json'] },
  'user-group erase': { args: [String(owned.deletedTeamId), ...inCustomer, '--json'], code: 1 },
  'webhook create': {
    args: [...inCustomer, '--name', 'x', '--url', 'https://example.com/x', '--json'],
    shows: 1,
  },
  'webhook list': { args: [...inCustomer, '--json'] },
  'webhook update': { args: [...endpoint, '--name', 'new', '--json'] },
  'webhook pause': { args: [...endpoint, '--json'] },
  'webhook resume': { args: [...endpoint, '--json'] },
  'webhook rotate-secret': { args: [...endpoint, '--json'], shows: 1 },
  'webhook deliveries': { args: [...endpoint, '--json'] },
  'webhook delivery': {
    args: [String(owned.webhookEndpointId), String(owned.webhookDeliveryId), ...inCustomer, '--json'],
  },
  // The host of the receiver does not exist.
  'webhook test': { args: [...endpoint, '--json'], code: 1 },
  'webhook redeliver': { args: [...endpoint, '--since', '2026-11-01T00:00:00Z', '--json'] },
  'webhook delete': { args: [...endpoint, '--json'] },
  'config export': { args: [...inCustomer, '--json'] },
  'config diff': { args: [configuration, ...inCustomer] },
  'config apply': { args: [configuration, '--yes', ...inCustomer] },
  'audit list': { args: ['--json', '--limit', '1000'] },
  'audit export': { args: [...inCustomer, '--format', 'ndjson'] },
  'audit prune': { args: ['--older-than', '1d'] },
  'secret-key add': { args: ['--id', 'new', '--json'] },
  'secret-key list': { args: ['--json'] },
  'secret-key reseal': { args: ['--json'] },
  'secret-key retire': { args: [keyId, '--json'] },
}

describe('a command reveals no secret', () => {
  it('the list of commands is complete', () => {
    const names = leavesOf(buildProgram()).map(([name]) => name)
    assert.deepEqual(names.filter((name) => name !== 'serve').sort(), Object.keys(commands).sort())
  })

  for (const [name, { args, stdin, shows = 0, code: expected = 0 }] of Object.entries(commands)) {
    it(`${name}, if it ${expected === 0 ? 'succeeds' : 'fails'}`, async () => {
      if (name === 'secret-key reseal') letSettle(keyFile)
      const { code, stdout, stderr } = await run([...name.split(' '), ...args], settings, stdin)
      assert.equal(code, expected, stderr)
      assert.equal(stdout.match(tokenPattern)?.length ?? 0, shows, stdout)
      assert.doesNotMatch(stderr, tokenPattern)
      // A configuration has the digests of generated API tokens.
      const assertNone = name === 'config export' ? assertNoSecret : assertNothingOfSecrets
      assertNone(name, stdout.replace(tokenPattern, '') + stderr, secrets)
      for (const token of stdout.match(tokenPattern) ?? []) secrets.add(token)
    })
  }

  it('when it lists a new secret key', async () => {
    const keys = readFileSync(keyFile, 'utf8').trim()
    assert.match(keys, /^new:/)
    const { stdout, stderr } = await service.ugs('secret-key', 'list')
    assertNothingOfSecrets('the list', stdout + stderr, [...secrets, keys.slice('new:'.length)])
  })

  // Likely mistakes with a secret in the clipboard.
  for (const secret of [owned.token, owned.apiToken, `${keyId}:${key}`, key]) {
    for (const mistaken of [
      ['api-token', 'revoke', secret],
      ['api-token', 'rotate', secret],
      ['api-token', 'create', ...inCustomer, '--name', 'x', '--scopes', secret],
      ['secret-key', 'retire', secret],
      ['secret-key', 'add', '--id', secret],
      ['schema', 'delete', secret, ...inCustomer],
      ['data-source', 'create', '--schema', secret, '--provided-id', 'x', '--name', 'x', ...inCustomer],
      ['user-group', 'show', 'nobody', '--environment', secret],
      ['user-group', 'list', ...inCustomer, '--workspace', secret],
      ['user-group', 'rotate', secret, ...inCustomer],
      ['import', secret, ...inCustomer, '--format', 'csv'],
      [secret],
      ['audit', 'list', '--since', secret],
    ]) {
      const shown = mistaken.map((word) => (word === secret ? `a ${secret.slice(0, 3)}…` : word)).join(' ')
      it(`on wrong usage: ${shown}`, async () => {
        const { code, stdout, stderr } = await runUgs(mistaken, settings)
        assert.notEqual(code, 0)
        assertNothingOfSecrets(shown, stdout + stderr, secrets)
      })
    }
  }

  it('of an invalid setting', async () => {
    for (const wrong of [
      { DATABASE_URL: `postgres://user:${password}@host:no/db` },
      { DATABASE_URL: `mysql://user:${password}@host/db` },
      { UGS_SECRET_KEYS: key },
      { UGS_SECRET_KEYS: `k1:${key},k1:${key}` },
      { UGS_SECRET_KEYS: `${keyId}:${key.slice(1)}` },
      { DATABASE_URL: `postgres://user:${password}@127.0.0.1:1/db`, UGS_POSTGRES_DEADLINE_MS: '100' },
    ]) {
      const { code, stdout, stderr } = await runUgs(['workspace', 'list'], {
        UGS_DATA_DIR: folder,
        ...(wrong as Record<string, string>),
      })
      assert.equal(code, 1)
      assertNothingOfSecrets('the error', stdout + stderr, [...secrets, key.slice(1)])
    }
  })
})
