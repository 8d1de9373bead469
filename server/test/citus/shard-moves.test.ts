import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Belongings } from '../failover/belongings.ts'
import { poll } from '../failover/poll.ts'
import type { PostgresServer } from '../failover/postgres-server.ts'
import type { Services } from '../failover/services.ts'
import { CitusCluster, reasonToSkip, type Shard } from './citus-cluster.ts'
import { underLoad } from './under-load.ts'

/** Maximum time of a rebalance, in milliseconds. */
const boundMs = 120_000

const skip = await reasonToSkip()

describe('Citus: shards that move under load', { skip }, () => {
  const belongings = new Belongings()
  let cluster: CitusCluster
  let services: Services
  before(async () => {
    cluster = await CitusCluster.start(belongings, 2)
    services = await cluster.startServices()
  })
  after(() => belongings.end())

  it('loses nothing when shards move between the workers', async () => {
    const [one, other] = cluster.workers.map(({ port }) => port) as [number, number]
    const [first, second, third, ...rest] = (await cluster.shards()) as [Shard, Shard, Shard, ...Shard[]]
    const moved = [first, second, third].map(({ id, port }) => ({ id, port: port === one ? other : one }))
    await underLoad(cluster, services, 'move-', async () => {
      for (const { id, port } of moved) {
        const source = port === one ? other : one
        await cluster.query(
          `SELECT citus_move_shard_placement(${id}, '127.0.0.1', ${source}, '127.0.0.1', ${port})`,
        )
      }
    })
    assert.deepEqual(await cluster.shards(), [...moved, ...rest])
  })

  it('loses nothing when two workers are added and the shards rebalanced', async () => {
    await underLoad(cluster, services, 'rebalance-', async () => {
      await cluster.addWorkers(2)
      await cluster.query('SELECT citus_rebalance_start()')
      await poll('the end of the rebalance', boundMs, async () => {
        const [job] = await cluster.query('SELECT state, details FROM citus_rebalance_status()')
        assert.notEqual(job.state, 'failed', JSON.stringify(job.details))
        return job.state === 'finished' ? true : undefined
      })
    })
    const ports = (await cluster.shards()).map(({ port }) => port)
    const countOf = ({ port }: PostgresServer) => ports.filter((one) => one === port).length
    assert.deepEqual(cluster.workers.map(countOf), [2, 2, 2, 2])
  })
})
