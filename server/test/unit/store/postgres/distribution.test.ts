import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bucketCount } from '../../../../src/domain/user-group/location.ts'
import { coldPorts, searchPort } from '../../../../src/store/cold/cold-ports.ts'
import { Distribution } from '../../../../src/store/postgres/citus/distribution.ts'
import { PostgresRunner } from '../../../../src/store/postgres/cold-runner.ts'
import { nodeDown, PostgresFailure } from '../../../../src/store/postgres/postgres-fault.ts'
import type { PrimaryPool } from '../../../../src/store/postgres/primary-pool.ts'
import { Retry } from '../../../../src/store/postgres/retry.ts'

/** Opens stores on a cluster of two nodes. Even buckets are on node 1, which refuses one statement and then hangs. */
async function startWithDeadNode() {
  let failures = 0
  const hang = (): Promise<never> =>
    failures++ === 0
      ? Promise.reject(new PostgresFailure('57014', 'querying', { isConnectionUsable: true }))
      : new Promise(() => undefined)
  const query = (
    statement: string | { readonly text: string },
    values: readonly unknown[] = [],
  ): Promise<unknown> => {
    const text = typeof statement === 'string' ? statement : statement.text
    if (text.includes('pg_extension')) return Promise.resolve([{ exists: true }])
    if (text.includes('pg_dist_partition')) return Promise.resolve([{}])
    if (text.includes('generate_series')) {
      const places = Array.from({ length: bucketCount }, (_, bucket) => ({
        shard: bucket % 8,
        node: 1 + (bucket % 2),
      }))
      return Promise.resolve(places)
    }
    const [, buckets] = values
    const isAlive = Array.isArray(buckets) && buckets.every((bucket: number) => bucket % 2 === 1)
    return isAlive ? Promise.resolve([]) : hang()
  }
  const primary: unknown = { query, poolSize: 10, setDistributed: () => undefined }
  // A node is down after its first failure.
  const distribution = new Distribution(primary as PrimaryPool, 0)
  await distribution.detect()
  const retry = new Retry(primary as PrimaryPool, 300, distribution)
  const runner = new PostgresRunner(primary as PrimaryPool, retry, distribution)
  return {
    search: () =>
      searchPort(runner, {
        rows: 10,
        ms: 10,
        runs: 10,
        indexedRows: 10,
      }).search({
        workspaceId: 1,
        environment: 'Customer',
        filter: {},
        position: null,
        limit: 10,
      }),
    record: (...buckets: number[]) =>
      coldPorts(runner).introspections.record(
        buckets.map((bucket) => ({ workspaceId: 1, bucket, teamId: 1, introspectedAt: 1 })),
      ),
  }
}

const isRefused = { code: 'unavailable', reason: nodeDown }

describe('A node that does not respond', () => {
  it('holds one list', async () => {
    const { search } = await startWithDeadNode()
    await assert.rejects(search(), { reason: '57014' })
    await Promise.all([search(), search()].map((list) => assert.rejects(list, isRefused)))
  })

  it('holds one recording of introspections, and others are recorded', async () => {
    const { record } = await startWithDeadNode()
    await assert.rejects(record(0, 1), { code: 'unavailable' })
    await assert.rejects(record(0, 2, 4, 6), isRefused)
    await record(1, 3, 5, 7)
  })
})
