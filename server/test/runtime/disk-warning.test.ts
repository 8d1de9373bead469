import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DiskWarning } from '../../src/runtime/disk-warning.ts'

const mb = 1024 * 1024
const hour = 60 * 60 * 1000

test('a nearly full disk is reported when it falls below the threshold, and then once an hour', () => {
  const warnings: unknown[] = []
  let now = 0
  const logger = { warn: (fields: unknown) => void warnings.push(fields) }
  const warning = new DiskWarning(100 * mb, logger, { monotonic: () => now })
  const warnedAt = (at: number, freeBytes: number) => {
    now = at
    warning.check(freeBytes)
    return warnings.splice(0)
  }
  assert.deepEqual(warnedAt(0, 100 * mb), [])
  assert.deepEqual(warnedAt(1, 100 * mb - 1), [{ free_mb: 99, threshold_mb: 100 }])
  assert.deepEqual(warnedAt(hour, 0), [])
  assert.deepEqual(warnedAt(hour + 1, 0), [{ free_mb: 0, threshold_mb: 100 }])
  assert.deepEqual(warnedAt(hour + 2, 100 * mb), [])
  assert.deepEqual(warnedAt(hour + 3, 5 * mb), [{ free_mb: 5, threshold_mb: 100 }])
})

test('a threshold of 0 turns the warning off', () => {
  const warning = new DiskWarning(0, { warn: () => assert.fail() }, { monotonic: () => 0 })
  warning.check(0)
})
