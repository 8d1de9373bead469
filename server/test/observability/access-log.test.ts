import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, it, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { createApiToken, runCommand } from '../support/command.ts'
import { sendRequest, type HttpResponse } from '../support/http.ts'
import { responsesTo, RawConnection, requestText } from '../support/raw-connection.ts'
import { randomPartOf } from '../support/secrets.ts'
import {
  startNewProcess as startService,
  temporaryFolder,
  ugsFile,
  type RunningService,
} from '../support/service.ts'
import { assertSuccess, tokenIn, userApi } from '../support/user-api.ts'

interface Line {
  readonly request_id: string
  readonly method: string | null
  readonly path: string | null
  readonly operation: string | null
  readonly status: number | null
  readonly code: string | null
  readonly api_token_id: number | null
  readonly duration_ms: number | null
  readonly bytes: number | null
  readonly cut_off?: true
}

const service = await startService(
  { after },
  {
    UGS_ACCESS_LOG: 'full',
    LOG_LEVEL: 'fatal',
    UGS_REQUEST_TIMEOUT_MS: '300',
    UGS_API_TOKEN_CACHE_MS: '5000',
  },
)
const { Customer, Testing } = service.tokens
const reader = await createApiToken(service, 'Testing', '--scopes', 'read')
const admin = await createApiToken(service, 'Customer', '--scopes', 'admin')
const api = userApi(service.origin, Testing)
/** The tokens of the first start have the ids 1 and 2 in either order; the others are 3 and 4. */
const testingId = Number(/^(\d+) .*Testing/m.exec(await runCommand(service, 'api-token', 'list'))?.[1])

function linesOf({ stderr }: Pick<RunningService, 'stderr'>): Line[] {
  return (
    stderr()
      .trim()
      .split('\n')
      // Node.js writes its own warnings to the same stream.
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Line & { msg: string })
      .filter(({ msg }) => msg === 'request')
  )
}

/** Returns the only log line of the request with this response. */
async function lineOf({ headers }: HttpResponse, of = service): Promise<Line> {
  const id = headers['x-request-id']
  await of.logged(`"request_id":"${id}"`)
  const [line, ...more] = linesOf(of).filter(({ request_id }) => request_id === id)
  assert.ok(line !== undefined)
  assert.deepEqual(more, [])
  return line
}

/** Returns the predictable fields of a request's log line. */
async function loggedFields(response: HttpResponse): Promise<unknown[]> {
  const { method, path, operation, status, code, api_token_id } = await lineOf(response)
  assert.equal(status, response.status)
  return [method, path, operation, code, api_token_id]
}

test('logs a request as one line', async () => {
  const response = await api.get({ user_group_id: 'line', name: 'Name' })
  const { duration_ms, ...line } = await lineOf(response)
  assert.ok(duration_ms !== null && duration_ms > 0 && duration_ms < 60_000)
  assert.ok('time' in line && Math.abs(Number(line.time) - Date.now()) < 60_000)
  assert.deepEqual(line, {
    level: 30,
    time: line.time,
    request_id: response.headers['x-request-id'],
    method: 'GET',
    path: '/api/user',
    operation: 'getOrCreate',
    status: 200,
    code: null,
    api_token_id: testingId,
    workspace_id: 1,
    environment: 'Testing',
    bytes: Buffer.byteLength(response.text),
    msg: 'request',
  })
})

const loggedRequests: Record<string, [send: () => Promise<HttpResponse>, logged: unknown[]]> = {
  'an update': [
    () => api.put({ user_group_id: 'line', name: 'Name' }),
    ['PUT', '/api/user', 'update', null, testingId],
  ],
  'a rotation that fails': [
    () => api.post({ current_token: 'none' }),
    ['POST', '/api/user', 'rotate', 'token_not_found', testingId],
  ],
  'a GET sent as POST': [
    () => api.post({ user_group_id: 'line' }, { 'x-http-method-override': 'GET' }),
    ['POST', '/api/user', 'getOrCreate', null, testingId],
  ],
  'a request without an API token': [
    () => userApi(service.origin).get({}),
    ['GET', '/api/user', null, 'unauthenticated', null],
  ],
  'one that the API token may not send': [
    () => userApi(service.origin, reader).put({}),
    ['PUT', '/api/user', 'update', 'forbidden', 3],
  ],
  'a management request': [
    () => sendRequest(service.origin, { path: '/admin/v1/user-groups/7/versions?x=1', token: admin }),
    ['GET', '/admin/v1/user-groups/{team_id}/versions', 'listUserGroupVersions', 'validation_failed', 4],
  ],
  'a health check': [
    () => sendRequest(service.origin, { path: '/readyz?x=1' }),
    ['GET', '/readyz', null, null, null],
  ],
  'a page': [
    () => sendRequest(service.origin, { path: '/console/user-groups' }),
    ['GET', '/console/*', null, null, null],
  ],
  'a method that the path does not support': [
    () => sendRequest(service.origin, { method: 'DELETE', token: Testing }),
    ['DELETE', null, null, 'method_not_allowed', null],
  ],
  'an unknown path': [
    () => sendRequest(service.origin, { path: `/api/user/${Testing}` }),
    ['GET', null, null, 'not_found', null],
  ],
  'a path that cannot be decoded': [
    () => sendRequest(service.origin, { path: '/%zz' }),
    ['GET', null, null, 'malformed_request', null],
  ],
}
for (const [title, [send, expected]] of Object.entries(loggedRequests)) {
  test(`logs one line for ${title}`, async () => assert.deepEqual(await loggedFields(await send()), expected))
}

