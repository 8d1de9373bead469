import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import {
  IntrospectionClient,
  type IntrospectionClientOptions,
  type IntrospectionErrorCode,
} from '../../src/index.ts'
import { apiToken, client, failure, token } from '../test-client.ts'
import { active, broken, json, never, serve, status, text, type Responder } from '../introspection-server.ts'
import { SettableClock } from '../support.ts'

describe('introspect sends', () => {
  it('a form with the API token, and returns the user group', async (t) => {
    const { url, received } = await serve(t, json(active))
    assert.deepEqual(await client(url).introspect(token), {
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
      viewer: null,
      resources: null,
      token: { issuedAt: 1_790_000_000_000, expiresAt: null },
    })
    const [{ method, url: path, headers, body } = assert.fail()] = received
    assert.equal(method, 'POST')
    assert.equal(path, '/oauth2/introspect')
    assert.equal(headers.authorization, `Token ${apiToken}`)
    assert.equal(headers['content-type'], 'application/x-www-form-urlencoded')
    assert.equal(body, `token=${token}`)
  })

  it('any string, encoded', async (t) => {
    const { url, received } = await serve(t, json({ active: false }))
    for (const text of ['a&resource=b', 'a=b c+d%26\r\n', '🙂', "' OR 1=1"]) {
      assert.equal(await client(url).introspect(text), null)
      const form = new URLSearchParams(received.at(-1)?.body)
      assert.deepEqual([...form], [['token', text]])
    }
  })

  it('nothing for a missing or overlong token', async (t) => {
    const { url, received } = await serve(t, json(active))
    assert.equal(await client(url).introspect(''), null)
    assert.equal(await client(url).introspect('x'.repeat(6145)), null)
    for (const odd of [undefined, null, ['a', 'b'], { a: 1 }, 5])
      assert.equal(await client(url).introspect(odd as unknown as string), null)
    assert.equal(received.length, 0)
  })

  it('a request per call, and returns the current state', async (t) => {
    const { url, received } = await serve(t, json(active), json({ active: false }))
    const service = client(url)
    assert.ok(await service.introspect(token))
    assert.equal(await service.introspect(token), null)
    assert.equal(received.length, 2)
  })

  it('concurrent calls separately', async (t) => {
    const { url, received } = await serve(t, (response, { body }) => {
      json({ ...active, sub: new URLSearchParams(body).get('token') })(response, received[0] as never)
    })
    const service = client(url)
    const tokens = Array.from({ length: 50 }, (_, i) => `token-${i % 10}`)
    const userGroups = await Promise.all(tokens.map((token) => service.introspect(token)))
    assert.deepEqual(
      userGroups.map((userGroup) => userGroup?.providedId),
      tokens,
    )
    assert.equal(received.length, 50)
  })
})

