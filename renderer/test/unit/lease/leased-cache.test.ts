import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { describe, it, type TestContext } from 'node:test'
import type { TokenChange } from '../../../src/index.ts'
import { token } from '../../test-client.ts'
import {
  FakeService,
  leasedClient,
  leaseMs,
  publishTo,
  renewLease,
  sha256,
  until,
} from '../../lease/fake-service.ts'

async function start(t: TestContext, options = {}) {
  const service = await FakeService.start(t)
  service.issue(token)
  const client = await leasedClient(t, service, options)
  const introspect = async (of = token) => (await client.introspect(of)) !== null
  /** Returns the number of requests that `action` causes. */
  const requestsOf = async (action: () => Promise<unknown>) => {
    const before = service.introspections.length
    await action()
    return service.introspections.length - before
  }
  return { service, client, introspect, requestsOf }
}

describe('a cache with a lease', () => {
  it('sends one request while the feed reports no change', async (t) => {
    const { service, client } = await start(t)
    const first = await client.introspect(token)
    for (let i = 0; i < 20; i++) {
      service.clock.pass(leaseMs - 1)
      await renewLease(client, service)
      assert.equal(await client.introspect(token), first)
    }
    assert.deepEqual(service.introspections, [token])
  })

  it('keeps neither inactive tokens nor the first responses, before the feed has begun', async (t) => {
    const { service, introspect } = await start(t)
    for (let i = 0; i < 3; i++) assert.equal(await introspect('other'), false)
    assert.equal(service.introspections.length, 3)
  })

  it('asks for every call without a heartbeat in time, and keeps the entry', async (t) => {
    const { service, client, introspect, requestsOf } = await start(t)
    await introspect()
    service.clock.pass(leaseMs - 1)
    assert.equal(await requestsOf(introspect), 0)
    service.clock.pass(1)
    assert.equal(client.hasLease, false)
    assert.equal(await requestsOf(introspect), 1)
    assert.equal(await requestsOf(introspect), 1)
    await renewLease(client, service)
    assert.equal(await requestsOf(introspect), 0)
  })

  it('gets no lease from heartbeats that do not say up to when the feed is complete', async (t) => {
    const { service, client, introspect, requestsOf } = await start(t)
    await introspect()
    service.clock.pass(leaseMs)
    service.send(`id: ${service.position}\nevent: heartbeat\ndata: {}\n\n`)
    service.send(`: complete 0\nid: ${service.position}\nevent: heartbeat\ndata: {}\n\n`)
    await publishTo(client, service, 'user_group.suspended', { team_id: 1000 })
    assert.equal(client.hasLease, false)
    assert.equal(await requestsOf(introspect), 1)
  })

  it('gets no longer lease from a service that is ahead of the time', async (t) => {
    const { service, client } = await start(t)
    service.send(`: complete 999999999\nid: ${service.position}\nevent: heartbeat\ndata: {}\n\n`)
    await publishTo(client, service, 'user_group.suspended', { team_id: 1000 })
    service.clock.pass(leaseMs)
    assert.equal(client.hasLease, false)
  })

  it('keeps no response without a position', async (t) => {
    const { service, introspect, requestsOf } = await start(t)
    service.header = undefined
    for (let i = 0; i < 3; i++) assert.equal(await requestsOf(introspect), 1)
  })

  it('drops the least recently used entry', async (t) => {
    const cache = { lease: true, maxEntries: 2 }
    const { service, introspect, requestsOf } = await start(t, { cache })
    for (const name of ['a', 'b', 'c']) service.issue(name)
    await introspect('a')
    await introspect('b')
    await introspect('a')
    await introspect('c')
    assert.equal(await requestsOf(() => introspect('a')), 0)
    assert.equal(await requestsOf(() => introspect('c')), 0)
    assert.equal(await requestsOf(() => introspect('b')), 1)
  })

  it('never exceeds its maximum', async (t) => {
    const { service, introspect } = await start(t, { cache: { lease: true, maxEntries: 10 } })
    const names = Array.from({ length: 50 }, (_, i) => `token-${i}`)
    for (const name of names) service.issue(name)
    for (const name of names) await introspect(name)
    service.introspections.length = 0
    for (const name of names.slice(-10)) await introspect(name)
    assert.equal(service.introspections.length, 0)
  })

  it('does not cache failures', async (t) => {
    const { service, client, introspect } = await start(t, { deadlineMs: 2_000 })
    service.isHoldingIntrospections = true
    await assert.rejects(client.introspect(token), { code: 'timed_out' })
    service.isHoldingIntrospections = false
    service.tokens.clear()
    assert.equal(await introspect(), false)
  })
})

