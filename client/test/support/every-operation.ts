import assert from 'node:assert/strict'
import { createApiToken } from '../../../server/test/support/command.ts'
import type { RunningService } from '../../../server/test/support/service.ts'
import { UserGroupClient } from '../../src/index.ts'

/** Calls every operation twice at this origin and asserts the results. */
export async function assertEveryOperation(
  service: RunningService,
  origin: string,
  userGroupId: string,
): Promise<UserGroupClient> {
  const client = new UserGroupClient({ origin, apiToken: service.tokens.Testing })
  const renderer = new UserGroupClient({
    origin,
    apiToken: await createApiToken(service, 'Testing', '--scopes', 'introspect'),
  })
  const first = await client.getOrCreate({ userGroupId, name: 'A', properties: { region: 'EU' } })
  const second = await client.getOrCreate({ userGroupId, properties: { text: 'ü'.repeat(30_000) } })
  assert.deepEqual([first.newUserGroup, second.newUserGroup], [true, false])
  assert.equal((await client.update({ userGroupId, name: 'B' })).name, 'B')
  assert.equal((await client.update({ userGroupId, properties: null })).properties, null)
  let { token } = first.userGroup
  for (let rotation = 0; rotation < 2; rotation++) {
    const rotated = await client.rotate({ currentToken: token })
    assert.equal(await renderer.introspect(token), null)
    token = rotated.token
    assert.equal((await renderer.introspect(token))?.name, 'B')
  }
  return client
}
