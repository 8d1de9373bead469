import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { existsSync, statfsSync } from 'node:fs'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { createApiToken, runCommand } from '../support/command.ts'
import { EventStream } from '../support/event-stream.ts'
import { sendRequest } from '../support/http.ts'
import { introspector } from '../support/introspection.ts'
import { metricsUrlOf, scrape, Scrape } from '../support/metrics.ts'
import { responseTo, RawConnection, requestText } from '../support/raw-connection.ts'
import {
  failureIn,
  runUgs,
  startNewProcess,
  startService,
  temporaryFolder,
  type RunningService,
} from '../support/service.ts'
import { tokenIn, userApi } from '../support/user-api.ts'
import { readPage, readTable } from '../docs/support.ts'

const isOnPostgres = process.env.UGS_TEST_STORE === 'postgres'
const measured = { UGS_METRICS_PORT: '0' }

const times = async (count: number, send: () => Promise<unknown>) => {
  for (let i = 0; i < count; i++) await send()
}

/** Waits for asynchronous values: a disconnected client, and the counts of encrypted tokens. */
async function scrapeOnce(service: RunningService, ...metrics: string[]): Promise<Scrape> {
  for (;;) {
    const scraped = await scrape(service)
    if (metrics.every((name) => Number(scraped.families.get(name)?.samples.length) > 0)) return scraped
    await sleep(20)
  }
}

