import { bucketCount } from '../../domain/user-group/location.ts'
import { hasCitus, isDistributed } from './citus.ts'
import type { PrimaryPool, Query } from './primary-pool.ts'

/** Number of connections that maintenance takes at once. */
const maxAtOnce = 4

/** Feature not supported, and an internal error: a plan without the values of its parameters. */
const refusals = new Set(['0A000', 'XX000'])
const undefinedTable = '42P01'

/** The distribution of the tables by Citus. */
export class Distribution {
  /** The shard of each bucket; null if the tables are not distributed. */
  #shards: readonly number[] | null = null

  readonly #primary: PrimaryPool
  #detecting: Promise<void> | undefined
  #hasCitus = false

  constructor(primary: PrimaryPool) {
    this.#primary = primary
  }

  /** @throws PostgresFailure */
  detect(): Promise<void> {
    this.#detecting ??= this.#detect().finally(() => (this.#detecting = undefined))
    return this.#detecting
  }

  async #detect(): Promise<void> {
    const { query } = this.#primary
    this.#hasCitus = await hasCitus(query)
    const isNowDistributed = this.#hasCitus && (await isDistributed(query))
    // Citus needs the values of the parameters to find the shard.
    this.#primary.setKeepsPlans(!isNowDistributed)
    this.#shards = isNowDistributed ? await readShards(query) : null
  }

  /**
   * Detects again after a statement failed in a way in which Citus refuses statements: the tables may have been distributed, or
   * their shards split. Returns whether to retry the statement although its error code is final otherwise.
   * @throws PostgresFailure
   */
  async noticeFailure(code: string): Promise<boolean> {
    if (refusals.has(code)) await this.detect()
    // While Citus prepares a table, a node may not have it yet.
    return code === undefinedTable && this.#hasCitus && !this.isDistributed
  }

  get isDistributed(): boolean {
    return this.#shards !== null
  }

  /** Returns the shard of a bucket; null if the tables are not distributed. */
  shardOf(bucket: number): number | null {
    return this.#shards?.[bucket] ?? null
  }

  /**
   * Runs work on rows, once for each shard if the tables are distributed, with a bucket of the shard. Otherwise runs it once, without
   * a bucket, unless there are no rows. Runs a few at once and returns their results.
   */
  async forEachShard<Row extends { readonly bucket: number }, Result>(
    rows: readonly Row[],
    work: (shardBucket: number | null, rows: readonly Row[]) => Promise<Result>,
  ): Promise<Result[]> {
    const groups = new Map<number | null, Row[]>()
    for (const row of rows) {
      const shard = this.shardOf(row.bucket)
      const group = groups.get(shard)
      if (group === undefined) groups.set(shard, [row])
      else group.push(row)
    }
    const results: Result[] = []
    const rest = groups.entries()
    const runOnes = async () => {
      for (const [shard, group] of rest)
        results.push(await work(shard === null ? null : (group[0] as Row).bucket, group))
    }
    await Promise.all(Array.from({ length: maxAtOnce }, runOnes))
    return results
  }
}

async function readShards(query: Query): Promise<number[]> {
  const rows = await query<{ shard: number }>(
    `SELECT get_shard_id_for_distribution_column('user_group', bucket::smallint) AS shard
     FROM generate_series(0, $1::integer - 1) AS bucket ORDER BY bucket`,
    [bucketCount],
  )
  return rows.map(({ shard }) => shard)
}
