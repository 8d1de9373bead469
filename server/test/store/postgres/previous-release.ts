import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import { readMigrations } from '../../../src/store/migrations.ts'
import { freshDatabase } from '../../support/database.ts'
import type { Scope } from '../../support/scope.ts'
import { openSession } from '../../support/session.ts'

/** Number of migrations of the release before buckets. */
const versions = 8

/** Length of an encrypted token of that release. */
const sealedLength = 79

/** A user group of the previous release. */
export interface PreviousUserGroup {
  readonly teamId: number
  readonly providedId: string
  /** SHA-256 of the current token. */
  hash: Buffer
}

export interface PreviousDatabase {
  readonly url: string
  readonly release: PreviousRelease
}

/** Creates a database as the release before buckets leaves it. It is dropped after the test. */
export async function previousDatabase(t: Scope): Promise<PreviousDatabase> {
  const url = await freshDatabase(t)
  const session = await openSession(t, url)
  await session.query(
    `CREATE TABLE schema_migration (version integer PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL);
     COMMENT ON TABLE schema_migration IS 'User Group Service'`,
  )
  for (const { version, name, sql } of readMigrations('postgres').slice(0, versions)) {
    await session.query(sql)
    await session.query('INSERT INTO schema_migration VALUES ($1, $2, 0)', [version, name])
  }
  return { url, release: new PreviousRelease(session) }
}

/** Runs the statements of the release before buckets, for one row each: no bucket, and ids from the table. */
export class PreviousRelease {
  readonly session: Client

  constructor(session: Client) {
    this.session = session
  }

  async create(providedId: string = randomUUID()): Promise<PreviousUserGroup> {
    const hash = newHash()
    const { rows } = await this.session.query<{ team_id: string }>(
      `WITH inserted AS (
         INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, token_hash, token_key_id, token_sealed,
                                 token_issued_at, created_at, updated_at, updated_by)
         VALUES (1, 'Customer', $1, 'A', '{"40":"213"}', $2, 'test', $3, 1, 1, 1, 'api_token:1')
         ON CONFLICT (workspace_id, environment, provided_id) DO NOTHING
         RETURNING team_id, provided_id
       ), entered AS (
         INSERT INTO mapping_entry (workspace_id, environment, schema_key, data_source_key, team_id)
         SELECT 1, 'Customer', '40', '213', team_id FROM inserted ON CONFLICT DO NOTHING
       ), audited AS (
         INSERT INTO audit_event (workspace_id, environment, event_id, action, author, team_id, provided_id)
         SELECT 1, 'Customer', $4, 'user_group.created', 'api_token:1', team_id, provided_id FROM inserted
       )
       SELECT team_id FROM inserted`,
      [providedId, hash, randomBytes(sealedLength), randomUUID()],
    )
    return { teamId: Number(rows[0]?.team_id), providedId, hash }
  }

  /** Updates the name and keeps a version. */
  async update({ teamId }: PreviousUserGroup): Promise<void> {
    await this.session.query(
      `WITH locked AS (
         SELECT * FROM user_group WHERE workspace_id = 1 AND team_id = $1 FOR UPDATE
       ), kept AS (
         INSERT INTO user_group_version (workspace_id, team_id, revision, updated_at, updated_by, name, mapping, properties)
         SELECT workspace_id, team_id, revision, updated_at, updated_by, name, mapping, properties FROM locked
       )
       UPDATE user_group SET name = 'B', revision = locked.revision + 1 FROM locked
       WHERE user_group.workspace_id = locked.workspace_id AND user_group.team_id = locked.team_id`,
      [teamId],
    )
  }

  /** Replaces the token, whose grace period never ends, and keeps the response of an idempotency key until `expiresAt`. */
  async rotate(userGroup: PreviousUserGroup, keyHash = newHash(), expiresAt = 1e15): Promise<Buffer> {
    const old = userGroup.hash
    userGroup.hash = newHash()
    await this.session.query(
      `WITH locked AS (
         SELECT workspace_id, team_id, provided_id, name FROM user_group
         WHERE workspace_id = 1 AND team_id = $1 AND token_hash = $2 FOR UPDATE
       ), kept AS (
         INSERT INTO idempotency_key (workspace_id, environment, key_hash, fingerprint, team_id, provided_id, name, token_key_id,
                                      token_sealed, expires_at)
         SELECT 1, 'Customer', $5, $5, team_id, provided_id, name, 'test', $4, $6 FROM locked
         ON CONFLICT (workspace_id, environment, key_hash) DO UPDATE
         SET team_id = excluded.team_id, provided_id = excluded.provided_id, token_sealed = excluded.token_sealed,
             expires_at = excluded.expires_at
         WHERE idempotency_key.expires_at <= 1000
       ), superseded AS (
         INSERT INTO superseded_token (workspace_id, token_hash, team_id, issued_at, superseded_at, valid_until)
         SELECT 1, $2, team_id, 1, 1, 1000000000000000 FROM locked
       )
       UPDATE user_group SET token_hash = $3, token_sealed = $4, revision = revision + 1 FROM locked
       WHERE user_group.workspace_id = locked.workspace_id AND user_group.team_id = locked.team_id`,
      [userGroup.teamId, old, userGroup.hash, randomBytes(sealedLength), keyHash, expiresAt],
    )
    return old
  }

  async introspect({ teamId }: PreviousUserGroup): Promise<void> {
    await this.session.query(
      `INSERT INTO last_introspection (workspace_id, team_id, introspected_at) VALUES (1, $1, 1)
       ON CONFLICT (workspace_id, team_id) DO UPDATE SET introspected_at = excluded.introspected_at`,
      [teamId],
    )
  }

  async delete({ teamId }: PreviousUserGroup): Promise<void> {
    await this.session.query(
      `WITH deleted AS (
         DELETE FROM user_group WHERE workspace_id = 1 AND team_id = $1 RETURNING *
       ), gone AS (
         DELETE FROM mapping_entry USING deleted
         WHERE mapping_entry.workspace_id = deleted.workspace_id AND mapping_entry.team_id = deleted.team_id
       )
       INSERT INTO deleted_user_group (workspace_id, environment, team_id, provided_id, name, mapping, token_issued_at, created_at,
                                       updated_at, revision, token_hash, token_key_id, token_sealed, deleted_at, deleted_by)
       SELECT workspace_id, environment, team_id, provided_id, name, mapping, token_issued_at, created_at,
              updated_at, revision, token_hash, token_key_id, token_sealed, 5000, 'api_token:1' FROM deleted`,
      [teamId],
    )
  }

  async restore({ teamId }: PreviousUserGroup): Promise<void> {
    await this.session.query(
      `WITH deleted AS (
         DELETE FROM deleted_user_group WHERE workspace_id = 1 AND team_id = $1 RETURNING *
       )
       INSERT INTO user_group (workspace_id, environment, team_id, provided_id, name, mapping, token_issued_at, created_at,
                               updated_at, revision, token_hash, token_key_id, token_sealed)
       OVERRIDING SYSTEM VALUE
       SELECT workspace_id, environment, team_id, provided_id, name, mapping, token_issued_at, created_at,
              updated_at, revision + 1, token_hash, token_key_id, token_sealed FROM deleted`,
      [teamId],
    )
  }

  /** Creates a user group with rows in all tables. */
  async populate(): Promise<PreviousUserGroup> {
    const userGroup = await this.create()
    await this.update(userGroup)
    await this.rotate(userGroup)
    await this.introspect(userGroup)
    return userGroup
  }
}

function newHash(): Buffer {
  return hash('sha256', randomUUID(), 'buffer')
}
