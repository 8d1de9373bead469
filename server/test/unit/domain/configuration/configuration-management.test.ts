import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ApiTokenManagement } from '../../../../src/domain/api-token/api-token-management.ts'
import { ConfigurationManagement } from '../../../../src/domain/configuration/configuration-management.ts'
import { DataSourceManagement } from '../../../../src/domain/data-source/data-source-management.ts'
import { generateSecretKey, Keyring } from '../../../../src/domain/secret-key/keyring.ts'
import { generateApiToken, hashToken } from '../../../../src/domain/token/token.ts'
import { WebhookManagement } from '../../../../src/domain/webhook/webhook-management.ts'
import { openStore } from '../../../../src/store/open-store.ts'
import { defaults } from '../../../store/store-options.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

const path = join(temporaryFolder({ after }), 'ugs.db')
const store = await openStore({ kind: 'sqlite', path }, defaults)
after(() => store.close())
const clock = { now: () => 1_000_000, monotonic: () => 0 }
const caller = { workspaceId: 1, environment: 'Customer', author: 'cli:root', requestId: null } as const
const apiTokens = new ApiTokenManagement({ store, clock, revokedIds: new Set() })

/** Returns the configuration of a process, with another way to create schemas. */
const management = (
  createSchema = (...args: Parameters<typeof store.dataSources.createSchema>) =>
    store.dataSources.createSchema(...args),
) =>
  new ConfigurationManagement({
    dataSources: new DataSourceManagement({
      store: { ...store, dataSources: { ...store.dataSources, createSchema } },
      clock,
    }),
    apiTokens,
    webhooks: new WebhookManagement({
      store,
      keyring: new Keyring([generateSecretKey('k1')]),
      clock,
      maxEndpoints: 1,
      rules: { allowsHttp: false, allowsPrivate: false },
      send: () => assert.fail('nothing is sent'),
    }),
    clock,
  })
const options = { isDryRun: false, prunes: false }

test('changes of one process run one after the other, also one that begins while others wait', async () => {
  const begun: string[] = []
  let release: (() => void) | undefined
  const released = new Promise<void>((resolve) => (release = resolve))
  const configurations = management(async (command) => {
    if (command.providedId === 'second') await released
    return store.dataSources.createSchema(command)
  })
  const begin = (providedId: string) =>
    configurations.apply(
      caller,
      { schemas: [{ providedId, name: providedId, dataSources: [] }] },
      { ...options, check: () => begun.push(providedId) },
    )
  const [first, second] = [begin('first'), begin('second')]
  await first
  const third = begin('third')
  // More reads than the third change needs to begin.
  for (let i = 0; i < 3; i++) await configurations.export(caller)
  assert.deepEqual(begun, ['first', 'second'])
  release?.()
  await Promise.all([second, third])
  assert.deepEqual(begun, ['first', 'second', 'third'])
})

test('a configuration has the replacement of an API token, not the old one, which is valid for a while', async () => {
  const [before, after] = [hashToken(generateApiToken('Customer')), hashToken(generateApiToken('Customer'))]
  const reporting = { name: 'reporting', scopes: ['introspect'] as const, rateLimit: null, expiresAt: null }
  const configurations = management()
  await configurations.apply(
    caller,
    { apiTokens: [{ ...reporting, tokenSha256: before.toString('hex') }] },
    options,
  )
  const [old] = await apiTokens.list(caller)
  const rotation = { tokenHash: after, overlapMs: 60_000 }
  const { apiToken } = await apiTokens.rotateToHash(caller, old?.id as number, rotation)
  assert.equal((await apiTokens.list(caller)).length, 2)
  const { apiTokens: configured } = await configurations.export(caller)
  assert.deepEqual(
    configured?.map(({ tokenSha256 }) => tokenSha256),
    [after.toString('hex')],
  )
  // Nor does the old one keep its name once the replacement is revoked.
  await apiTokens.revoke(caller, apiToken.id)
  const tokenSha256 = hashToken(generateApiToken('Customer')).toString('hex')
  const [result] = await configurations.apply(caller, { apiTokens: [{ ...reporting, tokenSha256 }] }, options)
  assert.equal(result?.outcome, 'created')
})
