import { firstEventId } from '../../domain/audit/audit-event.ts'
import type {
  EraseUserGroup,
  UserGroupHistoryStore,
} from '../../domain/user-group/user-group-history-store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { deletedUserGroupOf, versionOf, type DeletedRow, type VersionRow } from '../user-group-row.ts'
import { appendAuditEvent } from './audit-log.ts'
import {
  forEachShard,
  inBatches,
  inShard,
  transaction,
  type Located,
  type Operation,
  type Operations,
} from './operation.ts'
import { anyOf, either, postgres, raw, rowsOf, sql, type Sql } from './sql.ts'

/** Number of deleted user groups that one batch removes. */
const batchSize = 1000

const gracePeriodsShown = 100

interface ExpiredRow {
  readonly bucket: number
  readonly workspace_id: number
  readonly team_id: number
}

/** `created_at`: time of the creation event. */
interface ErasableRow {
  readonly bucket: number
  readonly created_at: number
}

/** The bucket of a row, which SQLite does not have. */
const bucketColumn = either({ sqlite: raw('0 AS bucket'), postgres: raw('bucket') })

interface GracePeriodRow {
  readonly superseded_at: number
  readonly valid_until: number
}

/**
 * Writes the condition that the user group of a row of `new` exists, or is deleted but not erased. PostgreSQL finds each by its key,
 * because it never hashes an EXISTS with UNION ALL.
 */
export function isNotErased(shardBucket: number | null, rows: readonly Located[]): Sql {
  const found = (table: string) => sql`SELECT 1 FROM ${raw(table)}
    WHERE workspace_id = new.workspace_id AND team_id = new.team_id
      ${postgres`AND bucket = new.bucket ${inShard(raw('bucket'), shardBucket, rows)}`}`
  return sql`EXISTS (${found('user_group')} UNION ALL ${found('deleted_user_group')})`
}

/** Earlier versions of user groups, their superseded tokens, and deleted user groups. */
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

  *listGracePeriods({ workspaceId, bucket, teamId, now }) {
    const rows = yield* sql<GracePeriodRow>`SELECT superseded_at, valid_until FROM superseded_token
      WHERE workspace_id = ${workspaceId} ${postgres`AND bucket = ${bucket}`} AND team_id = ${teamId} AND valid_until > ${now}
      ORDER BY valid_until DESC LIMIT ${gracePeriodsShown}`.inBucket(bucket)
    return rows.map((row) => ({ supersededAt: row.superseded_at, validUntil: row.valid_until }))
  },

  deleteExpired: inBatches((deletedBefore: number) => {
    return function* () {
      const expired =
        yield* sql<ExpiredRow>`SELECT ${bucketColumn}, workspace_id, team_id FROM deleted_user_group
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

  *erase({ months, usageRows: erasedBefore, ...command }) {
    yield* transaction()
    const { workspaceId, environment, teamId } = command
    const [row] = yield* sql<ErasableRow>`SELECT ${bucketColumn}, created_at FROM deleted_user_group
      WHERE workspace_id = ${workspaceId} AND team_id = ${teamId} AND environment = ${environment}`.inBucket(
      null,
    )
    if (row === undefined) return null
    const remove = (table: string, condition = raw('')) => sql`DELETE FROM ${raw(table)}
      WHERE workspace_id = ${workspaceId} AND team_id = ${teamId} ${postgres`AND bucket = ${row.bucket}`} ${condition} RETURNING 1`
    // A restoration or another erasure may come first. Citus locks no row whose shard it does not know.
    if ((yield* remove('deleted_user_group')).length === 0) return null
    const { length: versions } = yield* remove('user_group_version')
    yield* remove('ended_session')
    const auditEvents = yield* eraseAuditEvents(command, row)
    // Waits for writes that still see the user group. Later ones wait for the commit, and ignore it.
    yield* postgres`LOCK TABLE viewing, last_introspection IN SHARE ROW EXCLUSIVE MODE`
    yield* remove('last_introspection')
    const inMonths = sql`AND environment = ${environment} AND ${anyOf('month', 'integer', months)}`
    const usageRows = erasedBefore + (yield* remove('viewing', inMonths)).length
    const details = { team_id: teamId, versions, audit_events: auditEvents, usage_rows: usageRows }
    yield* appendAuditEvent('user_group.erased', command, details)
    return { versions, auditEvents, usageRows }
  },
}

/**
 * Erases the id and the details of the audit events of a user group, and returns how many. Its creation is not in the index of the others,
 * and is found by its time.
 */
function* eraseAuditEvents(
  command: TenantScope & Pick<EraseUserGroup, 'teamId'>,
  { bucket, created_at }: ErasableRow,
): Operation<number> {
  const { workspaceId, environment, teamId } = command
  const erase = (condition: Sql) => sql`UPDATE audit_event SET provided_id = '', details = NULL
    WHERE workspace_id = ${workspaceId} AND ${condition} ${postgres`AND bucket = ${bucket}`} RETURNING 1`
  const { length } = yield* erase(
    sql`environment || '' = ${environment} AND team_id = ${teamId} AND action <> 'user_group.created'`,
  )
  const [first, before] = [firstEventId(created_at), firstEventId(created_at + 1)]
  const creation = yield* erase(
    sql`environment = ${environment} AND event_id >= ${first} AND event_id < ${before} AND team_id + 0 = ${teamId}`,
  )
  return length + creation.length
}

function deletion(
  table: string,
  shardBucket: number | null,
  rows: readonly ExpiredRow[],
  condition = raw(''),
) {
  const expired = rowsOf('expired', { bucket: 'smallint', workspace_id: 'bigint', team_id: 'bigint' }, rows)
  return either({
    sqlite: sql`DELETE FROM ${raw(table)}
      WHERE (workspace_id, team_id) IN (SELECT workspace_id, team_id FROM ${expired}) ${condition}`,
    postgres: sql`DELETE FROM ${raw(table)} USING ${expired}
      WHERE ${raw(table)}.workspace_id = expired.workspace_id AND ${raw(table)}.team_id = expired.team_id
        AND ${raw(table)}.bucket = expired.bucket
        ${inShard(raw(`${table}.bucket`), shardBucket, rows)} ${condition}`,
  })
}
