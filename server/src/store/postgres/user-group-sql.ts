import type { ChangeStamp } from '../../domain/user-group/user-group-store.ts'
import { resolveEntries } from './data-source-sql.ts'
import { prepared, type Statement } from './primary-pool.ts'
import {
  changedColumns,
  columns,
  tokenlessColumns,
  versionColumns,
  viewColumns,
  type DeletedRow,
  type IdempotencyRow,
  type TokenlessRow,
  type UserGroupRow,
  type ViewRow,
} from '../user-group-row.ts'

/** Position of a row among the requested items, from 1. */
export interface Positioned {
  readonly position: number
}

interface Stamped extends Positioned {
  readonly stamp: ChangeStamp
}

export type StampedViewRow = ViewRow & Stamped

/** Row of a user group found by a token. `registry_version` is null if no schema was ever registered. */
export type TokenRow = TokenlessRow &
  Stamped & {
    readonly token_hash: Uint8Array
    readonly registry_version: string | null
    /** Times of the superseded token with the requested hash; null if there is none. */
    readonly issued_at: number | null
    readonly valid_until: number | null
  }

export interface EntryRow extends Positioned {
  readonly registry_version: string | null
  readonly schema_id: number | null
  readonly schema_provided_id: string
  readonly data_source_id: number | null
  readonly provided_id: string
  readonly name: string
}

// The first parameters are workspace, environment, shard bucket and the buckets of the items. On Citus, all items of a statement are
// in one shard, and $3 is a bucket of it. The planner then sees a list of constant buckets, and sends the statement to that shard.
// Otherwise $3 is null, and the condition is true.
const isInBucket = (row: string) =>
  `bucket = ${row}.bucket AND ($3::smallint IS NULL OR bucket = ANY ($4::smallint[]))`

// Keys are looked up one by one. LIMIT keeps the subquery from becoming a join, for which PostgreSQL without statistics would
// read all rows of a workspace.
const wantedById = `
         FROM unnest($4::smallint[], $5::text[]) WITH ORDINALITY AS wanted (bucket, provided_id, position)
         CROSS JOIN LATERAL (
           SELECT * FROM user_group
           WHERE workspace_id = $1 AND environment = $2 AND provided_id = wanted.provided_id AND ${isInBucket('wanted')}
           LIMIT 1
         ) AS user_group`

export const select: Statement<UserGroupRow & Positioned> = prepared(
  'user_group_select',
  `SELECT wanted.position, ${columns} ${wantedById}`,
)

const registryVersion = '(SELECT version FROM registry WHERE workspace_id = $1 AND environment = $2)'

// Each change of a user group is a revision. After a failover or a restore that lost some, revision numbers repeat; the times
// of the changes distinguish them. All times are needed, because clocks differ; the second is a short difference to the first.
const stamp = `concat_ws('/', user_group.revision, user_group.updated_at, user_group.token_issued_at - user_group.updated_at,
                             coalesce(user_group.suspended_at, 0), ${registryVersion})`

export const selectView: Statement<StampedViewRow> = prepared(
  'user_group_select_view',
  `SELECT wanted.position, ${viewColumns}, ${stamp} AS stamp ${wantedById}`,
)

/**
 * Finds the user groups that have changed or do not exist: usually none, and rows cost more than their absence. LIMIT keeps the subquery
 * from becoming a join, like above.
 */
export const selectChanged: Statement<Positioned> = prepared(
  'user_group_select_changed',
  `SELECT wanted.position
         FROM unnest($4::smallint[], $5::bigint[], $6::text[]) WITH ORDINALITY AS wanted (bucket, team_id, stamp, position)
         WHERE (
           SELECT environment = $2 AND ${stamp} = wanted.stamp FROM user_group
           WHERE workspace_id = $1 AND team_id = wanted.team_id AND ${isInBucket('wanted')} LIMIT 1
         ) IS NOT TRUE`,
)

/**
 * Finds the user groups at the locations of tokens, and the superseded tokens with their hashes. The caller compares the hash of the
 * current token. One statement reads both, so that a token which a rotation replaces meanwhile is one or the other.
 */
export const selectByToken: Statement<TokenRow> = prepared(
  'user_group_select_by_token',
  `SELECT wanted.position, ${tokenlessColumns}, user_group.token_hash, superseded_token.issued_at, superseded_token.valid_until,
          ${registryVersion} AS registry_version, ${stamp} AS stamp
         FROM unnest($4::smallint[], $5::bigint[], $6::bytea[]) WITH ORDINALITY AS wanted (bucket, team_id, token_hash, position)
         CROSS JOIN LATERAL (
           SELECT * FROM user_group
           WHERE workspace_id = $1 AND team_id = wanted.team_id AND ${isInBucket('wanted')} LIMIT 1
         ) AS user_group
         LEFT JOIN LATERAL (
           SELECT * FROM superseded_token
           WHERE user_group.token_hash <> wanted.token_hash AND workspace_id = $1 AND team_id = wanted.team_id
             AND token_hash = wanted.token_hash AND ${isInBucket('wanted')} LIMIT 1
         ) AS superseded_token ON true
         WHERE environment = $2`,
)

