import { isDistributed } from './citus.ts'
import type { Query } from './primary-pool.ts'

/** Whether the tables are distributed over several nodes by Citus. */
export class Distribution {
  #isDistributed = false

  get isDistributed(): boolean {
    return this.#isDistributed
  }

  /** @throws PostgresFailure */
  async detect(query: Query): Promise<void> {
    this.#isDistributed = await isDistributed(query)
  }

  /** Groups rows for statements that name one bucket, if the tables are distributed. Otherwise there is one group, without a bucket. */
  groupByBucket<Row extends { readonly bucket: number }>(rows: readonly Row[]): Map<number | null, Row[]> {
    const groups = new Map<number | null, Row[]>()
    for (const row of rows) {
      const bucket = this.#isDistributed ? row.bucket : null
      const group = groups.get(bucket)
      if (group === undefined) groups.set(bucket, [row])
      else group.push(row)
    }
    return groups
  }
}
