import assert from 'node:assert/strict'
import { createConnection } from 'node:net'
import { after, describe, test, type TestContext } from 'node:test'
import type { HttpResponse } from '../../support/http.ts'
import { RawConnection, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, userApi } from '../../support/user-api.ts'

// Timeouts are checked once a second. These tests assert which response arrives, not when.
const service = await startService(
  { after },
  { UGS_HEADERS_TIMEOUT_MS: '300', UGS_REQUEST_TIMEOUT_MS: '300' },
)
const token = service.tokens.Testing
const body = JSON.stringify({ user_group_id: 'late', name: 'Name' })
const request = requestText({ token, body })

function assertLate([response, ...more]: readonly HttpResponse[]): void {
  assert.ok(response !== undefined)
  assert.deepEqual(more, [])
  assertFault(response, 'request_timeout')
  assert.equal(response.headers.connection, 'close')
}

describe('a late request gets 408', { concurrency: true }, () => {
  for (const [title, sent] of Object.entries({
    nothing: '',
    'a part of the request line': 'GET /api/us',
    'a part of the headers': request.slice(0, 40),
    'the headers but for the last line': request.slice(0, request.indexOf('\r\n\r\n')),
    'the headers and no body': request.slice(0, -body.length),
    'the body but for its last byte': request.slice(0, -1),
    'the headers and no chunk': requestText({ token, headers: ['Transfer-Encoding: chunked'] }),
    'a part of the chunks': requestText({
      token,
      headers: ['Transfer-Encoding: chunked'],
      body: '5\r\n{"use',
    }),
  })) {
    test(`after ${title}, and the connection closes`, async () => {
      const connection = await RawConnection.open(service.origin)
      const responses = await connection.send(sent).responsesUntilClosed()
      assert.equal(responses.length, 1)
      assertLate(responses)
      const api = userApi(service.origin, token)
      assertFault(await api.put({ user_group_id: 'late' }), 'user_group_not_found')
    })
  }

  test('after the response to the first request, if the second is late', async () => {
    const connection = await RawConnection.open(service.origin)
    connection.send(requestText({ token, body: JSON.stringify({ user_group_id: 'first', name: 'Name' }) }))
    assertSuccess(await connection.response())
    const responses = await connection.send(request.slice(0, 40)).responsesUntilClosed()
    assertLate(responses)
  })
})

describe('an idle connection closes', { concurrency: true }, () => {
  const connect = async (t: TestContext) => {
    const impatient = await startService(t, {
      UGS_HEADERS_TIMEOUT_MS: '300',
      UGS_REQUEST_TIMEOUT_MS: '300',
      UGS_KEEP_ALIVE_TIMEOUT_MS: '300',
    })
    const { hostname, port } = new URL(impatient.origin)
    const socket = createConnection(Number(port), hostname)
    // A connection that closes while the client sends is reset.
    socket.on('error', () => undefined)
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    return { socket, closed, token: impatient.tokens.Testing, origin: impatient.origin }
  }

  test('if the client sends only empty lines after a response', async (t) => {
    const { socket, closed, token } = await connect(t)
    socket.write(requestText({ token, body: JSON.stringify({ user_group_id: 'drip', name: 'Name' }) }))
    const drip = setInterval(() => socket.write('\r\n'), 50)
    socket.resume()
    await closed
    clearInterval(drip)
  })

  test('if the client does not read its responses', async (t) => {
    const { socket, closed, token, origin } = await connect(t)
    const properties = { text: 'x'.repeat(60_000) }
    assertSuccess(await userApi(origin, token).get({ user_group_id: 'big', name: 'Name', properties }))
    socket.pause()
    socket.write(requestText({ token, body: JSON.stringify({ user_group_id: 'big' }) }).repeat(300))
    // A client that does not read notices the end only when writing fails.
    const poke = setInterval(() => socket.write('\r\n'), 500)
    await closed
    clearInterval(poke)
  })
})
