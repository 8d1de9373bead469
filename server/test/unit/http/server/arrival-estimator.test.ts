import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { describe, it } from 'node:test'
import { setImmediate as nextTick, setTimeout as sleep } from 'node:timers/promises'
import { ArrivalEstimator } from '../../../../src/http/server/arrival-estimator.ts'

function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

/** Returns an estimator and the arrival time of its first request, before which nothing can have waited. */
async function startEstimator(): Promise<{ estimator: ArrivalEstimator; first: number }> {
  const estimator = new ArrivalEstimator()
  await sleep(5)
  return { estimator, first: estimator.arrivalOn(new Socket()) }
}

describe('the arrival time of a request', () => {
  it('is the start of the event-loop iteration that reads it', async () => {
    const { estimator, first } = await startEstimator()
    work(10)
    assert.equal(estimator.arrivalOn(new Socket()), first)
  })

  it('is the midpoint of the time that the loop was busy before', async () => {
    const { estimator, first } = await startEstimator()
    work(40)
    await nextTick()
    const before = performance.now()
    const arrival = estimator.arrivalOn(new Socket())
    assert.ok(arrival >= first + 20 && arrival <= before - 20 + (performance.now() - before), `${arrival}`)
  })

  it('is not before the last response on its connection', async () => {
    const { estimator } = await startEstimator()
    const socket = new Socket()
    work(40)
    const responded = performance.now()
    estimator.markResponse(socket)
    await nextTick()
    assert.ok(estimator.arrivalOn(socket) >= responded)
  })

  it('is the time of reading if the loop was idle', async () => {
    const { estimator } = await startEstimator()
    const { idleTime } = performance.nodeTiming
    // On a busy machine, the loop may not be idle during the first pause.
    do await sleep(5)
    while (performance.nodeTiming.idleTime - idleTime < 1)
    const before = performance.now()
    assert.ok(estimator.arrivalOn(new Socket()) >= before)
  })
})
