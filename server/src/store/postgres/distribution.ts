import { bucketCount } from '../../domain/user-group/location.ts'
import { isDistributed } from './citus.ts'
import type { Query } from './primary-pool.ts'

/** How Citus distributes the tables. */
export class Distribution {
  /** The shard of each bucket; null if the tables are not distributed. */
  #shards: readonly number[] | null = null

  /** @throws PostgresFailure */
  async detect(query: Query): Promise<void> {
    this.#shards = (await isDistributed(query)) ? await readShards(query) : null
  }

  /** Returns the shard of a bucket; null if the tables are not distributed. */
  shardOf(bucket: number): number | null {
    return this.#shards?.[bucket] ?? null
  }

  /**
   * Groups rows for statements that serve one shard, if the tables are distributed. The key is a bucket of the shard. Otherwise there
   * is one group, and its key is null.
   */
  groupByShard<Row extends { readonly bucket: number }>(rows: readonly Row[]): [number | null, Row[]][] {
    const groups = new Map<number | null, Row[]>()
    for (const row of rows) {
      const shard = this.shardOf(row.bucket)
      const group = groups.get(shard)
      if (group === undefined) groups.set(shard, [row])
      else group.push(row)
    }
    return [...groups].map(([shard, group]) => [shard === null ? null : (group[0] as Row).bucket, group])
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