describe('introspect retries', () => {
  const passing: [string, Responder, IntrospectionErrorCode][] = [
    ['a connection that breaks', broken, 'unreachable'],
    ['a body that breaks off', (response) => response.writeHead(200, { 'content-length': 100, 'content-type': 'application/json' }).write('{', () => response.destroy()), 'unreachable'],
    ['429', status(429), 'rate_limited'],
    ['500', status(500), 'unavailable'],
    ['502', status(502), 'unavailable'],
    ['503', status(503, { 'retry-after': '0' }), 'unavailable'],
    ['504', status(504, { 'retry-after': 'Thu, 01 Jan 1970 00:00:00 GMT' }), 'unavailable'],
    ['503 that says nonsense about when', status(503, { 'retry-after': 'soon' }), 'unavailable'],
  ] // prettier-ignore
  for (const [title, responder, code] of passing) {
    it(`after ${title}`, async (t) => {
      const { url, received } = await serve(t, responder, json(active))
      assert.equal((await client(url).introspect(token))?.providedId, 'customer-42')
      assert.equal(received.length, 2)
      assert.equal(new Set(received.map(({ body }) => body)).size, 1)
    })

    it(`up to three times after ${title}, then fails`, async (t) => {
      const { url, received } = await serve(t, responder)
      assert.equal((await failure(client(url, { deadlineMs: 10_000 }).introspect(token))).code, code)
      assert.equal(received.length, 4)
    })
  }

  it('after a missing response, within half of the deadline', async (t) => {
    const { url, received } = await serve(t, never, json(active))
    const start = performance.now()
    assert.ok(await client(url, { deadlineMs: 1000 }).introspect(token))
    const took = performance.now() - start
    assert.ok(took >= 499 && took < 1000, `it took ${took} ms`)
    assert.equal(received.length, 2)
  })

  it('only once after a missing response', async (t) => {
    const { url, received } = await serve(t, never)
    assert.equal((await failure(client(url, { deadlineMs: 3000 }).introspect(token))).code, 'timed_out')
    assert.equal(received.length, 2)
  })

  it('not before the time of Retry-After', async (t) => {
    const { url } = await serve(t, status(503, { 'retry-after': '1' }), json(active))
    const start = performance.now()
    assert.ok(await client(url, { deadlineMs: 5000 }).introspect(token))
    assert.ok(performance.now() - start >= 999)
  })

  it('not before the date of Retry-After', async (t) => {
    const clock = new SettableClock()
    clock.time = Date.parse('2030-01-01T00:00:00Z')
    const { url } = await serve(
      t,
      status(503, { 'retry-after': 'Tue, 01 Jan 2030 00:00:01 GMT' }),
      json(active),
    )
    const start = performance.now()
    assert.ok(await client(url, { deadlineMs: 5000, clock }).introspect(token))
    assert.ok(performance.now() - start >= 999)
  })

  it('not if Retry-After is beyond the deadline', async (t) => {
    const { url, received } = await serve(t, status(429, { 'retry-after': '60' }))
    const start = performance.now()
    const {
      code,
      retryAfterMs,
      status: responseStatus,
    } = await failure(client(url, { deadlineMs: 30_000 }).introspect(token))
    assert.ok(performance.now() - start < 30_000)
    assert.deepEqual([code, retryAfterMs, responseStatus, received.length], ['rate_limited', 60_000, 429, 1])
  })

  it('not beyond the deadline', async (t) => {
    const { url } = await serve(t, never)
    const start = performance.now()
    assert.equal((await failure(client(url, { deadlineMs: 300 }).introspect(token))).code, 'timed_out')
    const took = performance.now() - start
    assert.ok(took < 3000, `it took ${took} ms`)
  })

  it('not beyond the deadline, if the response never ends', async (t) => {
    const { url } = await serve(t, (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).write('{"active":'),
    )
    const start = performance.now()
    assert.equal((await failure(client(url, { deadlineMs: 300 }).introspect(token))).code, 'timed_out')
    assert.ok(performance.now() - start < 3000)
  })

  it('if nothing listens, and fails in time', async () => {
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise((resolve) => server.close(resolve))
    const error = await failure(client(`http://127.0.0.1:${port}/oauth2/introspect`).introspect(token))
    assert.equal(error.code, 'unreachable')
    assert.match(error.message, new RegExp(`at http://127\\.0\\.0\\.1:${port} \\(ECONNREFUSED\\)`))
  })
})

