import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoreSpace } from '../../../src/domain/store.ts'
import { SpaceWarnings } from '../../../src/runtime/space-warnings.ts'

const mb = 1024 * 1024
const hour = 60 * 60 * 1000

/** Returns a function that returns what is logged for a state of the disk at a time. */
function recordedWarnings(thresholdBytes: number) {
  const logged: unknown[] = []
  let now = 0
  const warnings = new SpaceWarnings(
    thresholdBytes,
    { warn: (fields: unknown) => void logged.push(fields) },
    { monotonic: () => now },
  )
  return (at: number, space: Partial<StoreSpace>) => {
    now = at
    warnings.check({ size: 0, log: 0, free: 1000 * mb, ...space })
    return logged.splice(0)
  }
}

test('a nearly full disk is reported when it falls below the threshold, and then once an hour', () => {
  const warnedAt = recordedWarnings(100 * mb)
  assert.deepEqual(warnedAt(0, { free: 100 * mb }), [])
  assert.deepEqual(warnedAt(1, { free: 100 * mb - 1 }), [{ free_mb: 99, threshold_mb: 100 }])
  assert.deepEqual(warnedAt(hour, { free: 0 }), [])
  assert.deepEqual(warnedAt(hour + 1, { free: 0 }), [{ free_mb: 0, threshold_mb: 100 }])
  assert.deepEqual(warnedAt(hour + 2, { free: 100 * mb }), [])
  assert.deepEqual(warnedAt(hour + 3, { free: 5 * mb }), [{ free_mb: 5, threshold_mb: 100 }])
})

test('a threshold of 0 turns the warning of a nearly full disk off', () => {
  assert.deepEqual(recordedWarnings(0)(0, { free: 0 }), [])
})

test('a write-ahead log that is large for its store is reported, once an hour', () => {
  const warnedAt = recordedWarnings(0)
  assert.deepEqual(warnedAt(0, { size: 92 * mb, log: 64 * mb }), [])
  const large = { size: 210 * mb, log: 182 * mb }
  assert.deepEqual(warnedAt(1, large), [{ log_mb: 182, store_mb: 210 }])
  assert.deepEqual(warnedAt(hour, large), [])
  assert.deepEqual(warnedAt(hour + 1, large), [{ log_mb: 182, store_mb: 210 }])
  // The log of a store of 2 GB may be larger.
  assert.deepEqual(warnedAt(hour + 2, { size: 2182 * mb, log: 182 * mb }), [])
  assert.deepEqual(warnedAt(hour + 3, { size: 1000 * mb, log: null, free: null }), [])
})
