import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HttpResponse } from '../support/http.ts'
import { RawConnection } from '../support/raw-connection.ts'
import type { RunningService } from '../support/service.ts'
import { assertFault, assertSuccess, userApi, type ErrorCode } from '../support/user-api.ts'

/** Response to a raw request: the user group, an error, or only a status if the path is not `/api/user`. */
type Expected = 'success' | 100 | 200 | ErrorCode

export interface RawCase {
  readonly sent: string | Buffer
  readonly responses: readonly Expected[]
  /** Outcome of a second request on the same connection. */
  readonly then: 'the next one gets a response' | 'closed'
}

/** Expects one error, on a connection that stays open or closes. */
export const refused = (sent: string | Buffer, ...responses: ErrorCode[]): RawCase => ({
  sent,
  responses: responses.length === 0 ? ['malformed_request'] : responses,
  then: 'closed',
})
export const refusedAlone = (sent: string | Buffer, response: ErrorCode): RawCase => ({
  sent,
  responses: [response],
  then: 'the next one gets a response',
})
export const taken = (sent: string | Buffer): RawCase => ({
  sent,
  responses: ['success'],
  then: 'the next one gets a response',
})

/** Returns a request with these lines, encoded in Latin-1. */
export function rawRequest(lines: readonly string[], body = '', newLine = '\r\n'): Buffer {
  return Buffer.from([...lines, '', ''].join(newLine) + body, 'latin1')
}

/** Body of a get-or-create request. */
export const bodyOf = (id: string): string => JSON.stringify({ user_group_id: id, name: 'Name' })

/** Lines of a get-or-create request without its framing headers. */
export function linesOf(token: string): string[] {
  return [
    'GET /api/user HTTP/1.1',
    'Host: localhost',
    `Authorization: Token ${token}`,
    'Content-Type: application/json',
  ]
}

let count = 0

/**
 * Defines a test for each case. It sends the bytes in one piece, followed by a get-or-create of another user group, which either gets
 * its response or is never executed. Afterwards the service serves other clients as before.
 */
export function testRawCases(
  service: Pick<RunningService, 'origin' | 'tokens'>,
  cases: Record<string, RawCase>,
): void {
  const token = service.tokens.Testing
  const api = userApi(service.origin, token)
  for (const [title, { sent, responses: expected, then }] of Object.entries(cases)) {
    const nextId = `behind ${count++}`
    const next = rawRequest(
      [...linesOf(token), `Content-Length: ${Buffer.byteLength(bodyOf(nextId))}`],
      bodyOf(nextId),
    )
    test(`${title}: ${expected.join(', ')}; ${then}`, async () => {
      const connection = await RawConnection.open(service.origin)
      connection.send(Buffer.concat([Buffer.from(sent), next]))
      if (then === 'closed') {
        const responses = await connection.responsesUntilClosed()
        assert.equal(responses.length, expected.length, responses.map(({ text }) => text).join(' | '))
        responses.forEach((response, i) => assertExpected(response, expected[i] as Expected))
        assertFault(await api.put({ user_group_id: nextId }), 'user_group_not_found')
      } else {
        for (const one of expected) assertExpected(await connection.response(), one)
        assert.equal(assertSuccess(await connection.response()).user_group.provided_id, nextId)
        connection.close()
      }
      assertSuccess(await api.get({ user_group_id: 'as before', name: 'Name' }))
    })
  }
}

function assertExpected(response: HttpResponse, expected: Expected): void {
  if (typeof expected === 'number') assert.equal(response.status, expected)
  else if (expected === 'success') assertSuccess(response)
  else assertFault(response, expected)
}
