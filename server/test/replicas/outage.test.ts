import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { createApiToken } from '../support/command.ts'
import { DatabaseProxy } from '../support/database-proxy.ts'
import { configureWorkers, freshDatabase } from '../support/database.ts'
import { sendRequest } from '../support/http.ts'
import { freshRole } from '../support/role.ts'
import { startService, type RunningService } from '../support/service.ts'
import { openSession } from '../support/session.ts'
import { assertFault, assertSuccess, tokenIn, userApi } from '../support/user-api.ts'
import { secretKeyText } from '../support/secret-key.ts'

interface Proxied {
  readonly databaseUrl: string
  readonly service: RunningService
  readonly proxy: DatabaseProxy
  readonly api: ReturnType<typeof userApi>
  /** Asserts that log and output have no password and no messages of the driver, the server or the system. */
  readonly assertNoLeak: () => void
}

/** Starts a service behind a proxy, with a password and full logging. */
async function start(t: TestContext): Promise<Proxied> {
  const url = await freshDatabase(t)
  const role = await freshRole(t, url)
  const { username, password } = new URL(role)
  const session = await openSession(t, url)
  await session.query(`GRANT CREATE ON SCHEMA public TO ${username}`)
  const proxy = await DatabaseProxy.start(t, role)
  const service = await startService(t, {
    DATABASE_URL: proxy.url,
    UGS_SECRET_KEYS: secretKeyText('k1', 1),
    UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '2000',
    UGS_POSTGRES_DEADLINE_MS: '2000',
    LOG_LEVEL: 'trace',
    UGS_ACCESS_LOG: 'full',
  })
  const api = userApi(service.origin, await createApiToken(service, 'Testing'))
  return {
    databaseUrl: url,
    service,
    proxy,
    api,
    assertNoLeak: () => {
      const written = service.stdout() + service.stderr()
      assert.ok(!written.includes(password))
      assert.ok(!written.includes(username))
      // A slow statement is named by its text, which has no values.
      const others = written.split('\n').filter((line) => !line.includes('"msg":"slow statement"'))
      assert.doesNotMatch(
        others.join('\n'),
        /terminat|refused|timeout exceeded|connect E|node:|\bat .*:\d+:\d+|SELECT|INSERT/i,
      )
    },
  }
}

const readiness = async ({ origin }: RunningService) =>
  (await sendRequest(origin, { path: '/readyz' })).status

const outages: Record<string, (proxied: Proxied) => unknown> = {
  'refuses connections': ({ proxy }) => proxy.refuse(),
  'does not respond': ({ proxy }) => proxy.swallow(),
  'refuses writes': async ({ databaseUrl, proxy }) => {
    await proxy.becomeReadOnly()
    await configureWorkers(databaseUrl, 'default_transaction_read_only = on')
  },
}

async function endOutage({ databaseUrl, proxy }: Proxied): Promise<void> {
  await configureWorkers(databaseUrl, 'default_transaction_read_only = off')
  proxy.becomeWritable()
  proxy.open()
}

for (const [outage, begin] of Object.entries(outages)) {
  test(`while PostgreSQL ${outage}, requests get 503, and the service recovers by itself`, async (t) => {
    const proxied = await start(t)
    const { service, api, assertNoLeak } = proxied
    const old = tokenIn(await api.get({ user_group_id: 'before', name: 'Name' }))
    await begin(proxied)
    const create = () => api.get({ user_group_id: 'new', name: 'Name' })
    const responses = await Promise.all([
      create(),
      api.put({ user_group_id: 'before', name: 'B' }),
      api.post({ current_token: old }),
      ...Array.from({ length: 20 }, create),
    ])
    for (const response of responses) assertFault(response, 'unavailable')
    assert.equal(await readiness(service), 503)
    assert.equal((await sendRequest(service.origin, { path: '/healthz' })).status, 200)
    await endOutage(proxied)
    // Connections that do not respond time out first.
    while ((await create()).status !== 200);
    assert.equal(await readiness(service), 200)
    assertSuccess(await api.post({ current_token: tokenIn(await api.get({ user_group_id: 'before' })) }))
    assertNoLeak()
  })

  test(`while PostgreSQL ${outage}, the service stops on request`, { timeout: 60_000 }, async (t) => {
    const proxied = await start(t)
    const { service, api, assertNoLeak } = proxied
    const getAll = (ids: readonly string[]) =>
      Promise.all(ids.map((user_group_id) => api.get({ user_group_id, name: 'Name' })))
    const before = await getAll(Array.from({ length: 8 }, (_, i) => `before ${i}`))
    await begin(proxied)
    const failed = await getAll(['a', 'b'])
    for (const response of failed) assertFault(response, 'unavailable')
    assert.equal(await service.stop('SIGTERM'), 0)
    // Neither is lost, and the service of the test before, which ran in the same process, wrote none after its end.
    const refused = [...before, ...failed].filter(({ status }) => status === 503)
    assert.equal(service.stderr().match(/"msg":"request failed"/g)?.length, refused.length)
    assertNoLeak()
  })
}

test('a start without PostgreSQL fails with address and remedy, and no password', async (t) => {
  const url = await freshRole(t, await freshDatabase(t))
  const proxy = await DatabaseProxy.start(t, url)
  proxy.refuse()
  await assert.rejects(
    startService(t, { DATABASE_URL: proxy.url, UGS_POSTGRES_DEADLINE_MS: '1000' }),
    (error) => {
      assert.ok(error instanceof Error)
      assert.match(
        error.message,
        /^the service ended with 1: postgres:\/\/127\.0\.0\.1:\d+\/\w+: the server cannot be reached; [^\n]+ \(ECONNRESET\)$/,
      )
      assert.ok(!error.message.includes(new URL(url).password))
      return true
    },
  )
})
