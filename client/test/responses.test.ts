import assert from 'node:assert/strict'
import { it } from 'node:test'
import { token, transportFailure } from './support/client.ts'
import { describeClients } from './support/clients.ts'
import {
  active,
  activeSession,
  respond,
  created,
  json,
  refusal,
  ended,
  rotated,
  serve,
  session,
  updated,
  type Responder,
} from './support/scripted-server.ts'

const fields = { userGroupId: 'customer-42', name: 'Example customer' }
const group = { teamId: 7, token, name: 'Example customer', providedId: 'customer-42' }

describeClients('response', ({ clientOf }) => {
  it('getOrCreate', async (t) => {
    const { origin } = await serve(t, json(created))
    assert.deepEqual(await clientOf(origin).getOrCreate(fields), {
      newUserGroup: true,
      userGroup: { ...group, properties: { region: 'EU' } },
    })
  })

  it('update', async (t) => {
    const { origin } = await serve(t, json(updated))
    const expected = { ...group, properties: { region: 'EU' }, environment: 'Customer' }
    assert.deepEqual(await clientOf(origin).update(fields), expected)
  })

  it('rotate', async (t) => {
    const { origin } = await serve(t, json(rotated))
    const result = await clientOf(origin).rotate({ currentToken: token })
    assert.deepEqual(result, { ...group, environment: 'Customer' })
  })

  it('createSession', async (t) => {
    const { origin } = await serve(t, json(session))
    assert.deepEqual(await clientOf(origin).createSession('customer-42', { id: 'u-7' }), {
      ...{ token: session.session.token, sessionId: '4kTq9cZ1Xw2b' },
      ...{ expiresAt: Date.UTC(2026, 10, 28, 10, 15), expiresInSeconds: 900 },
    })
  })

  it('endSessions', async (t) => {
    const { origin } = await serve(t, json(ended))
    await assert.doesNotReject(clientOf(origin).endSessions('customer-42'))
  })

  const introspected = {
    providedId: 'customer-42',
    teamId: 7,
    name: 'Example customer',
    environment: 'Customer',
    mapping: { 40: '213' },
    dataSources: {
      40: {
        ...{ id: 213, providedId: 'warehouse-eu', name: 'Warehouse EU' },
        schema: { id: 12, providedId: '40' },
      },
    },
    properties: { region: 'EU' },
    ...{ sessionId: null, viewer: null, resources: null },
    token: { issuedAt: 1_790_000_000_000, expiresAt: null as number | null },
  }

  it('introspect', async (t) => {
    const { origin } = await serve(t, json(active))
    assert.deepEqual(await clientOf(origin).introspect(token), introspected)
  })

  it('introspect, of a token in its grace period', async (t) => {
    const { origin } = await serve(
      t,
      json({ ...active, exp: 1_790_000_600, mapping: null, properties: null }),
    )
    assert.deepEqual(await clientOf(origin).introspect(token), {
      ...introspected,
      mapping: null,
      properties: null,
      token: { issuedAt: 1_790_000_000_000, expiresAt: 1_790_000_600_000 },
    })
  })

  it('introspect, of a session', async (t) => {
    const { origin } = await serve(
      t,
      json(activeSession),
      json({ ...activeSession, viewer: { id: 'u-7' }, resources: undefined }),
    )
    const ofSession = {
      ...introspected,
      ...{ sessionId: '4kTq9cZ1Xw2b', resources: ['sales-overview'] as string[] | null },
      token: { issuedAt: 1_790_000_000_000, expiresAt: 1_790_000_900_000 },
    }
    assert.deepEqual(await clientOf(origin).introspect(token), {
      ...ofSession,
      viewer: {
        ...{ id: 'u-7', name: 'Ada', properties: { team_name: 1 } },
        ...{ timeZone: 'Europe/Berlin', locale: 'de-DE' },
      },
    })
    assert.deepEqual(await clientOf(origin).introspect(token), {
      ...ofSession,
      viewer: { id: 'u-7', name: null, properties: null, timeZone: null, locale: null },
      resources: null,
    })
  })

  it('introspect, inactive token', async (t) => {
    const { origin } = await serve(t, json({ active: false }))
    assert.equal(await clientOf(origin).introspect(token), null)
  })

  it('introspect without a token sends no request', async (t) => {
    const { origin, received } = await serve(t, json(active))
    for (const none of [undefined, '', 'x'.repeat(6 * 1024 + 1)]) {
      assert.equal(await clientOf(origin).introspect(none), null)
    }
    assert.equal(received.length, 0)
  })

  it('ignores unknown members, and keeps keys that are special in JavaScript', async (t) => {
    const properties = '{"__proto__":{"admin":true},"constructor":1}'
    const body = JSON.stringify({ ...created, more: 1 }).replace('{"region":"EU"}', properties)
    const { origin } = await serve(
      t,
      respond(200, body, { 'content-type': 'application/json; charset=utf-8' }),
    )
    const { userGroup } = await clientOf(origin).getOrCreate(fields)
    assert.equal(JSON.stringify(userGroup.properties), properties)
    assert.equal('admin' in (userGroup.properties ?? {}), false)
  })
})

