import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { keyBytes, longestText, TextRing } from '../../../src/http/user/ring-buffer-cache.ts'

const freshKey = () => randomBytes(keyBytes)

describe('a ring of texts', () => {
  it('has what was set, by all of its key', () => {
    const ring = new TextRing()
    const key = freshKey()
    assert.equal(ring.get(key), undefined)
    ring.set(key, 'a text')
    assert.equal(ring.get(key), 'a text')
    assert.equal(ring.get(Buffer.from(key)), 'a text')
    for (const [i, byte] of key.entries()) {
      const other = Buffer.from(key)
      other[i] = byte ^ 1
      assert.equal(ring.get(other), undefined)
    }
  })

  it('has what was set last with a key', () => {
    const ring = new TextRing()
    const [key, other] = [freshKey(), freshKey()]
    for (const text of ['first', 'second, which is longer', '3']) {
      ring.set(key, text)
      ring.set(other, `not ${text}`)
      assert.deepEqual([ring.get(key), ring.get(other)], [text, `not ${text}`])
    }
  })

  for (const text of ['', ' ', '\0', 'Zürich, 東京, 🙂', '{"a":"\\u0000"}', 'x'.repeat(longestText)]) {
    it(`gives back ${text.length} characters as they were: ${JSON.stringify(text.slice(0, 20))}`, () => {
      const ring = new TextRing()
      const key = freshKey()
      ring.set(key, text)
      assert.equal(ring.get(key), text)
    })
  }

  it('does not keep what is too long, in bytes, and has nothing older in its place', () => {
    const ring = new TextRing()
    const [key, other] = [freshKey(), freshKey()]
    ring.set(key, 'x'.repeat(longestText + 1))
    ring.set(other, 'é'.repeat(longestText / 2 + 1))
    assert.deepEqual([ring.get(key), ring.get(other)], [undefined, undefined])
    ring.set(other, 'é'.repeat(longestText / 2))
    assert.equal(ring.get(other)?.length, longestText / 2)
  })

  it('has keys that begin alike, as many as there are places for them, and then the last of them', () => {
    const ring = new TextRing()
    const beginning = randomBytes(8)
    const keys = Array.from({ length: 20 }, () => Buffer.concat([beginning, randomBytes(keyBytes - 8)]))
    for (const [i, key] of keys.entries()) ring.set(key, `text ${i}`)
    assert.deepEqual(
      keys.map((key) => ring.get(key)),
      keys.map((_, i) => (i < 4 ? undefined : `text ${i}`)),
    )
  })

  it('takes keys of nothing but zeros, or ones, for what they are', () => {
    const ring = new TextRing()
    for (const byte of [0, 255]) {
      const key = Buffer.alloc(keyBytes, byte)
      assert.equal(ring.get(key), undefined)
      ring.set(key, `text ${byte}`)
      assert.equal(ring.get(key), `text ${byte}`)
    }
  })

  it('keeps nearly all of 180,000 texts of 100 bytes; of many more the last ones, and each as it was set or not at all', () => {
    const ring = new TextRing()
    const text = (key: Buffer) => key.toString('hex').repeat(4).slice(0, 100)
    const keys = Array.from({ length: 500_000 }, freshKey)
    const kept = (some: readonly Buffer[]) =>
      some.filter((key) => {
        const found = ring.get(key)
        if (found !== undefined) assert.equal(found, text(key))
        return found !== undefined
      }).length
    const first = keys.slice(0, 180_000)
    for (const key of first) ring.set(key, text(key))
    assert.ok(kept(first) > 172_000, String(kept(first)))
    for (const key of keys.slice(180_000)) ring.set(key, text(key))
    assert.ok(kept(keys.slice(-180_000)) > 172_000)
    assert.equal(kept(first), 0)
  })

  it('keeps texts of all lengths whole, however often it begins anew', () => {
    const ring = new TextRing()
    const texts = Array.from({ length: 20_000 }, (_, i) => String(i).padEnd((i * 7919) % longestText, 'é'))
    const keys = texts.map(freshKey)
    let found = 0
    for (const [i, text] of texts.entries()) {
      ring.set(keys[i] as Buffer, text)
      const earlier = Math.max(0, i - (i % 2000))
      const known = ring.get(keys[earlier] as Buffer)
      if (known === undefined) continue
      found++
      assert.ok(known === texts[earlier], `text ${earlier}, after ${i}`)
    }
    assert.ok(found > 10_000)
  })
})
