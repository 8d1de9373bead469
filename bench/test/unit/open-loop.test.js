import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenLoop, openLoopFigures } from '../../lib/open-loop.js'

test('a pause of the server counts for each request that it delays', () => {
  /** @type {[connection: number, index: number][]} */
  const sent = []
  const loop = loopOf({ connections: 1, count: 4, send: (...request) => sent.push(request) })
  loop.sendDue(1000)
  loop.sendDue(1010)
  assert.deepEqual(sent, [[0, 0]])
  for (let index = 0; index < 4; index++) loop.responded(0, index, 1100 + index)
  assert.equal(sent.length, 4)
  assert.ok(loop.isOver)
  assert.deepEqual(loop.result, {
    latencies: [100, 91, 82, 73],
    delays: [0, 0, 80, 70],
    longestPause: 100,
    duration: 103,
  })
})

test('requests use all connections and start no earlier than scheduled', () => {
  /** @type {number[]} */
  const connections = []
  const loop = loopOf({ connections: 2, count: 3, send: (connection) => connections.push(connection) })
  loop.sendDue(1009.9)
  loop.sendDue(1010)
  loop.responded(1, 1, 1011)
  loop.sendDue(1020)
  assert.deepEqual(connections, [0, 1, 1])
  assert.deepEqual(loop.result.latencies, [1])
})

test('the figures of several parts are those of all their requests', () => {
  const parts = [
    { latencies: [1, 2, 3], delays: [0, 0, 5], longestPause: 7, duration: 10 },
    { latencies: [4, 50], delays: [0, 0], longestPause: 3, duration: 15 },
  ]
  const figures = openLoopFigures(parts)
  assert.deepEqual(
    [figures['requests/s'], figures['p50, ms'], figures['longest, ms'], figures['longest pause, ms']],
    [200, 3, 50, 7],
  )
})

/** @param {Pick<ConstructorParameters<typeof OpenLoop>[0], 'connections' | 'count' | 'send'>} options */
function loopOf(options) {
  return new OpenLoop({ requestsPerSecond: 100, startedAt: 1000, ...options })
}
