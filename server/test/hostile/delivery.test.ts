import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { responsesTo, chunked, RawConnection } from '../support/raw-connection.ts'
import { startService } from '../support/service.ts'
import { assertFault, assertSuccess, userApi, type ErrorCode } from '../support/user-api.ts'
import { bodyOf, linesOf, rawRequest } from './raw-cases.ts'

// Requests that arrive in pieces, many at once, or incomplete.

const service = await startService({ after })
const token = service.tokens.Testing
const api = userApi(service.origin, token)
const lines = linesOf(token)
const withLength = (body: string, ...headers: string[]) =>
  rawRequest([...lines, ...headers, `Content-Length: ${body.length}`], body)
const inChunks = (body: string, ...headers: string[]) =>
  rawRequest([...lines, ...headers, 'Transfer-Encoding: chunked'], chunked(...Array.from(body)))

const assertNothingOf = async (id: string) =>
  assertFault(await api.put({ user_group_id: id }), 'user_group_not_found')

for (const [title, requestOf] of Object.entries({ 'with a length': withLength, 'in chunks': inChunks })) {
  test(`a request ${title}, byte by byte, gets the usual response`, async () => {
    const connection = await RawConnection.open(service.origin)
    for (const id of [`slow one ${title}`, `slow two ${title}`]) {
      await connection.sendPieces(...[...requestOf(bodyOf(id))].map((byte) => Buffer.of(byte)))
      assert.equal(assertSuccess(await connection.response()).user_group.provided_id, id)
    }
    connection.close()
  })

  test(`two requests ${title}, split anywhere into two pieces, get responses`, async () => {
    const two = Buffer.concat([requestOf(bodyOf('first')), requestOf(bodyOf('second'))])
    const connection = await RawConnection.open(service.origin)
    for (let at = 1; at < two.length; at += 3) {
      await connection.sendPieces(two.subarray(0, at), two.subarray(at))
      assert.equal(assertSuccess(await connection.response()).user_group.provided_id, 'first')
      assert.equal(assertSuccess(await connection.response()).user_group.provided_id, 'second')
    }
    connection.close()
  })

  test(`a request ${title} that ends anywhere before its end is 400, and does nothing`, async () => {
    const whole = requestOf(bodyOf(`cut ${title}`))
    for (let length = 0; length < whole.length; length++) {
      const connection = await RawConnection.open(service.origin)
      const responses = await connection.send(whole.subarray(0, length)).finish().responsesUntilClosed()
      assert.equal(responses.length, length === 0 ? 0 : 1)
      for (const response of responses) assertFault(response, 'malformed_request')
    }
    await assertNothingOf(`cut ${title}`)
    const connection = await RawConnection.open(service.origin)
    assertSuccess(await connection.send(whole).response())
    connection.close()
  })
}

