import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readAnswer } from '../src/introspection-answer.ts'
import { UserGroupCache } from '../src/user-group-cache.ts'
import { active } from './introspection-server.ts'

const userGroup = readAnswer(JSON.stringify(active)) ?? assert.fail()
const maxAgeMs = 1000

describe('the cache of user groups', () => {
  it('gives what was set, until it is too old', () => {
    const cache = new UserGroupCache({ maxAgeMs, maxEntries: 1 })
    cache.set('a', userGroup, 5000)
    assert.equal(cache.get('a', 5000), userGroup)
    assert.equal(cache.get('b', 5000), undefined)
    assert.equal(cache.get('a', 5999), userGroup)
    assert.equal(cache.get('a', 6000), undefined)
  })

  it('gives nothing beyond the end of a grace period', () => {
    const cache = new UserGroupCache({ maxAgeMs, maxEntries: 1 })
    cache.set('a', { ...userGroup, token: { issuedAt: 0, expiresAt: 5500 } }, 5000)
    assert.ok(cache.get('a', 5499))
    assert.equal(cache.get('a', 5500), undefined)
  })

  it('gives nothing when the clock was set back', () => {
    const cache = new UserGroupCache({ maxAgeMs, maxEntries: 1 })
    cache.set('a', userGroup, 5000)
    assert.equal(cache.get('a', 4999), undefined)
  })

  it('drops what was not asked for the longest', () => {
    const cache = new UserGroupCache({ maxAgeMs, maxEntries: 2 })
    cache.set('a', userGroup, 0)
    cache.set('b', userGroup, 0)
    cache.get('a', 0)
    cache.set('c', userGroup, 0)
    assert.deepEqual(
      ['a', 'b', 'c'].filter((token) => cache.get(token, 0)),
      ['a', 'c'],
    )
  })

  it('never holds more than it may', () => {
    const cache = new UserGroupCache({ maxAgeMs, maxEntries: 10 })
    for (let i = 0; i < 1000; i++) cache.set(String(i), userGroup, 0)
    assert.equal(Array.from({ length: 1000 }, (_, i) => cache.get(String(i), 0)).filter(Boolean).length, 10)
  })
})
