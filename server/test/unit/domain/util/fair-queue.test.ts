import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { FairQueue } from '../../../../src/domain/util/fair-queue.ts'

/** Runs work that ends when the test says so, and records which has started. */
function queueOf(size: number) {
  const queue = new FairQueue(size)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const run = (workspaceId: number, name: string) =>
    queue.run(workspaceId, () => {
      started.push(name)
      return new Promise<void>((resolve) => ends.set(name, resolve))
    })
  const end = async (name: string) => {
    ends.get(name)?.()
    await setImmediate()
  }
  return { queue, started, run, end }
}

test('the work of one workspace uses half of the places, and leaves the others to other workspaces', async () => {
  const { started, run } = queueOf(4)
  for (const name of ['a1', 'a2', 'a3', 'a4']) void run(1, name)
  await setImmediate()
  assert.deepEqual(started, ['a1', 'a2'])
  void run(2, 'b1')
  await setImmediate()
  assert.deepEqual(started, ['a1', 'a2', 'b1'])
})

test('workspaces that wait take turns, each in its own order', async () => {
  const { started, run, end } = queueOf(1)
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void run(1, name)
  for (const name of ['b1', 'b2']) void run(2, name)
  void run(3, 'c1')
  await setImmediate()
  for (let i = 0; i < 8; i++) await end(started.at(-1) ?? '')
  assert.deepEqual(started, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5'])
})

test('work that fails leaves its place', async () => {
  const { queue } = queueOf(1)
  const failure = new Error('failed')
  await assert.rejects(
    queue.run(1, () => Promise.reject(failure)),
    failure,
  )
  assert.equal(await queue.run(2, () => Promise.resolve('done')), 'done')
})

test('work that waits for too long fails, and takes no place later', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const queue = new FairQueue(1, 5000)
  let end: (() => void) | undefined
  const first = queue.run(1, () => new Promise<void>((resolve) => (end = resolve)))
  const late = assert.rejects(
    queue.run(1, () => Promise.reject(new Error('never runs'))),
    { code: 'unavailable' },
  )
  t.mock.timers.tick(4999)
  const inTime = queue.run(2, () => Promise.resolve('done'))
  t.mock.timers.tick(1)
  await late
  end?.()
  await first
  assert.equal(await inTime, 'done')
})
