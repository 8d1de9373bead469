import type { TenantScope } from '../../domain/tenant-scope.ts'
import { others } from '../../domain/usage/look.ts'
import type {
  EraseUsage,
  EraseViewer,
  Mark,
  MonthOfUserGroup,
  NamedUserGroup,
  ResourceUsage,
  SliceEnd,
  UsageSlice,
  UsageStore,
  UserGroupUsage,
  ViewerUsage,
} from '../../domain/usage/usage-store.ts'
import { environments } from '../../domain/environment.ts'
import { appendAuditEvent } from './audit-log.ts'
import { batchSize, bucketColumn, deleteBatch, deletion } from './batch-deletion.ts'
import { forEachShard, inBatches, transaction, type Operation, type Operations } from './operation.ts'
import { anyOf, either, joined, postgres, raw, rowsOf, sql, type Sql } from './sql.ts'
import { isNotErased } from './user-group-history.ts'

const nameColumns = { viewerId: 'viewer_id', resource: 'resource' } as const

/** Makes a group part of one shard. */
const byBucket = postgres`bucket,`
const isNamed = raw("viewer_id <> ''")
const bitsOfDays = either({ sqlite: raw('bit_count(days)'), postgres: raw('bit_count(days::bit(31))') })
const seen = raw('bit_or(days) AS days, max(last_seen_at) AS "lastSeenAt"')
const viewers = sql`count(CASE WHEN ${isNamed} THEN 1 END) AS viewers,
  CAST(coalesce(sum(CASE WHEN ${isNamed} THEN ${bitsOfDays} END), 0) AS bigint) AS "viewerDays"`

