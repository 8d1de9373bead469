import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { createApiToken } from '../../server/test/support/command.ts'
import { sharedService, temporaryFolder } from '../../server/test/support/service.ts'
import { UserGroupClient } from '../src/fetch.ts'
import type * as Package from '../src/fetch.ts'
import { allOf } from './support/management.ts'
import { apiToken } from './support/client.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))

describe('the package without Node.js', () => {
  const service = sharedService()

  for (const conditions of [
    ['workerd', 'worker', 'browser'],
    ['edge-light'],
    ['deno', 'node'],
    ['bun', 'node'],
  ]) {
    it(`uses fetch under the conditions ${conditions.join()}`, async (t) => {
      const bundle = await bundleOf(conditions)
      // Errors name Node.js and its options, but nothing of Node.js is used.
      assert.doesNotMatch(bundle, /node:|\b(require|Buffer|process)\b/)
      const file = join(temporaryFolder(t), 'bundle.mjs')
      writeFileSync(file, bundle)
      const { ServiceError, UserGroupClient, UserGroupManagement } = (await import(
        pathToFileURL(file).href
      )) as typeof Package

      const { origin, tokens } = service()
      const introspectToken = await createApiToken(service(), 'Testing', '--scopes', 'introspect')
      const client = new UserGroupClient({ origin, apiToken: tokens.Testing })
      const userGroupId = `of ${conditions.join()}`
      const { newUserGroup } = await client.getOrCreate({ userGroupId, name: 'Ä' })
      const { token } = await client.update({ userGroupId, properties: { plan: 'gold' } })
      const rotated = await client.rotate({ currentToken: token })
      const renderer = new UserGroupClient({ origin, apiToken: introspectToken })
      const seen = await renderer.introspect(rotated.token)
      assert.deepEqual([newUserGroup, seen?.name, seen?.properties], [true, 'Ä', { plan: 'gold' }])
      await assert.rejects(client.update({ userGroupId: 'absent' }), ServiceError)

      const adminToken = await createApiToken(service(), 'Testing', '--scopes', 'admin')
      const management = new UserGroupManagement({ origin, apiToken: adminToken })
      const rows = [{ userGroupId, name: 'Ö' }, { userGroupId: '' }]
      const results = await allOf(management.importUserGroups(rows))
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        ['updated', 'refused'],
      )
      const [found] = await allOf(management.searchUserGroups({ userGroupIdPrefix: userGroupId }))
      const suspended = await management.suspendUserGroup(found?.teamId ?? 0)
      assert.deepEqual([suspended.name, suspended.suspendedAt !== null], ['Ö', true])
    })
  }

  it('uses node:http in Node.js', async () => {
    assert.match(await bundleOf(['node']), /node:http/)
  })

  it('refuses an agent', () => {
    const agent = { maxSockets: 1, destroy: () => undefined }
    const options = { origin: 'http://localhost', apiToken, agent }
    assert.throws(() => new UserGroupClient(options), /^TypeError: agent must be omitted/)
  })
})

async function bundleOf(conditions: string[]): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: "export * from '@user-group-service/client'", resolveDir: folder },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    external: ['node:*'],
    conditions,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}
