import type { Database, Statement } from 'better-sqlite3'
import type { Environment } from '../../domain/environment.ts'
import type { ListDeletedUserGroups, ListVersions } from '../../domain/user-group/user-group-history-store.ts'
import type { DeletedUserGroup, UserGroupVersion } from '../../domain/user-group/user-group.ts'
import { deletedUserGroupOf, versionOf, type DeletedRow, type VersionRow } from '../user-group-row.ts'

/** Number of deleted user groups that one transaction removes. */
const batchSize = 1000

/** Earlier versions of user groups, and deleted user groups. */
export class UserGroupHistory {
  readonly #deleteKept: Statement<[number, number]>
  readonly #selectAllDeleted: Statement<[number, Environment, number, number, number], DeletedRow>
  readonly #selectExpired: Statement<[number, number], { workspace_id: number; team_id: number }>
  readonly #selectVersions: Statement<[number, number, number, number], VersionRow>
  readonly #deleteVersions: Statement<[number, number]>
  readonly #deleteLastIntrospection: Statement<[number, number]>

  constructor(database: Database) {
    this.#deleteKept = database.prepare(
      'DELETE FROM deleted_user_group WHERE workspace_id = ? AND team_id = ?',
    )
    this.#selectAllDeleted = database.prepare(
      `SELECT * FROM deleted_user_group
       WHERE workspace_id = ? AND environment = ? AND deleted_at > ? AND team_id > ? ORDER BY team_id LIMIT ?`,
    )
    this.#selectExpired = database.prepare(
      'SELECT workspace_id, team_id FROM deleted_user_group WHERE deleted_at <= ? LIMIT ?',
    )
    this.#selectVersions = database.prepare(
      `SELECT * FROM user_group_version
       WHERE workspace_id = ? AND team_id = ? AND revision < ? ORDER BY revision DESC LIMIT ?`,
    )
    this.#deleteVersions = database.prepare(
      'DELETE FROM user_group_version WHERE workspace_id = ? AND team_id = ?',
    )
    this.#deleteLastIntrospection = database.prepare(
      'DELETE FROM last_introspection WHERE workspace_id = ? AND team_id = ?',
    )
  }

  listDeleted(query: ListDeletedUserGroups): DeletedUserGroup[] {
    const { workspaceId, environment, deletedAfter, afterTeamId, limit } = query
    return this.#selectAllDeleted
      .all(workspaceId, environment, deletedAfter, afterTeamId ?? 0, limit)
      .map((row) => deletedUserGroupOf({ workspaceId, environment }, row))
  }

  listVersions({ workspaceId, teamId, beforeRevision, limit }: ListVersions): UserGroupVersion[] {
    const before = beforeRevision ?? Number.MAX_SAFE_INTEGER
    return this.#selectVersions.all(workspaceId, teamId, before, limit).map(versionOf)
  }

  /** Removes a batch of the user groups deleted at `deletedBefore` or earlier. */
  deleteExpired(deletedBefore: number): { count: number; isDone: boolean } {
    const expired = this.#selectExpired.all(deletedBefore, batchSize)
    for (const { workspace_id, team_id } of expired) {
      this.#deleteVersions.run(workspace_id, team_id)
      this.#deleteLastIntrospection.run(workspace_id, team_id)
      this.#deleteKept.run(workspace_id, team_id)
    }
    return { count: expired.length, isDone: expired.length < batchSize }
  }
}