test('the counters match the requests by operation, status and code', async (t) => {
  const service = await startService(t, { ...measured, UGS_HEADERS_TIMEOUT_MS: '5000' })
  const { origin, tokens } = service
  const api = userApi(origin, tokens.Testing)
  const admin = await createApiToken(service, 'Testing', '--scopes', 'admin')
  const introspect = introspector(origin, await createApiToken(service, 'Testing', '--scopes', 'introspect'))
  const before = await scrape(service)

  const current = tokenIn(await api.get({ user_group_id: 'secret-id', name: 'Name' }))
  await times(6, () => api.get({ user_group_id: 'secret-id' }))
  await times(2, () => api.post({ user_group_id: 'secret-id' }, { 'x-http-method-override': 'GET' }))
  await times(3, () => api.put({ user_group_id: 'secret-id', name: 'Other' }))
  await times(2, () => api.put({ user_group_id: 'unknown', name: 'Other' }))
  await api.post({ current_token: current })
  await times(4, () => api.post({ current_token: current }))
  await times(3, () => api.get({ user_group_id: 1 }))
  await times(5, () => introspect(current))
  await times(2, () => sendRequest(origin, { path: '/admin/v1/user-groups', token: admin }))
  await sendRequest(origin, { path: '/admin/v1/user-groups', token: tokens.Testing })
  await times(4, () => userApi(origin, 'wrong').get({}))
  await times(2, () => sendRequest(origin, { path: '/healthz' }))
  await sendRequest(origin, { path: '/readyz' })
  await sendRequest(origin, { path: '/openapi.json' })
  await sendRequest(origin, { path: '/console' })
  await sendRequest(origin, { path: '/nothing' })
  await sendRequest(origin, { path: '/%zz' })
  await sendRequest(origin, { path: '/api/user', method: 'DELETE' })
  await responseTo(origin, 'NOT HTTP\r\n\r\n')
  await responseTo(origin, requestText({ headers: [`X-Header: ${'x'.repeat(20_000)}`] }))
  await responseTo(origin, 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  // A request whose headers never end.
  await responseTo(origin, 'GET /healthz HTTP/1.1\r\nHost: a\r\n')

  const now = await scrape(service)
  assert.deepEqual(before.values('ugs_http_request_duration_seconds_count'), {})
  assert.deepEqual(now.values('ugs_http_request_duration_seconds_count'), {
    'getOrCreate 200': 9,
    'getOrCreate 400': 3,
    'update 200': 3,
    'update 404': 2,
    'rotate 200': 1,
    'rotate 409': 4,
    'introspect 200': 5,
    'searchUserGroups 200': 2,
    'searchUserGroups 403': 1,
    'health 200': 3,
    'docs 200': 1,
    'console 200': 1,
    'none 400': 1,
    'none 401': 4,
    'none 404': 1,
    'none 405': 1,
  })
  assert.deepEqual(now.values('ugs_http_errors_total'), {
    'getOrCreate validation_failed': 3,
    'update user_group_not_found': 2,
    'rotate token_superseded': 4,
    'none unauthenticated': 4,
    'searchUserGroups forbidden': 1,
    'none not_found': 1,
    // /%zz, and a request that is not HTTP
    'none malformed_request': 2,
    // DELETE and CONNECT
    'none method_not_allowed': 2,
    'none headers_too_large': 1,
    'none request_timeout': 1,
  })
  assert.deepEqual(now.values('ugs_http_requests_unanswered_total'), {})

  // Send one request first, so that the API token is cached.
  await api.get({ user_group_id: 'secret-id' })
  // A request whose body never arrives.
  const leaving = await RawConnection.open(origin)
  leaving.send(requestText({ token: tokens.Testing, headers: ['Expect: 100-continue', 'Content-Length: 9'] }))
  await leaving.response()
  leaving.reset()
  const after = await scrapeOnce(service, 'ugs_http_requests_unanswered_total')
  assert.deepEqual(after.values('ugs_http_requests_unanswered_total'), { getOrCreate: 1 })

  for (const secret of [current, tokens.Testing, admin, 'secret-id', 'unknown', 'zz']) {
    assert.ok(!after.text.includes(secret), secret)
  }
})

test('the durations and batches match the requests', async (t) => {
  const service = await startService(t, measured)
  const api = userApi(service.origin, service.tokens.Testing)
  const before = await scrape(service)
  const started = performance.now()
  await Promise.all(Array.from({ length: 50 }, (_, i) => api.get({ user_group_id: `u-${i}`, name: 'Name' })))
  const seconds = (performance.now() - started) / 1000
  const now = await scrape(service)

  const labels = { operation: 'getOrCreate', status: '200' }
  const sum = now.value('ugs_http_request_duration_seconds_sum', labels) ?? NaN
  assert.ok(sum > 0 && sum < seconds * 50, `${sum} s`)
  const buckets = now.families
    .get('ugs_http_request_duration_seconds')
    ?.samples.filter(({ name, labels }) => name.endsWith('_bucket') && labels.status === '200')
    .map(({ labels: { le }, value }) => ({ le: Number(le?.replace('+Inf', 'Infinity')), value }))
  assert.ok(buckets)
  assert.deepEqual(
    buckets.map(({ le }) => le),
    buckets.map(({ le }) => le).toSorted((a, b) => a - b),
  )
  assert.deepEqual(
    buckets.map(({ value }) => value),
    buckets.map(({ value }) => value).toSorted((a, b) => a - b),
  )
  assert.equal(buckets.at(-1)?.value, 50)
  const bounds = buckets.map(({ le }) => le)
  assert.ok(bounds.filter((bound) => bound >= 0.001 && bound <= 0.002).length >= 4, '1 ms and 2 ms differ')

  const kind = isOnPostgres ? 'create' : 'transaction'
  const operationsIn = (name: string) =>
    (now.value(name, { kind }) ?? 0) - (before.value(name, { kind }) ?? 0)
  // On SQLite, also the lookup of the API token and the ping for `ugs_ready`.
  const operations = operationsIn('ugs_store_batch_size_sum')
  assert.ok(isOnPostgres ? operations === 50 : operations > 50, `${operations} operations`)
  assert.ok(operationsIn('ugs_store_batch_size_count') < operations)
  for (const title of ['duration', 'wait'])
    assert.equal(
      operationsIn(`ugs_store_batch_${title}_seconds_count`),
      operationsIn('ugs_store_batch_size_count'),
    )
  assert.ok(operationsIn('ugs_store_batch_duration_seconds_sum') > 0)
  if (isOnPostgres) {
    assert.equal(now.value('ugs_postgres_connections_max'), 10)
    assert.ok((now.value('ugs_postgres_connections') ?? 0) >= 1)
    assert.equal(now.value('ugs_postgres_connection_waiters'), 0)
  }
})

test('docs/operations.md lists all metrics with their labels', async (t) => {
  const listed = readTable(readPage('docs/operations.md'), '## Metrics').map(
    ([name = '', type = '', labels = '']) => ({
      name: name.replaceAll('`', ''),
      type,
      labels: labels.replaceAll('`', '').split(', ').filter(Boolean).sort(),
    }),
  )
  const arranged: Record<string, [args: string[], absent: RegExp]> = {
    'one process': [[], isOnPostgres ? /^ugs_(worker|disk)/ : /^ugs_(worker|postgres)/],
    workers: [['--workers', '2'], isOnPostgres ? /^ugs_disk/ : /^ugs_postgres/],
  }
  for (const [title, [args, absent]] of Object.entries(arranged)) {
    const service = await startService(t, measured, args)
    const api = userApi(service.origin, service.tokens.Testing)
    await api.get({ user_group_id: 1 })
    await api.get({ user_group_id: 'seen', name: 'Seen' })
    await sendRequest(service.origin, {
      ...{ method: 'POST', path: '/api/user/create-session', token: service.tokens.Testing },
      body: { user_group_id: 'seen', viewer: { id: 'u-7' } },
    })
    const leaving = await RawConnection.open(service.origin)
    leaving.send(
      requestText({ token: service.tokens.Testing, headers: ['Expect: 100-continue', 'Content-Length: 9'] }),
    )
    await leaving.response()
    leaving.reset()
    const renderer = await createApiToken(service, 'Testing', '--scopes', 'introspect')
    // Starts the feed.
    await sendRequest(service.origin, { path: '/events?wait=1', token: renderer })
    const unanswered = 'ugs_http_requests_unanswered_total'
    const { families } = await scrapeOnce(service, unanswered, 'ugs_sealed_tokens', 'ugs_store_size_bytes')
    const found = [...families].map(([name, { type, samples }]) => {
      const labels = new Set(samples.flatMap(({ labels }) => Object.keys(labels)))
      labels.delete('le')
      assert.ok(samples.length > 0, `${name} has no value`)
      return { name, type, labels: [...labels].sort() }
    })
    const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name)
    assert.deepEqual(
      found.toSorted(byName),
      listed.filter(({ name }) => !absent.test(name)).toSorted(byName),
      title,
    )
  }
})

