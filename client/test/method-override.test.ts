import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedService } from '../../server/test/support/service.ts'
import { UserGroupClient, type UserGroupClientOptions } from '../src/user-group-client.ts'
import { serviceFailure, transportFailure } from './support/calls.ts'
import { startHttpProxy, type HttpProxy, type ProxyBehaviour } from './support/http-proxy.ts'

const shown = ({ passed }: HttpProxy) =>
  passed.map(({ method, override }) => (override === undefined ? method : `${method} as ${override}`))

describe('behind a proxy that', () => {
  const service = sharedService()
  const behind = (proxy: HttpProxy, options: Partial<UserGroupClientOptions> = {}) =>
    new UserGroupClient({ origin: proxy.origin, apiToken: service().tokens.Testing, ...options })
  const onGet = (what: 'drop body' | number): ProxyBehaviour => ({
    on: (method) => (method === 'GET' ? what : undefined),
  })

  it('passes everything, methods are as they are', async (t) => {
    const proxy = await startHttpProxy(t, service().origin)
    const client = behind(proxy)
    const { userGroup } = await client.getOrCreate({ userGroupId: 'plain', name: 'A' })
    await client.update({ userGroupId: 'plain' })
    await client.rotate({ currentToken: userGroup.token })
    assert.deepEqual(shown(proxy), ['GET', 'PUT', 'POST'])
  })

  it('drops the body of GET, that is noticed once and remembered', async (t) => {
    const proxy = await startHttpProxy(t, service().origin, onGet('drop body'))
    const client = behind(proxy)
    const first = await client.getOrCreate({ userGroupId: 'dropped', name: 'A' })
    const second = await client.getOrCreate({ userGroupId: 'dropped' })
    assert.deepEqual([first.newUserGroup, second.newUserGroup], [true, false])
    assert.deepEqual(shown(proxy), ['GET', 'POST as GET', 'POST as GET'])
    // It is no rotation, and has no key of one.
    assert.ok(proxy.passed.every(({ idempotencyKey }) => idempotencyKey === undefined))
    await client.update({ userGroupId: 'dropped', name: 'B' })
    assert.deepEqual(shown(proxy).at(-1), 'PUT')
  })

  it('drops the body of GET, that is remembered where the service refuses the call', async (t) => {
    const proxy = await startHttpProxy(t, service().origin, onGet('drop body'))
    const client = behind(proxy)
    const refused = () => serviceFailure(client.getOrCreate({ userGroupId: 'not there' }))
    assert.equal((await refused()).code, 'name_required')
    assert.equal((await refused()).code, 'name_required')
    assert.deepEqual(shown(proxy), ['GET', 'POST as GET', 'POST as GET'])
  })

  for (const status of [400, 403, 405, 411, 413, 501]) {
    it(`refuses GET with ${status}, that is noticed once and remembered`, async (t) => {
      const proxy = await startHttpProxy(t, service().origin, onGet(status))
      const client = behind(proxy)
      await client.getOrCreate({ userGroupId: `refused with ${status}`, name: 'A' })
      await client.getOrCreate({ userGroupId: `refused with ${status}` })
      assert.deepEqual(shown(proxy), ['GET', 'POST as GET', 'POST as GET'])
    })
  }

  for (const status of [403, 405, 501]) {
    it(`refuses PUT with ${status}, that is noticed once and remembered`, async (t) => {
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

  it('refuses all methods, that is told, and nothing is remembered', async (t) => {
    let isOpen = false
    const proxy = await startHttpProxy(t, service().origin, { on: () => (isOpen ? undefined : 403) })
    const client = behind(proxy)
    const error = await transportFailure(client.getOrCreate({ userGroupId: 'closed', name: 'A' }))
    assert.deepEqual([error.code, error.status], ['refused', 403])
    isOpen = true
    await client.getOrCreate({ userGroupId: 'closed', name: 'A' })
    assert.deepEqual(shown(proxy), ['GET', 'POST as GET', 'GET'])
  })

  for (const status of [401, 404, 407, 500]) {
    it(`answers ${status}, which the method has nothing to do with`, async (t) => {
      const proxy = await startHttpProxy(t, service().origin, onGet(status))
      const error = await transportFailure(behind(proxy).getOrCreate({ userGroupId: 'a', name: 'A' }))
      assert.deepEqual([error.code, error.status, shown(proxy)], ['refused', status, ['GET']])
    })
  }

  it('refuses POST, that is told', async (t) => {
    const on = (method: string) => (method === 'POST' ? 405 : undefined)
    const proxy = await startHttpProxy(t, service().origin, { on })
    const error = await transportFailure(behind(proxy).rotate({ currentToken: 'a' }))
    assert.deepEqual([error.status, shown(proxy)], [405, ['POST']])
  })

  it('the option knows of, nothing is tried in vain', async (t) => {
    const proxy = await startHttpProxy(t, service().origin, onGet('drop body'))
    const client = behind(proxy, { methodOverride: true })
    const { userGroup } = await client.getOrCreate({ userGroupId: 'known', name: 'A' })
    await client.update({ userGroupId: 'known', name: 'B' })
    await client.rotate({ currentToken: userGroup.token })
    assert.deepEqual(shown(proxy), ['POST as GET', 'POST as PUT', 'POST'])
    assert.match(proxy.passed.at(-1)?.idempotencyKey ?? '', /^[0-9a-f-]{36}$/)
  })
})

describe('the service’s own 400, 403, 405 and 413 are no reason for the override', () => {
  const service = sharedService()

  it('they are told', async (t) => {
    const proxy = await startHttpProxy(t, service().origin)
    const client = new UserGroupClient({ origin: proxy.origin, apiToken: service().tokens.Testing })
    await serviceFailure(client.getOrCreate({ userGroupId: '' }))
    await serviceFailure(client.update({ userGroupId: 'a', properties: { a: 'x'.repeat(2 ** 20) } }))
    assert.deepEqual(shown(proxy), ['GET', 'PUT'])
  })
})
