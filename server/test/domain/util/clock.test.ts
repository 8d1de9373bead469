import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { steady } from '../../../src/domain/util/clock.ts'

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

describe('a clock that is set anew', () => {
  it('goes on evenly where it is set back by an hour, until that is made up for', () => {
    const { time, now, pass } = jumping()
    const began = now()
    time.now -= hour
    for (const passed of [0, 1, 60_000, hour - 60_001]) {
      pass(passed)
      assert.equal(now() - began, time.monotonic - 5000.25)
    }
    // Set forward again, as if nothing had been.
    time.now += hour
    assert.equal(now(), time.now)
    pass(1)
    assert.equal(now(), time.now)
  })

  it('is followed where it is set forward, and where it is set back by more than two hours', () => {
    const { time, now, pass } = jumping()
    now()
    time.now += 24 * hour
    assert.equal(now(), time.now)
    pass(1000)
    time.now -= 24 * hour
    assert.equal(now(), time.now)
  })

  it('never differs from the other while that is not set anew', () => {
    const { time, now, pass } = jumping()
    for (let i = 0; i < 1000; i++) {
      pass(i % 7)
      assert.equal(now(), time.now)
    }
  })
})
