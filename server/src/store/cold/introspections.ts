import type { IntrospectionStore } from '../../domain/user-group/introspection-store.ts'
import { forEachShard, type Operations } from './operation.ts'
import { anyOf, postgres, rowsOf, sql } from './sql.ts'
import { isNotErased } from './user-group-history.ts'

const types = {
  workspace_id: 'bigint',
  bucket: 'smallint',
  team_id: 'bigint',
  introspected_at: 'bigint',
} as const
const key = sql`workspace_id, ${postgres`bucket,`} team_id`

/** Time of the last introspection of each user group. */
export const introspections: Operations<IntrospectionStore> = {
  *record(all) {
    yield* forEachShard(all, (shardBucket, some) => {
      const rows = some.map(({ workspaceId, bucket, teamId, introspectedAt }) => ({
        workspace_id: workspaceId,
        bucket,
        team_id: teamId,
        introspected_at: introspectedAt,
      }))
      // Each user group once and in a fixed order, so that two processes never deadlock.
      return [
        sql`INSERT INTO last_introspection (${key}, introspected_at)
          SELECT ${key}, max(introspected_at) FROM ${rowsOf('new', types, rows)}
          WHERE ${isNotErased(shardBucket, some)} GROUP BY ${key} ORDER BY workspace_id, team_id
          ON CONFLICT (workspace_id, team_id ${postgres`, bucket`}) DO UPDATE SET introspected_at = excluded.introspected_at
          WHERE last_introspection.introspected_at < excluded.introspected_at`,
      ]
    })
  },

  *findLast(workspaceId, locations) {
    const buckets = [...new Set(locations.map(({ bucket }) => bucket))]
    const teamIds = locations.map(({ teamId }) => teamId)
    const rows = yield* sql<{ teamId: number; introspectedAt: number }>`
      SELECT team_id AS "teamId", introspected_at AS "introspectedAt" FROM last_introspection
      WHERE workspace_id = ${workspaceId} ${postgres`AND bucket = ANY (${buckets}::smallint[])`} AND ${anyOf('team_id', 'bigint', teamIds)}`.inBucket(
      buckets.length === 1 ? (buckets[0] ?? null) : null,
    )
    const times = new Map(rows.map((row) => [row.teamId, row.introspectedAt]))
    return teamIds.map((teamId) => times.get(teamId) ?? null)
  },
}