describe('an event drops', () => {
  const cases: [title: string, type: string, data: object, isDropped: boolean][] = [
    ['a token by its hash', 'user_group.token_rotated', { team_id: 7, token_sha256: [sha256(token)] }, true],
    ['a token by its hash alone', 'user_group.token_rotated', { token_sha256: [sha256('x'), sha256(token)] }, true],
    ['not another token of the user group', 'user_group.token_rotated', { team_id: 7, token_sha256: [sha256('x')] }, false],
    ['all tokens of a user group', 'user_group.suspended', { team_id: 7, provided_id: 'customer-42' }, true],
    ['no tokens of another user group', 'user_group.suspended', { team_id: 8 }, false],
    ['all tokens of the environment', 'data_source.deleted', {}, true],
    ['all tokens if it is of an unknown type', 'galaxy.collapsed', { galaxy: 1 }, true],
    ['by the same rule if it is of an unknown type', 'user_group.merged', { team_id: 8 }, false],
    ['nothing if a user group was created', 'user_group.created', { team_id: 7 }, false],
  ] // prettier-ignore
  for (const [title, type, data, isDropped] of cases) {
    it(title, async (t) => {
      const { service, client, introspect, requestsOf } = await start(t)
      await introspect()
      await publishTo(client, service, type, data)
      assert.equal(await requestsOf(introspect), isDropped ? 1 : 0)
      assert.equal(await requestsOf(introspect), 0)
    })
  }

  it('tokens of a user group with several', async (t) => {
    const { service, client, introspect, requestsOf } = await start(t)
    for (const name of ['a', 'b', 'c']) service.issue(name, { teamId: name === 'c' ? 8 : 7 })
    for (const name of ['a', 'b', 'c']) await introspect(name)
    await publishTo(client, service, 'user_group.token_rotated', { team_id: 7, token_sha256: [sha256('a')] })
    assert.equal(await requestsOf(() => introspect('b')), 0)
    await publishTo(client, service, 'user_group.suspended', { team_id: 7 })
    assert.equal(await requestsOf(() => introspect('b')), 1)
    assert.equal(await requestsOf(() => introspect('c')), 0)
  })

  it('everything on reset, and no lease remains until the next heartbeat', async (t) => {
    const { service, client, introspect, requestsOf } = await start(t)
    await introspect()
    const types: string[] = []
    client.on('event', ({ type }) => types.push(type))
    service.count += 5
    service.send(`id: ${service.position}\nevent: reset\ndata: {}\n\n`)
    await until(() => types.length > 0)
    assert.deepEqual([types, client.hasLease], [['reset'], false])
    await renewLease(client, service)
    assert.equal(await requestsOf(introspect), 1)
    assert.equal(await requestsOf(introspect), 0)
  })

  it('everything if the position goes back or to another store', async (t) => {
    const { service, client, introspect, requestsOf } = await start(t)
    service.count = 10
    service.heartbeat()
    for (const change of [() => (service.count = 9), () => (service.store = 'store2')]) {
      await publishTo(client, service, 'user_group.suspended', { team_id: 1000 })
      await renewLease(client, service)
      await introspect()
      assert.equal(await requestsOf(introspect), 0)
      change()
      const isReset = new Promise((resolve) =>
        client.on('event', ({ type }) => type === 'reset' && resolve(1)),
      )
      service.heartbeat()
      await isReset
      await until(() => client.hasLease)
      assert.equal(await requestsOf(introspect), 1)
    }
  })
})