export const usage: Operations<UsageStore> = {
  *record(marks) {
    yield* forEachShard(marks, (shardBucket, rows) => [upsert(shardBucket, rows)])
  },

  *findNames(place, column, names) {
    const name = nameColumns[column]
    const rows = yield* sql<{ name: string }>`SELECT DISTINCT ${raw(name)} AS name FROM viewing
      WHERE ${inPlace(place)} AND ${raw(name)} <> '' AND ${anyOf(name, 'text', names)}`.inBucket(place.bucket)
    return rows.map(({ name }) => name)
  },

  *countRows({ rows, ...slice }) {
    const counts = yield* sql<{
      teamId: number
      count: number
    }>`SELECT team_id AS "teamId", count(*) AS count FROM (
        SELECT team_id FROM viewing WHERE ${inSlice(slice)} LIMIT ${rows + 1}
      ) AS seen GROUP BY team_id`.inBucket(null)
    const total = counts.reduce((sum, { count }) => sum + count, 0)
    return total > rows ? null : new Map(counts.map(({ teamId, count }) => [teamId, count]))
  },

  *countNames(place, column, { after, rows }) {
    const name = raw(nameColumns[column])
    const [found] = yield* sql<{ count: number; last: string | null; row_count: number }>`
      SELECT count(DISTINCT name) AS count, max(name) AS last, count(*) AS row_count FROM (
        SELECT ${name} AS name FROM viewing
        WHERE ${inPlace(place)} AND ${name} <> '' AND ${name} > ${after} ORDER BY ${name} LIMIT ${rows}
      ) AS named`.inBucket(place.bucket)
    return { count: found?.count ?? 0, last: found?.row_count === rows ? found.last : null }
  },

  *findUserGroups(scope, teamIds) {
    return [
      ...(yield* selectNamed('user_group', scope, teamIds)),
      ...(yield* selectNamed('deleted_user_group', scope, teamIds)),
    ]
  },

  *listTeamIds({ rows, limit, ...slice }) {
    const found = yield* sql<{ team_id: number }>`SELECT DISTINCT team_id FROM (
        SELECT team_id FROM viewing WHERE ${inSlice(slice)} ORDER BY team_id LIMIT ${rows}
      ) AS seen ORDER BY team_id LIMIT ${limit}`.inBucket(null)
    return found.map((row) => row.team_id)
  },

  *sumUserGroups(slice) {
    const rows = yield* sql<Omit<UserGroupUsage, 'isTruncated'> & { readonly isTruncated: number }>`
      SELECT team_id AS "teamId", ${seen}, ${viewers}, max(CASE WHEN viewer_id = ${others} THEN 1 ELSE 0 END) AS "isTruncated"
      FROM (
        SELECT ${byBucket} team_id, viewer_id, bit_or(days) AS days, max(last_seen_at) AS last_seen_at FROM viewing
        WHERE ${inSlice(slice)} GROUP BY ${byBucket} team_id, viewer_id
      ) AS viewer
      GROUP BY ${byBucket} team_id`.inBucket(null)
    return rows.map((row) => ({ ...row, isTruncated: row.isTruncated === 1 }))
  },

  *listViewers({ teamIds, afterTeamId, afterViewerId, limit, ...query }) {
    // Not one comparison of pairs: SQLite would begin at the first viewer of the user group for it.
    const slices: UsageSlice[] = [
      { ...query, teamIds: [afterTeamId], afterViewerId },
      { ...query, teamIds, afterTeamId },
    ]
    const rows: ViewerUsage[] = []
    for (const slice of teamIds === undefined || teamIds.includes(afterTeamId) ? slices : slices.slice(1))
      if (rows.length < limit)
        rows.push(
          ...(yield* sql<ViewerUsage>`SELECT team_id AS "teamId", viewer_id AS "viewerId", ${seen} FROM viewing
            WHERE ${inSlice(slice)} AND ${isNamed}
            GROUP BY ${byBucket} team_id, viewer_id ORDER BY team_id, viewer_id LIMIT ${limit - rows.length}`.inBucket(
            null,
          )),
        )
    return rows
  },

  *sumResources(slice) {
    return yield* sql<ResourceUsage>`
      SELECT resource, count(DISTINCT team_id) AS "userGroups", ${seen}, ${viewers} FROM viewing
      WHERE ${inSlice(slice)} GROUP BY resource`.inBucket(null)
  },

  *sumDays(slice) {
    const userGroups = yield* countDays(slice, raw('team_id'))
    const viewers = yield* countDays(slice, raw('team_id, viewer_id'), isNamed)
    return {
      userGroups: userGroups.count,
      userGroupsByDay: userGroups.byDay,
      viewers: viewers.count,
      viewersByDay: viewers.byDay,
    }
  },

  *findSliceEnd({ rows, ...slice }) {
    // Several team ids would be sorted for an order.
    const order = (slice.teamIds?.length ?? 1) > 1 ? raw('') : raw('ORDER BY team_id, viewer_id')
    const [last] = yield* sql<SliceEnd>`SELECT team_id AS "teamId", viewer_id AS "viewerId" FROM viewing
      WHERE ${inSlice(slice)} ${order} LIMIT 1 OFFSET ${rows - 1}`.inBucket(null)
    return last ?? null
  },

  eraseViewer: inBatches(({ viewerId, teamId, ...change }: EraseViewer) => {
    const ofViewer = sql`workspace_id = ${change.workspaceId} AND environment = ${change.environment}
      AND viewer_id = ${viewerId} AND ${isNamed} ${teamId === null ? raw('') : sql`AND team_id = ${teamId}`}`
    return function* () {
      yield* transaction()
      const rows = yield* sql<{ month: number; team_id: number }>`
        SELECT month, team_id FROM viewing WHERE ${ofViewer} LIMIT ${batchSize}`.inBucket(null)
      const months = new Set(rows.map(({ month }) => month))
      const teamIds = new Set(rows.map((row) => row.team_id))
      const { length } = yield* sql`DELETE FROM viewing
        WHERE ${ofViewer} AND ${anyOf('month', 'integer', [...months])} AND ${anyOf('team_id', 'bigint', [...teamIds])} RETURNING 1`
      // Without the viewer's id, which would outlive its erasure.
      const details = { deleted: length, ...(teamId !== null && { team_id: teamId }) }
      if (length > 0) yield* appendAuditEvent('usage.erased', change, details)
      return { count: length, isDone: rows.length < batchSize }
    }
  }),

  eraseUserGroup: inBatches(({ workspaceId, environment, teamId, months }: EraseUsage) => {
    const found = sql<KeyRow>`SELECT ${bucketColumn}, ${keyColumns} FROM viewing
      WHERE workspace_id = ${workspaceId} AND environment = ${environment} AND ${anyOf('month', 'integer', months)}
        AND team_id = ${teamId} LIMIT ${batchSize}`
    return () => deleteBatch(found, deletions)
  }),

  deleteExpired: inBatches((month: number) => {
    return function* () {
      const workspaces = yield* sql<{ workspace_id: number }>`SELECT workspace_id FROM workspace`
      const ids = workspaces.map((row) => row.workspace_id)
      // Both conditions on equality, so that the key finds the rows of old months.
      const expired = sql<KeyRow>`SELECT ${bucketColumn}, ${keyColumns} FROM viewing
        WHERE ${anyOf('workspace_id', 'bigint', ids)} AND ${anyOf('environment', 'text', environments)} AND month < ${month}
        LIMIT ${batchSize}`
      return yield* deleteBatch(expired, deletions)
    }
  }),
}

const keyTypes = {
  bucket: 'smallint',
  workspace_id: 'bigint',
  environment: 'text',
  month: 'integer',
  team_id: 'bigint',
  viewer_id: 'text',
  resource: 'text',
} as const

