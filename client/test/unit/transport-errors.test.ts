import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UserGroupClient as FetchClient } from '../../src/fetch.ts'
import { UserGroupClient, UserGroupServiceError } from '../../src/index.ts'
import type { RequestEvent } from '../../src/options.ts'
import { apiToken, assertNoToken, serviceFailure, token, transportFailure } from '../support/client.ts'
import { freePort } from '../../../server/test/support/port.ts'
import { broken, created, fault, json, refusal, rotated, serve } from '../support/scripted-server.ts'

for (const [name, Client] of [
  ['node:http', UserGroupClient],
  ['fetch', FetchClient],
] as const) {
  describe(`cause of a TransportError, ${name}`, () => {
    const failureAt = (origin: string) =>
      transportFailure(new Client({ origin, apiToken, maxTries: 1 }).getOrCreate({ userGroupId: 'a' }))

    it('is the error of the connection', async () => {
      const { code, cause } = await failureAt(`http://127.0.0.1:${await freePort()}`)
      assert.deepEqual([code, codeOf(cause)], ['unreachable', 'ECONNREFUSED'])
    })

    it('is the error of TLS', async (t) => {
      const { origin } = await serve(t, json(created))
      const { code, cause } = await failureAt(origin.replace('http:', 'https:'))
      assert.equal(code, 'tls_failed')
      assert.match(codeOf(cause) ?? '', /SSL|EPROTO/)
    })

    it('is the error of the HTTP parser without the received bytes', async (t) => {
      const { origin } = await serve(t, (response) => response.socket?.end(`${token}\r\n\r\n`))
      const { code, cause } = await failureAt(origin)
      assert.equal(code, 'bad_response')
      assert.match(codeOf(cause) ?? '', /^HPE_/)
      assert.deepEqual(receivedBytesOf(cause), [])
    })

    it('is absent if there is a response', async (t) => {
      const { origin } = await serve(t, refusal(404))
      assert.equal('cause' in (await failureAt(origin)), false)
    })
  })

  describe(`onRequest, ${name}`, () => {
    const recorded = (origin: string) => {
      const events: RequestEvent[] = []
      const onRequest = (event: RequestEvent) => events.push(event)
      return { events, client: new Client({ origin, apiToken, onRequest }) }
    }
    const ended = {
      ...{ path: '/api/user', attempt: 1, durationMs: undefined },
      ...{ status: 200, errorCode: undefined, requestId: undefined },
    }

    it('gets each attempt, with the method of the operation and without tokens', async (t) => {
      const unavailable = fault(503, 'unavailable')
      const { origin } = await serve(t, broken, unavailable, json(created), json(rotated))
      const { client, events } = recorded(origin)
      await client.getOrCreate({ userGroupId: 'a' })
      await client.rotate({ currentToken: token })
      assert.ok(events.every(({ durationMs }) => durationMs > 0))
      assert.deepEqual(
        events.map((event) => ({ ...event, durationMs: undefined })),
        [
          { ...ended, method: 'GET', status: undefined, errorCode: 'unreachable' },
          {
            ...{ ...ended, method: 'GET', attempt: 2, status: 503 },
            ...{ errorCode: 'unavailable', requestId: 'request-1' },
          },
          { ...ended, method: 'GET', attempt: 3 },
          { ...ended, method: 'POST' },
        ],
      )
      assertNoToken(events)
    })

    it('gets a call that its signal aborted', async (t) => {
      const abortion = new AbortController()
      const { origin } = await serve(t, () => abortion.abort())
      const { client, events } = recorded(origin)
      await assert.rejects(client.update({ userGroupId: 'a' }, { signal: abortion.signal }))
      assert.deepEqual(
        events.map(({ method, status, errorCode }) => [method, status, errorCode]),
        [['PUT', undefined, 'aborted']],
      )
    })

    it('does not change the result if it throws', async (t) => {
      const { origin } = await serve(t, json(created), fault(403, 'forbidden'))
      const onRequest = () => {
        throw new Error('of the logger')
      }
      const client = new Client({ origin, apiToken, onRequest })
      assert.ok(await client.getOrCreate({ userGroupId: 'a' }))
      assert.equal((await serviceFailure(client.update({ userGroupId: 'a' }))).code, 'forbidden')
    })
  })
}

describe('beforeRequest', () => {
  for (const Client of [UserGroupClient, FetchClient])
    it('adds headers to each attempt, and replaces none', async (t) => {
      const { origin, received } = await serve(t, broken, json(created))
      const requests: unknown[] = []
      const client = new Client({
        origin,
        apiToken,
        beforeRequest: ({ headers, ...request }) => {
          requests.push(request)
          Object.assign(headers, { traceparent: `attempt ${request.attempt}`, Authorization: 'other' })
        },
      })
      await client.getOrCreate({ userGroupId: 'a' })
      assert.deepEqual(
        received.map(({ headers }) => [headers.traceparent, headers.authorization]),
        [
          ['attempt 1', `Token ${apiToken}`],
          ['attempt 2', `Token ${apiToken}`],
        ],
      )
      const request = { method: 'GET', path: '/api/user' }
      assert.deepEqual(requests, [
        { ...request, attempt: 1 },
        { ...request, attempt: 2 },
      ])
    })

  it('fails the operation if it throws, before anything is sent', async (t) => {
    const { origin, received } = await serve(t, json(created))
    const failure = new Error('of the tracer')
    const beforeRequest = () => {
      throw failure
    }
    const client = new UserGroupClient({ origin, apiToken, beforeRequest })
    await assert.rejects(client.getOrCreate({ userGroupId: 'a' }), failure)
    assert.equal(received.length, 0)
  })
})

it('every failure is a UserGroupServiceError', async (t) => {
  const { origin } = await serve(t, fault(403, 'forbidden'), refusal(404))
  const client = new UserGroupClient({ origin, apiToken })
  for (const status of [403, 404])
    await assert.rejects(client.getOrCreate({ userGroupId: 'a' }), (error) => {
      assert.ok(error instanceof UserGroupServiceError)
      assert.equal(error.status, status)
      return true
    })
})

function receivedBytesOf(error: unknown): unknown[] {
  const { rawPacket, data, cause } = error as Record<string, unknown>
  const own = [rawPacket, data].filter((bytes) => bytes !== undefined)
  return cause === undefined ? own : [...own, ...receivedBytesOf(cause)]
}

/** Returns the code of an error of node:http, or of the error that caused an error of `fetch`. */
function codeOf(error: unknown): string | undefined {
  const { code, cause } = error as Error & { readonly code?: string }
  return code ?? (cause === undefined ? undefined : codeOf(cause))
}
