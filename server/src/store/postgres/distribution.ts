import { isDistributed } from './citus.ts'
import type { Query } from './primary-pool.ts'

/** Number of connections that maintenance takes at once. */
const maxAtOnce = 4

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

  /**
   * Runs work on rows, once for each bucket if the tables are distributed. Otherwise runs it once, without a bucket, unless there are
   * no rows. Runs a few at once and returns their results.
   */
  async forEachBucket<Row extends { readonly bucket: number }, Result>(
    rows: readonly Row[],
    work: (bucket: number | null, rows: readonly Row[]) => Promise<Result>,
  ): Promise<Result[]> {
    const groups = new Map<number | null, Row[]>()
    for (const row of rows) {
      const bucket = this.#isDistributed ? row.bucket : null
      const group = groups.get(bucket)
      if (group === undefined) groups.set(bucket, [row])
      else group.push(row)
    }
    const results: Result[] = []
    const rest = groups.entries()
    const runOnes = async () => {
      for (const [bucket, group] of rest) results.push(await work(bucket, group))
    }
    await Promise.all(Array.from({ length: maxAtOnce }, runOnes))
    return results
  }
}
