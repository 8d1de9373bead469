import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import type { HttpResponse } from '../../support/http.ts'
import { responsesTo, responseTo, chunked, RawConnection, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, userApi, type ErrorCode } from '../../support/user-api.ts'

// The request timeout ends no test.
const service = await startService({ after }, { UGS_REQUEST_TIMEOUT_MS: '28000' })
const token = service.tokens.Testing
const api = userApi(service.origin, token)

const bodyOf = (id: string) => JSON.stringify({ user_group_id: id, name: 'Name' })
const requestOf = (id: string, ...headers: string[]) => requestText({ token, headers, body: bodyOf(id) })
const healthz = (...lines: string[]) =>
  ['GET /healthz HTTP/1.1', 'Host: localhost', ...lines, '', ''].join('\r\n')
const brokenLine = 'no request at all\r\n\r\n'

function assertClosing(response: HttpResponse | undefined, code: ErrorCode): void {
  assert.ok(response !== undefined)
  assertFault(response, code)
  assert.equal(response.headers.connection, 'close')
}

const broken: Record<string, string | Buffer> = {
  'a line that is none': brokenLine,
  'a version that there is not': 'GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n',
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'the start of TLS': Buffer.from('16030100f0010000ec0303', 'hex'),
  'the start of SSH': 'SSH-2.0-client\r\n',
  'a header without a colon': healthz('nothing'),
  'a space before the colon': healthz('X-Header : value'),
  'a header continued on the next line': healthz('X-Header: one', ' two'),
  'a NUL in a header': healthz('X-Header: a\0b'),
  'a bare CR in a header': healthz('X-Header: a\rb'),
  'a space in the path': 'GET /health z HTTP/1.1\r\nHost: localhost\r\n\r\n',
  'no Content-Length but the word': requestOf('broken', 'Content-Length:'),
  'a negative Content-Length': requestOf('broken', 'Content-Length: -1'),
  'a Content-Length with a sign': requestOf('broken', 'Content-Length: +5'),
  'a Content-Length that is no number': requestOf('broken', 'Content-Length: five'),
  'a hexadecimal Content-Length': requestOf('broken', 'Content-Length: 0x10'),
  'a Content-Length beyond all numbers': requestOf('broken', 'Content-Length: 99999999999999999999999'),
  'two Content-Lengths': requestOf('broken', 'Content-Length: 5', 'Content-Length: 6'),
  'two Content-Lengths in one': requestOf('broken', 'Content-Length: 5, 6'),
  'a chunk without a size': requestText({
    token,
    headers: ['Transfer-Encoding: chunked'],
    body: 'x\r\n{}\r\n',
  }),
  'a chunk longer than its size': requestText({
    token,
    headers: ['Transfer-Encoding: chunked'],
    body: '1\r\n{}\r\n0\r\n\r\n',
  }),
}
for (const [title, bytes] of Object.entries(broken)) {
  test(`${title}: one response, 400 in the format of all errors, and the connection closes`, async () => {
    const responses = await responsesTo(service.origin, bytes)
    assert.equal(responses.length, 1)
    assertClosing(responses[0], 'malformed_request')
  })
}

test('a request without Host is 400', async () => {
  for (const path of ['/api/user', '/healthz', '/nothing']) {
    const request = `GET ${path} HTTP/1.1\r\nAuthorization: Token ${token}\r\nConnection: close\r\n\r\n`
    assertFault(await responseTo(service.origin, request), 'malformed_request')
  }
})

const oversized: Record<string, string> = {
  'a long header': requestOf('oversized', `X-Header: ${'x'.repeat(20_000)}`),
  'many headers': requestOf('oversized', ...Array.from({ length: 1000 }, (_, i) => `X-Header-${i}: value`)),
  'a long path': requestText({ path: `/api/user?${'x'.repeat(20_000)}`, token, body: bodyOf('oversized') }),
  'a long header name': requestOf('oversized', `${'x'.repeat(20_000)}: value`),
}
for (const [title, request] of Object.entries(oversized)) {
  test(`${title}: one response, 431, and the connection closes`, async () => {
    const responses = await responsesTo(service.origin, request)
    assert.equal(responses.length, 1)
    assertClosing(responses[0], 'headers_too_large')
    assertFault(await api.put({ user_group_id: 'oversized' }), 'user_group_not_found')
  })
}

test('a body with both Content-Length and Transfer-Encoding is 400, and its content is not read as a request', async () => {
  const hidden = requestOf('hidden')
  const framings = [
    ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Content-Length: 5'],
    [`Content-Length: ${chunked(bodyOf('outer')).length + hidden.length}`, 'Transfer-Encoding: chunked'],
  ]
  for (const headers of framings) {
    const request = requestText({ token, headers, body: chunked(bodyOf('outer')) + hidden })
    const responses = await responsesTo(service.origin, request)
    assert.equal(responses.length, 1)
    assertClosing(responses[0], 'malformed_request')
  }
  for (const id of ['outer', 'hidden'])
    assertFault(await api.put({ user_group_id: id }), 'user_group_not_found')
})

test('an incomplete body calls no operation', async () => {
  const body = bodyOf('broken-off')
  const connection = await RawConnection.open(service.origin)
  connection.send(requestText({ token, headers: ['Expect: 100-continue', `Content-Length: ${body.length}`] }))
  assert.equal((await connection.response()).status, 100)
  connection.send(body.slice(0, -1)).close()
  const inChunks = requestText({
    token,
    headers: ['Transfer-Encoding: chunked'],
    body: chunked(body).slice(0, -5),
  })
  assertClosing((await responsesTo(service.origin, `${inChunks}broken`))[0], 'malformed_request')
  assertFault(await api.put({ user_group_id: 'broken-off' }), 'user_group_not_found')
})

