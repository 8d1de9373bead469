import { isBegin, PerShard, type Batch, type Operation, type Runner } from '../cold/operation.ts'
import type { Sql } from '../cold/sql.ts'
import type { Distribution } from './citus/distribution.ts'
import { PostgresFailure } from './postgres-fault.ts'
import { prepared, type PrimaryPool, type Statement } from './primary-pool.ts'
import type { Attempt, Retry } from './retry.ts'

/** Runs each operation until it succeeds or the deadline passes, from its beginning in each attempt. */
export class PostgresRunner implements Runner {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #distribution: Distribution

  constructor(primary: PrimaryPool, retry: Retry, distribution: Distribution) {
    this.#primary = primary
    this.#retry = retry
    this.#distribution = distribution
  }

  run<Result>(_name: string, operation: () => Operation<Result>): Promise<Result> {
    return this.#retry.run((attempt) => this.#attempt(attempt, operation()))
  }

  async untilDone(name: string, step: () => Operation<Batch>): Promise<number> {
    for (let total = 0; ;) {
      const { count, isDone } = await this.run(name, step)
      total += count
      if (isDone) return total
    }
  }

  #attempt<Result>(attempt: Attempt, operation: Operation<Result>): Promise<Result> {
    const { isAmbiguous } = attempt
    const first = operation.next()
    if (!isBegin(first.value))
      return finish(attempt, operation, first, (step) => this.#runAlone(attempt, step))
    return attempt.transaction(this.#primary, (query) =>
      finish(attempt, operation, operation.next({ isAmbiguous }), (step) => query(...rendered(step as Sql))),
    )
  }

  /** Runs a statement that is not part of a transaction. If it changes data, its commit may be ambiguous. */
  #runAlone(attempt: Attempt, sql: Sql | PerShard): Promise<unknown[]> {
    if (sql instanceof PerShard) return this.#runOnShards(sql)
    const [statement, values] = rendered(sql)
    const run = (sent?: () => void) => this.#primary.query(statement, values, sent)
    const query = () => (/\b(INSERT|UPDATE|DELETE)\b/.test(statement.text) ? attempt.change(run) : run())
    return sql.bucket === undefined ? query() : this.#distribution.onNodeOf(sql.bucket, query)
  }

  /** Retries each statement by itself. */
  async #runOnShards({ rows, statementsOf }: PerShard): Promise<unknown[]> {
    const results = await this.#distribution.forEachShard(rows, async (shardBucket, ofShard) => {
      const returned: unknown[] = []
      for (const sql of statementsOf(shardBucket, ofShard))
        returned.push(...(await this.#retry.query(...rendered(sql), shardBucket)))
      return returned
    })
    return results.flat()
  }
}

/** @throws PostgresFailure after the deadline, instead of running the next step */
async function finish<Result>(
  attempt: Attempt,
  operation: Operation<Result>,
  first: IteratorResult<unknown, Result>,
  run: (step: Sql | PerShard) => Promise<unknown[]>,
): Promise<Result> {
  let step = first
  while (step.done !== true) {
    if (attempt.isOver) throw new PostgresFailure(attempt.reason, 'connecting')
    step = operation.next(await run(step.value as Sql | PerShard))
  }
  return step.value
}

export function rendered(sql: Sql): [Statement<unknown>, readonly unknown[]] {
  const { text, values } = sql.render('postgres')
  return [sql.name === undefined ? { text } : prepared(sql.name, text), values]
}