/** A bad request among good ones, and its response. */
const refusals: Record<string, { request: Buffer; code: ErrorCode }> = {
  'without an API token': {
    request: rawRequest(
      [...lines.filter((line) => !line.startsWith('Authorization')), 'Content-Length: 2'],
      '{}',
    ),
    code: 'unauthenticated',
  },
  'with two hosts': { request: withLength(bodyOf('refused'), 'Host: b'), code: 'malformed_request' },
  'of another path': { request: rawRequest(['GET /nothing HTTP/1.1', ...lines.slice(1)]), code: 'not_found' },
  'of another method': {
    request: rawRequest(['DELETE /api/user HTTP/1.1', ...lines.slice(1)]),
    code: 'method_not_allowed',
  },
  'of another type': {
    request: rawRequest([...lines.slice(0, 3), 'Content-Type: text/plain', 'Content-Length: 2'], '{}'),
    code: 'unsupported_media_type',
  },
  'with a broken body': { request: withLength('{"user_group_id":'), code: 'malformed_json' },
  'with a field at fault': { request: withLength('{"user_group_id":"known"}'), code: 'name_required' },
}
describe('hundreds of requests in one packet', () => {
  const count = 200
  const ids = (title: string) => Array.from({ length: count }, (_, i) => `${title} ${i}`)

  for (const [title, { request, code }] of Object.entries(refusals)) {
    test(`get responses in their order, with one ${title} in the middle of them`, async () => {
      const requests = ids(title).map((id, i) => (i % 2 ? inChunks(bodyOf(id)) : withLength(bodyOf(id))))
      requests.splice(count / 2, 0, request)
      const connection = await RawConnection.open(service.origin)
      connection.send(Buffer.concat(requests))
      for (const [i, id] of ids(title).entries()) {
        if (i === count / 2) {
          const { message } = assertFault(
            await connection.response(),
            code,
            code === 'name_required' ? ['/name'] : [],
          )
          assert.notEqual(message, '')
        }
        assert.equal(assertSuccess(await connection.response()).user_group.provided_id, id)
      }
      connection.close()
    })
  }

  test('get responses up to the broken one, and none after it has an effect', async () => {
    const requests = ids('broken').map((id) => withLength(bodyOf(id)))
    requests.splice(count / 2, 0, rawRequest([...lines, 'Content-Length: x'], bodyOf('broken')))
    const responses = await responsesTo(service.origin, Buffer.concat(requests))
    assert.equal(responses.length, count / 2 + 1)
    responses.slice(0, -1).forEach((response, i) => {
      assert.equal(assertSuccess(response).user_group.provided_id, `broken ${i}`)
    })
    assertFault(responses.at(-1) as (typeof responses)[0], 'malformed_request')
    for (const id of ids('broken').slice(count / 2)) await assertNothingOf(id)
  })

  test('get responses up to the one with a body too large to drop, and none after it has an effect', async () => {
    const requests = ids('large').map((id) => withLength(bodyOf(id)))
    requests.splice(count / 2, 0, withLength(' '.repeat(1024 * 1024 + 1)))
    const responses = await responsesTo(service.origin, Buffer.concat(requests))
    assert.equal(responses.length, count / 2 + 1)
    for (const response of responses.slice(0, -1)) assertSuccess(response)
    assertFault(responses.at(-1) as (typeof responses)[0], 'body_too_large')
    for (const id of ids('large').slice(count / 2)) await assertNothingOf(id)
  })

  test('get responses up to the one that closes, and none after it has an effect', async () => {
    const requests = ids('closing').map((id) => withLength(bodyOf(id)))
    requests[count / 2 - 1] = withLength(bodyOf(`closing ${count / 2 - 1}`), 'Connection: close')
    const responses = await responsesTo(service.origin, Buffer.concat(requests))
    assert.equal(responses.length, count / 2)
    for (const response of responses) assertSuccess(response)
    for (const id of ids('closing').slice(count / 2)) await assertNothingOf(id)
  })
})

test('rotations in one packet are done one after the other, each only once', async () => {
  const first = assertSuccess(await api.get({ user_group_id: 'rotated', name: 'Name' })).user_group.token
  const rotation = (current: string) => {
    const body = JSON.stringify({ current_token: current })
    return rawRequest(['POST /api/user HTTP/1.1', ...lines.slice(1), `Content-Length: ${body.length}`], body)
  }
  const connection = await RawConnection.open(service.origin)
  connection.send(Buffer.concat(Array.from({ length: 100 }, () => rotation(first))))
  const responses = []
  for (let i = 0; i < 100; i++) responses.push(await connection.response())
  connection.close()
  const [rotated, ...others] = responses.filter(({ status }) => status === 200)
  assert.ok(rotated !== undefined && others.length === 0)
  for (const response of responses) if (response !== rotated) assertFault(response, 'token_superseded')
  const { token: now } = assertSuccess(await api.get({ user_group_id: 'rotated' })).user_group
  assert.equal(now, assertSuccess(rotated).user_group.token)
})