export const selectIdempotencyKey: Statement<IdempotencyRow & Positioned> = prepared(
  'idempotency_key_select',
  `SELECT wanted.position, idempotency_key.*
         FROM unnest($4::smallint[], $5::bigint[], $6::bytea[]) WITH ORDINALITY AS wanted (bucket, team_id, key_hash, position)
         CROSS JOIN LATERAL (
           SELECT * FROM idempotency_key
           WHERE workspace_id = $1 AND team_id = wanted.team_id AND key_hash = wanted.key_hash AND ${isInBucket('wanted')}
           LIMIT 1
         ) AS idempotency_key
         WHERE environment = $2`,
)

export const resolveEntry: Statement<EntryRow> = prepared(
  'mapping_entry_resolve',
  `SELECT ${registryVersion} AS registry_version, entry.position, schema.schema_id, schema.provided_id AS schema_provided_id, data_source.*
   FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS entry (key, value, position)
   ${resolveEntries}`,
)

export const selectRetiredSecretKey: Statement<unknown> = prepared(
  'retired_secret_key_select',
  'SELECT 1 FROM retired_secret_key WHERE key_id = $1',
)

interface ResultRows {
  readonly team_id: { readonly team_id: number }
  readonly has_changed: { readonly has_changed: boolean }
}

/** A call of a function of the schema file that applies decisions. */
export interface Call<Row, Parameter extends string> extends Statement<Row> {
  readonly parameters: readonly Parameter[]
}

/**
 * Calls a function in the SELECT list, because Citus sends only such a call to the node of its bucket, which it finds only in a parameter
 * without a name. All other parameters have the names of the function's.
 */
function call<Result extends keyof ResultRows, const Parameter extends string>(
  statementName: string,
  functionName: string,
  result: Result,
  parameters: readonly Parameter[],
): Call<ResultRows[Result], Parameter> {
  const named = parameters.map((name, i) => `_${name} => $${i + 2}`)
  return {
    ...prepared(statementName, `SELECT ${functionName}($1, ${named.join(', ')}) AS ${result}`),
    parameters,
  }
}

/** Parameters of all functions that write several user groups. */
const ofItems = [
  'workspace_id',
  'environment',
  'buckets',
  'team_ids',
  'event_ids',
  'actions',
  'authors',
  'request_ids',
  'details',
] as const

export type ItemParameter = (typeof ofItems)[number]

export const create = call('user_group_create', 'create_user_groups', 'team_id', [
  ...ofItems,
  'provided_ids',
  'names',
  'mappings',
  'properties',
  'token_hashes',
  'token_key_ids',
  'tokens_sealed',
  'times',
  'registry_versions',
  'entries',
])

export const change = call('user_group_change', 'change_user_groups', 'team_id', [
  ...ofItems,
  'provided_ids',
  'old_revisions',
  'old_times',
  'sets_mapping',
  'sets_properties',
  ...changedColumns.map((column) => `new_${column}` as const),
  ...versionColumns.map((column) => `version_${column}` as const),
  'dropped_revisions',
  'added',
  'removed',
  'ended_subjects',
  'ended_at',
  'registry_version',
])

export const replaceToken = call('user_group_replace_token', 'replace_user_group_tokens', 'team_id', [
  ...ofItems,
  'provided_ids',
  'names',
  'old_hashes',
  'old_issue_times',
  'old_valid_until',
  'expected_revisions',
  'token_hashes',
  'token_key_ids',
  'tokens_sealed',
  'times',
  'key_hashes',
  'fingerprints',
  'key_expiry_times',
])

/** Parameters of all functions that write one user group. */
const ofOne = [
  'workspace_id',
  'environment',
  'team_id',
  'provided_id',
  'event_id',
  'action',
  'author',
  'request_id',
  'details',
] as const

export const endGracePeriod = call('superseded_token_end_grace_period', 'end_grace_period', 'has_changed', [
  ...ofOne,
  'token_hash',
  'time',
])

export const deleteUserGroup = call('user_group_delete', 'delete_user_group', 'has_changed', [
  ...ofOne,
  'revision',
  'updated_at',
  'deleted_at',
  'entries',
])

export const restoreUserGroup = call('user_group_restore', 'restore_user_group', 'has_changed', [
  ...ofOne,
  'deleted_at',
  'entries',
])

/** A page of the list, for one request. */
export const selectPage: Statement<UserGroupRow> = prepared(
  'user_group_select_page',
  `SELECT ${columns} FROM user_group WHERE workspace_id = $1 AND environment = $2 AND provided_id > $3
         ORDER BY provided_id LIMIT $4`,
)

export const selectById: Statement<UserGroupRow> = prepared(
  'user_group_select_by_id',
  // The expression keeps PostgreSQL without statistics from the index of provided ids.
  `SELECT ${columns} FROM user_group WHERE workspace_id = $1 AND environment || '' = $2 AND team_id = $3`,
)

export const selectDeleted: Statement<DeletedRow> = prepared(
  'deleted_user_group_select',
  'SELECT * FROM deleted_user_group WHERE workspace_id = $1 AND environment = $2 AND team_id = $3',
)
