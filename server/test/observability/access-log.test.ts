import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, describe, it, test } from 'node:test'
import { createApiToken, runCommand } from '../support/command.ts'
import { call, type HttpResponse } from '../support/http.ts'
import { answersTo, RawConnection, requestText } from '../support/raw-connection.ts'
import { randomPartOf } from '../support/secrets.ts'
import { startService, temporaryFolder, ugsFile, type RunningService } from '../support/service.ts'
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
/** The tokens of the first start may have come in either order; the others are 3 and 4. */
const testingId = Number(/^(\d+) .*Testing/m.exec(await runCommand(service, 'api-token', 'list'))?.[1])

function linesOf({ stderr }: Pick<RunningService, 'stderr'>): Line[] {
  return stderr()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line & { msg: string })
    .filter(({ msg }) => msg === 'request')
}

/** The one line of the call that had this answer. */
async function lineOf({ headers }: HttpResponse, of = service): Promise<Line> {
  const id = headers['x-request-id']
  await of.logged(`"request_id":"${id}"`)
  const [line, ...more] = linesOf(of).filter(({ request_id }) => request_id === id)
  assert.ok(line !== undefined)
  assert.deepEqual(more, [])
  return line
}

/** How a call is logged, but for what differs from one to the next. */
async function shown(response: HttpResponse): Promise<unknown[]> {
  const { method, path, operation, status, code, api_token_id } = await lineOf(response)
  assert.equal(status, response.status)
  return [method, path, operation, code, api_token_id]
}

test('a call is a line', async () => {
  const answer = await api.get({ user_group_id: 'line', name: 'Name' })
  const { duration_ms, ...line } = await lineOf(answer)
  assert.ok(duration_ms !== null && duration_ms > 0 && duration_ms < 60_000)
  assert.ok('time' in line && Math.abs(Number(line.time) - Date.now()) < 60_000)
  assert.deepEqual(line, {
    level: 30,
    time: line.time,
    request_id: answer.headers['x-request-id'],
    method: 'GET',
    path: '/api/user',
    operation: 'getOrCreate',
    status: 200,
    code: null,
    api_token_id: testingId,
    workspace_id: 1,
    environment: 'Testing',
    bytes: Buffer.byteLength(answer.text),
    msg: 'request',
  })
})

const inEveryWay: Record<string, [make: () => Promise<HttpResponse>, logged: unknown[]]> = {
  'an update': [
    () => api.put({ user_group_id: 'line', name: 'Name' }),
    ['PUT', '/api/user', 'update', null, testingId],
  ],
  'a rotation that fails': [
    () => api.post({ current_token: 'none' }),
    ['POST', '/api/user', 'rotate', 'token_not_found', testingId],
  ],
  'a GET sent as a POST': [
    () => api.post({ user_group_id: 'line' }, { 'x-http-method-override': 'GET' }),
    ['POST', '/api/user', 'getOrCreate', null, testingId],
  ],
  'one without an API token': [
    () => userApi(service.origin).get({}),
    ['GET', '/api/user', null, 'unauthenticated', null],
  ],
  'one that the API token may not make': [
    () => userApi(service.origin, reader).put({}),
    ['PUT', '/api/user', 'update', 'forbidden', 3],
  ],
  'one of the management API': [
    () => call(service.origin, { path: '/admin/v1/user-groups/7/versions?x=1', token: admin }),
    ['GET', '/admin/v1/user-groups/{team_id}/versions', 'listUserGroupVersions', 'validation_failed', 4],
  ],
  'a health check': [
    () => call(service.origin, { path: '/readyz?x=1' }),
    ['GET', '/readyz', null, null, null],
  ],
  'a page': [
    () => call(service.origin, { path: '/console/user-groups' }),
    ['GET', '/console/*', null, null, null],
  ],
  'one of a method that the path lacks': [
    () => call(service.origin, { method: 'DELETE', token: Testing }),
    ['DELETE', null, null, 'method_not_allowed', null],
  ],
  'one of nothing': [
    () => call(service.origin, { path: `/api/user/${Testing}` }),
    ['GET', null, null, 'not_found', null],
  ],
  'one of a path that cannot be decoded': [
    () => call(service.origin, { path: '/%zz' }),
    ['GET', null, null, 'malformed_request', null],
  ],
}
for (const [what, [make, expected]] of Object.entries(inEveryWay)) {
  test(`${what} is a line`, async () => assert.deepEqual(await shown(await make()), expected))
}

const refused: Record<string, [sent: string, logged: unknown[]]> = {
  'what is no request': ['none\r\n\r\n', [null, null, null, 'malformed_request', null]],
  'headers that are too large': [
    requestText({ token: Testing, headers: [`X-Header: ${'x'.repeat(20_000)}`] }),
    [null, null, null, 'headers_too_large', null],
  ],
  'a method that there is not': [
    requestText({ token: Testing, method: 'NONE' }),
    [null, null, null, 'method_not_allowed', null],
  ],
  'a CONNECT': [
    'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n',
    [null, null, null, 'method_not_allowed', null],
  ],
  'a body that breaks': [
    requestText({ token: Testing, headers: ['Transfer-Encoding: chunked'], body: 'x\r\n{}\r\n' }),
    ['GET', '/api/user', 'getOrCreate', 'malformed_request', testingId],
  ],
  'a body that is late': [
    requestText({ token: Testing, headers: ['Content-Length: 20'], body: '{' }),
    ['GET', '/api/user', 'getOrCreate', 'request_timeout', testingId],
  ],
}
for (const [what, [sent, expected]] of Object.entries(refused)) {
  test(`${what}, answered before there is a call, is a line`, async () => {
    const [answer] = await answersTo(service.origin, sent)
    assert.ok(answer !== undefined)
    assert.deepEqual(await shown(answer), expected)
    const { duration_ms, bytes } = await lineOf(answer)
    assert.equal(bytes, Buffer.byteLength(answer.text))
    assert.equal(duration_ms === null, expected[0] === null)
  })
}

