import assert from 'node:assert/strict'
import { it } from 'node:test'
import { retryDelayMs } from '../src/connection.ts'
import { clientOf, serviceFailure, token, transportFailure } from './support/client.ts'
import { describeClients } from './support/clients.ts'
import {
  active,
  broken,
  created,
  ended,
  fault,
  json,
  refusal,
  rotated,
  serve,
  session,
  updated,
  type Responder,
} from './support/scripted-server.ts'

const fields = { userGroupId: 'customer-42' }
const { max } = Math

describeClients('a call is retried', ({ clientOf, pausesOf }) => {
  const passing: Record<string, Responder> = {
    'after a connection that broke': broken,
    'after 408 from the service': fault(408, 'request_timeout'),
    'after 429 from the service': fault(429, 'rate_limited'),
    'after 500 from the service': fault(500, 'internal'),
    'after 503 from the service': fault(503, 'unavailable'),
    'after 408 from a proxy': refusal(408),
    'after 429 from a proxy': refusal(429),
    'after 500 from a proxy': refusal(500),
    'after 502 from a proxy': refusal(502),
    'after 503 from a proxy': refusal(503),
    'after 504 from a proxy': refusal(504),
  }
  for (const [name, responder] of Object.entries(passing)) {
    it(name, async (t) => {
      for (const [result, run] of [
        [created, (origin: string) => clientOf(origin).getOrCreate(fields)],
        [updated, (origin: string) => clientOf(origin).update(fields)],
        [rotated, (origin: string) => clientOf(origin).rotate({ currentToken: token })],
        [session, (origin: string) => clientOf(origin).createSession('customer-42', { id: 'u-7' })],
        [
          ended,
          (origin: string) =>
            clientOf(origin)
              .endSessions('customer-42')
              .then(() => true),
        ],
        [active, (origin: string) => clientOf(origin).introspect(token)],
      ] as const) {
        const { origin, received } = await serve(t, responder, json(result))
        assert.ok(await run(origin))
        const [first, second] = received
        assert.equal(received.length, 2)
        assert.deepEqual([second?.method, second?.body], [first?.method, first?.body])
        // A rotation keeps its key; the others have none.
        assert.equal(second?.headers['idempotency-key'], first?.headers['idempotency-key'])
        assert.equal(first?.headers['idempotency-key'] !== undefined, result === rotated)
      }
    })
  }

  it('while the first request with its idempotency key is still running', async (t) => {
    const { origin, received } = await serve(t, broken, fault(409, 'idempotency_key_in_use'), json(rotated))
    assert.ok(await clientOf(origin).rotate({ currentToken: token }))
    assert.equal(new Set(received.map(({ headers }) => headers['idempotency-key'])).size, 1)
    assert.equal(received.length, 3)
  })

  it('after increasing pauses, up to two seconds', async (t) => {
    const { origin, received } = await serve(t, fault(503, 'unavailable'))
    const { pauses, call } = await pausesOf(origin, 7, (client) => client.getOrCreate(fields))
    assert.equal((await serviceFailure(call)).code, 'unavailable')
    assert.equal(received.length, 8)
    for (const [index, longest] of [100, 200, 400, 800, 1600, 2000, 2000].entries()) {
      const pause = pauses[index] ?? 0
      assert.ok(pause >= longest / 2 && pause < longest, `${pause} is not below ${longest}`)
    }
  })

  const seconds: Record<string, string> = {
    seconds: '3',
    'a date': new Date(Date.UTC(2030, 0, 1, 0, 0, 3)).toUTCString(),
  }
  for (const [name, header] of Object.entries(seconds)) {
    it(`not before Retry-After as ${name}`, async (t) => {
      const responder = fault(503, 'unavailable', { 'retry-after': header })
      const { origin } = await serve(t, responder, json(created))
      const { pauses, call } = await pausesOf(origin, 1, (client) => client.getOrCreate(fields))
      const [pause = 0] = pauses
      assert.ok(pause >= 3050 && pause < 3100, String(pause))
      assert.ok(await call)
    })
  }

  for (const header of ['soon', '-1', new Date(Date.UTC(2029, 0, 1)).toUTCString()]) {
    it(`after the usual pause if Retry-After is invalid: ${header}`, async (t) => {
      const { origin } = await serve(t, refusal(503, { 'retry-after': header }), json(created))
      const { pauses, call } = await pausesOf(origin, 1, (client) => client.getOrCreate(fields))
      assert.ok(max(...pauses) < 100)
      assert.ok(await call)
    })
  }
})

describeClients('a call is not retried', ({ clientOf }) => {
  const final: Record<string, Responder> = {
    'after 400': fault(400, 'validation_failed'),
    'after 401': fault(401, 'unauthenticated'),
    'after 403': fault(403, 'forbidden'),
    'after 404': fault(404, 'user_group_not_found'),
    'after 409': fault(409, 'token_superseded'),
    'after 422': fault(422, 'idempotency_key_reused'),
    'after 501': fault(501, 'not_implemented'),
  }
  for (const [name, responder] of Object.entries(final)) {
    it(name, async (t) => {
      const { origin, received } = await serve(t, responder)
      await serviceFailure(clientOf(origin).rotate({ currentToken: token }))
      assert.equal(received.length, 1)
    })
  }

  it('if Retry-After is beyond the deadline', async (t) => {
    const { origin, received } = await serve(t, fault(429, 'rate_limited', { 'retry-after': '15' }))
    const error = await serviceFailure(clientOf(origin).getOrCreate(fields))
    assert.deepEqual([error.retryAfterMs, received.length], [15_000, 1])
  })

  it('more often than maxTries', async (t) => {
    for (const maxTries of [1, 3]) {
      const { origin, received } = await serve(t, broken)
      // The HTTP client of Java itself repeats a GET.
      const error = await transportFailure(clientOf(origin, { maxTries }).update(fields))
      assert.deepEqual([error.code, error.status, received.length], ['unreachable', undefined, maxTries])
      assert.match(error.message, /ECONNRESET|UND_ERR_SOCKET|RemoteDisconnected|EOF|reset|SocketException/)
    }
  })
})

it('pauses are random', () => {
  assert.ok(new Set(Array.from({ length: 100 }, () => retryDelayMs(1))).size > 50)
})

it('retryAfterMs is at most the longest timer', async (t) => {
  const { origin } = await serve(t, refusal(503, { 'retry-after': '99999999999' }))
  const error = await transportFailure(clientOf(origin).getOrCreate(fields))
  assert.equal(error.retryAfterMs, 2 ** 31 - 1)
})
