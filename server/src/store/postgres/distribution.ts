import type { Query } from './primary-pool.ts'

/** Whether the tables are distributed over several nodes by Citus. */
export class Distribution {
  #isDistributed = false

  get isDistributed(): boolean {
    return this.#isDistributed
  }

  /** @throws PostgresFailure */
  async detect(query: Query): Promise<void> {
    const [citus] = await query<{ exists: boolean }>(
      "SELECT to_regclass('pg_dist_partition') IS NOT NULL AS exists",
    )
    if (!citus?.exists) return
    const tables = await query("SELECT 1 FROM pg_dist_partition WHERE logicalrelid = 'user_group'::regclass")
    this.#isDistributed = tables.length > 0
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