const keyColumns = raw(Object.keys(keyTypes).slice(1).join())

type KeyRow = Readonly<Record<keyof typeof keyTypes, unknown>> & { readonly bucket: number }

/** In a fixed order, so that two processes never deadlock. */
function upsert(shardBucket: number | null, marks: readonly Mark[]): Sql {
  const rows = marks.map((mark) => ({
    bucket: mark.bucket,
    workspace_id: mark.workspaceId,
    environment: mark.environment,
    month: mark.month,
    team_id: mark.teamId,
    viewer_id: mark.viewerId,
    resource: mark.resource,
    days: mark.days,
    last_seen_at: mark.lastSeenAt,
  }))
  const key = raw('workspace_id, environment, month, team_id, viewer_id, resource')
  const columns = sql`${key}, ${byBucket} days, last_seen_at`
  const latest = either({ sqlite: raw('max'), postgres: raw('greatest') })
  return sql`INSERT INTO viewing (${columns})
    SELECT ${columns} FROM ${rowsOf('new', { ...keyTypes, days: 'integer', last_seen_at: 'bigint' }, rows)}
    WHERE ${isNotErased(shardBucket, marks)} ORDER BY ${key}
    ON CONFLICT (${key} ${postgres`, bucket`}) DO UPDATE SET days = viewing.days | excluded.days,
      last_seen_at = ${latest}(viewing.last_seen_at, excluded.last_seen_at)
    WHERE (viewing.days | excluded.days) <> viewing.days OR viewing.last_seen_at < excluded.last_seen_at`
}

const deletions = (shardBucket: number | null, rows: readonly KeyRow[]) => [
  deletion('viewing', keyTypes, shardBucket, rows),
]

function inPlace({ workspaceId, environment, month, teamId, bucket }: MonthOfUserGroup): Sql {
  return sql`workspace_id = ${workspaceId} AND environment = ${environment} AND month = ${month} AND team_id = ${teamId}
    ${postgres`AND bucket = ${bucket}`}`
}

function inSlice(slice: UsageSlice): Sql {
  const { workspaceId, environment, month, teamIds, afterTeamId, lastTeamId, afterViewerId, lastViewerId } =
    slice
  const conditions = [
    sql`workspace_id = ${workspaceId} AND environment = ${environment} AND month = ${month}`,
    // With one id, the key orders the rows by viewer.
    ...(teamIds?.length === 1 ? [sql`team_id = ${teamIds[0]}`] : []),
    ...(teamIds !== undefined && teamIds.length !== 1 ? [anyOf('team_id', 'bigint', teamIds)] : []),
    ...(afterTeamId === undefined ? [] : [sql`team_id > ${afterTeamId}`]),
    ...(lastTeamId === undefined ? [] : [sql`team_id <= ${lastTeamId}`]),
    ...(afterViewerId === undefined ? [] : [sql`viewer_id > ${afterViewerId}`]),
    ...(lastViewerId === undefined ? [] : [sql`viewer_id <= ${lastViewerId}`]),
  ]
  return joined(conditions, ' AND ')
}

function* selectNamed(
  table: 'user_group' | 'deleted_user_group',
  { workspaceId, environment }: TenantScope,
  teamIds: readonly number[],
): Operation<NamedUserGroup[]> {
  // The expressions keep the databases from the index of provided ids.
  const inTenantScope = either({
    sqlite: sql`+workspace_id = ${workspaceId} AND environment = ${environment}`,
    postgres: sql`workspace_id = ${workspaceId} AND environment || '' = ${environment}`,
  })
  return yield* sql<NamedUserGroup>`SELECT team_id AS "teamId", provided_id AS "providedId", name FROM ${raw(table)}
    WHERE ${inTenantScope} AND ${anyOf('team_id', 'bigint', teamIds)}`.inBucket(null)
}

/** Counts groups of rows, and on each day those that have it. */
function* countDays(
  slice: UsageSlice,
  group: Sql,
  condition = raw('true'),
): Operation<{ count: number; byDay: number[] }> {
  const byDay = either({
    sqlite: raw('count_days(days)'),
    postgres: raw(`json_build_array(${daySums.join()})::text`),
  })
  const [row] = yield* sql<{
    count: number
    byDay: string
  }>`SELECT count(*) AS count, ${byDay} AS "byDay" FROM (
      SELECT bit_or(days) AS days FROM viewing WHERE ${inSlice(slice)} AND ${condition} GROUP BY ${byBucket} ${group}
    ) AS seen`.inBucket(null)
  return { count: row?.count ?? 0, byDay: row === undefined ? [] : (JSON.parse(row.byDay) as number[]) }
}

const daySums = Array.from({ length: 31 }, (_, bit) => `coalesce(sum(days >> ${bit} & 1), 0)`)