describe('introspect fails at once', () => {
  const lasting: [number, IntrospectionErrorCode][] = [
    [400, 'refused'],
    [401, 'unauthenticated'],
    [403, 'refused'],
    [404, 'refused'],
    [405, 'refused'],
    [413, 'refused'],
    [415, 'refused'],
    [501, 'refused'],
    [204, 'bad_response'],
    [304, 'bad_response'],
  ]
  for (const [code, expected] of lasting) {
    it(`after ${code}`, async (t) => {
      const { url, received } = await serve(t, status(code, { 'retry-after': '0' }))
      const error = await failure(client(url).introspect(token))
      assert.equal(error.code, expected)
      assert.equal(received.length, 1)
    })
  }

  it('after a 403 for the scope', async (t) => {
    const challenge =
      'Token, Bearer realm="User Group Service", error="insufficient_scope", scope="introspect"'
    const { url } = await serve(t, status(403, { 'www-authenticate': challenge }))
    const error = await failure(client(url).introspect(token))
    assert.equal(error.code, 'forbidden')
    assert.match(error.message, /scope "introspect"/)
  })

  it('after a 403 of another endpoint, such as /api/user, with an error that names the endpoint', async (t) => {
    const { url } = await serve(t, status(403))
    const { message } = await failure(client(url).introspect(token))
    assert.match(message, /Check that url is that of \/oauth2\/introspect/)
  })

  for (const code of [301, 302, 303, 307, 308]) {
    it(`after ${code}, without following it`, async (t) => {
      const other = await serve(t, json(active))
      const { url, received } = await serve(t, status(code, { location: other.url }))
      const error = await failure(client(url).introspect(token))
      assert.equal(error.code, 'bad_response')
      assert.match(error.message, new RegExp(`its status is ${code}`))
      assert.deepEqual([received.length, other.received.length], [1, 0])
    })
  }

  const strange: [string, Responder][] = [
    ['what is no JSON', text('<html>customer-42</html>')],
    ['nothing', text('')],
    ['another type', text(JSON.stringify(active), 'text/html')],
    ['another type that begins alike', text(JSON.stringify(active), 'application/jsonp')],
    ['what is not UTF-8', text(Buffer.from(JSON.stringify({ ...active, name: '\u00e9' }), 'latin1'))],
    ['half a response', text(JSON.stringify(active).slice(0, -1))],
  ]
  for (const [title, responder] of strange) {
    it(`after ${title}`, async (t) => {
      const { url, received } = await serve(t, responder)
      assert.equal((await failure(client(url).introspect(token))).code, 'bad_response')
      assert.equal(received.length, 1)
    })
  }

  it('after an oversized response, without reading on', async (t) => {
    let written = 0
    const { url } = await serve(t, (response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = Buffer.alloc(64 * 1024, ' ')
      const write = () => {
        while (!response.destroyed && written < 1e9 && response.write(chunk)) written += chunk.length
      }
      response.on('drain', write)
      write()
    })
    const error = await failure(client(url, { deadlineMs: 20_000 }).introspect(token))
    assert.equal(error.code, 'bad_response')
    assert.ok(written < 64 * 1024 * 1024, `${written} bytes were read`)
  })

  it('accepts the largest possible response', async (t) => {
    const properties = { text: 'x'.repeat(7 * 1024 * 1024) }
    const { url } = await serve(t, json({ ...active, properties }))
    const userGroup = await client(url, { deadlineMs: 20_000 }).introspect(token)
    assert.deepEqual(userGroup?.properties, properties)
  })
})

