import type { Database, Statement } from 'better-sqlite3'
import type { Author } from '../../domain/audit/audit-event.ts'
import type { Environment } from '../../domain/environment.ts'
import type {
  DeleteUserGroup,
  RestoreOutcome,
  RestoreUserGroup,
} from '../../domain/user-group/user-group-store.ts'
import type { ListDeletedUserGroups, ListVersions } from '../../domain/user-group/user-group-history-store.ts'
import type { DeletedUserGroup, UserGroupVersion } from '../../domain/user-group/user-group.ts'
import { auditedChangeOf } from '../audit-row.ts'
import { mismatchOf } from '../expectation.ts'
import {
  deletedUserGroupOf,
  keptColumns,
  restoredColumns,
  userGroupOf,
  versionOf,
  type DeletedRow,
  type UserGroupRow,
  type VersionRow,
} from '../user-group-row.ts'
import type { AuditLog } from './audit-log.ts'
import type { DataSources } from './data-sources.ts'

/** How many deleted user groups are forgotten in one operation. */
const batchSize = 1000

/** What user groups were: their earlier versions, and those that were deleted. */
export class UserGroupHistory {
  readonly #dataSources: DataSources
  readonly #audit: AuditLog
  readonly #select: Statement<[number, Environment, string], UserGroupRow>
  readonly #keep: Statement<[number, Author, number]>
  readonly #delete: Statement<[number]>
  readonly #selectDeleted: Statement<[number, number, Environment, number], DeletedRow>
  readonly #restore: Statement<[number, number], UserGroupRow>
  readonly #deleteKept: Statement<[number, number]>
  readonly #selectAllDeleted: Statement<[number, Environment, number, number, number], DeletedRow>
  readonly #selectExpired: Statement<[number, number], { workspace_id: number; team_id: number }>
  readonly #selectVersions: Statement<[number, number, number, number], VersionRow>
  readonly #deleteVersions: Statement<[number, number]>
  readonly #deleteLastIntrospection: Statement<[number, number]>

  constructor(database: Database, dataSources: DataSources, audit: AuditLog) {
    this.#dataSources = dataSources
    this.#audit = audit
    this.#select = database.prepare(
      'SELECT * FROM user_group WHERE workspace_id = ? AND environment = ? AND provided_id = ?',
    )
    this.#keep = database.prepare(
      `INSERT INTO deleted_user_group (${keptColumns}, deleted_at, deleted_by)
       SELECT ${keptColumns}, ?, ? FROM user_group WHERE team_id = ?`,
    )
    this.#delete = database.prepare('DELETE FROM user_group WHERE team_id = ?')
    this.#selectDeleted = database.prepare(
      `SELECT * FROM deleted_user_group
       WHERE workspace_id = ? AND team_id = ? AND environment = ? AND deleted_at > ?`,
    )
    this.#restore = database.prepare(
      `INSERT INTO user_group (${keptColumns})
       SELECT ${restoredColumns} FROM deleted_user_group WHERE workspace_id = ? AND team_id = ? RETURNING *`,
    )
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

  delete(command: DeleteUserGroup): 'deleted' | 'not_found' | 'revision_mismatch' {
    const { key, expected, author, now } = command
    const row = this.#select.get(key.workspaceId, key.environment, key.providedId)
    if (row === undefined) return 'not_found'
    const mismatch = mismatchOf(row, expected)
    if (mismatch !== null) return mismatch
    this.#keep.run(now, author, row.team_id)
    this.#dataSources.replaceEntries(key, row.team_id, row.mapping, null)
    this.#delete.run(row.team_id)
    const userGroup = { teamId: row.team_id, providedId: row.provided_id }
    this.#audit.append('user_group.deleted', auditedChangeOf(command), { userGroup })
    return 'deleted'
  }

  restore(command: RestoreUserGroup): RestoreOutcome {
    const { workspaceId, environment, teamId, deletedAfter } = command
    const deleted = this.#selectDeleted.get(workspaceId, teamId, environment, deletedAfter)
    if (deleted === undefined) return { outcome: 'not_found' }
    if (this.#select.get(workspaceId, environment, deleted.provided_id) !== undefined)
      return { outcome: 'id_taken' }
    const row = this.#restore.get(workspaceId, teamId) as UserGroupRow
    this.#deleteKept.run(workspaceId, teamId)
    this.#dataSources.replaceEntries({ workspaceId, environment }, teamId, null, row.mapping)
    this.#audit.append('user_group.restored', command, {
      userGroup: { teamId, providedId: row.provided_id },
    })
    return { outcome: 'restored', userGroup: userGroupOf({ workspaceId, environment }, row) }
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
