import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AttemptsInFlight, maxInFlight } from '../../../../src/domain/webhook/attempts-in-flight.ts'

/** Starts as many attempts as possible to endpoints in turn, each with `queues` due deliveries, and returns their number. */
function start(
  attempts: AttemptsInFlight,
  { workspaceId, endpoints, queues }: { workspaceId: number; endpoints: number; queues: number },
  isSucceeding: boolean,
): number {
  let count = 0
  for (let queue = 0; queue < queues; queue++)
    for (let endpoint = 0; endpoint < endpoints; endpoint++) {
      const target = { id: workspaceId * 10_000 + endpoint, workspaceId, isSucceeding }
      if (!attempts.mayStart(target)) continue
      attempts.add(`${target.id}/${queue}`, target, Promise.resolve())
      count++
    }
  return count
}

const many = { endpoints: 2000, queues: 1 }

test('one workspace has at most half of the attempts in flight, and every other one gets some', () => {
  const attempts = new AttemptsInFlight()
  assert.equal(start(attempts, { workspaceId: 1, ...many }, true), maxInFlight / 2)
  assert.equal(start(attempts, { workspaceId: 2, ...many }, false), maxInFlight / 4)
  assert.equal(start(attempts, { workspaceId: 3, ...many }, false), maxInFlight / 8)
})

test('an endpoint has one attempt in flight until one succeeds, and then up to four', () => {
  const few = { workspaceId: 1, endpoints: 10, queues: 20 }
  assert.equal(start(new AttemptsInFlight(), few, false), 10)
  assert.equal(start(new AttemptsInFlight(), few, true), 40)
})

test('endpoints that succeeded and now hang leave places to the others of their workspace', () => {
  const attempts = new AttemptsInFlight()
  const hanging = { workspaceId: 1, endpoints: 300, queues: 20 }
  assert.ok(start(attempts, hanging, true) < maxInFlight / 2 - 100)
  assert.ok(attempts.mayStart({ id: 1, workspaceId: 1, isSucceeding: false }))
})

test('an attempt that has ended leaves its place', () => {
  const attempts = new AttemptsInFlight()
  start(attempts, { workspaceId: 1, ...many }, false)
  const target = { id: 1, workspaceId: 1, isSucceeding: false }
  assert.equal(attempts.mayStart(target), false)
  attempts.delete('10000/0')
  attempts.delete('10000/0')
  assert.equal(attempts.countOf(10_000), 0)
  assert.equal(attempts.mayStart(target), true)
  attempts.add('1/0', target, Promise.resolve())
  assert.equal(attempts.mayStart({ ...target, id: 2 }), false)
})

test('an endpoint gets more attempts while they are fast, and fewer once they wait in its receiver', () => {
  const attempts = new AttemptsInFlight()
  const target = { id: 1, workspaceId: 1, isSucceeding: true }
  const note = (count: number, durationMs: number | null) => {
    for (let i = 0; i < count; i++) attempts.note(target.id, durationMs)
    return attempts.limitOf(target)
  }
  assert.equal(attempts.limitOf(target), 4)
  assert.equal(note(10, 100), 14)
  assert.equal(note(100, 210), 64)
  assert.equal(note(20, 300), 44)
  assert.equal(note(100, 300), 4)
  assert.equal(note(6, 100), 10)
  assert.equal(note(1, null), 4)
  assert.equal(attempts.limitOf({ ...target, isSucceeding: false }), 1)
})
