import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IntrospectOptions } from '../../src/index.ts'
import { active, activeSession, json, serve } from '../introspection-server.ts'
import { SettableClock } from '../support.ts'
import { client } from '../test-client.ts'

const session = 'eyJhbGciOiJFUzI1NiJ9.e30.secretofthepage'

describe('introspect for a resource', () => {
  it('sends it, and returns the session that may show it', async (t) => {
    const { url, received } = await serve(t, json(activeSession))
    const userGroup = await client(url).introspect(session, { resource: 'sales-overview' })
    assert.equal(userGroup?.viewer?.id, 'u-7')
    assert.deepEqual(
      [...new URLSearchParams(received[0]?.body)],
      [
        ['token', session],
        ['resource', 'sales-overview'],
      ],
    )
  })

  it('returns null for others, even if the service says active', async (t) => {
    const { url } = await serve(t, json(activeSession))
    for (const resource of ['payroll', 'Stock', 'stock ', 'sales-overview,stock'])
      assert.equal(await client(url).introspect(session, { resource }), null)
  })

  it('returns null for others from a cache with a maximum age', async (t) => {
    const { url, received } = await serve(t, json(activeSession))
    const cache = { maxAgeMs: 60_000, maxEntries: 10 }
    const cached = client(url, { cache, clock: new SettableClock() })
    assert.ok(await cached.introspect(session))
    assert.ok(await cached.introspect(session, { resource: 'stock' }))
    assert.equal(await cached.introspect(session, { resource: 'payroll' }), null)
    assert.equal(received.length, 1)
  })

  it('returns sessions and user group tokens that may show all', async (t) => {
    for (const response of [active, { ...activeSession, resources: null }]) {
      const { url } = await serve(t, json(response))
      assert.ok(await client(url).introspect(session, { resource: 'payroll' }))
    }
  })

  it('returns null without a request if the resource is missing', async (t) => {
    const { url, received } = await serve(t, json(activeSession))
    for (const resource of [undefined, null, '', ['stock'], {}])
      assert.equal(await client(url).introspect(session, { resource } as IntrospectOptions), null)
    assert.equal(received.length, 0)
  })

  it('accepts the longest session', async (t) => {
    const { url } = await serve(t, json(activeSession))
    assert.ok(await client(url).introspect('x'.repeat(6 * 1024)))
  })
})
