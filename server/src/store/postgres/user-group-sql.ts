import { revisionsKept } from '../../domain/user-group/decisions.ts'
import type { ChangeStamp } from '../../domain/user-group/user-group-store.ts'
import { auditColumns } from '../audit-row.ts'
import { resolveEntries } from './data-source-sql.ts'
import { prepared, type Statement } from './primary-pool.ts'
import {
  columns,
  keptColumns,
  restoredColumns,
  tokenlessColumns,
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

/** Row of a current token. `registry_version` is null if no schema was ever registered. */
export type TokenRow = TokenlessRow & Stamped & { readonly registry_version: string | null }

export type StampedViewRow = ViewRow & Stamped

export type SupersededTokenRow = TokenRow & {
  readonly issued_at: number
  readonly valid_until: number
}

export interface EntryRow extends Positioned {
  readonly registry_version: string | null
  readonly schema_id: number | null
  readonly data_source_id: number | null
  readonly provided_id: string
  readonly name: string
}

// Keys are looked up one by one. LIMIT and FOR UPDATE keep the subquery from becoming a join, for which PostgreSQL without
// statistics would read all rows of a workspace.
const wantedById = `
         FROM unnest($3::text[]) WITH ORDINALITY AS wanted (provided_id, position)
         CROSS JOIN LATERAL (
           SELECT * FROM user_group
           WHERE workspace_id = $1 AND environment = $2 AND provided_id = wanted.provided_id
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

/** Finds the user groups that are unchanged. */
export const selectUnchanged: Statement<Positioned> = prepared(
  'user_group_select_unchanged',
  `SELECT wanted.position
         FROM unnest($3::bigint[], $4::text[]) WITH ORDINALITY AS wanted (team_id, stamp, position)
         CROSS JOIN LATERAL (
           SELECT * FROM user_group WHERE workspace_id = $1 AND team_id = wanted.team_id LIMIT 1
         ) AS user_group
         WHERE environment = $2 AND ${stamp} = wanted.stamp`,
)

export const selectByToken: Statement<TokenRow> = prepared(
  'user_group_select_by_token',
  `SELECT wanted.position, ${tokenlessColumns}, ${registryVersion} AS registry_version, ${stamp} AS stamp
         FROM unnest($3::bytea[]) WITH ORDINALITY AS wanted (token_hash, position)
         CROSS JOIN LATERAL (
           SELECT * FROM user_group WHERE workspace_id = $1 AND token_hash = wanted.token_hash LIMIT 1
         ) AS user_group
         WHERE environment = $2`,
)

export const selectBySupersededToken: Statement<SupersededTokenRow> = prepared(
  'user_group_select_by_superseded_token',
  `SELECT wanted.position, superseded_token.issued_at, superseded_token.valid_until,
          ${tokenlessColumns}, ${registryVersion} AS registry_version, ${stamp} AS stamp
         FROM unnest($3::bytea[]) WITH ORDINALITY AS wanted (token_hash, position)
         CROSS JOIN LATERAL (
           SELECT * FROM superseded_token WHERE workspace_id = $1 AND token_hash = wanted.token_hash LIMIT 1
         ) AS superseded_token
         CROSS JOIN LATERAL (
           SELECT * FROM user_group WHERE workspace_id = $1 AND team_id = superseded_token.team_id LIMIT 1
         ) AS user_group
         WHERE environment = $2`,
)

export const selectIdempotencyKey: Statement<IdempotencyRow & Positioned> = prepared(
  'idempotency_key_select',
  `SELECT wanted.position, idempotency_key.*
         FROM unnest($3::bytea[]) WITH ORDINALITY AS wanted (key_hash, position)
         CROSS JOIN LATERAL (
           SELECT * FROM idempotency_key
           WHERE workspace_id = $1 AND environment = $2 AND key_hash = wanted.key_hash
           LIMIT 1
         ) AS idempotency_key`,
)

export const resolveEntry: Statement<EntryRow> = prepared(
  'mapping_entry_resolve',
  `SELECT ${registryVersion} AS registry_version, entry.position, schema.schema_id, data_source.*
   FROM unnest($3::text[], $4::text[]) WITH ORDINALITY AS entry (key, value, position)
   ${resolveEntries}`,
)

/** Condition on a row whose mapping was checked against a version of the registry: the version is still the same. */
const isRegistryUnchanged = (version: string) => `(${version} IS NULL OR ${version} = ${registryVersion})`

/** Condition on a row with a new token: its secret key is not retired. */
const isKeyAllowed = (row: string) => `${row}.token_key_id <> ALL (SELECT key_id FROM retired_secret_key)`

export const selectRetiredSecretKey: Statement<unknown> = prepared(
  'retired_secret_key_select',
  'SELECT 1 FROM retired_secret_key WHERE key_id = $1',
)

// Each statement inserts and locks rows in order of key, so that two statements never deadlock. Mapping entries arrive as
// one JSON object per row.
export const insert: Statement<Pick<UserGroupRow, 'team_id' | 'provided_id'>> = prepared(
  'user_group_insert',
  `WITH new AS (
     SELECT * FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bytea[], $8::text[], $9::bytea[],
                          $10::bigint[], $11::text[], $12::text[], $13::uuid[], $14::text[], $15::text[], $16::text[],
                          $17::text[])
       AS new (provided_id, name, mapping, properties, token_hash, token_key_id, token_sealed, now,
               registry_version, entries, event_id, action, author, request_id, details)
   ), inserted AS (
     INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, properties,
                             token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at,
                             updated_by)
     SELECT $1, $2, new.provided_id, new.name, new.mapping, new.properties,
            new.token_hash, new.token_key_id, new.token_sealed, new.now, new.now, new.now, new.author
     FROM new
     WHERE ${isKeyAllowed('new')} AND ${isRegistryUnchanged('new.registry_version')}
     ORDER BY new.provided_id COLLATE "C"
     ON CONFLICT (workspace_id, environment, provided_id) DO NOTHING
     RETURNING team_id, provided_id
   ), created AS (
     SELECT inserted.team_id, new.* FROM inserted JOIN new USING (provided_id)
   ), entered AS (
     INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
     SELECT $1, $2, entry.key, entry.value, team_id
     FROM created CROSS JOIN LATERAL json_each_text(created.entries::json) AS entry
     ON CONFLICT DO NOTHING
   ), audited AS (
     INSERT INTO audit_event (${auditColumns})
     SELECT $1, $2, event_id, action, author, request_id, team_id, provided_id, details FROM created
   )
   SELECT team_id, provided_id FROM inserted`,
)

// Changes the rows that are still at the revision that the decision was based on. Its time distinguishes two revisions with the
// same number, one of which a failover lost. The kept version is the row before the change. Workspace and environment of deleted
// entries come from the changed rows: with constants and without statistics, PostgreSQL would read all of mapping_entry.
export const update: Statement<Pick<UserGroupRow, 'team_id'>> = prepared(
  'user_group_update',
  `WITH change AS (
     SELECT * FROM unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::boolean[], $8::text[], $9::boolean[],
                          $10::text[], $11::bigint[], $12::text[], $13::bigint[], $14::boolean[], $15::text[], $16::text[],
                          $17::uuid[], $18::text[], $19::text[], $20::text[], $21::text[])
       AS change (team_id, old_revision, old_updated_at, name, sets_mapping, mapping, sets_properties, properties,
                  updated_at, updated_by, suspended_at, keeps_version, added, removed, event_id, action, author,
                  request_id, details)
     WHERE ${isRegistryUnchanged('$22::text')}
   ), locked AS (
     SELECT change.*, user_group.*
     FROM (SELECT * FROM change ORDER BY team_id) AS change
     CROSS JOIN LATERAL (
       SELECT workspace_id, environment, provided_id, updated_by AS old_updated_by, name AS old_name,
              mapping AS old_mapping, properties AS old_properties
       FROM user_group
       WHERE workspace_id = $1 AND team_id = change.team_id AND revision = change.old_revision
         AND updated_at = change.old_updated_at
       FOR UPDATE
     ) AS user_group
   ), kept AS (
     INSERT INTO user_group_version (workspace_id, team_id, revision, updated_at, updated_by, name, mapping, properties)
     SELECT workspace_id, team_id, old_revision, old_updated_at, old_updated_by, old_name, old_mapping, old_properties
     FROM locked WHERE keeps_version
   ), dropped AS (
     DELETE FROM user_group_version USING locked
     WHERE keeps_version AND user_group_version.workspace_id = locked.workspace_id
       AND user_group_version.team_id = locked.team_id
       AND user_group_version.revision <= locked.old_revision - ${revisionsKept}
   ), entry AS MATERIALIZED (
     SELECT workspace_id, environment, team_id, entry.key, entry.value
     FROM locked CROSS JOIN LATERAL json_each_text(locked.removed::json) AS entry
   ), gone AS (
     DELETE FROM mapping_entry USING entry
     WHERE mapping_entry.workspace_id = entry.workspace_id AND mapping_entry.environment = entry.environment
       AND schema_key = entry.key AND data_source_key = entry.value AND mapping_entry.team_id = entry.team_id
   ), entered AS (
     INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
     SELECT $1, $2, entry.key, entry.value, team_id
     FROM locked CROSS JOIN LATERAL json_each_text(locked.added::json) AS entry
     ON CONFLICT DO NOTHING
   ), audited AS (
     INSERT INTO audit_event (${auditColumns})
     SELECT workspace_id, environment, event_id, action, author, request_id, team_id, provided_id, details FROM locked
   )
   UPDATE user_group
   SET name = locked.name,
       mapping = CASE WHEN locked.sets_mapping THEN locked.mapping ELSE user_group.mapping END,
       properties = CASE WHEN locked.sets_properties THEN locked.properties ELSE user_group.properties END,
       updated_at = locked.updated_at, updated_by = locked.updated_by, suspended_at = locked.suspended_at,
       revision = locked.old_revision + 1
   FROM locked
   WHERE user_group.workspace_id = locked.workspace_id AND user_group.team_id = locked.team_id
   RETURNING user_group.team_id`,
)

// Replaces the tokens that are still current, if their idempotency key is free: the token, the superseded token and the
// record of the response are one transaction. A key is free again if its record had expired by $13, the earliest `now` of
// the batch; a later rotation is attempted again. (Citus allows no subquery there.)
export const replaceToken: Statement<Pick<UserGroupRow, 'team_id' | 'name'>> = prepared(
  'user_group_replace_token',
  `WITH rotation AS (
     SELECT * FROM unnest($3::bigint[], $4::bytea[], $5::bytea[], $6::text[], $7::bytea[], $8::bigint[], $9::bigint[],
                          $10::bytea[], $11::bytea[], $12::bigint[], $14::bigint[], $15::bigint[], $16::uuid[],
                          $17::text[], $18::text[], $19::text[], $20::text[])
       AS rotation (team_id, old_hash, token_hash, token_key_id, token_sealed, now, old_valid_until,
                    key_hash, fingerprint, key_expires_at, old_issued_at, expected_revision, event_id, action, author,
                    request_id, details)
   ), locked AS (
     SELECT rotation.*, user_group.*
     FROM (SELECT * FROM rotation WHERE ${isKeyAllowed('rotation')} ORDER BY team_id) AS rotation
     CROSS JOIN LATERAL (
       SELECT workspace_id, provided_id, name
       FROM user_group
       WHERE workspace_id = $1 AND team_id = rotation.team_id AND token_hash = rotation.old_hash
         AND coalesce(rotation.expected_revision, revision) = revision
       FOR UPDATE
     ) AS user_group
   ), kept AS (
     INSERT INTO idempotency_key (workspace_id, environment, key_hash, fingerprint, team_id, provided_id, name,
                                  token_key_id, token_sealed, expires_at)
     SELECT $1, $2, key_hash, fingerprint, team_id, provided_id, name, token_key_id, token_sealed, key_expires_at
     FROM locked WHERE key_hash IS NOT NULL ORDER BY key_hash
     ON CONFLICT (workspace_id, environment, key_hash) DO UPDATE
     SET fingerprint = excluded.fingerprint, team_id = excluded.team_id, provided_id = excluded.provided_id,
         name = excluded.name, token_key_id = excluded.token_key_id, token_sealed = excluded.token_sealed,
         expires_at = excluded.expires_at
     WHERE idempotency_key.expires_at <= $13
     RETURNING key_hash
   ), allowed AS (
     SELECT * FROM locked WHERE key_hash IS NULL OR key_hash IN (SELECT key_hash FROM kept)
   ), superseded AS (
     INSERT INTO superseded_token (workspace_id, token_hash, team_id, issued_at, superseded_at, valid_until)
     SELECT $1, old_hash, team_id, old_issued_at, now, old_valid_until FROM allowed
   ), audited AS (
     INSERT INTO audit_event (${auditColumns})
     SELECT $1, $2, event_id, action, author, request_id, team_id, provided_id, details FROM allowed
   )
   UPDATE user_group
   SET token_hash = allowed.token_hash, token_key_id = allowed.token_key_id, token_sealed = allowed.token_sealed,
       token_issued_at = allowed.now, revision = user_group.revision + 1
   FROM allowed
   WHERE user_group.workspace_id = allowed.workspace_id AND user_group.team_id = allowed.team_id
   RETURNING user_group.team_id, user_group.name`,
)

/** A page of the list, for one request. */
export const selectPage: Statement<UserGroupRow> = prepared(
  'user_group_select_page',
  `SELECT ${columns} FROM user_group WHERE workspace_id = $1 AND environment = $2 AND provided_id > $3
         ORDER BY provided_id LIMIT $4`,
)

/** Appends an audit event whose cells are the parameters from `$first` on, if the change happened. */
const appendEvent = (first: number, changed: string) =>
  `INSERT INTO audit_event (${auditColumns})
   SELECT $${first}::bigint, $${first + 1}::text, $${first + 2}::uuid, $${first + 3}::text, $${first + 4}::text,
          $${first + 5}::text, $${first + 6}::bigint, $${first + 7}::text, $${first + 8}::text
   FROM ${changed}`

export const deleteUserGroup: Statement<unknown> = prepared(
  'user_group_delete',
  `WITH deleted AS (
     DELETE FROM user_group WHERE workspace_id = $1 AND team_id = $2 AND revision = $3 RETURNING *
   ), kept AS (
     INSERT INTO deleted_user_group (${keptColumns}, deleted_at, deleted_by) SELECT ${keptColumns}, $4, $5 FROM deleted
   ), entry AS MATERIALIZED (
     SELECT workspace_id, team_id, environment, key, value
     FROM deleted CROSS JOIN unnest($6::text[], $7::text[]) AS entry (key, value)
   ), gone AS (
     DELETE FROM mapping_entry USING entry
     WHERE mapping_entry.workspace_id = entry.workspace_id AND mapping_entry.environment = entry.environment
       AND schema_key = entry.key AND data_source_key = entry.value AND mapping_entry.team_id = entry.team_id
   ), audited AS (
     ${appendEvent(8, 'deleted')}
   )
   SELECT team_id FROM deleted`,
)

export const selectDeleted: Statement<DeletedRow & { readonly is_id_taken: boolean }> = prepared(
  'deleted_user_group_select',
  `SELECT *, (
     SELECT 1 FROM user_group
     WHERE workspace_id = $1 AND environment = $2 AND provided_id = deleted_user_group.provided_id LIMIT 1
   ) IS NOT NULL AS is_id_taken
   FROM deleted_user_group WHERE workspace_id = $1 AND environment = $2 AND team_id = $3`,
)

export const restoreUserGroup: Statement<unknown> = prepared(
  'user_group_restore',
  `WITH deleted AS (
     DELETE FROM deleted_user_group WHERE workspace_id = $1 AND team_id = $2 AND deleted_at = $3 RETURNING *
   ), restored AS (
     INSERT INTO user_group (${keptColumns}) OVERRIDING SYSTEM VALUE SELECT ${restoredColumns} FROM deleted
     RETURNING workspace_id, environment, team_id
   ), entered AS (
     INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
     SELECT workspace_id, environment, key, value, team_id
     FROM restored CROSS JOIN unnest($4::text[], $5::text[]) AS entry (key, value)
     ON CONFLICT DO NOTHING
   ), audited AS (
     ${appendEvent(6, 'restored')}
   )
   SELECT team_id FROM restored`,
)

export const endGracePeriod: Statement<unknown> = prepared(
  'superseded_token_end_grace_period',
  `WITH changed AS (
     UPDATE superseded_token SET valid_until = $3
     WHERE workspace_id = $1 AND token_hash = $2 AND valid_until > $3 RETURNING 1
   )
   ${appendEvent(4, 'changed')}`,
)