describe('a grace period', () => {
  async function startWithGracePeriod(t: TestContext) {
    const parts = await start(t)
    parts.service.issue(token, { expiresAt: parts.service.clock.now() + 3000 })
    await parts.introspect()
    assert.equal(await parts.requestsOf(parts.introspect), 0)
    return parts
  }

  it('ends in time', async (t) => {
    const { service, introspect } = await startWithGracePeriod(t)
    service.clock.pass(1999)
    assert.equal(await introspect(), true)
    service.clock.pass(1001)
    assert.equal(await introspect(), false)
  })

  it('is not extended by a clock that is set back', async (t) => {
    const { service, requestsOf, introspect } = await startWithGracePeriod(t)
    service.clock.time -= 86_400_000
    service.clock.elapsed += 3000
    assert.equal(await requestsOf(introspect), 1)
  })

  it('ends if the clock is set forward', async (t) => {
    const { service, introspect } = await startWithGracePeriod(t)
    service.clock.time += 3000
    assert.equal(await introspect(), false)
  })

  it('ends in time by the clock of the service, if our clock is slow', async (t) => {
    const service = await FakeService.start(t)
    const serviceTime = service.clock.now()
    const slow = { now: () => service.clock.now() - 3_600_000, monotonic: () => service.clock.monotonic() }
    const client = await leasedClient(t, service, { clock: slow })
    service.issue(token, { expiresAt: serviceTime + 3000 })
    assert.ok(await client.introspect(token))
    service.clock.pass(3000)
    assert.equal(await client.introspect(token), null)
  })
})

describe('a clock that jumps', () => {
  for (const leap of [-86_400_000, -1000, 86_400_000]) {
    it(`by ${leap} ms does not extend the lease`, async (t) => {
      const { service, introspect } = await start(t)
      await introspect()
      service.clock.time += leap
      service.tokens.clear()
      service.clock.pass(leaseMs)
      assert.equal(await introspect(), false)
    })
  }

  it('forward, as after the machine was suspended, ends the lease until the feed is connected again', async (t) => {
    const { service, client, introspect, requestsOf } = await start(t)
    await introspect()
    service.clock.time += 60_000
    assert.equal(client.hasLease, false)
    assert.equal(await requestsOf(introspect), 1)
    const reasons: string[] = []
    client.on('disconnected', ({ reason }) => reasons.push(reason))
    await until(() => {
      service.clock.pass(100)
      service.heartbeat()
      return client.hasLease
    })
    assert.deepEqual(reasons, ['late'])
    assert.equal(await requestsOf(introspect), 0)
  })

  it('forward by almost the lease, which then ends before each next heartbeat, connects the feed again', async (t) => {
    const { service, client } = await start(t)
    service.clock.time += leaseMs - 80
    let reason: string | undefined
    client.on('disconnected', (disconnection) => (reason = disconnection.reason))
    await until(() => {
      service.clock.pass(100)
      service.heartbeat()
      return reason !== undefined
    })
    assert.equal(reason, 'late')
  })
})

describe('a response is not kept', () => {
  async function raced(t: TestContext, meanwhile: (parts: Awaited<ReturnType<typeof start>>) => unknown) {
    const parts = await start(t)
    const { service, introspect, requestsOf } = parts
    service.isHoldingIntrospections = true
    const call = introspect()
    await until(() => service.heldIntrospections === 1)
    await meanwhile(parts)
    service.isHoldingIntrospections = false
    service.releaseIntrospections()
    assert.equal(await call, true)
    return requestsOf(introspect)
  }

  const races: [title: string, type: string, data: object, isKept: boolean][] = [
    ['if its token was rotated meanwhile', 'user_group.token_rotated', { team_id: 7, token_sha256: [sha256(token)] }, false],
    ['if its user group was suspended meanwhile', 'user_group.suspended', { team_id: 7 }, false],
    ['if a schema was deleted meanwhile', 'schema.deleted', {}, false],
    ['— but is, if the event was about another', 'user_group.suspended', { team_id: 8 }, true],
  ] // prettier-ignore
  for (const [title, type, data, isKept] of races) {
    it(title, async (t) => {
      const service = await FakeService.start(t)
      service.issue(token)
      // Ahead of everything, so that only the race prevents storage.
      service.header = () => `${service.store}-1000`
      const client = await leasedClient(t, service)
      service.isHoldingIntrospections = true
      const call = client.introspect(token)
      await until(() => service.heldIntrospections === 1)
      await publishTo(client, service, type, data)
      service.isHoldingIntrospections = false
      service.releaseIntrospections()
      assert.ok(await call)
      service.introspections.length = 0
      await client.introspect(token)
      assert.equal(service.introspections.length, isKept ? 0 : 1)
    })
  }

  it('if its token was invalidated meanwhile', async (t) => {
    assert.equal(await raced(t, ({ client }) => client.invalidate(token)), 1)
  })

  it('if the feed was reset meanwhile', async (t) => {
    const requests = await raced(t, async ({ service, client }) => {
      service.send(`id: ${service.position}\nevent: reset\ndata: {}\n\n`)
      await until(() => !client.hasLease)
      await renewLease(client, service)
    })
    assert.equal(requests, 1)
  })

  const positions: [title: string, header: string | undefined, isKept: boolean][] = [
    ['if it is older than an event about its token', 'store1-10', false],
    ['— but is, if it is as old as the event', 'store1-11', true],
    ['— but is, if it is newer', 'store1-12', true],
    ['if it is of another store', 'store2-12', false],
    ['if its position has another form', 'store1-12.0.0', false],
    ['if its position is malformed', 'latest', false],
    ['if it has no position', undefined, false],
  ]
  for (const [title, header, isKept] of positions) {
    it(title, async (t) => {
      const { service, client, introspect, requestsOf } = await start(t)
      service.count = 10
      await publishTo(client, service, 'user_group.updated', { team_id: 7 })
      service.header = () => header
      await introspect()
      assert.equal(await requestsOf(introspect), isKept ? 0 : 1)
    })
  }

  it('if it is older than the start of the feed', async (t) => {
    const service = await FakeService.start(t)
    service.issue(token)
    service.count = 10
    const client = await leasedClient(t, service)
    for (const [position, requests] of [
      ['store1-9', 2],
      ['store1-10', 1],
    ] as const) {
      // prettier-ignore
      service.header = () => position
      service.introspections.length = 0
      for (let i = 0; i < 2; i++) await client.introspect(token)
      assert.equal(service.introspections.length, requests)
    }
  })
})

