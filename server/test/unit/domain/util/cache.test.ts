import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Cache } from '../../../../src/domain/util/cache.ts'

describe('the cache', () => {
  it('returns the value that was set, and nothing for another key', () => {
    const cache = new Cache<number>(2)
    cache.set('a', 1)
    assert.equal(cache.get('a'), 1)
    assert.equal(cache.get('b'), undefined)
  })

  it('returns the last value', () => {
    const cache = new Cache<number>(1)
    for (const [key, value] of [
      ['a', 1],
      ['b', 2],
      ['a', 3],
    ] as const) {
      cache.set(key, value)
    }
    assert.equal(cache.get('a'), 3)
  })

  it('keeps used entries and drops others', () => {
    const cache = new Cache<number>(10)
    cache.set('kept', 0)
    cache.set('dropped', 0)
    for (let i = 1; i < 1000; i++) {
      cache.set(`other ${i}`, i)
      assert.equal(cache.get('kept'), 0)
    }
    assert.equal(cache.get('dropped'), undefined)
  })

  it('never holds more than twice its size', () => {
    const cache = new Cache<number>(10)
    for (let i = 0; i < 1000; i++) cache.set(String(i), i)
    const held = Array.from({ length: 1000 }, (_, i) => cache.get(String(i))).filter(
      (value) => value !== undefined,
    )
    assert.ok(held.length >= 10 && held.length <= 20, `${held.length} are held`)
  })
})
