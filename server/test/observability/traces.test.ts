import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, it, test, type TestContext } from 'node:test'
import { startCollector, type ReceivedSpan } from '../support/collector.ts'
import { sendRequest } from '../support/http.ts'
import { RawConnection, responsesTo, requestText } from '../support/raw-connection.ts'
import { randomPartOf } from '../support/secrets.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { assertSuccess, tokenIn, userApi } from '../support/user-api.ts'

const isPostgres = process.env.UGS_TEST_STORE === 'postgres'
const collector = await startCollector({ after })
const service = await startService(
  { after },
  {
    ...collector.settings,
    // Requests without a trace context are not sampled.
    OTEL_TRACES_SAMPLER: 'parentbased_always_off',
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector=let-me-in',
    UGS_ACCESS_LOG: 'full',
  },
)
const { Customer, Testing } = service.tokens
const api = userApi(service.origin, Testing)

let count = 0
/** Returns a new trace context, sampled or not. */
function newTrace(isSampled = true) {
  const traceId = (++count).toString(16).padStart(32, 'a')
  const parentId = 'b'.repeat(16)
  return { traceId, parentId, header: `00-${traceId}-${parentId}-0${isSampled ? 1 : 0}` }
}

const spanOfRequest = (traceId: string) =>
  collector.until((span) => span.kind === 2 && span.traceId === traceId)
const isBatch = ({ attributes }: ReceivedSpan) => 'ugs.batch.size' in attributes

test('a request is a span of its trace context', async () => {
  const { traceId, parentId, header } = newTrace()
  const headers = { traceparent: header, tracestate: 'vendor=value' }
  const response = await api.get({ user_group_id: 'span', name: 'Name' }, headers)
  assertSuccess(response)
  const span = await spanOfRequest(traceId)
  assert.deepEqual(
    [span.name, span.parentSpanId, span.traceState, span.status ?? 0],
    ['GET /api/user', parentId, 'vendor=value', 0],
  )
  const { 'ugs.api_token_id': apiTokenId, ...attributes } = span.attributes
  assert.equal(typeof apiTokenId, 'number')
  assert.deepEqual(attributes, {
    'http.request.method': 'GET',
    'http.route': '/api/user',
    'url.path': '/api/user',
    'url.scheme': 'http',
    'http.response.status_code': 200,
    'http.response.body.size': Buffer.byteLength(response.text),
    'ugs.request_id': response.headers['x-request-id'],
    'ugs.operation': 'getOrCreate',
    'ugs.workspace_id': 1,
    'ugs.environment': 'Testing',
  })
  assert.equal(span.resource['service.name'], 'user-group-service')
  assert.ok(collector.received().includes('let-me-in'))
})

test('the log line of a request has its span id', async () => {
  const { traceId, header } = newTrace()
  const { headers } = await sendRequest(service.origin, {
    path: '/healthz',
    headers: { traceparent: header },
  })
  const { spanId } = await spanOfRequest(traceId)
  const id = `"request_id":"${headers['x-request-id']}"`
  await service.logged(id)
  const line = service
    .stderr()
    .split('\n')
    .find((text) => text.includes(id)) as string
  const { trace_id, span_id } = JSON.parse(line) as Record<string, unknown>
  assert.deepEqual([trace_id, span_id], [traceId, spanId])
})

test("a store operation is a child of its request's span", async () => {
  const { traceId, header } = newTrace()
  assertSuccess(await api.get({ user_group_id: 'child', name: 'Name' }, { traceparent: header }))
  const parent = await spanOfRequest(traceId)
  const span = await collector.until((one) => isBatch(one) && one.traceId === traceId)
  assert.equal(span.parentSpanId, parent.spanId)
  assert.equal(span.kind, isPostgres ? 3 : 1)
  assert.equal(span.attributes['db.system.name'], isPostgres ? 'postgresql' : 'sqlite')
  assert.equal(span.attributes['ugs.batch.size'], 1)
  assert.equal(span.name, `${span.attributes['db.system.name']} ${String(span.attributes['ugs.batch.kind'])}`)
})

