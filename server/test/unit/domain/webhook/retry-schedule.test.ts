import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextAttemptAt, retryPeriodMs } from '../../../../src/domain/webhook/retry-schedule.ts'

/** Returns the times of all attempts, from 0. */
function timesOf(random: () => number): number[] {
  const times = [0]
  for (;;) {
    const now = times.at(-1) as number
    const next = nextAttemptAt({ attempts: times.length, firstAttemptAt: 0, now }, random())
    if (next === null) return times
    times.push(next)
  }
}

test('pauses grow from 5 seconds to 8 hours, and the last attempt is after 3 days', () => {
  const times = timesOf(() => 0)
  const pauses = times.slice(1).map((time, i) => (time - (times[i] as number)) / 1000)
  assert.deepEqual(pauses.slice(0, 5), [5, 15, 45, 135, 405])
  assert.equal(times.at(-1), retryPeriodMs)
})

test('jitter leaves out up to half of a pause', () => {
  assert.equal(nextAttemptAt({ attempts: 1, firstAttemptAt: 0, now: 0 }, 1), 2500)
  fc.assert(
    fc.property(fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (stream) => {
      const times = timesOf(() => stream.next().value as number)
      assert.equal(times.at(-1), retryPeriodMs)
      assert.ok(times.length >= 14 && times.length <= 30, `${times.length}`)
      assert.ok(times.every((time, i) => i === 0 || time > (times[i - 1] as number)))
    }),
  )
})
