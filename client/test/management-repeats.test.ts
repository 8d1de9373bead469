import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../server/test/support/port.ts'
import { UserGroupManagement } from '../src/user-group-management.ts'
import { apiToken, serviceFailure, transportFailure } from './support/calls.ts'
import { startHttpProxy, type HttpProxy, type ProxyBehaviour } from './support/http-proxy.ts'
import { sharedManaged } from './support/managed.ts'
import { repeatedCalls } from './support/repeated-calls.ts'
import { answer, fault, json, refusal, serve, serveAt } from './support/scripted-server.ts'

/** Has the first request that changes something have this fate. */
function first(
  behaviour: Exclude<Awaited<ReturnType<NonNullable<ProxyBehaviour['on']>>>, undefined>,
): ProxyBehaviour {
  let isFirst = true
  return {
    on: (method) => {
      if (method === 'GET' || !isFirst) return undefined
      isFirst = false
      return behaviour
    },
  }
}

const changing = ({ passed }: HttpProxy) => passed.filter(({ method }) => method !== 'GET')

describe('a call whose answer or request is lost takes effect once', () => {
  const managed = sharedManaged()

  for (const { name, prepare, fails, isOnce } of repeatedCalls) {
    for (const fate of ['lose answer', 'lose request'] as const) {
      it(`${name}, ${fate}`, async (t) => {
        const direct = await managed()
        const { call, done } = await prepare(direct, `${name} ${fate}`, await managed('Testing'))
        const proxy = await startHttpProxy(t, direct.service.origin, first(fate))
        const running = call(direct.over(proxy.origin))
        if (isOnce ?? (fails && fate === 'lose answer')) {
          assert.equal((await transportFailure(running)).code, 'unreachable')
          await done(undefined, fate)
        } else await done(await running, fate)
        assert.equal(changing(proxy).length, isOnce ? 1 : 2)
      })
    }
  }
})

describe('a repeat', () => {
  const managed = sharedManaged()

  for (const ifRevision of [undefined, 1]) {
    const which = ifRevision === undefined ? 'the next revision' : 'none, since that is another one'
    it(`of a rotation that was lost, while somebody else changes the name, rotates ${which}`, async (t) => {
      const { service, management, over, create } = await managed()
      const { teamId, tokenIssuedAt } = await create(`overtaken ${ifRevision}`)
      let isLost = false
      const proxy = await startHttpProxy(t, service.origin, {
        on: async (method) => {
          if (method === 'GET' || isLost) return undefined
          isLost = true
          await management.updateUserGroup(teamId, { name: 'Overtaken' })
          return 'lose request'
        },
      })
      const call = over(proxy.origin).rotateUserGroupToken(teamId, {}, { ifRevision })
      if (ifRevision === undefined) assert.equal(await call, await management.getUserGroupToken(teamId))
      else assert.equal((await serviceFailure(call)).code, 'revision_mismatch')
      const group = await management.getUserGroup(teamId)
      const isRotated = group.tokenIssuedAt !== tokenIssuedAt
      assert.deepEqual([group.revision, isRotated], ifRevision === undefined ? [3, true] : [2, false])
    })
  }

  it('is not taken for a creation of the same id under another name', async (t) => {
    const { service, management, over } = await managed()
    const proxy = await startHttpProxy(t, service.origin, first('lose request'))
    await management.createSchema({ providedId: 'named', name: 'One' })
    const error = await serviceFailure(
      over(proxy.origin).createSchema({ providedId: 'named', name: 'Other' }),
    )
    assert.equal(error.code, 'already_exists')
  })

  it('of a revocation by the API token that is revoked tells that it is not known', async (t) => {
    const { service, management } = await managed()
    for (const byReport of [false, true]) {
      const { apiToken: own, token } = await management.createApiToken({ name: 'own', scopes: ['admin'] })
      const proxy = await startHttpProxy(t, service.origin, first('lose answer'))
      const itself = new UserGroupManagement({ origin: proxy.origin, apiToken: token })
      const call = byReport
        ? itself.reportLeakedToken({ token, rotate: true })
        : itself.revokeApiToken(own.id)
      assert.equal((await transportFailure(call)).code, 'unreachable')
      const known = (await management.listApiTokens()).find(({ id }) => id === own.id)
      assert.notEqual(known?.revokedAt, null)
    }
  })

  it('is made where an answer does not come in time, and what is made once has all of the time', async (t) => {
    const { service, over, management, create } = await managed()
    const { teamId } = await create('slow')
    const proxy = await startHttpProxy(t, service.origin, first('keep answer'))
    const slow = over(proxy.origin, { deadlineMs: 3000 })
    assert.equal((await slow.updateUserGroup(teamId, { name: 'B' })).revision, 2)
    const silent = await startHttpProxy(t, service.origin, { on: () => 'keep answer' })
    const begun = performance.now()
    const fields = { name: 'slow', scopes: ['read'] } as const
    const call = over(silent.origin).createApiToken(fields, { deadlineMs: 600 })
    assert.equal((await transportFailure(call)).code, 'timed_out')
    assert.ok(performance.now() - begun >= 590)
    assert.equal(silent.passed.length, 1)
    const made = (await management.listApiTokens()).filter(({ name }) => name === 'slow')
    assert.equal(made.length, 1)
  })
})

