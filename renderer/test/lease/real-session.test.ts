import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { createApiToken } from '../../../server/test/support/command.ts'
import { startReplicas } from '../../../server/test/support/replicas.ts'
import { startService, type RunningService } from '../../../server/test/support/service.ts'
import { userApi } from '../../../server/test/support/user-api.ts'
import { IntrospectionClient } from '../../src/index.ts'
import { until } from './fake-service.ts'

const viewer = {
  id: 'u-7',
  name: 'Ada',
  properties: { role: 'manager' },
  time_zone: 'Europe/Berlin',
  locale: 'de-DE',
}

/** Starts two processes of the service on one store. */
const stores: [name: string, start: (t: TestContext) => Promise<[RunningService, RunningService]>][] = [
  [
    'SQLite',
    async (t) => {
      const first = await startService(t)
      return [first, await startService(t, { UGS_DATA_DIR: first.dataFolder })]
    },
  ],
  [
    'PostgreSQL',
    async (t) => {
      const { all } = await startReplicas(t, 2)
      return [all[0].service, all[1].service]
    },
  ],
]

for (const [name, start] of stores) {
  describe(`sessions of the service on ${name}`, () => {
    it('show their viewer until another process ends them', async (t) => {
      const [writing, reading] = await start(t)
      const apiToken = await createApiToken(writing, 'Testing')
      const properties = { regions: ['EU', 'US'] }
      await userApi(writing.origin, apiToken).get({ user_group_id: 'customer-42', name: 'A', properties })
      const post = async (path: string, body: object) => {
        const response = await fetch(`${writing.origin}/api/user/${path}`, {
          method: 'POST',
          headers: { authorization: `Token ${apiToken}`, 'content-type': 'application/json' },
          body: JSON.stringify({ user_group_id: 'customer-42', ...body }),
        })
        assert.equal(response.status, 200)
        return (await response.json()) as { session: { token: string } }
      }
      const client = new IntrospectionClient({
        url: `${reading.origin}/oauth2/introspect`,
        apiToken: await createApiToken(reading, 'Testing', '--scopes', 'introspect'),
        deadlineMs: 60_000,
        cache: { lease: true, maxEntries: 100 },
      })
      t.after(() => client.close())

      const narrow = { properties: { regions: ['EU'] } }
      const { session } = await post('create-session', { viewer, narrow, resources: ['sales'] })
      const { token } = session
      const userGroup = await client.introspect(token, { resource: 'sales' })
      assert.ok(userGroup)
      const { time_zone: timeZone, ...others } = viewer
      assert.deepEqual(userGroup.viewer, { ...others, timeZone })
      assert.deepEqual([userGroup.properties, userGroup.resources], [{ regions: ['EU'] }, ['sales']])
      assert.equal(await client.introspect(token, { resource: 'payroll' }), null)

      const minimal = await post('create-session', { viewer: { id: 'u-8' } })
      const other = await client.introspect(minimal.session.token)
      assert.deepEqual([other?.viewer?.name, other?.resources], [null, null])

      // Responses are cached from the first heartbeat on.
      await until(() => client.hasLease)
      await client.introspect(token)
      await post('end-sessions', { viewer_id: 'u-7' })
      while (await client.introspect(token)) await new Promise(setImmediate)
      assert.ok(await client.introspect(minimal.session.token))
    })
  })
}
