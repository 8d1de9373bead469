import assert from 'node:assert/strict'
import { it } from 'node:test'
import { sql } from '../../../../src/store/cold/sql.ts'
import type { Distribution } from '../../../../src/store/postgres/citus/distribution.ts'
import { PostgresRunner } from '../../../../src/store/postgres/cold-runner.ts'
import { PostgresFailure } from '../../../../src/store/postgres/postgres-fault.ts'
import type { PrimaryPool } from '../../../../src/store/postgres/primary-pool.ts'
import { Attempt, type Retry } from '../../../../src/store/postgres/retry.ts'

it('an operation sends no further statement after the deadline', async () => {
  const attempt = new Attempt()
  let sent = 0
  const primary = {
    query: () => {
      sent++
      attempt.isOver = true
      return Promise.resolve([])
    },
  } as unknown as PrimaryPool
  const retry = { run: (operate: (attempt: Attempt) => unknown) => operate(attempt) } as unknown as Retry
  const runner = new PostgresRunner(primary, retry, {} as unknown as Distribution)
  await assert.rejects(
    runner.run('reads', function* () {
      yield* sql`SELECT 1`
      yield* sql`SELECT 2`
    }),
    PostgresFailure,
  )
  assert.equal(sent, 1)
})
