import type {
  ListDeletedUserGroups,
  ListVersions,
  UserGroupHistoryStore,
} from '../../domain/user-group/user-group-history-store.ts'
import type { DeletedUserGroup, UserGroupVersion } from '../../domain/user-group/user-group.ts'
import { deletedUserGroupOf, versionOf, type DeletedRow, type VersionRow } from '../user-group-row.ts'
import type { Distribution } from './citus/distribution.ts'
import type { Retry } from './retry.ts'

/** Number of deleted user groups that one batch removes. */
const batchSize = 1000

/** Earlier versions of user groups, and deleted user groups. */
export class UserGroupHistory implements UserGroupHistoryStore {
  readonly #retry: Retry
  readonly #distribution: Distribution

  constructor(retry: Retry, distribution: Distribution) {
    this.#retry = retry
    this.#distribution = distribution
  }

  async listDeleted(query: ListDeletedUserGroups): Promise<DeletedUserGroup[]> {
    const { workspaceId, environment, deletedAfter, afterTeamId, limit } = query
    const rows = await this.#retry.query<DeletedRow>(
      `SELECT * FROM deleted_user_group
       WHERE workspace_id = $1 AND environment = $2 AND deleted_at + 0 > $3 AND team_id > $4
       ORDER BY workspace_id, team_id LIMIT $5`,
      [workspaceId, environment, deletedAfter, afterTeamId ?? 0, limit],
      null,
    )
    return rows.map((row) => deletedUserGroupOf({ workspaceId, environment }, row))
  }

  async listVersions({
    workspaceId,
    bucket,
    teamId,
    beforeRevision,
    limit,
  }: ListVersions): Promise<UserGroupVersion[]> {
    const rows = await this.#retry.query<VersionRow>(
      `SELECT * FROM user_group_version
       WHERE workspace_id = $1 AND bucket = $2 AND team_id = $3 AND revision < $4 ORDER BY revision DESC LIMIT $5`,
      [workspaceId, bucket, teamId, beforeRevision ?? Number.MAX_SAFE_INTEGER, limit],
      bucket,
    )
    return rows.map(versionOf)
  }

  async deleteExpired(deletedBefore: number): Promise<number> {
    for (let total = 0; ;) {
      const expired = await this.#retry.query<ExpiredRow>(
        `SELECT bucket, workspace_id, team_id FROM deleted_user_group
         WHERE deleted_at <= $1 ORDER BY deleted_at LIMIT $2`,
        [deletedBefore, batchSize],
        null,
      )
      await this.#distribution.forEachShard(expired, async (bucket, rows) => {
        const keys = [
          rows.map((row) => row.bucket),
          rows.map((row) => row.workspace_id),
          rows.map((row) => row.team_id),
        ]
        const deleteRows = (table: string, condition = 'true', ...more: unknown[]) =>
          this.#retry.query(deletionFrom(table, condition), [bucket, ...keys, ...more], bucket)
        await deleteRows('user_group_version')
        await deleteRows('last_introspection')
        // Last, so that an interrupted run finds them again. A user group that was restored and deleted again stays.
        await deleteRows('deleted_user_group', 'deleted_at <= $5', deletedBefore)
      })
      total += expired.length
      if (expired.length < batchSize) return total
    }
  }
}

interface ExpiredRow {
  readonly bucket: number
  readonly workspace_id: number
  readonly team_id: number
}

function deletionFrom(table: string, condition: string): string {
  return `DELETE FROM ${table}
    USING unnest($2::smallint[], $3::bigint[], $4::bigint[]) AS expired (bucket, workspace_id, team_id)
    WHERE ${table}.workspace_id = expired.workspace_id AND ${table}.team_id = expired.team_id
      AND ${table}.bucket = expired.bucket AND ($1::smallint IS NULL OR ${table}.bucket = ANY ($2::smallint[]))
      AND ${condition}`
}
