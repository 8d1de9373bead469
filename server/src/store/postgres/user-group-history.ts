import { newEventId } from '../../domain/audit/audit-event.ts'
import type {
  DeleteUserGroup,
  ListDeletedUserGroups,
  ListVersions,
  RestoreOutcome,
  RestoreUserGroup,
} from '../../domain/store.ts'
import type { DeletedUserGroup, UserGroupVersion } from '../../domain/user-group/user-group.ts'
import { mismatchOf } from '../expectation.ts'
import {
  columns,
  deletedUserGroupOf,
  keptColumns,
  restoredColumns,
  userGroupOf,
  versionOf,
  type DeletedRow,
  type UserGroupRow,
  type VersionRow,
} from '../user-group-row.ts'
import { eventValues } from './audit-log.ts'
import { entriesOf } from './data-source-sql.ts'
import { prepared, type PrimaryPool, type Statement } from './primary-pool.ts'
import type { Retry } from './retry.ts'
import type { UserGroupStatements } from './user-group-statements.ts'

export const deleteUserGroup: Statement<unknown> = prepared(
  'user_group_delete',
  `WITH deleted AS (
     DELETE FROM user_group
     WHERE workspace_id = $1 AND team_id = $2 AND coalesce($3::bigint, revision) = revision RETURNING *
   ), kept AS (
     INSERT INTO deleted_user_group (${keptColumns}, deleted_at, deleted_by) SELECT ${keptColumns}, $4, $5 FROM deleted
   ), entry AS MATERIALIZED (
     SELECT workspace_id, team_id, environment, key, value
     FROM deleted CROSS JOIN LATERAL ${entriesOf('deleted.mapping')} AS entry
   ), gone AS (
     DELETE FROM mapping_entry USING entry
     WHERE mapping_entry.workspace_id = entry.workspace_id AND mapping_entry.environment = entry.environment
       AND schema_key = entry.key AND data_source_key = entry.value AND mapping_entry.team_id = entry.team_id
   ), audited AS (
     INSERT INTO audit_event (workspace_id, environment, event_id, action, author, request_id, team_id, provided_id)
     SELECT workspace_id, environment, $6::uuid, 'user_group.deleted', $5, $7, team_id, provided_id FROM deleted
   )
   SELECT team_id FROM deleted`,
)

export const restoreUserGroup: Statement<UserGroupRow> = prepared(
  'user_group_restore',
  `WITH deleted AS (
     DELETE FROM deleted_user_group
     WHERE workspace_id = $1 AND environment = $2 AND team_id = $3 AND deleted_at > $4 AND (
       SELECT 1 FROM user_group
       WHERE workspace_id = $1 AND environment = $2 AND provided_id = deleted_user_group.provided_id LIMIT 1
     ) IS NULL
     RETURNING *
   ), restored AS (
     INSERT INTO user_group (${keptColumns}) OVERRIDING SYSTEM VALUE SELECT ${restoredColumns} FROM deleted RETURNING *
   ), entered AS (
     INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
     SELECT workspace_id, environment, entry.key, entry.value, team_id
     FROM restored CROSS JOIN LATERAL ${entriesOf('restored.mapping')} AS entry
     ON CONFLICT DO NOTHING
   ), audited AS (
     INSERT INTO audit_event (workspace_id, environment, event_id, action, author, request_id, team_id, provided_id)
     SELECT workspace_id, environment, $5::uuid, 'user_group.restored', $6, $7, team_id, provided_id FROM restored
   )
   SELECT * FROM restored`,
)

/** How many deleted user groups are forgotten at a time. */
const batchSize = 1000

/** What user groups were: their earlier versions, and those that were deleted. */
export class UserGroupHistory {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #statements: UserGroupStatements

  constructor(primary: PrimaryPool, retry: Retry, statements: UserGroupStatements) {
    this.#primary = primary
    this.#retry = retry
    this.#statements = statements
  }

  delete(command: DeleteUserGroup): Promise<'deleted' | 'not_found' | 'revision_mismatch'> {
    const { key, expected, author, requestId, now } = command
    let teamId = expected?.teamId
    return this.#retry.run(async (attempt) => {
      for (;;) {
        const row = await this.#statements.select.add(key, attempt)
        teamId ??= row?.team_id
        // Should the first try be in doubt, one that has the same id by now is another user group.
        if (row === null || row.team_id !== teamId) return attempt.isAmbiguous ? 'deleted' : 'not_found'
        const mismatch = mismatchOf(row, expected)
        if (mismatch !== null) return mismatch
        const deleted = await attempt.change((sent) =>
          this.#primary.query(
            deleteUserGroup,
            [key.workspaceId, teamId, expected?.revision ?? null, now, author, newEventId(now), requestId],
            sent,
          ),
        )
        if (deleted.length === 1) return 'deleted'
      }
    })
  }

  restore(command: RestoreUserGroup): Promise<RestoreOutcome> {
    const { workspaceId, environment, teamId, deletedAfter } = command
    const tenantScope = { workspaceId, environment }
    const values = [workspaceId, environment, teamId, deletedAfter]
    return this.#retry.run(async (attempt) => {
      const [row] = await attempt.change((sent) =>
        this.#primary.query(restoreUserGroup, [...values, ...eventValues(command)], sent),
      )
      if (row !== undefined) return { outcome: 'restored', userGroup: userGroupOf(tenantScope, row) }
      const [known] = await this.#primary.query<UserGroupRow>(selectById, [workspaceId, environment, teamId])
      if (known !== undefined && attempt.isAmbiguous)
        return { outcome: 'restored', userGroup: userGroupOf(tenantScope, known) }
      const [deleted] = await this.#primary.query(
        `SELECT 1 FROM deleted_user_group
         WHERE workspace_id = $1 AND environment = $2 AND team_id = $3 AND deleted_at > $4`,
        values,
      )
      return { outcome: deleted === undefined ? 'not_found' : 'id_taken' }
    })
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

  /** A workspace at a time, so that each statement is for one place of a distributed database. */
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
        // Last: should this be cut off, they are found again. One that was restored, and deleted once more, stays.
        await forget(`DELETE FROM deleted_user_group ${ofThem} AND deleted_at <= $3`, deletedBefore)
      }
      total += expired.length
      if (expired.length < batchSize) return total
    }
  }
}

export const selectById = `SELECT ${columns} FROM user_group
  WHERE workspace_id = $1 AND environment = $2 AND team_id = $3`
