import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../server/test/support/port.ts'
import { UserGroupManagement } from '../src/index.ts'
import { apiToken, serviceFailure, transportFailure } from './support/client.ts'
import { startHttpProxy, type HttpProxy, type ProxyBehavior } from './support/http-proxy.ts'
import { sharedManagement } from './support/management.ts'
import { describeManagements } from './support/managements.ts'
import { retriedOperations } from './support/retried-operations.ts'
import { respond, fault, json, refusal, serve, serveAt } from './support/scripted-server.ts'

/** Applies this behavior to the first request that changes something. */
function first(
  behavior: Exclude<Awaited<ReturnType<NonNullable<ProxyBehavior['on']>>>, undefined>,
): ProxyBehavior {
  let isFirst = true
  return {
    on: (method) => {
      if (method === 'GET' || !isFirst) return undefined
      isFirst = false
      return behavior
    },
  }
}

const changing = ({ passed }: HttpProxy) => passed.filter(({ method }) => method !== 'GET')

describeManagements(
  'an operation whose request or response is lost takes effect once',
  ({ managementOf }) => {
    const fixture = sharedManagement()

    for (const { name, prepare, fails, isNonIdempotent } of retriedOperations) {
      for (const fate of ['lose response', 'lose request'] as const) {
        it(`${name}, ${fate}`, async (t) => {
          const direct = await fixture()
          const { call, done } = await prepare(direct, `${name} ${fate}`, await fixture('Testing'))
          const proxy = await startHttpProxy(t, direct.service.origin, first(fate))
          const running = call(managementOf({ origin: proxy.origin, apiToken: direct.adminToken }))
          if (isNonIdempotent ?? (fails && fate === 'lose response')) {
            assert.equal((await transportFailure(running)).code, 'unreachable')
            await done(undefined, fate)
          } else await done(await running, fate)
          assert.equal(changing(proxy).length, isNonIdempotent ? 1 : 2)
        })
      }
    }
  },
)

describe('retry', () => {
  const fixture = sharedManagement()

  for (const ifRevision of [undefined, 1]) {
    const which = ifRevision === undefined ? 'the next revision' : 'nothing: ifRevision is outdated'
    it(`of a lost rotation, after a concurrent change of the name, rotates ${which}`, async (t) => {
      const { service, management, over, create } = await fixture()
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

  it('is not mistaken for a creation of the same id under another name', async (t) => {
    const { service, management, over } = await fixture()
    const proxy = await startHttpProxy(t, service.origin, first('lose request'))
    await management.createSchema({ providedId: 'named', name: 'One' })
    const error = await serviceFailure(
      over(proxy.origin).createSchema({ providedId: 'named', name: 'Other' }),
    )
    assert.equal(error.code, 'already_exists')
  })

  it('of a revocation with the revoked API token reports an unknown outcome', async (t) => {
    const { service, management } = await fixture()
    for (const byReport of [false, true]) {
      const { apiToken: own, token } = await management.createApiToken({ name: 'own', scopes: ['admin'] })
      const proxy = await startHttpProxy(t, service.origin, first('lose response'))
      const itself = new UserGroupManagement({ origin: proxy.origin, apiToken: token })
      const call = byReport
        ? itself.reportLeakedToken({ token, rotate: true })
        : itself.revokeApiToken(own.id)
      assert.equal((await transportFailure(call)).code, 'unreachable')
      const known = (await management.listApiTokens()).find(({ id }) => id === own.id)
      assert.notEqual(known?.revokedAt, null)
    }
  })

  it('follows a missing response; a non-idempotent operation gets the whole deadline instead', async (t) => {
    const { service, over, management, create } = await fixture()
    const { teamId } = await create('slow')
    const proxy = await startHttpProxy(t, service.origin, first('withhold response'))
    const slow = over(proxy.origin, { deadlineMs: 3000 })
    assert.equal((await slow.updateUserGroup(teamId, { name: 'B' })).revision, 2)
    const silent = await startHttpProxy(t, service.origin, { on: () => 'withhold response' })
    const startedAt = performance.now()
    const fields = { name: 'slow', scopes: ['read'] } as const
    const call = over(silent.origin).createApiToken(fields, { deadlineMs: 3000 })
    assert.equal((await transportFailure(call)).code, 'timed_out')
    assert.ok(performance.now() - startedAt > 2900)
    assert.equal(silent.passed.length, 1)
    const created = (await management.listApiTokens()).filter(({ name }) => name === 'slow')
    assert.equal(created.length, 1)
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
  const created = respond(201, JSON.stringify(newToken))
  const create = (origin: string) =>
    new UserGroupManagement({ origin, apiToken }).createApiToken({ name: 'a', scopes: ['read'] })

  for (const [name, responder] of Object.entries({
    '429 from the service': fault(429, 'rate_limited', { 'retry-after': '0' }),
    '429 from a proxy': refusal(429),
    '408 from the service, which did not read the request': fault(408, 'request_timeout'),
  })) {
    it(`is retried after ${name}`, async (t) => {
      const { origin, received } = await serve(t, responder, created)
      assert.equal((await create(origin)).token, newToken.token)
      assert.equal(received.length, 2)
    })
  }

  for (const status of [408, 502, 503, 504]) {
    it(`is not retried after ${status} from a proxy, which may have forwarded it`, async (t) => {
      const { origin, received } = await serve(t, refusal(status, { 'retry-after': '0' }), created)
      const error = await transportFailure(create(origin))
      assert.deepEqual([error.code, error.status, received.length], ['refused', status, 1])
    })
  }

  it('is not retried after 503 from the service, which may have lost its store midway', async (t) => {
    const { origin, received } = await serve(t, fault(503, 'unavailable', { 'retry-after': '1' }), created)
    assert.equal((await serviceFailure(create(origin))).code, 'unavailable')
    assert.equal(received.length, 1)
  })

  it('is retried after a refused connection', async (t) => {
    const port = await freePort()
    const call = create(`http://127.0.0.1:${port}`)
    const done = assert.doesNotReject(call)
    // After the first attempt, which starts at once.
    await sleep(80)
    const { received } = await serveAt(t, port, created)
    await done
    assert.equal(received.length, 1)
  })

  it('uses a new connection', async (t) => {
    const ports: (number | undefined)[] = []
    const { origin } = await serve(t, (response, received) => {
      ports.push(response.socket?.remotePort)
      if (received.method === 'POST') created(response, received)
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