describeClients(
  'a response that is not from the service is a bad_response and is not retried',
  ({ clientOf }) => {
    const tooLong = JSON.stringify({ ...created, more: 'x'.repeat(8 * 1024 * 1024) })
    const cases: Record<string, Responder> = {
      'a login page': respond(200, `<h1>Sign in ${token}</h1>`, { 'content-type': 'text/html' }),
      'not JSON': respond(200, token),
      'not UTF-8': respond(200, Buffer.from('{"success":"\xff"}', 'latin1')),
      'not an object': json([]),
      'another object': json({ token }),
      'an error with status 200': json({ success: 0, error: { code: 'internal', message: token } }),
      'no user group': json({ ...created, user_group: null }),
      'a token that is not a string': json({ ...created, user_group: { ...created.user_group, token: 1 } }),
      'no properties': json({ ...created, user_group: { ...created.user_group, properties: undefined } }),
      'too long': respond(200, tooLong),
      'another status': respond(202, JSON.stringify(created)),
      'not HTTP': (response) =>
        response.socket?.end(`${token}\r
\r
`),
    }
    for (const [name, responder] of Object.entries(cases)) {
      it(name, async (t) => {
        const { origin, received } = await serve(t, responder)
        const error = await transportFailure(clientOf(origin).getOrCreate(fields))
        assert.equal(error.code, 'bad_response', error.message)
        assert.equal(received.length, 1)
      })
    }

    for (const status of [301, 302, 303, 307, 308]) {
      it(`a redirect with ${status} is not followed`, async (t) => {
        const elsewhere = await serve(t, json(created))
        const { origin, received } = await serve(t, refusal(status, { location: elsewhere.origin }))
        for (const call of [
          clientOf(origin).getOrCreate(fields),
          clientOf(origin).update(fields),
          clientOf(origin).rotate({ currentToken: token }),
        ]) {
          const error = await transportFailure(call)
          assert.deepEqual([error.code, error.status], ['bad_response', status])
        }
        assert.deepEqual([received.length, elsewhere.received.length], [3, 0])
      })
    }

    const wrongSessions: Record<string, unknown> = {
      'no session': { success: 1 },
      'a session without a token': { ...session, session: { ...session.session, token: undefined } },
      'a session that ends at no time': {
        ...session,
        session: { ...session.session, expires_at: 'tomorrow' },
      },
      'a lifetime that is a text': { ...session, session: { ...session.session, expires_in_seconds: '900' } },
    }
    for (const [name, wrong] of Object.entries(wrongSessions)) {
      it(`of createSession: ${name}`, async (t) => {
        const { origin } = await serve(t, json(wrong))
        const call = clientOf(origin).createSession('customer-42', { id: 'u-7' })
        assert.equal((await transportFailure(call)).code, 'bad_response')
      })
    }

    it('of endSessions: no success', async (t) => {
      const { origin } = await serve(t, json({}))
      const error = await transportFailure(clientOf(origin).endSessions('customer-42'))
      assert.equal(error.code, 'bad_response')
    })

    const wrongIntrospections: Record<string, unknown> = {
      'an inactive token with more members': { active: false, sub: 'customer-42' },
      'an active token without a user group': { active: true },
      'a time beyond the Date limit': { ...active, exp: 9e15 },
      'a mapping of numbers': { ...active, mapping: { 40: 213 } },
      'a data source without an id': { ...active, data_sources: { 40: { name: 'A' } } },
      'a data source without its schema': {
        ...active,
        data_sources: { 40: { id: 213, provided_id: 'a', name: 'A' } },
      },
      'another environment': { ...active, api_environment_tag: 'Production' },
      'another type of token': { ...active, token_type: 'api_token' },
      'a session without an end': { ...activeSession, exp: undefined },
      'a session without an id': { ...activeSession, jti: undefined },
      'a session without a viewer': { ...activeSession, viewer: undefined },
      'a viewer without an id': { ...activeSession, viewer: { name: 'Ada' } },
      'resources that are a text': { ...activeSession, resources: 'sales-overview' },
    }
    for (const [name, wrong] of Object.entries(wrongIntrospections)) {
      it(`of introspect: ${name}`, async (t) => {
        const { origin } = await serve(t, json(wrong))
        assert.equal((await transportFailure(clientOf(origin).introspect(token))).code, 'bad_response')
      })
    }
  },
)

describeClients('an error that is not from the service is refused, with its status', ({ clientOf }) => {
  const cases: Record<string, Responder> = {
    'a page': refusal(404),
    'an empty body': respond(404, ''),
    'other JSON': respond(404, '{"message":"no Route matched with those values"}'),
    'an incomplete error': respond(404, '{"success":0,"error":{"code":"not_found"}}'),
    'too long': respond(404, Buffer.alloc(9 * 1024 * 1024, 'x')),
  }
  for (const [name, responder] of Object.entries(cases)) {
    it(name, async (t) => {
      const { origin, received } = await serve(t, responder)
      const error = await transportFailure(clientOf(origin).getOrCreate(fields))
      assert.deepEqual([error.name, error.code, error.status], ['TransportError', 'refused', 404])
      assert.equal(received.length, 1)
    })
  }
})
