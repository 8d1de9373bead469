import type {
  ListDeletedUserGroups,
  ListVersions,
  UserGroupHistoryStore,
} from '../../domain/user-group/user-group-history-store.ts'
import type { DeletedUserGroup, UserGroupVersion } from '../../domain/user-group/user-group.ts'
import { deletedUserGroupOf, versionOf, type DeletedRow, type VersionRow } from '../user-group-row.ts'
import type { Retry } from './retry.ts'

/** Number of deleted user groups that one batch removes. */
const batchSize = 1000

/** Earlier versions of user groups, and deleted user groups. */
export class UserGroupHistory implements UserGroupHistoryStore {
  readonly #retry: Retry

  constructor(retry: Retry) {
    this.#retry = retry
  }

  async listDeleted(query: ListDeletedUserGroups): Promise<DeletedUserGroup[]> {
    const { workspaceId, environment, deletedAfter, afterTeamId, limit } = query
    const rows = await this.#retry.query<DeletedRow>(
      `SELECT * FROM deleted_user_group
       WHERE workspace_id = $1 AND environment = $2 AND deleted_at + 0 > $3 AND team_id > $4
       ORDER BY workspace_id, team_id LIMIT $5`,
      [workspaceId, environment, deletedAfter, afterTeamId ?? 0, limit],
    )
    return rows.map((row) => deletedUserGroupOf({ workspaceId, environment }, row))
  }

  async listVersions({
    workspaceId,
    teamId,
    beforeRevision,
    limit,
  }: ListVersions): Promise<UserGroupVersion[]> {
    const rows = await this.#retry.query<VersionRow>(
      `SELECT * FROM user_group_version WHERE workspace_id = $1 AND team_id = $2 AND revision < $3
       ORDER BY revision DESC LIMIT $4`,
      [workspaceId, teamId, beforeRevision ?? Number.MAX_SAFE_INTEGER, limit],
    )
    return rows.map(versionOf)
  }

  /** Works by workspace, so that each statement is for one shard of a distributed database. */
  async deleteExpired(deletedBefore: number): Promise<number> {
    for (let total = 0; ;) {
      const expired = await this.#retry.query<{ workspace_id: number; team_id: number }>(
        'SELECT workspace_id, team_id FROM deleted_user_group WHERE deleted_at <= $1 ORDER BY deleted_at LIMIT $2',
        [deletedBefore, batchSize],
      )
      for (const workspaceId of new Set(expired.map(({ workspace_id }) => workspace_id))) {
        const teamIds = expired
          .filter(({ workspace_id }) => workspace_id === workspaceId)
          .map(({ team_id }) => team_id)
        const ofThem = 'WHERE workspace_id = $1 AND team_id = ANY ($2)'
        const deleteRows = (statement: string, ...more: unknown[]) =>
          this.#retry.query(statement, [workspaceId, teamIds, ...more])
        await deleteRows(`DELETE FROM user_group_version ${ofThem}`)
        await deleteRows(`DELETE FROM last_introspection ${ofThem}`)
        // Last, so that an interrupted run finds them again. A user group that was restored and deleted again stays.
        await deleteRows(`DELETE FROM deleted_user_group ${ofThem} AND deleted_at <= $3`, deletedBefore)
      }
      total += expired.length
      if (expired.length < batchSize) return total
    }
  }
}
