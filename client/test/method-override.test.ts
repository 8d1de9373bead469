import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sharedService } from '../../server/test/support/service.ts'
import { serviceFailure, transportFailure } from './support/client.ts'
import { describeClients, type ClientLibrary } from './support/clients.ts'
import { startHttpProxy, type HttpProxy, type ProxyBehavior } from './support/http-proxy.ts'

const shown = ({ passed }: HttpProxy) =>
  passed.map(({ method, override }) => (override === undefined ? method : `${method} as ${override}`))

describeClients('proxy that', defineProxies, { onlyWithGet: true })

function defineProxies({ clientOf }: ClientLibrary): void {
  const service = sharedService()
  const behind = (proxy: HttpProxy, options: { methodOverride?: boolean } = {}) =>
    clientOf(proxy.origin, { apiToken: service().tokens.Testing, ...options })
  const onGet = (behavior: 'drop body' | number): ProxyBehavior => ({
    on: (method) => (method === 'GET' ? behavior : undefined),
  })

  it('passes everything: the methods stay', async (t) => {
    const proxy = await startHttpProxy(t, service().origin)
    const client = behind(proxy)
    const { userGroup } = await client.getOrCreate({ userGroupId: 'plain', name: 'A' })
    await client.update({ userGroupId: 'plain' })
    await client.rotate({ currentToken: userGroup.token })
    assert.deepEqual(shown(proxy), ['GET', 'PUT', 'POST'])
  })

  it('drops the body of GET: switches to the override permanently', async (t) => {
    const proxy = await startHttpProxy(t, service().origin, onGet('drop body'))
    const client = behind(proxy)
    const first = await client.getOrCreate({ userGroupId: 'dropped', name: 'A' })
    const second = await client.getOrCreate({ userGroupId: 'dropped' })
    assert.deepEqual([first.newUserGroup, second.newUserGroup], [true, false])
    assert.deepEqual(shown(proxy), ['GET', 'POST as GET', 'POST as GET'])
    // This is not a rotation, so it has no idempotency key.
    assert.ok(proxy.passed.every(({ idempotencyKey }) => idempotencyKey === undefined))
    await client.update({ userGroupId: 'dropped', name: 'B' })
    assert.deepEqual(shown(proxy).at(-1), 'PUT')
  })

  it('drops the body of GET: keeps the override although the service responds with an error', async (t) => {
    const proxy = await startHttpProxy(t, service().origin, onGet('drop body'))
    const client = behind(proxy)
    const refused = () => serviceFailure(client.getOrCreate({ userGroupId: 'not there' }))
    assert.equal((await refused()).code, 'name_required')
    assert.equal((await refused()).code, 'name_required')
    assert.deepEqual(shown(proxy), ['GET', 'POST as GET', 'POST as GET'])
  })

  for (const status of [400, 403, 405, 411, 413, 501]) {
    it(`refuses GET with ${status}: switches to the override permanently`, async (t) => {
      const proxy = await startHttpProxy(t, service().origin, onGet(status))
      const client = behind(proxy)
      await client.getOrCreate({ userGroupId: `refused with ${status}`, name: 'A' })
      await client.getOrCreate({ userGroupId: `refused with ${status}` })
      assert.deepEqual(shown(proxy), ['GET', 'POST as GET', 'POST as GET'])
    })
  }

  for (const status of [403, 405, 501]) {
    it(`refuses PUT with ${status}: switches to the override permanently`, async (t) => {
      const on = (method: string) => (method === 'PUT' ? status : undefined)
      const proxy = await startHttpProxy(t, service().origin, { on })
      const client = behind(proxy)
      const userGroupId = `refused with ${status}, too`
      await client.getOrCreate({ userGroupId, name: 'A' })
      assert.equal((await client.update({ userGroupId, name: 'B' })).name, 'B')
      assert.equal((await client.update({ userGroupId, name: 'C' })).name, 'C')
      assert.deepEqual(shown(proxy), ['GET', 'PUT', 'POST as PUT', 'POST as PUT'])
    })
  }

  it('refuses all methods: reports it and does not keep the override', async (t) => {
    let isOpen = false
    const proxy = await startHttpProxy(t, service().origin, { on: () => (isOpen ? undefined : 403) })
    const client = behind(proxy)
    const error = await transportFailure(client.getOrCreate({ userGroupId: 'closed', name: 'A' }))
    assert.deepEqual([error.code, error.status], ['refused', 403])
    isOpen = true
    await client.getOrCreate({ userGroupId: 'closed', name: 'A' })
    assert.deepEqual(shown(proxy), ['GET', 'POST as GET', 'GET'])
  })

  for (const status of [401, 404, 407]) {
    it(`responds with ${status}, which is unrelated to the method`, async (t) => {
      const proxy = await startHttpProxy(t, service().origin, onGet(status))
      const error = await transportFailure(behind(proxy).getOrCreate({ userGroupId: 'a', name: 'A' }))
      assert.deepEqual([error.code, error.status, shown(proxy)], ['refused', status, ['GET']])
    })
  }

  it('refuses POST: reports it', async (t) => {
    const on = (method: string) => (method === 'POST' ? 405 : undefined)
    const proxy = await startHttpProxy(t, service().origin, { on })
    const error = await transportFailure(behind(proxy).rotate({ currentToken: 'a' }))
    assert.deepEqual([error.status, shown(proxy)], [405, ['POST']])
  })

  it('drops the body of GET, with methodOverride: sends the override at once', async (t) => {
    const proxy = await startHttpProxy(t, service().origin, onGet('drop body'))
    const client = behind(proxy, { methodOverride: true })
    const { userGroup } = await client.getOrCreate({ userGroupId: 'known', name: 'A' })
    await client.update({ userGroupId: 'known', name: 'B' })
    await client.rotate({ currentToken: userGroup.token })
    assert.deepEqual(shown(proxy), ['POST as GET', 'POST as PUT', 'POST'])
    assert.match(proxy.passed.at(-1)?.idempotencyKey ?? '', /^[0-9a-f-]{36}$/)
  })

  it('passes 400 and 413 of the service: keeps the method', async (t) => {
    const proxy = await startHttpProxy(t, service().origin)
    const client = behind(proxy)
    await serviceFailure(client.getOrCreate({ userGroupId: '' }))
    await serviceFailure(client.update({ userGroupId: 'a', properties: { a: 'x'.repeat(2 ** 20) } }))
    // The connection may close before all of the body is sent. A client that then misses the response tries again.
    assert.deepEqual([...new Set(shown(proxy))], ['GET', 'PUT'])
  })
}