test('measures the event feed, and event streams only up to their beginning', async (t) => {
  const service = await startNewProcess(t, { ...measured, UGS_ACCESS_LOG: 'full' })
  const { origin, tokens } = service
  const values = async (...names: string[]) => {
    // `scrape` waits for the end of all requests, and a stream is one.
    const { origin, pathname } = metricsUrlOf(service)
    const scraped = new Scrape((await sendRequest(origin, { path: pathname })).text)
    return names.map((name) => scraped.value(name))
  }
  assert.deepEqual(await values('ugs_event_connections', 'ugs_events_sent_total', 'ugs_event_lag_seconds'), [
    ...[0, 0, undefined],
  ])
  const token = await createApiToken(service, 'Testing', '--scopes', 'admin')
  const openedAt = performance.now()
  const streams = [
    await EventStream.open(t, origin, { token }),
    await EventStream.open(t, origin, { token }),
  ] as const
  for (const stream of streams) await stream.next()
  const begunAt = performance.now()
  await userApi(origin, tokens.Testing).get({ user_group_id: 'a', name: 'A' })
  for (const stream of streams) await stream.nextEvent()
  // The streams last several times as long as their beginnings, however slow those were.
  const beginningsMs = begunAt - openedAt
  while (performance.now() - begunAt < 4 * beginningsMs + 500) {
    for (const stream of streams) await stream.nextHeartbeat()
  }
  assert.deepEqual(await values('ugs_event_connections', 'ugs_events_sent_total'), [2, 2])
  const [lag = NaN] = await values('ugs_event_lag_seconds')
  assert.ok(lag >= 0 && lag < 30, String(lag))
  const streamedMs = performance.now() - begunAt
  for (const stream of streams) stream.close()
  while ((await values('ugs_event_connections'))[0] !== 0);
  const scraped = await scrape(service)
  assert.equal(scraped.values('ugs_http_request_duration_seconds_count')['readEvents 200'], 2)
  const seconds = scraped.values('ugs_http_request_duration_seconds_sum')['readEvents 200'] ?? NaN
  assert.ok(seconds * 1000 < streamedMs, String(seconds))
  assert.deepEqual(scraped.values('ugs_http_requests_unanswered_total'), {})
  await service.logged('"path":"/events"')
  const lines = service
    .stderr()
    .split('\n')
    .filter((line) => line.includes('"path":"/events"'))
  for (const line of lines) {
    const { operation, status, duration_ms, cut_off } = JSON.parse(line) as Record<string, unknown>
    assert.deepEqual([operation, status, cut_off], ['readEvents', 200, undefined])
    assert.ok(Number(duration_ms) < streamedMs, String(duration_ms))
  }
})

test('counts the tokens that each secret key encrypts', async (t) => {
  const first = await startService(t)
  const api = userApi(first.origin, first.tokens.Testing)
  await times(3, () => api.get({ user_group_id: 'a', name: 'Name' }))
  await api.get({ user_group_id: 'b', name: 'Name' })
  await runCommand(first, 'secret-key', 'add', '--id', 'new')
  await first.stop()
  const settings = {
    UGS_DATA_DIR: first.dataFolder,
    ...(first.databaseUrl && { DATABASE_URL: first.databaseUrl }),
  }
  const service = await startService(t, { ...measured, ...settings })
  const scraped = await scrapeOnce(service, 'ugs_sealed_tokens')
  assert.equal(scraped.value('ugs_sealed_tokens', { secret_key: 'k1' }), 2)
  assert.equal(scraped.value('ugs_sealed_tokens', { secret_key: 'new' }), 0)
})