test('a batch is a child of its first request and linked to the others', async () => {
  assertSuccess(await api.get({ user_group_id: 'batch', name: 'Name' }))
  const connections = await Promise.all(Array.from({ length: 8 }, () => RawConnection.open(service.origin)))
  const body = JSON.stringify({ user_group_id: 'batch' })
  let traces: ReturnType<typeof newTrace>[]
  let shared: ReceivedSpan | undefined
  do {
    traces = connections.map(() => newTrace())
    for (const [i, { header }] of traces.entries())
      connections[i]?.send(requestText({ token: Testing, body, headers: [`traceparent: ${header}`] }))
    for (const connection of connections) assertSuccess(await connection.response())
    for (const { traceId } of traces) await spanOfRequest(traceId)
    // A batch ends before the requests in it, and its span is sent no later than theirs.
    shared = collector.spans.find(
      (span) =>
        isBatch(span) && traces.some(({ traceId }) => traceId === span.traceId) && span.links.length > 0,
    )
    // Requests that arrive at different times have a batch each.
  } while (shared === undefined)
  for (const connection of connections) connection.close()
  assert.ok(Number(shared.attributes['ugs.batch.size']) > shared.links.length)
  const requests = await Promise.all(traces.map(({ traceId }) => spanOfRequest(traceId)))
  for (const { spanId, traceId } of requests) {
    await collector.until(
      (span) =>
        isBatch(span) && (span.parentSpanId === spanId || span.links.some((link) => link.spanId === spanId)),
    )
    assert.ok(
      collector.spans.every(
        (span) => !isBatch(span) || span.traceId !== traceId || span.parentSpanId === spanId,
      ),
    )
  }
})

test('an unsampled request leaves no span, next to sampled ones', async () => {
  const traces = Array.from({ length: 12 }, (_, i) => newTrace(i % 2 === 0))
  const send = async ({ header }: { header: string }, i: number) =>
    assertSuccess(await api.get({ user_group_id: `sampled ${i}`, name: 'Name' }, { traceparent: header }))
  // First one after another, then all at once.
  for (const [i, trace] of traces.entries()) await send(trace, i)
  await Promise.all(traces.map(send))
  const last = newTrace()
  await sendRequest(service.origin, { path: '/healthz', headers: { traceparent: last.header } })
  await spanOfRequest(last.traceId)
  for (const [i, { traceId }] of traces.entries()) {
    const ownSpans = collector.spans.filter((span) => span.traceId === traceId)
    assert.equal(ownSpans.filter(({ kind }) => kind === 2).length, i % 2 === 0 ? 2 : 0)
    if (i % 2 === 0) await service.logged(traceId)
    else {
      assert.deepEqual(ownSpans, [])
      assert.ok(!service.stderr().includes(traceId))
    }
  }
  // A request without a trace context is not sampled either.
  assertSuccess(await api.get({ user_group_id: 'sampled 0' }))
  assert.ok(collector.spans.every(({ parentSpanId }) => parentSpanId !== undefined))
})

test('a server error sets the status of the span, and a client error does not', async () => {
  const ours = newTrace()
  const headers = [`traceparent: ${ours.header}`, 'Transfer-Encoding: gzip']
  await responsesTo(service.origin, requestText({ token: Testing, headers }))
  const failed = await spanOfRequest(ours.traceId)
  assert.deepEqual(
    [failed.status, failed.attributes['error.type'], failed.attributes['http.response.status_code']],
    [2, 'not_implemented', 501],
  )
  const theirs = newTrace()
  await api.post({ current_token: 'none' }, { traceparent: theirs.header })
  const { status, attributes } = await spanOfRequest(theirs.traceId)
  assert.deepEqual(
    [status ?? 0, attributes['error.type'], attributes['ugs.error_code']],
    [0, undefined, 'token_not_found'],
  )
})

