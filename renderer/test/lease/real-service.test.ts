import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApiToken } from '../../../server/test/support/command.ts'
import { startReplicas } from '../../../server/test/support/replicas.ts'
import { startService, type RunningService } from '../../../server/test/support/service.ts'
import { tokenIn, userApi } from '../../../server/test/support/user-api.ts'
import { IntrospectionClient, type TokenChange } from '../../src/index.ts'
import { until } from './fake-service.ts'

const rounds = 8

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

/** Introspects a token until the result is from the cache. */
async function cached(client: IntrospectionClient, token: string): Promise<void> {
  for (;;) {
    const userGroup = await client.introspect(token)
    assert.ok(userGroup)
    if ((await client.introspect(token)) === userGroup) return
    // A transaction of another test on the same PostgreSQL server can delay the feed. Then nothing is cached.
    await sleep(10)
  }
}

for (const [name, start] of stores) {
  describe(`a leased client of the service on ${name}`, () => {
    it('learns of rotations and suspensions through another process', async (t) => {
      const [writing, reading] = await start(t)
      const api = userApi(writing.origin, await createApiToken(writing, 'Testing'))
      const client = new IntrospectionClient({
        url: `${reading.origin}/oauth2/introspect`,
        apiToken: await createApiToken(reading, 'Testing', '--scopes', 'introspect'),
        deadlineMs: 60_000,
        cache: { lease: true, maxEntries: 100 },
      })
      t.after(() => client.close())
      const revoked: TokenChange[] = []
      client.on('revoked', (change) => revoked.push(change))
      let token = tokenIn(await api.get({ user_group_id: 'customer-42', name: 'A', mapping: null }))
      const isRevoked = (of: string) => revoked.some((change) => change.token === of)

      const delays: number[] = []
      for (let round = 0; round < rounds; round++) {
        const old = token
        await cached(client, old)
        token = tokenIn(await api.post({ current_token: old }))
        const start = performance.now()
        while (await client.introspect(old)) await new Promise(setImmediate)
        delays.push(performance.now() - start)
        await until(() => isRevoked(old))
        assert.ok(await client.introspect(token))
      }
      delays.sort((a, b) => a - b)
      t.diagnostic(
        `a rotated token stopped after ${delays[rounds / 2]?.toFixed()} ms (median), at most ${delays.at(-1)?.toFixed()} ms`,
      )

      await cached(client, token)
      const command = (verb: string) =>
        writing.ugs('user-group', verb, 'customer-42', '--environment', 'Testing')
      await command('suspend')
      await until(() => isRevoked(token))
      assert.equal(await client.introspect(token), null)
      const resumed = new Promise<void>((resolve) =>
        client.on('event', ({ type, teamId }) => {
          if (type === 'user_group.resumed' && teamId !== null) resolve()
        }),
      )
      await command('resume')
      await resumed
      assert.ok(await client.introspect(token))
    })
  })
}
