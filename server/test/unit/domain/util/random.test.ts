import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { randomBytes } from '../../../../src/domain/util/random.ts'

describe('random bytes', () => {
  it('have the requested length and never repeat', () => {
    const generated = Array.from({ length: 5000 }, (_, i) => randomBytes(16 + (i % 17)))
    assert.deepEqual(
      generated.map(({ length }) => length),
      generated.map((_, i) => 16 + (i % 17)),
    )
    // Overlapping results would share some of their bytes.
    const windows = generated.flatMap((bytes) =>
      Array.from({ length: bytes.length - 7 }, (_, i) => bytes.subarray(i, i + 8).toString('hex')),
    )
    assert.equal(new Set(windows).size, windows.length)
  })

  it('are distributed over all values', () => {
    const counts = new Array<number>(256).fill(0)
    for (let i = 0; i < 4000; i++) for (const byte of randomBytes(64)) counts[byte] = (counts[byte] ?? 0) + 1
    // 1,000 of each are expected, within 8 standard deviations.
    assert.ok(counts.every((count) => count > 750 && count < 1250))
  })

  it('are not changed by a later call', () => {
    const bytes = randomBytes(32)
    const before = bytes.toString('hex')
    for (let i = 0; i < 1000; i++) randomBytes(32)
    assert.equal(bytes.toString('hex'), before)
  })
})
