import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'
import { ArrivalClock } from '../../../src/http/server/arrival-clock.ts'

function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** Returns a clock and the arrival time of its first request, before which nothing can have waited. */
async function startClock(): Promise<{ clock: ArrivalClock; first: number }> {
  const clock = new ArrivalClock()
  await sleep(5)
  return { clock, first: clock.arrivalOn(new Socket()) }
}

describe('the arrival time of a request', () => {
  it('is the start of the event-loop iteration that reads it', async () => {
    const { clock, first } = await startClock()
    work(10)
    assert.equal(clock.arrivalOn(new Socket()), first)
  })

  it('is the midpoint of the time that the loop was busy before', async () => {
    const { clock, first } = await startClock()
    work(40)
    await nextTick()
    const before = performance.now()
    const arrival = clock.arrivalOn(new Socket())
    assert.ok(arrival >= first + 20 && arrival <= before - 20 + (performance.now() - before), `${arrival}`)
  })

  it('is not before the last response on its connection', async () => {
    const { clock } = await startClock()
    const socket = new Socket()
    work(40)
    const responded = performance.now()
    clock.markResponse(socket)
    await nextTick()
    assert.ok(clock.arrivalOn(socket) >= responded)
  })

  it('is the time of reading if the loop was idle', async () => {
    const { clock } = await startClock()
    await sleep(20)
    const before = performance.now()
    assert.ok(clock.arrivalOn(new Socket()) >= before)
  })
})
