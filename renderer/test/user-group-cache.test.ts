import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readAnswer } from '../src/introspection-answer.ts'
import { UserGroupCache } from '../src/user-group-cache.ts'
import { active } from './introspection-server.ts'
import { SettableClock } from './support.ts'

const userGroup = readAnswer(JSON.stringify(active)) ?? assert.fail()
const maxAgeMs = 1000

describe('the cache of user groups', () => {
  function emptyCache(maxEntries = 1) {
    const clock = new SettableClock()
    return { cache: new UserGroupCache({ maxAgeMs, maxEntries }, clock), clock }
  }

  it('gives what was set, until it is too old', () => {
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
    it(`goes by how much time has passed, where the clock was set by ${leap} ms`, () => {
      const { cache, clock } = emptyCache()
      cache.set('a', userGroup, clock.monotonic())
      clock.time += leap
      clock.pass(999)
      assert.equal(cache.get('a'), userGroup)
      clock.pass(1)
      assert.equal(cache.get('a'), undefined)
    })
  }

  it('gives nothing beyond the end of a grace period, which is a date', () => {
    const { cache, clock } = emptyCache()
    const expiresAt = clock.now() + 500
    cache.set('a', { ...userGroup, token: { issuedAt: 0, expiresAt } }, clock.monotonic())
    clock.pass(499)
    assert.ok(cache.get('a'))
    clock.time += 1
    assert.equal(cache.get('a'), undefined)
  })

  it('drops what was not asked for the longest', () => {
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

  it('never holds more than it may', () => {
    const { cache } = emptyCache(10)
    for (let i = 0; i < 1000; i++) cache.set(String(i), userGroup, 5000)
    assert.equal(Array.from({ length: 1000 }, (_, i) => cache.get(String(i))).filter(Boolean).length, 10)
  })
})
