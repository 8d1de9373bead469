import type { UserGroupHistoryStore } from '../../domain/user-group/user-group-history-store.ts'
import { deletedUserGroupOf, versionOf, type DeletedRow, type VersionRow } from '../user-group-row.ts'
import { forEachShard, inBatches, type Operations } from './operation.ts'
import { either, postgres, raw, rowsOf, sql } from './sql.ts'

/** Number of deleted user groups that one batch removes. */
const batchSize = 1000

interface ExpiredRow {
  readonly bucket: number
  readonly workspace_id: number
  readonly team_id: number
}

/** Earlier versions of user groups, and deleted user groups. */
export const userGroupHistory: Operations<UserGroupHistoryStore> = {
  *listDeleted({ workspaceId, environment, deletedAfter, afterTeamId, limit }) {
    // `+ 0` prevents the use of the index of `deleted_at`.
    const rows = yield* sql<DeletedRow>`SELECT * FROM deleted_user_group
      WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND deleted_at + 0 > ${deletedAfter}
        AND team_id > ${afterTeamId ?? 0}
      ORDER BY workspace_id, team_id LIMIT ${limit}`.inBucket(null)
    return rows.map((row) => deletedUserGroupOf({ workspaceId, environment }, row))
  },

  *listVersions({ workspaceId, bucket, teamId, beforeRevision, limit }) {
    const rows = yield* sql<VersionRow>`SELECT * FROM user_group_version
      WHERE workspace_id = ${workspaceId} ${postgres`AND bucket = ${bucket}`} AND team_id = ${teamId}
        AND revision < ${beforeRevision ?? Number.MAX_SAFE_INTEGER}
      ORDER BY revision DESC LIMIT ${limit}`.inBucket(bucket)
    return rows.map(versionOf)
  },

  deleteExpired: inBatches((deletedBefore: number) => {
    const bucket = either({ sqlite: raw('0 AS bucket'), postgres: raw('bucket') })
    return function* () {
      const expired = yield* sql<ExpiredRow>`SELECT ${bucket}, workspace_id, team_id FROM deleted_user_group
        WHERE deleted_at <= ${deletedBefore} ORDER BY deleted_at LIMIT ${batchSize}`.inBucket(null)
      yield* forEachShard(expired, (shardBucket, rows) => [
        deletion('user_group_version', shardBucket, rows),
        deletion('last_introspection', shardBucket, rows),
        // Last, so that an interrupted run finds them again. A user group that was restored and deleted again stays.
        deletion('deleted_user_group', shardBucket, rows, sql`AND deleted_at <= ${deletedBefore}`),
      ])
      return { count: expired.length, isDone: expired.length < batchSize }
    }
  }),
}

function deletion(
  table: string,
  shardBucket: number | null,
  rows: readonly ExpiredRow[],
  condition = raw(''),
) {
  const expired = rowsOf('expired', { bucket: 'smallint', workspace_id: 'bigint', team_id: 'bigint' }, rows)
  const buckets = rows.map((row) => row.bucket)
  return either({
    sqlite: sql`DELETE FROM ${raw(table)}
      WHERE (workspace_id, team_id) IN (SELECT workspace_id, team_id FROM ${expired}) ${condition}`,
    postgres: sql`DELETE FROM ${raw(table)} USING ${expired}
      WHERE ${raw(table)}.workspace_id = expired.workspace_id AND ${raw(table)}.team_id = expired.team_id
        AND ${raw(table)}.bucket = expired.bucket
        ${shardBucket === null ? raw('') : sql`AND ${raw(table)}.bucket = ANY (${buckets}::smallint[])`} ${condition}`,
  })
}