for (const header of [
  '',
  'x',
  `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`,
  `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
]) {
  test(`traceparent "${header}" is ignored`, async () => {
    const response = await api.get({ user_group_id: 'none', name: 'Name' }, { traceparent: header })
    assertSuccess(response)
    const id = `"request_id":"${response.headers['x-request-id']}"`
    await service.logged(id)
    const line = service
      .stderr()
      .split('\n')
      .find((text) => text.includes(id)) as string
    assert.ok(!('trace_id' in JSON.parse(line)))
  })
}

test('spans contain no secrets or contents of requests', async () => {
  const { header } = newTrace()
  const headers = { traceparent: header }
  const secrets = [Customer, Testing]
  secrets.push(tokenIn(await api.get({ user_group_id: 'id-of-it', name: 'name-of-it' }, headers)))
  for (const secret of secrets) {
    for (const path of [
      `/${secret}`,
      `/api/user/${secret}?x=${secret}`,
      `/console/${secret}`,
      `/%zz/${secret}`,
    ])
      await sendRequest(service.origin, { path, token: secret, headers, body: { current_token: secret } })
    await api.post({ current_token: `${secret}x` }, { ...headers, 'idempotency-key': secret })
  }
  const last = newTrace()
  await sendRequest(service.origin, { path: '/healthz', headers: { traceparent: last.header } })
  await spanOfRequest(last.traceId)
  const sent = collector.received()
  for (const secret of secrets) assert.ok(!sent.includes(randomPartOf(secret).slice(0, 12)))
  assert.doesNotMatch(sent, /ug[at]_|-of-it/)
})

/** Returns the source coverage of a process, which lists all files that it loaded. */
async function loadedWith(t: TestContext, settings: Record<string, string>): Promise<string> {
  const folder = temporaryFolder(t)
  const one = await startService(t, { ...settings, NODE_V8_COVERAGE: folder })
  await sendRequest(one.origin, { path: '/healthz' })
  await one.stop()
  return readdirSync(folder)
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('')
}

describe('UGS_TRACES', () => {
  it('off, the default, loads no file of OpenTelemetry', async (t) => {
    const { UGS_TRACES, ...others } = collector.settings
    assert.equal(UGS_TRACES, 'on')
    const before = collector.received().length
    assert.ok(!(await loadedWith(t, others)).includes('@opentelemetry'), 'it is loaded')
    assert.equal(collector.received().length, before)
    assert.ok((await loadedWith(t, collector.settings)).includes('@opentelemetry'), 'it is not loaded')
  })

  it('on, traces every request and sends the remaining spans at shutdown', async (t) => {
    const own = await startCollector(t)
    const settings = { ...own.settings, OTEL_BSP_SCHEDULE_DELAY: '600000', OTEL_SERVICE_NAME: 'mine' }
    const one = await startService(t, settings)
    for (let i = 0; i < 20; i++) await sendRequest(one.origin, { path: '/healthz' })
    assert.equal(own.spans.length, 0)
    assert.equal(await one.stop(), 0)
    const sent = own.spans.filter(({ kind }) => kind === 2)
    assert.deepEqual(
      sent.map(({ name, parentSpanId, resource }) => [name, parentSpanId ?? '', resource['service.name']]),
      Array.from({ length: 20 }, () => ['GET /healthz', '', 'mine']),
    )
  })

  it('on with several workers, sends the spans of each', async (t) => {
    const own = await startCollector(t)
    const one = await startService(t, own.settings, ['--workers', '2'])
    await Promise.all(Array.from({ length: 40 }, () => sendRequest(one.origin, { path: '/healthz' })))
    assert.equal(await one.stop(), 0)
    const requests = own.spans.filter(({ kind }) => kind === 2)
    assert.equal(requests.length, 40)
    assert.equal(new Set(requests.map(({ resource }) => resource['process.pid'])).size, 2)
  })
})

describe('a collector', () => {
  it('that is unreachable affects no request and is logged once', async (t) => {
    const one = await startService(t, {
      UGS_TRACES: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
      OTEL_BSP_SCHEDULE_DELAY: '1',
    })
    const { Testing: token } = one.tokens
    for (let i = 0; i < 20; i++)
      assertSuccess(await userApi(one.origin, token).get({ user_group_id: 'a', name: 'A' }))
    await one.logged('spans could not be sent')
    for (let i = 0; i < 20; i++)
      assertSuccess(await userApi(one.origin, token).get({ user_group_id: 'a', name: 'A' }))
    assert.equal(await one.stop(), 0)
    await one.logged('"msg":"stopped"')
    assert.equal(one.stderr().match(/spans could not be sent/g)?.length, 1)
    assert.doesNotMatch(one.stderr(), /ECONNREFUSED|127\.0\.0\.1:1\b|"stack"/)
  })

  it('that never responds does not delay requests or the shutdown', async (t) => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    t.after(() => silent.close())
    const one = await startService(t, {
      UGS_TRACES: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '600000',
      UGS_CLOSE_TIMEOUT_MS: '500',
    })
    assertSuccess(await userApi(one.origin, one.tokens.Testing).get({ user_group_id: 'a', name: 'A' }))
    assert.equal(await one.stop(), 0)
  })
})
