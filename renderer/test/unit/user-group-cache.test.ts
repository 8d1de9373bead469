import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readIntrospection } from '../../src/introspection-response.ts'
import { UserGroupCache } from '../../src/user-group-cache.ts'
import { active } from '../introspection-server.ts'
import { SettableClock } from '../support.ts'

const userGroup = readIntrospection(JSON.stringify(active)) ?? assert.fail()
const maxAgeMs = 1000

describe('user group cache', () => {
  function emptyCache(maxEntries = 1) {
    const clock = new SettableClock()
    return { cache: new UserGroupCache({ maxAgeMs, maxEntries }, clock), clock }
  }

  it('returns an entry until it is too old', () => {
    const { cache, clock } = emptyCache()
    cache.set('a', userGroup, clock.monotonic())
    assert.equal(cache.get('a'), userGroup)
    assert.equal(cache.get('b'), undefined)
    clock.pass(999)
    assert.equal(cache.get('a'), userGroup)
    clock.pass(1)
    assert.equal(cache.get('a'), undefined)
  })

  for (const leap of [-86_400_000, 86_400_000]) {
    it(`measures age independently of clock changes, by ${leap} ms`, () => {
      const { cache, clock } = emptyCache()
      cache.set('a', userGroup, clock.monotonic())
      clock.time += leap
      clock.pass(999)
      assert.equal(cache.get('a'), userGroup)
      clock.pass(1)
      assert.equal(cache.get('a'), undefined)
    })
  }

  it('returns nothing after the end of a grace period', () => {
    const { cache, clock } = emptyCache()
    const expiresAt = clock.now() + 500
    cache.set('a', { ...userGroup, token: { issuedAt: 0, expiresAt } }, clock.monotonic())
    clock.pass(499)
    assert.ok(cache.get('a'))
    clock.time += 1
    assert.equal(cache.get('a'), undefined)
  })

  it('drops the least recently used entry', () => {
    const { cache } = emptyCache(2)
    cache.set('a', userGroup, 5000)
    cache.set('b', userGroup, 5000)
    cache.get('a')
    cache.set('c', userGroup, 5000)
    assert.deepEqual(
      ['a', 'b', 'c'].filter((token) => cache.get(token)),
      ['a', 'c'],
    )
  })

  it('never exceeds its maximum', () => {
    const { cache } = emptyCache(10)
    for (let i = 0; i < 1000; i++) cache.set(String(i), userGroup, 5000)
    assert.equal(Array.from({ length: 1000 }, (_, i) => cache.get(String(i))).filter(Boolean).length, 10)
  })
})