describe('createApiToken', () => {
  const newToken = {
    success: 1,
    api_token: {
      ...{ id: 1, name: 'a', api_environment_tag: 'Customer', scopes: ['read'] },
      ...{ created_at: '2030-01-01T00:00:00.000Z', expires_at: null, revoked_at: null },
      ...{ last_used_at: null, replaced_by: null, rate_limit: null },
    },
    token: 'uga_customer_made',
  }
  const made = answer(201, JSON.stringify(newToken))
  const create = (origin: string) =>
    new UserGroupManagement({ origin, apiToken }).createApiToken({ name: 'a', scopes: ['read'] })

  for (const [name, answerer] of Object.entries({
    '429 of the service': fault(429, 'rate_limited', { 'retry-after': '0' }),
    '429 of a proxy': refusal(429),
    '408 of the service, which has not read it': fault(408, 'request_timeout'),
  })) {
    it(`is repeated after ${name}`, async (t) => {
      const { origin, received } = await serve(t, answerer, made)
      assert.equal((await create(origin)).token, newToken.token)
      assert.equal(received.length, 2)
    })
  }

  for (const status of [408, 502, 503, 504]) {
    it(`is not repeated after ${status} of a proxy, which may have passed it on`, async (t) => {
      const { origin, received } = await serve(t, refusal(status, { 'retry-after': '0' }), made)
      const error = await transportFailure(create(origin))
      assert.deepEqual([error.code, error.status, received.length], ['refused', status, 1])
    })
  }

  it('is not repeated after 503 of the service, which may have lost its store in the middle', async (t) => {
    const { origin, received } = await serve(t, fault(503, 'unavailable', { 'retry-after': '1' }), made)
    assert.equal((await serviceFailure(create(origin))).code, 'unavailable')
    assert.equal(received.length, 1)
  })

  it('is repeated while there is no connection', async (t) => {
    const port = await freePort()
    const call = create(`http://127.0.0.1:${port}`)
    const done = assert.doesNotReject(call)
    // After the first try, which is made at once.
    await sleep(80)
    const { received } = await serveAt(t, port, made)
    await done
    assert.equal(received.length, 1)
  })

  it('has a connection of its own', async (t) => {
    const ports: (number | undefined)[] = []
    const { origin } = await serve(t, (response, received) => {
      ports.push(response.socket?.remotePort)
      if (received.method === 'POST') made(response, received)
      else json({ success: 1, schemas: [] })(response, received)
    })
    const management = new UserGroupManagement({ origin, apiToken })
    await management.listSchemas()
    await management.listSchemas()
    await management.createApiToken({ name: 'a', scopes: ['read'] })
    assert.equal(ports[0], ports[1])
    assert.notEqual(ports[1], ports[2])
  })
})
