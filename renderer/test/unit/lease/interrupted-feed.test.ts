import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { token } from '../../test-client.ts'
import { FakeService, leasedClient, leaseMs, renewLease, until } from '../../lease/fake-service.ts'
import { TcpProxy } from '../../lease/tcp-proxy.ts'

async function start(t: TestContext, options = {}) {
  const service = await FakeService.start(t)
  service.issue(token)
  const proxy = await TcpProxy.start(t, service.port)
  const client = await leasedClient(t, service, { eventsUrl: proxy.eventsUrl, ...options })
  const introspect = async () => (await client.introspect(token)) !== null
  assert.equal(await introspect(), true)
  return { service, proxy, client, introspect }
}

function suspend(service: FakeService): void {
  service.tokens.clear()
  service.publish('user_group.suspended', { team_id: 7 })
}

describe('a feed', () => {
  for (const [title, disturb] of [
    [
      'is cut',
      (proxy: TcpProxy) => {
        proxy.hold()
        proxy.cut()
      },
    ],
    ['stalls with an open connection', (proxy: TcpProxy) => proxy.hold()],
    [
      'is half-closed',
      (proxy: TcpProxy) => {
        proxy.halfClose()
        proxy.hold()
      },
    ],
  ] as const)
    // prettier-ignore
    it(`that ${title}: a revoked token stops within the lease`, async (t) => {
      const { service, proxy, introspect } = await start(t)
      disturb(proxy)
      suspend(service)
      service.clock.pass(leaseMs - 1)
      // Allowed, because the service has told nothing else.
      assert.equal(await introspect(), true)
      service.clock.pass(1)
      assert.equal(await introspect(), false)
    })

  it('that is delayed by a constant time: a revoked token stops after it', async (t) => {
    const { service, proxy, client, introspect } = await start(t)
    proxy.hold()
    service.clock.pass(1000)
    service.heartbeat()
    await proxy.untilHeldBack(1)
    service.clock.pass(1000)
    suspend(service)
    await proxy.untilHeldBack(2)
    service.clock.pass(1000)
    const dropped = new Promise((resolve) => client.on('revoked', resolve))
    await proxy.release(1)
    assert.equal(await introspect(), true)
    await proxy.release(1)
    await dropped
    assert.equal(await introspect(), false)
  })

  it('that is delayed more and more: heartbeats do not extend the lease by their time of arrival', async (t) => {
    const { service, proxy, client, introspect } = await start(t)
    proxy.hold()
    for (let beat = 1; beat <= 20; beat++) {
      service.clock.pass(100)
      service.heartbeat()
      await proxy.untilHeldBack(beat)
    }
    suspend(service)
    const revokedAt = service.clock.monotonic()
    // The heartbeats arrive one second apart, although the service sent them 0.1 s apart.
    for (let beat = 1; beat <= 20; beat++) {
      service.clock.pass(1000)
      await proxy.release(1)
      const isAccepted = await introspect()
      const late = service.clock.monotonic() - revokedAt
      assert.ok(!isAccepted || late < leaseMs, `accepted ${late} ms after the revocation`)
    }
    assert.equal(client.hasLease, false)
  })

  it('whose old heartbeats were in the socket while the process was stopped', async (t) => {
    const { service, proxy, client, introspect } = await start(t)
    proxy.hold()
    service.heartbeat()
    service.heartbeat()
    await proxy.untilHeldBack(1)
    suspend(service)
    service.clock.pass(60_000)
    await proxy.release(1)
    service.introspections.length = 0
    assert.equal(await introspect(), false)
    assert.equal(client.hasLease, false)
    assert.equal(service.introspections.length, 1)
  })

  it('that resumes: missed events are processed before entries are used again', async (t) => {
    const { service, proxy, client, introspect } = await start(t)
    service.issue('other', { teamId: 8 })
    await client.introspect('other')
    const revoked: string[] = []
    client.on('revoked', ({ token }) => revoked.push(token))
    proxy.hold()
    proxy.cut()
    service.tokens.delete(token)
    service.publish('user_group.suspended', { team_id: 7 })
    service.clock.pass(leaseMs)
    await until(() => proxy.heldBack > 0)
    service.introspections.length = 0
    assert.ok(await client.introspect('other'))
    proxy.resume()
    await renewLease(client, service)
    assert.deepEqual(revoked, [token])
    assert.ok(await client.introspect('other'))
    assert.equal(service.introspections.length, 1)
    assert.equal(await introspect(), false)
    const [first, ...others] = service.feedRequests
    assert.equal(first?.headers['last-event-id'], undefined)
    assert.ok(others.length > 0)
    for (const { headers } of others) assert.equal(headers['last-event-id'], 'store1-0')
  })

  it('that resumes within the lease needs no request', async (t) => {
    const { service, proxy, client, introspect } = await start(t)
    service.introspections.length = 0
    for (let i = 0; i < 3; i++) {
      const { connections } = proxy
      proxy.cut()
      await until(() => proxy.connections > connections)
      service.clock.pass(leaseMs - 1)
      await until(() => service.streams > 0)
      service.clock.pass(1)
      await renewLease(client, service)
      assert.equal(await introspect(), true)
    }
    assert.deepEqual(service.introspections, [])
  })

  it('that resumes too late is reset, and all entries are dropped', async (t) => {
    const { service, proxy, client, introspect } = await start(t)
    proxy.hold()
    proxy.cut()
    suspend(service)
    service.forgetEvents()
    const types: string[] = []
    client.on('event', ({ type }) => types.push(type))
    proxy.resume()
    await until(() => types.length > 0)
    await renewLease(client, service)
    assert.deepEqual(types, ['reset'])
    assert.equal(await introspect(), false)
  })

  it('that stalls is connected again', async (t) => {
    const { service, proxy, client, introspect } = await start(t, {
      cache: { lease: true, maxEntries: 10, leaseMs: 2000 },
    })
    const reasons: string[] = []
    client.on('disconnected', ({ reason }) => reasons.push(reason))
    proxy.hold()
    await until(() => reasons.length > 0)
    assert.equal(reasons[0], 'timed_out')
    proxy.resume()
    await until(() => service.streams > 0)
    service.clock.pass(leaseMs)
    await until(() => {
      service.heartbeat()
      return client.hasLease
    })
    assert.equal(await introspect(), true)
  })
})
