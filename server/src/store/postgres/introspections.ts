import type { IntrospectionStore, Introspection } from '../../domain/user-group/introspection-store.ts'
import type { UserGroupLocation } from '../../domain/user-group/location.ts'
import type { Distribution } from './citus/distribution.ts'
import type { Retry } from './retry.ts'

/** Time of the last introspection of each user group. */
export class Introspections implements IntrospectionStore {
  readonly #retry: Retry
  readonly #distribution: Distribution

  constructor(retry: Retry, distribution: Distribution) {
    this.#retry = retry
    this.#distribution = distribution
  }

  async record(introspections: readonly Introspection[]): Promise<void> {
    await this.#distribution.forEachShard(introspections, (shardBucket, ofShard) =>
      // Each user group once and in a fixed order, so that two processes never deadlock.
      this.#retry.query(
        `INSERT INTO last_introspection (workspace_id, bucket, team_id, introspected_at)
         SELECT workspace_id, bucket, team_id, max(introspected_at)
         FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], $4::bigint[])
           AS new (workspace_id, bucket, team_id, introspected_at)
         GROUP BY workspace_id, bucket, team_id ORDER BY workspace_id, team_id
         ON CONFLICT (workspace_id, team_id, bucket)
         DO UPDATE SET introspected_at = excluded.introspected_at
         WHERE last_introspection.introspected_at < excluded.introspected_at`,
        [
          ofShard.map(({ workspaceId }) => workspaceId),
          ofShard.map((introspection) => introspection.bucket),
          ofShard.map(({ teamId }) => teamId),
          ofShard.map(({ introspectedAt }) => introspectedAt),
        ],
        shardBucket,
      ),
    )
  }

  async findLast(
    workspaceId: number,
    locations: readonly UserGroupLocation[],
  ): Promise<readonly (number | null)[]> {
    const buckets = locations.map(({ bucket }) => bucket)
    const rows = await this.#retry.query<{ team_id: number; introspected_at: number }>(
      `SELECT team_id, introspected_at FROM last_introspection
       WHERE workspace_id = $1 AND bucket = ANY ($2::smallint[]) AND team_id = ANY ($3::bigint[])`,
      [workspaceId, buckets, locations.map(({ teamId }) => teamId)],
      new Set(buckets).size === 1 ? (buckets[0] ?? null) : null,
    )
    const times = new Map(rows.map((row) => [row.team_id, row.introspected_at]))
    return locations.map(({ teamId }) => times.get(teamId) ?? null)
  }
}
