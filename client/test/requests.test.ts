import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { UserGroupClient, type UserGroupClientOptions } from '../src/index.ts'
import type { UserGroupFields } from '../src/user-group.ts'
import { apiToken, assertNoToken, clientOf, token } from './support/client.ts'
import { describeClients } from './support/clients.ts'
import { active, created, ended, json, rotated, serve, session, updated } from './support/scripted-server.ts'

describeClients('request', ({ language, clientOf }) => {
  const usesFetch = language === 'TypeScript with fetch'
  const sent = (method: 'GET' | 'PUT') => (usesFetch ? ['POST', method] : [method, undefined])

  it('getOrCreate is a GET with a body and its length, or a POST with the override', async (t) => {
    const { origin, received } = await serve(t, json(created))
    const properties = { region: 'EU', list: [1, null, { deep: true }], ü: '€' }
    await clientOf(origin).getOrCreate({ userGroupId: 'a', name: 'A', mapping: { 40: '213' }, properties })
    const [request] = received
    assert.equal(request?.path, '/api/user')
    assert.deepEqual([request.method, request.headers['x-http-method-override']], sent('GET'))
    assert.deepEqual(JSON.parse(request.body), {
      user_group_id: 'a',
      name: 'A',
      mapping: { 40: '213' },
      properties,
    })
    const { authorization, 'content-type': type, 'content-length': length } = request.headers
    assert.deepEqual([authorization, type], [`Token ${apiToken}`, 'application/json'])
    assert.equal(Number(length), Buffer.byteLength(request.body))
    assert.equal(request.headers['transfer-encoding'], undefined)
  })

  it('sends only the given fields, including null', async (t) => {
    const { origin, received } = await serve(t, json(updated))
    await clientOf(origin).update({ userGroupId: 'a', name: undefined, mapping: null, properties: {} })
    const [request] = received
    assert.deepEqual([request?.method, request?.headers['x-http-method-override']], sent('PUT'))
    assert.equal(request?.body, '{"user_group_id":"a","mapping":null,"properties":{}}')
  })

  it('rotate sends a new idempotency key each time, or the caller’s', async (t) => {
    const { origin, received } = await serve(t, json(rotated))
    const client = clientOf(origin)
    await client.rotate({ currentToken: token })
    await client.rotate({ currentToken: token, gracePeriodSeconds: 60 })
    await client.rotate({ currentToken: token }, { idempotencyKey: 'mine' })
    assert.deepEqual(
      received.map(({ method, body }) => [method, JSON.parse(body) as unknown]),
      [
        ['POST', { current_token: token }],
        ['POST', { current_token: token, grace_period_seconds: 60 }],
        ['POST', { current_token: token }],
      ],
    )
    const [first = '', second = '', third] = received.map(({ headers }) => headers['idempotency-key'])
    assert.match(first.toString(), /^[0-9a-f-]{36}$/)
    assert.notEqual(first, second)
    assert.equal(third, 'mine')
  })

  it('createSession sends the viewer and the given options', async (t) => {
    const { origin, received } = await serve(t, json(session))
    const client = clientOf(origin)
    await client.createSession('a', { id: 'u-7' })
    const viewer = { id: 'u-7', name: 'Ada', properties: { teamName: 1 }, locale: 'de-DE' }
    const options = {
      narrow: { properties: { regionNames: ['EU', 7, null] }, schemas: ['sales'] },
      ...{ resources: ['sales-overview'], audience: 'cube', include: ['name'], claims: { isAdmin: false } },
    }
    await client.createSession(
      'a',
      { ...viewer, timeZone: 'Europe/Berlin' },
      { ...options, expiresInSeconds: 60 },
    )
    assert.deepEqual(
      received.map(({ method, path, body }) => [method, path, JSON.parse(body) as unknown]),
      [
        { user_group_id: 'a', viewer: { id: 'u-7' } },
        {
          ...{ user_group_id: 'a', viewer: { ...viewer, time_zone: 'Europe/Berlin' } },
          ...{ ...options, expires_in_seconds: 60 },
        },
      ].map((body) => ['POST', '/api/user/create-session', body]),
    )
  })

  it('endSessions sends the viewer, if there is one', async (t) => {
    const { origin, received } = await serve(t, json(ended))
    await clientOf(origin).endSessions('a', 'u-7')
    await clientOf(origin).endSessions('a')
    assert.deepEqual(
      received.map(({ method, path, body }) => [method, path, body]),
      ['{"user_group_id":"a","viewer_id":"u-7"}', '{"user_group_id":"a"}'].map((body) => [
        ...['POST', '/api/user/end-sessions', body],
      ]),
    )
  })

  it('introspect sends a form', async (t) => {
    const { origin, received } = await serve(t, json(active))
    await clientOf(origin).introspect('a&b=ü')
    await clientOf(origin).introspect('a', { resource: 'b c' })
    const [request, ofResource] = received
    assert.deepEqual(
      [request?.method, request?.path, request?.headers['content-type'], request?.body],
      [...['POST', '/oauth2/introspect', 'application/x-www-form-urlencoded'], 'token=a%26b%3D%C3%BC'],
    )
    const form = new URLSearchParams(ofResource?.body)
    assert.deepEqual([form.size, form.get('token'), form.get('resource')], [2, 'a', 'b c'])
  })

  it('keeps the path of a gateway', async (t) => {
    const { origin, received } = await serve(t, json(created))
    for (const path of ['', '/', '/user-groups', '/user-groups/']) {
      await clientOf(origin + path).getOrCreate({ userGroupId: 'a' })
    }
    assert.deepEqual(
      received.map(({ path }) => path),
      ['/api/user', '/api/user', '/user-groups/api/user', '/user-groups/api/user'],
    )
  })

  it('skips interim responses', async (t) => {
    const { origin } = await serve(t, (response, received) => {
      response.writeProcessing()
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      // The fetch of Node.js fails on a 100 that it did not ask for.
      if (!usesFetch) response.writeContinue()
      json(created)(response, received)
    })
    const client = clientOf(origin, { maxTries: 1 })
    for (let i = 0; i < 2; i++) assert.ok(await client.getOrCreate({ userGroupId: 'a' }))
  })

  it('names itself and its version', async (t) => {
    const { origin, received } = await serve(t, json(created))
    await clientOf(origin).getOrCreate({ userGroupId: 'a' })
    assert.match(
      received[0]?.headers['user-agent'] ?? '',
      /^user-group-service-(client|python|go|java)\/\d+\.\d+\.\d+\S*$/,
    )
  })

  // fetch decides about its connections.
  if (usesFetch) return
  it('reuses the connection', async (t) => {
    const ports = new Set<number | undefined>()
    const { origin } = await serve(t, (response, received) => {
      ports.add(response.socket?.remotePort)
      json(created)(response, received)
    })
    const client = clientOf(origin)
    for (let i = 0; i < 5; i++) await client.getOrCreate({ userGroupId: 'a' })
    assert.equal(ports.size, 1)
  })
})

