import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Answer } from '../support/http.ts'
import { RawConnection, requestText } from '../support/raw-connection.ts'
import { startService } from '../support/service.ts'
import { assertFault, assertSuccess, userApi } from '../support/user-api.ts'

// Who is late is found out once a second: these tests take as long, and assert what arrives, not when.
const service = await startService(
  { after },
  { UGS_HEADERS_TIMEOUT_MS: '300', UGS_REQUEST_TIMEOUT_MS: '300' },
)
const token = service.tokens.Testing
const body = JSON.stringify({ user_group_id: 'late', name: 'Name' })
const request = requestText({ token, body })

function assertLate([answer, ...more]: readonly Answer[]): void {
  assert.ok(answer !== undefined)
  assert.deepEqual(more, [])
  assertFault(answer, 'request_timeout')
  assert.equal(answer.headers.connection, 'close')
}

describe('who is late is told so', { concurrency: true }, () => {
  for (const [what, sent] of Object.entries({
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
    test(`who sends ${what} gets 408 and is closed`, async () => {
      const connection = await RawConnection.open(service.origin)
      const answers = await connection.send(sent).answersUntilClosed()
      assert.equal(answers.length, 1)
      assertLate(answers)
      const api = userApi(service.origin, token)
      assertFault(await api.put({ user_group_id: 'late' }), 'user_group_not_found')
    })
  }

  test('who is late with a second request has the answer to the first', async () => {
    const connection = await RawConnection.open(service.origin)
    connection.send(requestText({ token, body: JSON.stringify({ user_group_id: 'first', name: 'Name' }) }))
    assertSuccess(await connection.answer())
    const answers = await connection.send(request.slice(0, 40)).answersUntilClosed()
    assertLate(answers)
  })
})