describe('a client that leaves', () => {
  it('in its body: its call is a line that says so', async () => {
    const { hostname, port } = new URL(service.origin)
    // From here on its API token is known, and need not be looked up.
    await answersTo(
      service.origin,
      requestText({ token: Testing, headers: ['Connection: close'], body: '{}' }),
    )
    const socket = connect(Number(port), hostname)
    const headers = ['Expect: 100-continue', 'Content-Length: 20']
    socket.write(requestText({ token: Testing, headers }))
    // So it is being handled.
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

  it('without waiting for what it has asked for: each of its calls is a line', async (t) => {
    const left = await startService(t, { UGS_ACCESS_LOG: 'full' })
    const token = left.tokens.Testing
    for (let i = 0; i < 20; i++) {
      const connection = await RawConnection.open(left.origin)
      const body = JSON.stringify({ user_group_id: `left ${i}`, name: 'Name' })
      connection.send(requestText({ token, body }).repeat(12))
      // The first has been handled, and the others are being so.
      await connection.response()
      connection.close()
    }
    await left.stop()
    await left.logged('"msg":"stopped"')
    const ids = linesOf(left).map(({ request_id }) => request_id)
    assert.equal(ids.length, 20 * 12)
    assert.equal(new Set(ids).size, ids.length)
  })
})

/** The lines of this many calls that go well, and of one that fails on our side. */
async function sampled(t: Parameters<typeof startService>[0], environment: Record<string, string>) {
  const one = await startService(t, environment)
  const responses = await Promise.all(
    Array.from({ length: 400 }, () => call(one.origin, { path: '/healthz' })),
  )
  const { Testing: token } = one.tokens
  const [failed] = await answersTo(
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
  it('unset, logs no call, whatever the level', async (t) => {
    assert.deepEqual((await sampled(t, { LOG_LEVEL: 'trace' })).lines, [])
  })

  it('0 logs calls that fail on our side', async (t) => {
    const { lines } = await sampled(t, { UGS_ACCESS_LOG: '0' })
    assert.deepEqual(
      lines.map(({ status, code }) => [status, code]),
      [[501, 'not_implemented']],
    )
  })

  it('0.5 logs half of the calls, and all that fail on our side', async (t) => {
    const { lines, good } = await sampled(t, { UGS_ACCESS_LOG: '0.5' })
    // Ten standard deviations to either side.
    assert.ok(good.length > 100 && good.length < 300, `${good.length}`)
    assert.equal(lines.length, good.length + 1)
  })
})

test('each of several workers logs its calls, in whole lines', async (t) => {
  const several = await startService(t, { UGS_ACCESS_LOG: 'full', LOG_LEVEL: 'fatal' }, ['--workers', '2'])
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => call(several.origin, { path: '/healthz' })),
  )
  for (const answer of answers) assert.equal((await lineOf(answer, several)).status, 200)
})

test('no call waits for who reads the log', async (t) => {
  const environment = { PATH: process.env.PATH, PORT: '0', UGS_ACCESS_LOG: 'full' }
  const settings = { ...environment, UGS_DATA_DIR: join(temporaryFolder(t), 'data'), UGS_DRAIN_MS: '0' }
  const child = spawn(process.execPath, [ugsFile, 'serve'], { env: settings })
  t.after(() => child.kill('SIGKILL'))
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
  const origin = / (http:\S+)/.exec(line)?.[1] ?? ''
  // Far more than a pipe holds.
  const calls = 2000
  for (let i = 0; i < calls; i += 100)
    await Promise.all(Array.from({ length: 100 }, () => call(origin, { path: '/healthz' })))
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text))
  child.kill('SIGTERM')
  await once(child, 'close')
  assert.equal(linesOf({ stderr: () => log }).length, calls)
})

test('nothing of what a call holds is in the log', async () => {
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
        await lineOf(await call(service.origin, { path, token, body: { current_token: secret } }))
    }
    await lineOf(await api.post({ current_token: `${secret}x` }, { 'idempotency-key': secret }))
    const [answer] = await answersTo(service.origin, `${secret} /api/user HTTP/1.1\r\n${secret}\r\n\r\n`)
    await lineOf(answer as HttpResponse)
  }
  const log = service.stderr()
  for (const secret of secrets) {
    const random = randomPartOf(secret)
    assert.ok(!log.includes(random.slice(0, 12)) && !log.includes(random.slice(-12)))
  }
  assert.doesNotMatch(log, /ug[at]_|-of-it|"stack"/)
})