describe('listeners', () => {
  async function changes(t: TestContext) {
    const parts = await start(t)
    const revoked: TokenChange[] = []
    const changed: TokenChange[] = []
    parts.client.on('revoked', (change) => revoked.push(change))
    parts.client.on('changed', (change) => changed.push(change))
    await parts.introspect()
    return { ...parts, revoked, changed }
  }

  it('get the token, its user group and the reason', async (t) => {
    const { service, client, revoked, changed } = await changes(t)
    await publishTo(client, service, 'user_group.suspended', { team_id: 7 })
    assert.deepEqual([revoked.length, changed.length], [1, 0])
    const [change = assert.fail()] = revoked
    assert.deepEqual(
      [change.token, change.userGroup.teamId, change.reason],
      [token, 7, 'user_group.suspended'],
    )
  })

  it('get changes that leave the token valid separately', async (t) => {
    const { service, client, revoked, changed } = await changes(t)
    await publishTo(client, service, 'user_group.updated', { team_id: 7 })
    assert.deepEqual([revoked.length, changed.map(({ reason }) => reason)], [0, ['user_group.updated']])
  })

  it('get nothing about tokens that are not cached', async (t) => {
    const { service, client, revoked, changed } = await changes(t)
    await publishTo(client, service, 'user_group.suspended', { team_id: 8 })
    assert.deepEqual([revoked.length, changed.length], [0, 0])
  })

  it('get the token of an introspection that found it inactive', async (t) => {
    const { service, introspect, revoked } = await changes(t)
    service.tokens.clear()
    service.clock.pass(leaseMs)
    assert.equal(await introspect(), false)
    await until(() => revoked.length === 1)
    assert.equal(revoked[0]?.reason, 'inactive')
  })

  it('get no token into logs', async (t) => {
    const { service, client, revoked } = await changes(t)
    await publishTo(client, service, 'user_group.deleted', { team_id: 7 })
    const [change = assert.fail()] = revoked
    for (const text of [inspect(change, { showHidden: true, depth: 9 }), JSON.stringify(change)])
      assert.doesNotMatch(text, /secretof/)
  })

  it('are removed by off', async (t) => {
    const { service, client, introspect } = await start(t)
    const listener = () => assert.fail('called')
    client.on('revoked', listener).off('revoked', listener)
    await introspect()
    await publishTo(client, service, 'user_group.suspended', { team_id: 7 })
  })
})

it('invalidate drops a token', async (t) => {
  const { client, introspect, requestsOf } = await start(t)
  await introspect()
  client.invalidate('another')
  assert.equal(await requestsOf(introspect), 0)
  client.invalidate(token)
  assert.equal(await requestsOf(introspect), 1)
  assert.equal(await requestsOf(introspect), 0)
})
