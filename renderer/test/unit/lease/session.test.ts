import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { token } from '../../test-client.ts'
import { FakeService, leasedClient, leaseMs, publishTo, renewLease, until } from '../../lease/fake-service.ts'

describe('a session in a cache with a lease', () => {
  async function startWithSession(t: TestContext) {
    const service = await FakeService.start(t)
    service.issue(token, { expiresAt: service.clock.now() + 60_000, resources: ['sales', 'stock'] })
    const client = await leasedClient(t, service)
    const introspect = async (of = token) => (await client.introspect(of)) !== null
    const isShown = async (resource: string) => (await client.introspect(token, { resource })) !== null
    const requestsOf = async (action: () => Promise<unknown>) => {
      const before = service.introspections.length
      await action()
      return service.introspections.length - before
    }
    const revoked: string[] = []
    client.on('revoked', ({ reason }) => revoked.push(reason))
    return { service, client, introspect, isShown, requestsOf, revoked }
  }

  it('is inactive for other resources, also from the cache', async (t) => {
    const { isShown, introspect, requestsOf } = await startWithSession(t)
    assert.equal(await isShown('payroll'), false)
    assert.equal(await isShown('sales'), true)
    const fromCache = async () => {
      const shown = [
        await isShown('sales'),
        await isShown('stock'),
        await isShown('payroll'),
        await introspect(),
      ]
      assert.deepEqual(shown, [true, true, false, true])
    }
    assert.equal(await requestsOf(fromCache), 0)
  })

  it('is not revoked by a request for another resource', async (t) => {
    const { service, client, isShown, revoked } = await startWithSession(t)
    await isShown('sales')
    service.clock.pass(leaseMs)
    assert.equal(await isShown('payroll'), false)
    assert.equal(await isShown('sales'), true)
    await renewLease(client, service)
    assert.deepEqual(revoked, [])
    service.tokens.clear()
    service.clock.pass(leaseMs)
    assert.equal(await isShown('payroll'), false)
    assert.equal(await isShown('sales'), false)
    await until(() => revoked.length > 0)
    assert.deepEqual(revoked, ['inactive'])
  })

  it('ends in time', async (t) => {
    const { service, client, introspect, requestsOf } = await startWithSession(t)
    await introspect()
    service.clock.pass(leaseMs - 1)
    await renewLease(client, service)
    assert.equal(await requestsOf(introspect), 0)
    service.clock.pass(60_000)
    assert.equal(await introspect(), false)
  })

  for (const [type, data] of [
    ['user_group.sessions_ended', { team_id: 7, provided_id: 'customer-42', revision: 8 }],
    ['signing_key.retired', { key_id: '1c-7f3a' }],
  ] as const) {
    it(`is dropped by ${type}`, async (t) => {
      const { service, client, introspect, requestsOf, revoked } = await startWithSession(t)
      service.issue('of the user group')
      await introspect()
      await introspect('of the user group')
      await publishTo(client, service, type, data)
      assert.deepEqual(revoked, [type, type])
      assert.equal(await requestsOf(introspect), 1)
    })
  }
})
