import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createApiToken } from '../../server/test/support/command.ts'
import { sharedService, startService } from '../../server/test/support/service.ts'
import { UserGroupClient } from '../src/index.ts'
import { transportFailure } from './support/client.ts'
import { describeClients } from './support/clients.ts'
import { startFlakyNetwork, type Fate } from './support/flaky-network.ts'

const fates: readonly Fate[] = [
  'is reset',
  'loses the request',
  'loses the response',
  'loses half of the response',
  'loses all after half of a header name',
]

describeClients('unreliable network', ({ language, clientOf }) => {
  const service = sharedService()
  const apiToken = () => service().tokens.Testing
  const direct = () => clientOf(service().origin, { apiToken: apiToken() })

  for (const fate of fates) {
    it(`all operations succeed if three connections in a row: ${fate}`, async (t) => {
      const introspecting = await createApiToken(service(), 'Testing', '--scopes', 'introspect')
      const over = async (token = apiToken()) => {
        const { origin } = await startFlakyNetwork(t, service().origin, fate, fate, fate)
        return clientOf(origin, { apiToken: token })
      }
      const userGroupId = `over a connection that ${fate}`
      const { userGroup } = await (await over()).getOrCreate({ userGroupId, name: 'A' })
      assert.equal((await (await over()).update({ userGroupId, name: 'B' })).name, 'B')
      const rotated = await (await over()).rotate({ currentToken: userGroup.token })
      // The token was rotated once, not once per lost response.
      assert.equal((await direct().getOrCreate({ userGroupId })).userGroup.token, rotated.token)
      const seen = await (await over(introspecting)).introspect(rotated.token)
      assert.equal(seen?.providedId, userGroupId)
    })
  }

  it('a permanent connection failure is unreachable', async (t) => {
    const always = Array.from({ length: 100 }, () => 'is reset' as const)
    const network = await startFlakyNetwork(t, service().origin, ...always)
    const client = clientOf(network.origin, { apiToken: apiToken(), maxTries: 4 })
    const error = await transportFailure(client.update({ userGroupId: 'a', name: 'A' }))
    assert.equal(error.code, 'unreachable')
    const connections = network.connections()
    // The HTTP client of Java itself connects again.
    assert.ok(language === 'Java' ? connections >= 4 : connections === 4, `${connections} connections`)
  })
})

it('a call survives a restart of the service', async (t) => {
  const first = await startService(t)
  const { port } = new URL(first.origin)
  const client = new UserGroupClient({ origin: first.origin, apiToken: first.tokens.Testing, maxTries: 100 })
  const { userGroup } = await client.getOrCreate({ userGroupId: 'a', name: 'A' })
  await first.stop()
  const call = client.rotate({ currentToken: userGroup.token })
  const again = { PORT: port, UGS_DATA_DIR: first.dataFolder }
  await startService(t, again)
  assert.equal((await call).providedId, 'a')
})
