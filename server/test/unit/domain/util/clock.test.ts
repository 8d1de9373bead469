import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { steady } from '../../../../src/domain/util/clock.ts'

const hour = 3_600_000

function jumping() {
  const time = { now: Date.parse('2030-01-01T12:00:00Z'), monotonic: 5000.25 }
  const clock = steady({ now: () => time.now, monotonic: () => time.monotonic })
  const now = () => clock.now()
  const pass = (ms: number) => {
    time.now += ms
    time.monotonic += ms
  }
  return { time, now, pass }
}

describe('a steady clock', () => {
  it('continues evenly while the system clock is behind by an hour', () => {
    const { time, now, pass } = jumping()
    const began = now()
    time.now -= hour
    for (const passed of [0, 1, 60_000, hour - 60_001]) {
      pass(passed)
      assert.equal(now() - began, time.monotonic - 5000.25)
    }
    // The clock is set forward again.
    time.now += hour
    assert.equal(now(), time.now)
    pass(1)
    assert.equal(now(), time.now)
  })

  it('follows steps forward, and steps back of more than two hours', () => {
    const { time, now, pass } = jumping()
    now()
    time.now += 24 * hour
    assert.equal(now(), time.now)
    pass(1000)
    time.now -= 24 * hour
    assert.equal(now(), time.now)
  })

  it('equals the system clock as long as that is not changed', () => {
    const { time, now, pass } = jumping()
    for (let i = 0; i < 1000; i++) {
      pass(i % 7)
      assert.equal(now(), time.now)
    }
  })
})
