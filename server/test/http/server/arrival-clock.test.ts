import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { ArrivalClock } from '../../../src/http/server/arrival-clock.ts'

function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** A clock that is asked for the first time, when nothing can have been waiting. */
async function startClock(): Promise<{ clock: ArrivalClock; first: number }> {
  const clock = new ArrivalClock()
  await sleep(5)
  return { clock, first: clock.arrivalOn(new Socket()) }
}

describe('the arrival of a request', () => {
  it('is the beginning of the turn in which it is read', async () => {
    const { clock, first } = await startClock()
    work(10)
    assert.equal(clock.arrivalOn(new Socket()), first)
  })

  it('is in the middle of the time in which the loop was busy before', async () => {
    const { clock, first } = await startClock()
    work(40)
    await nextTurn()
    const before = performance.now()
    const arrival = clock.arrivalOn(new Socket())
    assert.ok(arrival >= first + 20 && arrival <= before - 20 + (performance.now() - before), `${arrival}`)
  })

  it('is not before the last answer on its connection', async () => {
    const { clock } = await startClock()
    const socket = new Socket()
    work(40)
    const responded = performance.now()
    clock.answerOn(socket)
    await nextTurn()
    assert.ok(clock.arrivalOn(socket) >= responded)
  })

  it('is when it is read where the loop had nothing to do', async () => {
    const { clock } = await startClock()
    await sleep(20)
    const before = performance.now()
    assert.ok(clock.arrivalOn(new Socket()) >= before)
  })
})
