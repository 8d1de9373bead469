import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { responseTo, chunked, RawConnection, requestText } from '../../support/raw-connection.ts'
import { startService } from '../../support/service.ts'
import { assertFault, assertSuccess, userApi } from '../../support/user-api.ts'

const service = await startService({ after })
const token = service.tokens.Testing
const api = userApi(service.origin, token)

const limit = 1024 * 1024
const small = JSON.stringify({ user_group_id: 'sized', name: 'Name' })
const padded = (bytes: number) => small.padEnd(bytes, ' ')
const inChunks = (text: string) =>
  chunked(
    ...Array.from({ length: Math.ceil(text.length / 65_536) }, (_, i) =>
      text.slice(i * 65_536, (i + 1) * 65_536),
    ),
  )
const chunkedHeader = ['Transfer-Encoding: chunked']

test('a body of 1 MiB is accepted', async () => {
  assertSuccess(await api.get(padded(limit)))
  const request = requestText({ token, headers: chunkedHeader, body: inChunks(padded(limit)) })
  assertSuccess(await responseTo(service.origin, request))
})

for (const bytes of [limit + 1, 3 * limit, 16 * limit]) {
  test(`a body of ${bytes} bytes is 413, and the response reaches a client that is still sending`, async () => {
    for (const operation of [api.get, api.post, api.put]) {
      assertFault(await operation(padded(bytes)), 'body_too_large')
    }
  })

  test(`a body of ${bytes} bytes in chunks is 413, and the response reaches a client that is still sending`, async () => {
    for (const method of ['GET', 'POST', 'PUT']) {
      const request = requestText({ method, token, headers: chunkedHeader, body: inChunks(padded(bytes)) })
      assertFault(await responseTo(service.origin, request), 'body_too_large')
    }
  })
}

test('a body with too large a Content-Length is 413 before it is sent', async () => {
  for (const length of [limit + 1, 10 ** 12]) {
    const request = requestText({ token, headers: [`Content-Length: ${length}`] })
    assertFault(await responseTo(service.origin, request), 'body_too_large')
  }
})

for (const [title, request] of Object.entries({
  'by its length': requestText({ token, body: padded(limit + 1) }),
  'by its chunks': requestText({ token, headers: chunkedHeader, body: inChunks(padded(limit + 1)) }),
})) {
  test(`after too large a body ${title}, the connection is usable or closed, and no part of the body is read as a request`, async () => {
    const connection = await RawConnection.open(service.origin)
    connection.send(request)
    assertFault(await connection.response(), 'body_too_large')
    connection.send(requestText({ token, headers: ['Connection: close'], body: small }))
    const rest = await connection.responsesUntilClosed()
    assert.ok(rest.length <= 1)
    for (const response of rest) assertSuccess(response)
  })
}

test('too large a body changes nothing', async () => {
  const text = JSON.stringify({ user_group_id: 'refused', name: 'Name' }).padEnd(limit + 1)
  assertFault(await api.get(text), 'body_too_large')
  assertFault(await api.put({ user_group_id: 'refused' }), 'user_group_not_found')
})