describe('an argument that cannot be sent is a TypeError', () => {
  const loop: Record<string, unknown> = {}
  loop.loop = loop
  const cases: Record<string, unknown> = {
    NaN: Number.NaN,
    Infinity: [-Infinity],
    'a bigint': 1n,
    'a function': () => 1,
    'a symbol': Symbol('s'),
    'undefined in an array': [undefined],
    'a hole in an array': Array.from({ length: 2 }).fill(1, 0, 1).concat(new Array(1)),
    'a negative zero': { deep: [-0] },
    'an invalid date': new Date(Number.NaN),
    'a set': new Set([1]),
    bytes: new Uint8Array(1),
    'a boxed number': Object(1) as unknown,
    'a symbol key': { [Symbol('s')]: 1 },
    'an array with a name': Object.assign([1], { name: 1 }),
    'a method toJSON that returns nothing': [{ toJSON: () => undefined }],
    'a map': new Map([['region', 'EU']]),
    'a cycle': loop,
  }
  for (const [name, value] of Object.entries(cases)) {
    it(name, async (t) => {
      const { origin, received } = await serve(t, json(created))
      const fields = { userGroupId: 'a', properties: { value } } as unknown as UserGroupFields
      await assert.rejects(clientOf(origin).getOrCreate(fields), TypeError)
      assert.equal(received.length, 0)
    })
  }

  it('refuses an idempotency key with a line break', async (t) => {
    const { origin, received } = await serve(t, json(rotated))
    const call = clientOf(origin).rotate({ currentToken: token }, { idempotencyKey: 'a\nb' })
    await assert.rejects(call, TypeError)
    assert.equal(received.length, 0)
  })
})

describe('options', () => {
  const refused: Record<string, object> = {
    'no origin': { origin: undefined },
    'not a URL': { origin: 'localhost:8080' },
    'another protocol': { origin: 'ftp://localhost' },
    'a user': { origin: 'http://user@localhost' },
    'a query': { origin: 'http://localhost?a=1' },
    'no API token': { apiToken: undefined },
    'an empty API token': { apiToken: '' },
    'an API token with its scheme': { apiToken: `Token ${apiToken}` },
    'a deadline of 0': { deadlineMs: 0 },
    'a deadline as a string': { deadlineMs: '5000' },
    'a deadline beyond the timer limit': { deadlineMs: 2 ** 31 },
    'maxTries of 0': { maxTries: 0 },
    'fractional maxTries': { maxTries: 1.5 },
  }
  for (const [name, options] of Object.entries(refused)) {
    it(`invalid: ${name}`, () => {
      const all = { origin: 'http://localhost', apiToken, ...options } as UserGroupClientOptions
      assert.throws(() => new UserGroupClient(all), /(origin|apiToken|deadlineMs|maxTries) must be/)
    })
  }

  it('invalid deadline of one call', async () => {
    const call = clientOf('http://localhost').getOrCreate({ userGroupId: 'a' }, { deadlineMs: Number.NaN })
    await assert.rejects(call, RangeError)
  })

  it('never prints the API token', () => {
    assertNoToken(clientOf('http://localhost'))
  })
})
