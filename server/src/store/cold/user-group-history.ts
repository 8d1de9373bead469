import { firstEventId } from '../../domain/audit/audit-event.ts'
import type {
  EraseUserGroup,
  GracePeriod,
  UserGroupHistoryStore,
} from '../../domain/user-group/user-group-history-store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { deletedUserGroupOf, versionOf, type DeletedRow, type VersionRow } from '../user-group-row.ts'
import { appendAuditEvent } from './audit-log.ts'
import { batchSize, bucketColumn, deleteBatch, deletion } from './batch-deletion.ts'
import {
  inBatches,
  inShard,
  transaction,
  type Located,
  type Operation,
  type Operations,
} from './operation.ts'
import { anyOf, postgres, raw, sql, type Sql } from './sql.ts'

const gracePeriodsShown = 100

interface ExpiredRow {
  readonly bucket: number
  readonly workspace_id: number
  readonly team_id: number
}

interface ExpiredKey extends ExpiredRow {
  readonly key_hash: Uint8Array
}

/** `created_at`: time of the creation event. */
interface ErasableRow {
  readonly bucket: number
  readonly created_at: number
}

const expiredKey = { bucket: 'smallint', workspace_id: 'bigint', team_id: 'bigint' } as const

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

/** Earlier versions of user groups, their superseded tokens, deleted user groups, and idempotency keys. */
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
    return yield* sql<GracePeriod>`
      SELECT superseded_at AS "supersededAt", valid_until AS "validUntil" FROM superseded_token
      WHERE workspace_id = ${workspaceId} ${postgres`AND bucket = ${bucket}`} AND team_id = ${teamId} AND valid_until > ${now}
      ORDER BY valid_until DESC LIMIT ${gracePeriodsShown}`.inBucket(bucket)
  },

  deleteExpired: inBatches((deletedBefore: number) => {
    const expired = sql<ExpiredRow>`SELECT ${bucketColumn}, workspace_id, team_id FROM deleted_user_group
      WHERE deleted_at <= ${deletedBefore} ORDER BY deleted_at LIMIT ${batchSize}`
    return () =>
      deleteBatch(expired, (shardBucket, rows) => [
        deletion('user_group_version', expiredKey, shardBucket, rows),
        deletion('last_introspection', expiredKey, shardBucket, rows),
        // Last, so that an interrupted run finds them again. A user group that was restored and deleted again stays.
        deletion(
          'deleted_user_group',
          expiredKey,
          shardBucket,
          rows,
          sql`AND deleted_at <= ${deletedBefore}`,
        ),
      ])
  }),

  deleteExpiredIdempotencyKeys: inBatches((now: number) => {
    const expired = sql<ExpiredKey>`SELECT ${bucketColumn}, workspace_id, team_id, key_hash FROM idempotency_key
      WHERE expires_at <= ${now} ORDER BY expires_at LIMIT ${batchSize}`
    const types = { ...expiredKey, key_hash: 'bytea' } as const
    return () =>
      deleteBatch(expired, (shardBucket, rows) => [
        // A key that has expired may be used again meanwhile.
        deletion('idempotency_key', types, shardBucket, rows, sql`AND expires_at <= ${now}`),
      ])
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