test('pipelined requests get complete responses in order', async () => {
  const connection = await RawConnection.open(service.origin)
  for (const count of [12, 2, 1, 12]) {
    const ids = Array.from({ length: count }, (_, i) => `pipelined-${i}`)
    connection.send(ids.map((id) => requestOf(id)).join(''))
    for (const id of ids) assert.equal(assertSuccess(await connection.response()).user_group.provided_id, id)
  }
  connection.close()
})

test('the service reads on after pipelined requests that it refuses at once', async () => {
  const connection = await RawConnection.open(service.origin)
  for (const count of [2, 1, 3, 1]) {
    connection.send(requestText({ method: 'PATCH', body: ' '.repeat(2000) }).repeat(count))
    for (let i = 0; i < count; i++) assertFault(await connection.response(), 'method_not_allowed')
  }
  connection.close()
})

for (const count of [1, 2, 5]) {
  for (const [title, last, code] of [
    ['broken', brokenLine, 'malformed_request'],
    ['oversized', healthz(`X-Header: ${'x'.repeat(20_000)}`), 'headers_too_large'],
    ['a CONNECT', 'CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n', 'method_not_allowed'],
  ] as const) {
    test(`the last of ${count + 1} pipelined requests is ${title}: the others get their responses first`, async () => {
      const ids = Array.from({ length: count }, (_, i) => `${title} after ${count}, ${i}`)
      const responses = await responsesTo(service.origin, ids.map((id) => requestOf(id)).join('') + last)
      assert.deepEqual(
        responses.slice(0, -1).map((response) => assertSuccess(response).user_group.provided_id),
        ids,
      )
      assertClosing(responses.at(-1), code)
    })
  }
}

test('a client that expects 100 Continue gets it, and then its response', async () => {
  const body = bodyOf('expect')
  const headers = ['Expect: 100-continue', `Content-Length: ${body.length}`]
  const connection = await RawConnection.open(service.origin)
  connection.send(requestText({ token, headers }))
  assert.equal((await connection.response()).status, 100)
  connection.send(body)
  assertSuccess(await connection.response())
  connection.close()
})

/** A connection that does not close fails its test. */
const closing = { timeout: 20_000 }
const oneMiB = 1024 * 1024
const form = 'application/x-www-form-urlencoded'
for (const [title, code, request] of [
  ['no API token', 'unauthenticated', { headers: ['Content-Length: 10'] }],
  ['a body too large', 'body_too_large', { token, headers: [`Content-Length: ${oneMiB + 1}`] }],
  [
    'another type',
    'unsupported_media_type',
    { token, headers: ['Content-Length: 9', `Content-Type: ${form}`] },
  ],
  ['another method', 'method_not_allowed', { token, method: 'PATCH', headers: ['Content-Length: 10'] }],
  [
    'no token for an upload',
    'unauthenticated',
    { path: '/admin/v1/user-groups/import', method: 'POST', headers: ['Content-Length: 10'] },
  ],
  ['an invalid Host', 'malformed_request', { token, headers: ['Content-Length: 10', 'Host: two'] }],
] as const) {
  test(
    `a client that expects 100 Continue, with ${title}, gets only the final response`,
    closing,
    async () => {
      const headers = ['Expect: 100-continue', ...request.headers]
      const responses = await responsesTo(service.origin, requestText({ ...request, headers }))
      assert.equal(responses.length, 1)
      assertClosing(responses[0], code)
    },
  )
}

for (const [title, path, status] of [
  ['that is refused', '/api/user', 401],
  ['that is not used', '/docs', 200],
] as const) {
  test(`a connection with a body ${title} closes soon if the body does not arrive`, closing, async () => {
    const connection = await RawConnection.open(service.origin)
    connection.send(requestText({ path, headers: ['Content-Length: 10'], body: 'part' }))
    assert.match(await connection.textUntilClosed(), new RegExp(`^HTTP/1\\.1 ${status} `))
  })
}

test('only the start of a refused body is read', closing, async () => {
  const endless = ['Transfer-Encoding: chunked', `Content-Length: ${1024 * oneMiB}`]
  for (const header of endless) {
    const connection = await RawConnection.open(service.origin)
    connection.send(requestText({ method: 'PATCH', headers: [header] }))
    assertClosing(await connection.response(), 'method_not_allowed')
    const piece = Buffer.from(chunked('x'.repeat(65_536)).slice(0, -5))
    let sent = 0
    while (connection.isOpen && sent < 64 * oneMiB) {
      await connection.sendPieces(piece)
      sent += piece.length
      // Lets the connection close: writing to a closed one fails at once.
      await setImmediate()
    }
    // The buffers of the sockets count as sent.
    assert.ok(sent < 32 * oneMiB, `${sent}`)
    connection.close()
  }
})

test('an unknown expectation is ignored', async () => {
  assertSuccess(await responseTo(service.origin, requestOf('expect', 'Expect: something')))
})

test('an Upgrade header is ignored', async () => {
  for (const protocol of ['h2c', 'websocket']) {
    const connection = await RawConnection.open(service.origin)
    connection.send(requestOf('upgrade', 'Connection: Upgrade', `Upgrade: ${protocol}`))
    assertSuccess(await connection.response())
    connection.send(requestOf('upgrade'))
    assertSuccess(await connection.response())
    connection.close()
  }
})
