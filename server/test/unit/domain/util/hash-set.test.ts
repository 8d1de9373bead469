import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HashSet } from '../../../../src/domain/util/hash-set.ts'

test('a text is new only once, among many and after the set has grown', () => {
  const set = new HashSet()
  const texts = ['', ' ', 'é', 'e\u0301', 'a', 'A', ...Array.from({ length: 100_000 }, (_, i) => `id ${i}`)]
  for (const text of texts) assert.equal(set.add(text), true, text)
  for (const text of texts) assert.equal(set.add(text), false, text)
  assert.equal(set.add('another'), true)
})