test('reports throttled addresses, the size of the store and its disk, and slow statements without values', async (t) => {
  const service = await startService(t, {
    ...{ ...measured, UGS_DISK_WARNING_MB: '3', UGS_SLOW_STATEMENT_MS: '1' },
    ...{ UGS_AUTH_FAILURES_PER_MINUTE: '1', UGS_TRUSTED_PROXIES: '127.0.0.1' },
  })
  const client = { 'x-forwarded-for': '203.0.113.9' }
  await times(3, () => userApi(service.origin, 'wrong-token').get({}, client))
  await service.logged('"level":40')
  assert.match(service.stderr(), /"address":"203.0.113.9","msg":"too many failed authentications/)
  assert.doesNotMatch(service.stderr(), /wrong-token/)
  assert.equal((await scrape(service)).value('ugs_throttled_addresses'), 1)
  const scraped = await scrapeOnce(service, 'ugs_store_size_bytes')
  assert.ok(Number(scraped.value('ugs_store_size_bytes')) > 100_000)
  if (isOnPostgres) return
  assert.equal(scraped.value('ugs_disk_warning_bytes'), 3 * 1024 * 1024)
  const { bavail, bsize } = statfsSync(service.dataFolder)
  // Other programs write too.
  const difference = Number(scraped.value('ugs_disk_free_bytes')) - bavail * bsize
  assert.ok(Math.abs(difference) < 1024 ** 3, String(difference))

  const before = Number(scraped.value('ugs_store_slow_statements_total'))
  const database = new BetterSqlite3(join(service.dataFolder, 'ugs.db'))
  database.exec('CREATE TRIGGER slow BEFORE INSERT ON user_group BEGIN SELECT hex(randomblob(10000000)); END')
  database.close()
  await userApi(service.origin, service.tokens.Testing).get({ user_group_id: 'secret-id', name: 'Name' })
  assert.ok(Number((await scrape(service)).value('ugs_store_slow_statements_total')) > before)
  await service.logged('"msg":"slow statement"')
  assert.match(
    service.stderr(),
    /"level":40,.*"statement":"\w+(\.\w+)?","duration_ms":\d+.*"msg":"slow statement"/,
  )
  assert.ok(!service.stderr().includes('secret-id'))
})

test('build info contains the versions', async (t) => {
  const service = await startService(t, measured)
  const { version } = JSON.parse(readPage('server/package.json')) as { version: string }
  const store = isOnPostgres ? 'postgres' : 'sqlite'
  const labels = { version, node: process.versions.node, store }
  assert.equal((await scrape(service)).value('ugs_build_info', labels), 1)
})

test('the metrics server serves only GET and HEAD of /metrics, and the API no metrics', async (t) => {
  const service = await startService(t, measured)
  const { origin } = metricsUrlOf(service)
  const get = await sendRequest(origin, { path: '/metrics?x=1' })
  assert.equal(get.status, 200)
  assert.equal(get.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal((await sendRequest(origin, { path: '/metrics', method: 'HEAD' })).text, '')
  const post = await sendRequest(origin, { path: '/metrics', method: 'POST', body: 'x' })
  assert.deepEqual([post.status, post.headers.allow], [405, 'GET, HEAD'])
  for (const path of ['/', '/metrics/', '/api/user', '/healthz']) {
    assert.equal((await sendRequest(origin, { path })).status, 404, path)
  }
  assert.equal((await sendRequest(service.origin, { path: '/metrics' })).status, 404)
})

test('without UGS_METRICS_PORT there is no metrics server', async (t) => {
  const service = await startService(t)
  assert.doesNotMatch(service.stdout(), /metrics/)
})

test('a drain is visible until its end', async (t) => {
  const service = await startService(t, { ...measured, UGS_DRAIN_MS: '1000' })
  const { origin } = metricsUrlOf(service)
  assert.equal((await scrape(service)).value('ugs_ready'), 1)
  const stopped = service.stop()
  while ((await scrape(service)).value('ugs_ready') === 1) await sleep(20)
  assert.equal(await stopped, 0)
  await assert.rejects(sendRequest(origin, { path: '/metrics' }), { code: 'ECONNREFUSED' })
})

for (const args of [[], ['--workers', '2']]) {
  test(`a port in use is reported before anything is created${args.length > 0 ? ', with workers' : ''}`, async (t) => {
    const other = createServer().listen(0, '127.0.0.1')
    t.after(() => other.close())
    await once(other, 'listening')
    const folder = join(temporaryFolder(t), 'data')
    const { code, stderr } = await runUgs(['serve', ...args], {
      PORT: '0',
      UGS_DATA_DIR: folder,
      UGS_METRICS_PORT: String((other.address() as AddressInfo).port),
    })
    assert.deepEqual(
      [code, failureIn(stderr)],
      [1, 'UGS_METRICS_PORT: the address is already in use; use another port'],
    )
    assert.ok(!existsSync(folder))
  })
}
