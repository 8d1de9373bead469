import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { poster } from '../../src/http.ts'
import { UsageReporter } from '../../src/usage-reporter.ts'
import { readIntrospection } from '../../src/introspection-response.ts'
import type { UserGroup } from '../../src/user-group.ts'
import {
  active,
  activeSession,
  broken,
  json,
  serve,
  status,
  type Responder,
} from '../introspection-server.ts'
import { SettableClock } from '../support.ts'
import { apiToken, client, token } from '../test-client.ts'

const group = readIntrospection(JSON.stringify(active)) ?? assert.fail()
const session = readIntrospection(JSON.stringify(activeSession)) ?? assert.fail()
const recorded = json({ success: 1, accepted: 1, ignored: 0 })
const noon = Date.parse('2026-11-28T12:00:00Z')
const dayMs = 24 * 60 * 60 * 1000

interface Mark {
  readonly team_id: number
  readonly viewer_id: string
  readonly resource: string
  readonly day: string
}

async function startReporter(t: TestContext, ...responders: [Responder, ...Responder[]]) {
  const { url, received } = await serve(t, ...responders)
  const clock = new SettableClock()
  clock.time = noon
  const headers = { authorization: `Token ${apiToken}` }
  const reporter = new UsageReporter({
    ...{ url: new URL('/usage', url), headers, clock },
    post: poster('http:'),
  })
  const marks = () => received.map(({ body }) => (JSON.parse(body) as { marks: Mark[] }).marks)
  return { reporter, clock, received, marks }
}

describe('the usage reporter', () => {
  it('reports each viewer and resource once a day', async (t) => {
    const { reporter, clock, received, marks } = await startReporter(t, recorded)
    await reporter.report()
    for (let i = 0; i < 3; i++) {
      reporter.note(session, 'sales')
      reporter.note(group)
      await reporter.report()
    }
    const ofGroup = { team_id: 7, viewer_id: '', resource: '', day: '2026-11-28' }
    const ofSession = { ...ofGroup, viewer_id: 'u-7', resource: 'sales' }
    assert.deepEqual(marks(), [[ofSession, ofGroup]])
    clock.time += dayMs
    reporter.note(group)
    await reporter.close()
    assert.deepEqual(marks().at(-1), [{ ...ofGroup, day: '2026-11-29' }])
    const [request] = received
    assert.deepEqual([request?.method, request?.url], ['POST', '/usage'])
    assert.equal(request?.headers.authorization, `Token ${apiToken}`)
    assert.equal(request.headers['content-type'], 'application/json')
  })

  it('keeps marks until the service has them, also of the day before', async (t) => {
    const { reporter, clock, marks } = await startReporter(t, broken, status(503), status(429), recorded)
    reporter.note(group)
    await reporter.report()
    clock.time += dayMs
    reporter.note(group)
    await reporter.report()
    await reporter.report()
    await reporter.report()
    assert.deepEqual(
      marks().map((sent) => sent.map(({ day }) => day)),
      [['2026-11-28'], ...Array.from({ length: 3 }, () => ['2026-11-28', '2026-11-29'])],
    )
    await reporter.report()
    assert.equal(marks().length, 4)
  })

  it('drops marks that the service refuses', async (t) => {
    const { reporter, marks } = await startReporter(t, status(404))
    reporter.note(group)
    await reporter.report()
    await reporter.report()
    assert.equal(marks().length, 1)
  })

  it('keeps up to 100,000 marks', async (t) => {
    const { reporter, marks } = await startReporter(t, recorded)
    for (let i = 0; i < 100_001; i++) reporter.note(group, `dashboard ${i}`)
    await reporter.report()
    assert.equal(marks().flat().length, 100_000)
  })

  it('sends only what the service takes: names that it records, in bodies of up to 1 MiB', async (t) => {
    const { reporter, marks, received } = await startReporter(t, recorded)
    const longest = '\u{1F600}'.repeat(255)
    for (const resource of ['a\0', '\ud800', `${longest}x`, longest]) reporter.note(group, resource)
    const viewer = { ...session, viewer: { ...session.viewer, id: '\u0001'.repeat(255) } } as UserGroup
    for (let i = 100; i < 1000; i++) reporter.note(viewer, `${i}${'\u0001'.repeat(252)}`)
    await reporter.report()
    assert.deepEqual(
      marks()[0]
        ?.slice(0, 2)
        .map(({ resource }) => resource),
      ['(more)', longest],
    )
    assert.equal(marks().flat().length, 902)
    for (const { body } of received) assert.ok(Buffer.byteLength(body) <= 1024 * 1024)
  })
})

describe('a client with a cache', () => {
  it('reports the looks that the cache answers, when it is closed', async (t) => {
    const { url, received } = await serve(t, json(activeSession), recorded)
    const clock = new SettableClock()
    clock.time = activeSession.iat * 1000
    const caching = client(url, { cache: { maxAgeMs: 60_000, maxEntries: 10 }, clock })
    await caching.introspect(token, { resource: 'sales-overview' })
    for (let i = 0; i < 2; i++) assert.ok(await caching.introspect(token, { resource: 'sales-overview' }))
    assert.equal(await caching.introspect(token, { resource: 'of others' }), null)
    assert.equal(received.length, 1)
    await caching.close()
    assert.equal(received[1]?.url, '/usage')
    const { marks } = JSON.parse(received[1].body) as { marks: Mark[] }
    assert.deepEqual(
      marks.map(({ viewer_id, resource }) => [viewer_id, resource]),
      [['u-7', 'sales-overview']],
    )
    assert.ok(!received[1].body.includes(token))
  })

  it('takes another URL, and reports nothing if it knows none', async (t) => {
    const { url, received } = await serve(t, json(active), recorded)
    const { origin } = new URL(url)
    for (const [options, expected] of [
      [{ usageUrl: `${origin}/marks` }, ['/introspect', '/marks']],
      [{}, ['/introspect']],
    ] as const) {
      received.length = 0
      const caching = client(`${origin}/introspect`, {
        cache: { maxAgeMs: 60_000, maxEntries: 10 },
        ...options,
      })
      for (let i = 0; i < 2; i++) await caching.introspect(token)
      await caching.close()
      assert.deepEqual(
        received.map((request) => request.url),
        expected,
      )
    }
    assert.throws(
      () => client(url, { cache: { maxAgeMs: 1, maxEntries: 1 }, usageUrl: 'ftp://x' }),
      /usageUrl/,
    )
  })
})
