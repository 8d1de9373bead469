import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import type { Disconnection, FeedEvent, IntrospectionClient } from '../../../src/index.ts'
import { apiToken, client, token } from '../../test-client.ts'
import {
  FakeService,
  leasedClient,
  leaseMs,
  publishTo,
  renewLease,
  sha256,
  until,
} from '../../lease/fake-service.ts'

const cache = { lease: true, maxEntries: 10, leaseMs } as const

async function start(t: TestContext) {
  const service = await FakeService.start(t)
  service.issue(token)
  const leased = await leasedClient(t, service)
  return { service, client: leased }
}

/** Returns a client whose feed connection is not open yet. */
function newClient(t: TestContext, service: FakeService, options = {}): IntrospectionClient {
  const leased = client(service.url, { cache, clock: service.clock, ...options })
  t.after(() => leased.close())
  return leased
}

function disconnection(leased: IntrospectionClient): Promise<Disconnection> {
  return new Promise((resolve) => leased.on('disconnected', resolve))
}

describe('the feed connection', () => {
  it('is opened once, by the first call', async (t) => {
    const service = await FakeService.start(t)
    const leased = newClient(t, service)
    const connected = new Promise<void>((resolve) => leased.on('connected', resolve))
    assert.equal(service.feedRequests.length, 0)
    await Promise.all(Array.from({ length: 20 }, (_, i) => leased.introspect(`token-${i}`)))
    await connected
    assert.equal(service.feedRequests.length, 1)
    const [{ method, url, headers } = assert.fail()] = service.feedRequests
    assert.deepEqual([method, url], ['GET', '/events'])
    assert.equal(headers.authorization, `Token ${apiToken}`)
    assert.equal(headers.accept, 'text/event-stream')
    assert.equal(headers['last-event-id'], undefined)
  })

  it('goes to the URL next to the introspection endpoint, or to eventsUrl', async (t) => {
    const service = await FakeService.start(t)
    const origin = new URL(service.url).origin
    service.refuseFeed = (response) => response.writeHead(404).end()
    for (const [options, path] of [
      [{ url: `${origin}/user-groups/oauth2/introspect?x=1` }, '/user-groups/events'],
      [{ url: `${origin}/introspect`, eventsUrl: `${origin}/feed?x=1` }, '/feed?x=1'],
    ] as const) {
      const leased = newClient(t, service, options)
      const disconnected = disconnection(leased)
      await leased.introspect(token).catch(() => undefined)
      await disconnected
      assert.equal(service.feedRequests.at(-1)?.url, path)
    }
  })

  const refusals: [title: string, (response: ServerResponse) => unknown, Partial<Disconnection>, number][] = [
    ['401', (response) => response.writeHead(401).end(), { reason: 'unauthenticated', status: 401 }, 2500],
    ['403', (response) => response.writeHead(403).end(), { reason: 'forbidden', status: 403 }, 2500],
    ['404', (response) => response.writeHead(404).end(), { reason: 'no_feed', status: 404 }, 2500],
    ['501', (response) => response.writeHead(501).end(), { reason: 'no_feed', status: 501 }, 2500],
    ['503', (response) => response.writeHead(503).end(), { reason: 'unavailable', status: 503 }, 50],
    ['503 and when to retry', (response) => response.writeHead(503, { 'retry-after': '7' }).end(), { reason: 'unavailable', status: 503 }, 7000],
    ['503 and to retry never', (response) => response.writeHead(503, { 'retry-after': '999999' }).end(), { reason: 'unavailable', status: 503 }, 60_000],
    ['a redirect', (response) => response.writeHead(302, { location: '/events' }).end(), { reason: 'bad_response', status: 302 }, 2500],
    ['another type', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'), { reason: 'bad_response', status: 200 }, 2500],
    ['a broken connection', (response) => response.destroy(), { reason: 'unreachable' }, 50],
    ['an end without an event', (response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(), { reason: 'ended' }, 50],
  ] // prettier-ignore
  for (const [title, refuse, expected, minimum] of refusals) {
    it(`gets ${title}: every call asks the service, and another attempt follows`, async (t) => {
      const service = await FakeService.start(t)
      service.issue(token)
      service.refuseFeed = refuse
      const leased = newClient(t, service)
      const disconnected = disconnection(leased)
      assert.ok(await leased.introspect(token))
      const { reason, status, retryInMs } = await disconnected
      assert.deepEqual({ reason, status }, { status: undefined, ...expected })
      assert.ok(retryInMs >= minimum && retryInMs <= Math.max(60_000, minimum), String(retryInMs))
      assert.ok(await leased.introspect(token))
      assert.equal(service.introspections.length, 2)
      assert.equal(leased.hasLease, false)
    })
  }

  for (const [title, refuse] of [
    ['failed attempts', (response: ServerResponse) => response.destroy()],
    [
      'connections that end after a heartbeat',
      (response: ServerResponse) =>
        response
          .writeHead(200, { 'content-type': 'text/event-stream' })
          .end('id: store1-0\nevent: heartbeat\ndata: {}\n\n'),
    ],
  ] as const)
    it(`pauses longer and longer between ${title}`, async (t) => {
      const service = await FakeService.start(t)
      service.refuseFeed = refuse
      const leased = newClient(t, service)
      const pauses: number[] = []
      leased.on('disconnected', ({ retryInMs }) => pauses.push(retryInMs))
      await leased.introspect(token)
      await until(() => pauses.length === 4)
      for (const [failures, pause] of pauses.entries()) {
        const longest = 100 * 2 ** failures
        assert.ok(pause >= longest / 2 && pause <= longest, `${pause} after ${failures} failures`)
      }
      service.refuseFeed = undefined
      await until(() => leased.hasLease)
    })

  it('is resumed after the last position if the service ends it', async (t) => {
    const { service, client } = await start(t)
    await publishTo(client, service, 'user_group.suspended', { team_id: 8 })
    const disconnected = disconnection(client)
    service.endStreams()
    assert.equal((await disconnected).reason, 'ended')
    const types: string[] = []
    client.on('event', ({ type }) => types.push(type))
    service.publish('user_group.suspended', { team_id: 9 })
    service.publish('user_group.deleted', { team_id: 9 })
    await until(() => types.length === 2)
    assert.deepEqual(types, ['user_group.suspended', 'user_group.deleted'])
    assert.equal(service.feedRequests.at(-1)?.headers['last-event-id'], 'store1-1')
  })

  it('begins again without a position that the service refuses', async (t) => {
    const { service, client } = await start(t)
    assert.ok(await client.introspect(token))
    service.refuseFeed = (response) => {
      service.refuseFeed = undefined
      response.writeHead(400).end()
    }
    const events: FeedEvent[] = []
    client.on('event', (event) => events.push(event))
    service.destroyStreams()
    await until(() => events.length > 0)
    assert.deepEqual(
      service.feedRequests.map(({ headers }) => headers['last-event-id']),
      [undefined, 'store1-0', undefined],
    )
    assert.equal(events[0]?.type, 'reset')
    await renewLease(client, service)
    service.introspections.length = 0
    assert.ok(await client.introspect(token))
    assert.equal(service.introspections.length, 1)
  })

  for (const [title, text] of [
    ['without a position', 'event: user_group.suspended\ndata: {}\n\n'],
    ['with a malformed position', 'id: 1842\nevent: heartbeat\ndata: {}\n\n'],
    ['that is too long', `id: store1-1\nevent: x\ndata: ${'x'.repeat(1024 * 1024)}`],
  ] as const) {
    it(`ends with an event ${title}`, async (t) => {
      const { service, client } = await start(t)
      const disconnected = disconnection(client)
      service.send(text)
      assert.equal((await disconnected).reason, 'bad_response')
      await until(() => service.streams === 0)
    })
  }

  it('understands events in any pieces, with comments, unknown fields and CRLF', async (t) => {
    const { service, client } = await start(t)
    const events: FeedEvent[] = []
    client.on('event', (event) => events.push(event))
    const data = JSON.stringify({
      data: { team_id: 7, provided_id: 'Kundin 😀', token_sha256: [sha256(token)] },
    })
    const bytes = Buffer.from(
      `: hello\r\nretry: 5\r\nx: y\nid: store1-1\r\nevent: user_group.token_rotated\ndata: ${data}\r\n\r\n`,
    )
    for (const byte of bytes) {
      for (const response of service.responses) response.write(Buffer.of(byte))
      await new Promise(setImmediate)
    }
    await until(() => events.length > 0)
    assert.equal(events.length, 1)
    assert.equal(events[0]?.providedId, 'Kundin 😀')
    assert.deepEqual(events[0].tokenSha256, [sha256(token)])
  })
})

describe('close', () => {
  it('ends the connection, and later calls ask the service', async (t) => {
    const { service, client } = await start(t)
    assert.ok(await client.introspect(token))
    client.on('disconnected', () => assert.fail('disconnected'))
    void client.close()
    void client.close()
    await until(() => service.streams === 0)
    assert.equal(client.hasLease, false)
    for (let i = 0; i < 3; i++) assert.ok(await client.introspect(token))
    assert.equal(service.introspections.length, 4)
    assert.equal(service.feedRequests.length, 1)
  })

  it('ends a connection that has not begun', async (t) => {
    const service = await FakeService.start(t)
    let isClosed = false
    service.refuseFeed = (response) => response.on('close', () => (isClosed = true))
    const leased = newClient(t, service)
    await leased.introspect(token)
    await until(() => service.feedRequests.length === 1)
    void leased.close()
    await until(() => isClosed)
  })

  it('before the first call, or while one is under way, opens nothing', async (t) => {
    const service = await FakeService.start(t)
    service.issue(token)
    const leased = newClient(t, service)
    void leased.close()
    assert.ok(await leased.introspect(token))
    assert.equal(service.feedRequests.length, 0)

    const other = await leasedClient(t, service)
    service.isHoldingIntrospections = true
    const call = other.introspect(token)
    await until(() => service.heldIntrospections === 1)
    void other.close()
    service.releaseIntrospections()
    assert.ok(await call)
  })
})

describe('a client with a lease refuses', () => {
  const url = 'http://127.0.0.1/oauth2/introspect'
  const wrong: [object, RegExp][] = [
    [{ cache: { lease: true, maxEntries: 10, maxAgeMs: 1000 } }, /exclude each other/],
    [{ cache: { lease: 'yes', maxEntries: 10 } }, /cache\.lease must be true/],
    [{ cache: { lease: true } }, /cache\.maxEntries/],
    [{ cache: { lease: true, maxEntries: 0 } }, /cache\.maxEntries/],
    [{ cache: { lease: true, maxEntries: 10, leaseMs: 1999 } }, /cache\.leaseMs/],
    [{ cache: { lease: true, maxEntries: 10, leaseMs: 60_001 } }, /cache\.leaseMs/],
    [{ cache: { lease: true, maxEntries: 10, leaseMs: NaN } }, /cache\.leaseMs/],
    [{ cache: { lease: true, maxEntries: 10, leaseMs: '5000' } }, /cache\.leaseMs/],
    [{ cache: { lease: false, maxEntries: 10 } }, /cache\.maxAgeMs/],
    [{ cache, url: 'http://127.0.0.1/introspect' }, /eventsUrl must be set/],
    [{ cache, eventsUrl: 'ftp://127.0.0.1/events' }, /eventsUrl must be the http or https URL/],
    [{ cache, eventsUrl: 'http://user:secretofthebackend@127.0.0.1/events' }, /eventsUrl must be/],
  ]
  for (const [options, message] of wrong) {
    it(JSON.stringify(options), () => {
      assert.throws(
        () => client(url, options),
        (error: Error) => message.test(error.message) && !error.message.includes('secretof'),
      )
    })
  }

  it('listeners without a lease', () => {
    for (const cache of [undefined, { maxAgeMs: 1000, maxEntries: 10 }]) {
      const other = client(url, { cache })
      assert.throws(() => other.on('revoked', () => undefined), /lease/)
      assert.throws(() => other.off('revoked', () => undefined), /lease/)
      assert.equal(other.hasLease, false)
      void other.close()
    }
  })
})
