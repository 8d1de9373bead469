import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiToken } from '../support/command.ts'
import { migratedDatabase } from '../support/database.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { scrape } from '../support/metrics.ts'
import { RawConnection, requestText } from '../support/raw-connection.ts'
import { startService } from '../support/service.ts'
import { openSession } from '../support/session.ts'
import { assertFault, userApi } from '../support/user-api.ts'

const opened = (count: number, origin: string) =>
  Array.from({ length: count }, () => RawConnection.open(origin))
const message = 'The service is overloaded. Retry in a moment'

test('incomplete bodies use limited memory and do not block other requests', async (t) => {
  const service = await startService(t)
  const { origin, tokens } = service
  const half = requestText({
    token: tokens.Testing,
    headers: ['Content-Length: 1048576'],
    body: '{"user_group_id":"x","name":"Name","properties":{"a":"'.padEnd(1048575, 'a'),
  })
  const open = async () => (await RawConnection.open(origin)).send(half)
  const held: RawConnection[] = []
  const refused: HttpResponse[] = []
  // Each body lacks its last byte.
  while (refused.length === 0) {
    const connection = await open()
    held.push(connection)
    // Refused requests get a response; admitted ones wait for the last byte.
    void connection.response().then(
      (response) => refused.push(response),
      () => undefined,
    )
    assert.ok(held.length <= 80)
    assert.equal((await sendRequest(origin, { path: '/healthz' })).status, 200)
  }
  assertFault(refused[0] as HttpResponse, 'unavailable')
  assert.ok(refused[0]?.text.includes(message))
  // One workspace has at most 32 MiB.
  assert.ok(held.length > 30, String(held.length))
  await service.ugs('workspace', 'create', 'other')
  const otherToken = await createApiToken(service, 'Testing', '--workspace', 'other', '--scopes', 'write')
  const properties = { a: 'a'.repeat(60_000) }
  const ofOther = await userApi(origin, otherToken).get({ user_group_id: 'x', name: 'Name', properties })
  assert.equal(ofOther.status, 200)
  // Small bodies are still admitted.
  assert.equal((await userApi(origin, tokens.Testing).get({ user_group_id: 'y', name: 'Name' })).status, 200)
  for (const connection of held) connection.close()
  const complete = async () => {
    const connection = await open()
    t.after(() => connection.close())
    return connection.send('}').response()
  }
  // The service may notice later that the connections have closed.
  let again = await complete()
  while (again.status === 503) again = await complete()
  assert.equal(again.status, 400)
})

test('requests whose client has left release their permits', async (t) => {
  const { origin, tokens } = await startService(t)
  const one = requestText({
    token: tokens.Testing,
    body: JSON.stringify({ user_group_id: 'x', name: 'Name', properties: { a: 'a'.repeat(17_000) } }),
  })
  // More requests and bytes than the limits allow at once.
  for (const connection of await Promise.all(opened(40, origin))) connection.send(one.repeat(100)).reset()
  const { get } = userApi(origin, tokens.Testing)
  while ((await get({ user_group_id: 'y', name: 'Name' })).status !== 200);
  const body = { user_group_id: 'z', name: 'Name', properties: { a: 'a'.repeat(60_000) } }
  while ((await get(body)).status !== 200);
})

interface WaitingRequest {
  /** Table that the test locks. */
  readonly table: string
  readonly scopes: string
  readonly request: (token: string) => string
}

const waiting: Record<string, WaitingRequest> = {
  'requests with a body': {
    table: 'user_group',
    scopes: 'write',
    request: (token) => requestText({ token, body: JSON.stringify({ user_group_id: 'x', name: 'Name' }) }),
  },
  'requests without a body': {
    table: 'unindexed_user_group',
    scopes: 'admin',
    request: (token) => requestText({ token, path: '/admin/v1/user-groups' }),
  },
  'requests whose API token is looked up': {
    table: 'api_token',
    scopes: 'write',
    request: (token) => requestText({ token, body: JSON.stringify({ user_group_id: 'x', name: 'Name' }) }),
  },
  'requests whose session is looked up': {
    table: 'console_session',
    scopes: 'write',
    request: () =>
      requestText({ path: '/console/session', headers: [`Cookie: ugs_session_testing=${'x'.repeat(43)}`] }),
  },
}

for (const [title, { table, scopes, request }] of Object.entries(waiting)) {
  test(`if the database does not respond, at most a thousand requests wait: ${title}`, async (t) => {
    const DATABASE_URL = await migratedDatabase(t)
    const service = await startService(t, {
      ...{ DATABASE_URL, UGS_METRICS_PORT: '0', UGS_LOCK_TIMEOUT_MS: '20000' },
      ...{ UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '20000', UGS_POSTGRES_DEADLINE_MS: '20000' },
    })
    const { stdout } = await service.ugs(
      ...['api-token', 'create', '--environment', 'Testing', '--name', 'a', '--scopes', scopes],
    )
    const session = await openSession(t, DATABASE_URL)
    await session.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
    const connections: RawConnection[] = []
    const pending: Promise<unknown>[] = []
    const responses: HttpResponse[] = []
    t.after(() => connections.forEach((connection) => connection.close()))
    while (!responses.some(({ status }) => status === 503)) {
      assert.ok(connections.length < 1600)
      for (const connection of await Promise.all(opened(200, service.origin))) {
        connections.push(connection)
        const response = connection.send(request(stdout.trim())).response()
        pending.push(response.then((received) => responses.push(received)))
      }
      assert.equal((await sendRequest(service.origin, { path: '/healthz' })).status, 200)
    }
    // All but a thousand get a response at once.
    const refused = () => responses.filter(({ text }) => text.includes(message))
    while (refused().length < connections.length - 1000) {
      assert.equal(refused().length, responses.length, 'a request waited for longer than its deadline')
      await sendRequest(service.origin, { path: '/healthz' })
    }
    await session.query('ROLLBACK')
    await Promise.all(pending)
    assert.equal(refused().length, connections.length - 1000)
    for (const response of refused()) {
      assertFault(response, 'unavailable')
      assert.equal(response.headers['retry-after'], '1')
    }
    assert.ok(responses.some(({ status }) => status === (table === 'console_session' ? 401 : 200)))
    const { text } = await scrape(service)
    assert.match(text, /ugs_http_errors_total\{[^}]*code="unavailable"[^}]*\} [1-9]/)
  })
}
