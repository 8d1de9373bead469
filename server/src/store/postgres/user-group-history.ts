import type {
  ListDeletedUserGroups,
  ListVersions,
  UserGroupHistoryStore,
} from '../../domain/user-group/user-group-history-store.ts'
import type { DeletedUserGroup, UserGroupVersion } from '../../domain/user-group/user-group.ts'
import { deletedUserGroupOf, versionOf, type DeletedRow, type VersionRow } from '../user-group-row.ts'
import type { PrimaryPool } from './primary-pool.ts'
import type { Retry } from './retry.ts'

/** Number of deleted user groups that one batch removes. */
const batchSize = 1000

/** Earlier versions of user groups, and deleted user groups. */
export class UserGroupHistory implements UserGroupHistoryStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry

  constructor(primary: PrimaryPool, retry: Retry) {
    this.#primary = primary
    this.#retry = retry
  }

  listDeleted(query: ListDeletedUserGroups): Promise<DeletedUserGroup[]> {
    const { workspaceId, environment, deletedAfter, afterTeamId, limit } = query
    return this.#retry.run(async () => {
      const rows = await this.#primary.query<DeletedRow>(
        `SELECT * FROM deleted_user_group
         WHERE workspace_id = $1 AND environment = $2 AND deleted_at + 0 > $3 AND team_id > $4
         ORDER BY workspace_id, team_id LIMIT $5`,
        [workspaceId, environment, deletedAfter, afterTeamId ?? 0, limit],
      )
      return rows.map((row) => deletedUserGroupOf({ workspaceId, environment }, row))
    })
  }

  listVersions({ workspaceId, teamId, beforeRevision, limit }: ListVersions): Promise<UserGroupVersion[]> {
    return this.#retry.run(async () => {
      const rows = await this.#primary.query<VersionRow>(
        `SELECT * FROM user_group_version WHERE workspace_id = $1 AND team_id = $2 AND revision < $3
         ORDER BY revision DESC LIMIT $4`,
        [workspaceId, teamId, beforeRevision ?? Number.MAX_SAFE_INTEGER, limit],
      )
      return rows.map(versionOf)
    })
  }

  /** Works by workspace, so that each statement is for one shard of a distributed database. */
  async deleteExpired(deletedBefore: number): Promise<number> {
    for (let total = 0; ;) {
      const expired = await this.#retry.run(() =>
        this.#primary.query<{ workspace_id: number; team_id: number }>(
          'SELECT workspace_id, team_id FROM deleted_user_group WHERE deleted_at <= $1 ORDER BY deleted_at LIMIT $2',
          [deletedBefore, batchSize],
        ),
      )
      for (const workspaceId of new Set(expired.map(({ workspace_id }) => workspace_id))) {
        const teamIds = expired
          .filter(({ workspace_id }) => workspace_id === workspaceId)
          .map(({ team_id }) => team_id)
        const ofThem = 'WHERE workspace_id = $1 AND team_id = ANY ($2)'
        const forget = (statement: string, ...more: unknown[]) =>
          this.#retry.run(() => this.#primary.query(statement, [workspaceId, teamIds, ...more]))
        await forget(`DELETE FROM user_group_version ${ofThem}`)
        await forget(`DELETE FROM last_introspection ${ofThem}`)
        // Last, so that an interrupted run finds them again. A user group that was restored and deleted again stays.
        await forget(`DELETE FROM deleted_user_group ${ofThem} AND deleted_at <= $3`, deletedBefore)
      }
      total += expired.length
      if (expired.length < batchSize) return total
    }
  }
}