const refused: Record<string, [sent: string, logged: unknown[]]> = {
  'text that is not HTTP': ['none\r\n\r\n', [null, null, null, 'malformed_request', null]],
  'headers that are too large': [
    requestText({ token: Testing, headers: [`X-Header: ${'x'.repeat(20_000)}`] }),
    [null, null, null, 'headers_too_large', null],
  ],
  'an unknown method': [
    requestText({ token: Testing, method: 'NONE' }),
    [null, null, null, 'method_not_allowed', null],
  ],
  'a CONNECT': [
    'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    [null, null, null, 'method_not_allowed', null],
  ],
  'a body with an invalid chunk': [
    requestText({ token: Testing, headers: ['Transfer-Encoding: chunked'], body: 'x\r\n{}\r\n' }),
    ['GET', '/api/user', 'getOrCreate', 'malformed_request', testingId],
  ],
  'a body that never arrives': [
    requestText({ token: Testing, headers: ['Content-Length: 20'], body: '{' }),
    ['GET', '/api/user', 'getOrCreate', 'request_timeout', testingId],
  ],
}
for (const [title, [sent, expected]] of Object.entries(refused)) {
  test(`logs one line for ${title}, refused before its body was read`, async () => {
    const [response] = await responsesTo(service.origin, sent)
    assert.ok(response !== undefined)
    assert.deepEqual(await loggedFields(response), expected)
    const { duration_ms, bytes } = await lineOf(response)
    assert.equal(bytes, Buffer.byteLength(response.text))
    assert.equal(duration_ms === null, expected[0] === null)
  })
}

describe('a client that disconnects', () => {
  it('while it sends the body: its request is logged as cut off', async () => {
    const { hostname, port } = new URL(service.origin)
    // Send one request first, so that the API token is cached.
    await responsesTo(
      service.origin,
      requestText({ token: Testing, headers: ['Connection: close'], body: '{}' }),
    )
    const socket = connect(Number(port), hostname)
    const headers = ['Expect: 100-continue', 'Content-Length: 20']
    socket.write(requestText({ token: Testing, headers }))
    // The service is handling the request.
    assert.match(String(await once(socket, 'data')), / 100 Continue/)
    socket.resetAndDestroy()
    await service.logged('"cut_off":true')
    const [line, ...more] = linesOf(service).filter(({ cut_off }) => cut_off === true)
    assert.deepEqual(more, [])
    assert.deepEqual(
      [line?.path, line?.operation, line?.api_token_id],
      ['/api/user', 'getOrCreate', testingId],
    )
  })

  it('without waiting for its responses: each of its requests is logged once', async (t) => {
    const instance = await startService(t, { UGS_ACCESS_LOG: 'full' })
    const token = instance.tokens.Testing
    for (let i = 0; i < 20; i++) {
      const connections = await Promise.all(
        Array.from({ length: 12 }, () => RawConnection.open(instance.origin)),
      )
      const body = JSON.stringify({ user_group_id: `left ${i}`, name: 'Name' })
      for (const connection of connections) connection.send(requestText({ token, body }))
      // One request was handled, and the others are in flight.
      await connections[0]?.response()
      for (const connection of connections) connection.close()
    }
    // A service that stops accepts no more connections.
    while ((instance.stderr().match(/"msg":"request"/g) ?? []).length < 20 * 12) await setTimeout(10)
    await instance.stop()
    await instance.logged('"msg":"stopped"')
    const ids = linesOf(instance).map(({ request_id }) => request_id)
    assert.equal(ids.length, 20 * 12)
    assert.equal(new Set(ids).size, ids.length)
  })
})

