import assert from 'node:assert/strict'
import { it } from 'node:test'
import { PostgresFailure } from '../../../../src/store/postgres/postgres-fault.ts'
import type { PrimaryPool } from '../../../../src/store/postgres/primary-pool.ts'
import { Retry } from '../../../../src/store/postgres/retry.ts'

it('sends no statement after the deadline, also if the deadline passes between two attempts', async () => {
  let sent = 0
  const primary: Pick<PrimaryPool, 'query'> = {
    query: () => {
      sent++
      return Promise.reject(new PostgresFailure('40001', 'querying'))
    },
  }
  // The first pause is longer.
  const retry = new Retry(primary as PrimaryPool, 5)
  await assert.rejects(retry.change('DELETE FROM workspace', []), { code: 'unavailable', reason: '40001' })
  await retry.idle()
  assert.equal(sent, 1)
})

it('sends no change whose deadline passed while it waited for a connection', async () => {
  let connect = (): void => undefined
  let sentCount = 0
  const primary: Pick<PrimaryPool, 'query'> = {
    query: async (_statement, _values, sent) => {
      await new Promise<void>((resolve) => (connect = resolve))
      sent?.()
      sentCount++
      return []
    },
  }
  const retry = new Retry(primary as PrimaryPool, 5)
  await assert.rejects(retry.change('DELETE FROM workspace', []), {
    code: 'unavailable',
    message: 'The store is unavailable',
  })
  connect()
  await retry.idle()
  assert.equal(sentCount, 0)
})

it('reports that a change may have taken effect, also if its retry certainly did not', async () => {
  const failures = ['08006', '55P03']
  const primary: Pick<PrimaryPool, 'query'> = {
    query: (_statement, _values, sent) => {
      sent?.()
      return Promise.reject(new PostgresFailure(failures.shift() ?? '', 'querying'))
    },
  }
  const retry = new Retry(primary as PrimaryPool, 5000)
  await assert.rejects(retry.change('DELETE FROM workspace', []), /may have taken effect/)
  assert.deepEqual(failures, [])
})
