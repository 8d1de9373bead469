import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { NodeHealth } from '../../../../src/store/postgres/citus/node-health.ts'
import { nodeDown, PostgresFailure } from '../../../../src/store/postgres/postgres-fault.ts'

const boundMs = 5000
const maxProbes = 2
const unreachable = () => Promise.reject(new PostgresFailure('08006', 'querying'))
const succeed = () => Promise.resolve('done')
const refused = { code: nodeDown, isRetryable: false, isAmbiguous: false }

function start() {
  let now = 0
  const health = new NodeHealth(boundMs, maxProbes, () => now)
  const failAt = async (ms: number, node: number) => {
    now = ms
    await assert.rejects(health.run(node, unreachable), { code: '08006' })
  }
  /** Starts a statement that fails when the returned function is called. */
  const begin = (node: number) => {
    let fail: () => void = () => undefined
    const statement = health.run(
      node,
      () => new Promise((_, reject) => (fail = () => reject(new PostgresFailure('57014', 'querying')))),
    )
    return async (ms: number) => {
      now = ms
      fail()
      await assert.rejects(statement, { code: '57014' })
    }
  }
  return { health, failAt, begin }
}

describe('statements for a node that does not respond', () => {
  it('are sent until they have failed for the bound, then one at a time', async () => {
    const { health, failAt, begin } = start()
    await failAt(0, 1)
    await failAt(boundMs - 1, 1)
    await failAt(boundMs, 1)
    const endProbe = begin(1)
    await assert.rejects(health.run(1, succeed), refused)
    await endProbe(boundMs + 1)
    assert.equal(await health.run(1, succeed), 'done')
  })

  it('count from the start of the first that failed, because a statement may wait for its time-out', async () => {
    const { health, begin } = start()
    await begin(1)(boundMs)
    begin(1)
    await assert.rejects(health.run(1, succeed), refused)
  })

  it('are all sent again after one succeeded', async () => {
    const { health, failAt, begin } = start()
    await failAt(0, 1)
    await failAt(boundMs, 1)
    await health.run(1, succeed)
    begin(1)
    assert.equal(await health.run(1, succeed), 'done')
  })

  it('do not count if one that started later succeeded', async () => {
    const { health, begin } = start()
    const fail = begin(1)
    await begin(2)(boundMs - 1)
    await health.run(1, succeed)
    await fail(boundMs)
    begin(1)
    assert.equal(await health.run(1, succeed), 'done')
  })

  it('do not affect other nodes, whether these are up or down', async () => {
    const { health, failAt, begin } = start()
    for (const node of [1, 2]) await failAt(0, node)
    for (const node of [1, 2]) await failAt(boundMs, node)
    begin(1)
    assert.equal(await health.run(3, succeed), 'done')
    assert.equal(await health.run(2, succeed), 'done')
  })

  it('are limited over all nodes that are down', async () => {
    const { health, failAt, begin } = start()
    for (const node of [1, 2, 3]) await failAt(0, node)
    for (const node of [1, 2, 3]) await failAt(boundMs, node)
    const [end] = [begin(1), begin(2)]
    await assert.rejects(health.run(3, succeed), refused)
    await end(boundMs + 1)
    assert.equal(await health.run(3, succeed), 'done')
  })

  it('count only if the node may be the cause', async () => {
    const { health, failAt, begin } = start()
    await failAt(0, 1)
    await health.run(1, succeed)
    const refuse = () => Promise.reject(new PostgresFailure('23505', 'querying'))
    await assert.rejects(health.run(1, refuse))
    await failAt(boundMs, 1)
    begin(1)
    assert.equal(await health.run(1, succeed), 'done')
  })
})