/** Returns the log lines of 400 successful requests and one server error. */
async function sampled(t: Parameters<typeof startService>[0], environment: Record<string, string>) {
  const one = await startService(t, environment)
  const responses = await Promise.all(
    Array.from({ length: 400 }, () => sendRequest(one.origin, { path: '/healthz' })),
  )
  const { Testing: token } = one.tokens
  const [failed] = await responsesTo(
    one.origin,
    requestText({ token, headers: ['Transfer-Encoding: gzip', 'Connection: close'] }),
  )
  assert.deepEqual([...new Set(responses.map(({ status }) => status)), failed?.status], [200, 501])
  await one.stop()
  await one.logged('"msg":"stopped"')
  const lines = linesOf(one)
  return { lines, good: lines.filter(({ status }) => status === 200) }
}

describe('UGS_ACCESS_LOG', () => {
  it('unset, logs no request at any log level', async (t) => {
    assert.deepEqual((await sampled(t, { LOG_LEVEL: 'trace' })).lines, [])
  })

  it('0 logs only server errors', async (t) => {
    const { lines } = await sampled(t, { UGS_ACCESS_LOG: '0' })
    assert.deepEqual(
      lines.map(({ status, code }) => [status, code]),
      [[501, 'not_implemented']],
    )
  })

  it('0.5 logs half of the requests and all server errors', async (t) => {
    const { lines, good } = await sampled(t, { UGS_ACCESS_LOG: '0.5' })
    // Ten standard deviations in either direction.
    assert.ok(good.length > 100 && good.length < 300, `${good.length}`)
    assert.equal(lines.length, good.length + 1)
  })
})

test('several workers log their requests as whole lines', async (t) => {
  const several = await startService(t, { UGS_ACCESS_LOG: 'full', LOG_LEVEL: 'fatal' }, ['--workers', '2'])
  const responses = await Promise.all(
    Array.from({ length: 200 }, () => sendRequest(several.origin, { path: '/healthz' })),
  )
  for (const response of responses) assert.equal((await lineOf(response, several)).status, 200)
})

test('requests do not wait for the reader of the log', async (t) => {
  const environment = { PATH: process.env.PATH, PORT: '0', UGS_ACCESS_LOG: 'full' }
  const settings = { ...environment, UGS_DATA_DIR: join(temporaryFolder(t), 'data'), UGS_DRAIN_MS: '0' }
  const child = spawn(process.execPath, [ugsFile, 'serve'], { env: settings })
  t.after(() => child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const { origin } = JSON.parse(line) as { origin: string }
  // Far more than the buffer of a pipe.
  const requests = 2000
  for (let i = 0; i < requests; i += 100)
    await Promise.all(Array.from({ length: 100 }, () => sendRequest(origin, { path: '/healthz' })))
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  child.kill('SIGTERM')
  await once(child, 'close')
  assert.equal(linesOf({ stderr: () => log }).length, requests)
})

test('the log contains no secrets or contents of requests', async () => {
  const secrets = [Customer, Testing, reader, admin]
  secrets.push(tokenIn(await api.get({ user_group_id: 'id-of-it', name: 'name-of-it' })))
  assertSuccess(await api.get({ user_group_id: 'id-of-it', properties: { a: 'value-of-it' } }))
  for (const secret of secrets) {
    for (const path of [
      `/${secret}`,
      `/api/user/${secret}`,
      `/api/user?token=${secret}`,
      `/console/assets/${secret}`,
      `/console/${secret}`,
      `/docs/${secret}`,
      `/docs/static/${secret}`,
      `/admin/v1/user-groups/${secret}`,
      `/admin/v1/user-groups?name=${secret}&user_group_id_prefix=id-of-it`,
      `/%zz/${secret}`,
    ]) {
      for (const token of [admin, secret])
        await lineOf(await sendRequest(service.origin, { path, token, body: { current_token: secret } }))
    }
    await lineOf(await api.post({ current_token: `${secret}x` }, { 'idempotency-key': secret }))
    const [response] = await responsesTo(service.origin, `${secret} /api/user HTTP/1.1\r\n${secret}\r\n\r\n`)
    await lineOf(response as HttpResponse)
  }
  const log = service.stderr()
  for (const secret of secrets) {
    const random = randomPartOf(secret)
    assert.ok(!log.includes(random.slice(0, 12)) && !log.includes(random.slice(-12)))
  }
  assert.doesNotMatch(log, /ug[at]_|-of-it|"stack"/)
})