describe('cache of introspect', () => {
  const cache = { maxAgeMs: 1000, maxEntries: 2 }

  it('sends one request until the entry expires', async (t) => {
    const { url, received } = await serve(t, json(active), json({ active: false }))
    const clock = new SettableClock()
    const service = client(url, { cache, clock })
    const first = await service.introspect(token)
    clock.time -= 86_400_000
    clock.elapsed += 999
    assert.equal(await service.introspect(token), first)
    assert.equal(received.length, 1)
    clock.elapsed += 1
    assert.equal(await service.introspect(token), null)
    assert.equal(received.length, 2)
  })

  it('counts the age from the request, not from the response', async (t) => {
    const clock = new SettableClock()
    const { url, received } = await serve(t, (response, call) => {
      clock.pass(600)
      json(active)(response, call)
    })
    const service = client(url, { cache, clock })
    await service.introspect(token)
    clock.pass(399)
    await service.introspect(token)
    assert.equal(received.length, 1)
    clock.pass(1)
    await service.introspect(token)
    assert.equal(received.length, 2)
  })

  it('keeps neither inactive tokens nor failures', async (t) => {
    const { url, received } = await serve(t, json({ active: false }), status(401), json(active))
    const service = client(url, { cache })
    assert.equal(await service.introspect(token), null)
    await failure(service.introspect(token))
    assert.ok(await service.introspect(token))
    assert.ok(await service.introspect(token))
    assert.equal(received.length, 3)
  })

  it('drops a token that is invalidated, also while its response is on the way', async (t) => {
    let beforeSecondResponse = () => undefined as unknown
    const second: Responder = (response, call) => {
      beforeSecondResponse()
      json(active)(response, call)
    }
    const { url, received } = await serve(t, json(active), second, json(active))
    const service = client(url, { cache })
    beforeSecondResponse = () => service.invalidate(token)
    await service.introspect(token)
    service.invalidate(token)
    await service.introspect(token)
    await service.introspect(token)
    assert.equal(received.length, 3)
    await service.introspect(token)
    assert.equal(received.length, 3)
    await service.close()
    await service.introspect(token)
    assert.deepEqual(
      received.slice(3).map(({ url: path }) => path),
      ['/usage', '/oauth2/introspect'],
    )
  })

  it('is not used by an aborted call', async (t) => {
    const { url } = await serve(t, json(active))
    const service = client(url, { cache })
    await service.introspect(token)
    await assert.rejects(service.introspect(token, { signal: AbortSignal.abort(new Error('gone')) }), /gone/)
  })

  it('returns frozen user groups', async (t) => {
    const { url } = await serve(t, json({ ...active, properties: { regions: ['EU'], deep: { a: [{}] } } }))
    const userGroup = (await client(url, { cache }).introspect(token)) as unknown as {
      name: string
      properties: { regions: string[]; deep: { a: [{ b?: number }] } }
      mapping: Record<string, string>
      dataSources: Record<string, unknown>
      token: { expiresAt: number }
    }
    for (const change of [
      () => (userGroup.name = 'other'),
      () => userGroup.properties.regions.push('US'),
      () => (userGroup.properties.deep.a[0].b = 1),
      () => (userGroup.mapping[40] = '1'),
      () => (userGroup.dataSources[41] = {}),
      () => (userGroup.token.expiresAt = 1),
    ]) {
      assert.throws(change, TypeError)
    }
  })
})

describe('IntrospectionClient refuses', () => {
  const wrong = [
    { url: '' },
    { url: '/oauth2/introspect' },
    { url: 'ftp://127.0.0.1/' },
    { url: 'http://user:secretofthebackend@127.0.0.1/' },
    { apiToken: '' },
    { apiToken: 'Token secretofthebackend' },
    { apiToken: 'secretofthebackend\n' },
    { deadlineMs: 0 },
    { deadlineMs: NaN },
    { deadlineMs: Infinity },
    { cache: { maxAgeMs: 0, maxEntries: 1 } },
    { cache: { maxAgeMs: 1000, maxEntries: 0 } },
    { cache: { maxAgeMs: Infinity, maxEntries: 1 } },
    { cache: { maxAgeMs: 1000, maxEntries: 1.5 } },
    { cache: {} },
    { cache: true },
    { cache: { maxEntries: 10 } },
    { cache: { maxAgeMs: 1000 } },
    { cache: { maxAge: 1000, maxEntries: 10 } },
    { deadlineMs: '2000' },
    { apiToken: undefined },
    { apiToken: null },
  ]
  for (const options of wrong) {
    it(JSON.stringify(options), () => {
      assert.throws(
        () =>
          new IntrospectionClient({
            url: 'http://127.0.0.1/oauth2/introspect',
            apiToken,
            ...options,
          } as IntrospectionClientOptions),
        (error: unknown) => error instanceof Error && !error.message.includes('secretof'),
      )
    })
  }
})
