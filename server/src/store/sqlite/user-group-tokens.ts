import { timingSafeEqual } from 'node:crypto'
import type { Database, Statement } from 'better-sqlite3'
import type { Environment } from '../../domain/environment.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { IdempotencyRecord, Rotation } from '../../domain/user-group/decisions.ts'
import type {
  RotatedUserGroup,
  RotateUserGroupToken,
  TokenReference,
} from '../../domain/user-group/user-group-store.ts'
import type { TokenlessUserGroup } from '../../domain/user-group/user-group.ts'
import {
  idempotencyRecordOf,
  tokenlessColumns,
  type IdempotencyRow,
  type TokenlessRow,
  type UserGroupRow,
} from '../user-group-row.ts'
import type { Integrity } from './integrity.ts'

type LocatedRow = TokenlessRow & Pick<UserGroupRow, 'token_hash'>
type OfUserGroup = Pick<TokenlessUserGroup, 'workspaceId' | 'teamId'>
type Idempotency = NonNullable<RotateUserGroupToken['idempotency']>

interface SupersededRow {
  readonly issued_at: number
  readonly valid_until: number
}

/** A token that was found, with the row of its user group. */
export interface FoundToken {
  readonly row: TokenlessRow
  /** Null if the token is the current one. */
  readonly superseded: SupersededRow | null
}

/** Looks up the tokens of user groups, and keeps superseded ones and the responses to rotations with an idempotency key. */
export class UserGroupTokens {
  readonly #integrity: Pick<Integrity, 'refuseAbsence'>
  readonly #selectOwner: Statement<[number, number, Environment], LocatedRow>
  readonly #selectSuperseded: Statement<[number, number, Uint8Array], SupersededRow>
  readonly #insertSuperseded: Statement<[number, number, Uint8Array, number, number, number]>
  readonly #endGracePeriod: Statement<[number, number, number, Uint8Array]>
  readonly #deleteSuperseded: Statement<[number, number]>
  readonly #selectRecord: Statement<[number, number, Uint8Array], IdempotencyRow>
  readonly #saveRecord: Statement
  readonly #deleteRecords: Statement<[number, number]>

  constructor(database: Database, integrity: Pick<Integrity, 'refuseAbsence'>) {
    this.#integrity = integrity
    this.#selectOwner = database.prepare(
      `SELECT ${tokenlessColumns}, user_group.token_hash FROM user_group
       WHERE team_id = ? AND workspace_id = ? AND environment = ?`,
    )
    this.#selectSuperseded = database.prepare(
      'SELECT issued_at, valid_until FROM superseded_token WHERE workspace_id = ? AND team_id = ? AND token_hash = ?',
    )
    this.#insertSuperseded = database.prepare(
      `INSERT INTO superseded_token (workspace_id, team_id, token_hash, issued_at, superseded_at, valid_until)
       VALUES (?, ?, ?, ?, ?, ?)`,
    )
    this.#endGracePeriod = database.prepare(
      'UPDATE superseded_token SET valid_until = ? WHERE workspace_id = ? AND team_id = ? AND token_hash = ?',
    )
    this.#deleteSuperseded = database.prepare(
      'DELETE FROM superseded_token WHERE workspace_id = ? AND team_id = ?',
    )
    this.#selectRecord = database.prepare(
      'SELECT * FROM idempotency_key WHERE workspace_id = ? AND team_id = ? AND key_hash = ?',
    )
    this.#saveRecord = database.prepare(
      `INSERT OR REPLACE INTO idempotency_key (workspace_id, team_id, key_hash, environment, fingerprint, provided_id, name,
                                               token_key_id, token_sealed, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#deleteRecords = database.prepare(
      'DELETE FROM idempotency_key WHERE workspace_id = ? AND team_id = ?',
    )
  }

  find(tenantScope: TenantScope, token: TokenReference): FoundToken | null {
    const found = this.#find(tenantScope, token)
    if (found === null) this.#integrity.refuseAbsence()
    return found
  }

  #find({ workspaceId, environment }: TenantScope, { teamId, hash }: TokenReference): FoundToken | null {
    const row = this.#selectOwner.get(teamId, workspaceId, environment)
    if (row === undefined) return null
    if (timingSafeEqual(row.token_hash, hash)) return { row, superseded: null }
    const superseded = this.#selectSuperseded.get(workspaceId, teamId, hash)
    return superseded === undefined ? null : { row, superseded }
  }

  insertSuperseded(
    { workspaceId, teamId }: OfUserGroup,
    { hash, issuedAt, supersededAt, validUntil }: Rotation['supersededToken'],
  ): void {
    this.#insertSuperseded.run(workspaceId, teamId, hash, issuedAt, supersededAt, validUntil)
  }

  endGracePeriod(workspaceId: number, { teamId, hash }: TokenReference, now: number): void {
    this.#endGracePeriod.run(now, workspaceId, teamId, hash)
  }

  findRecord(userGroup: TokenlessUserGroup, idempotency: Idempotency | undefined): IdempotencyRecord | null {
    if (idempotency === undefined) return null
    const row = this.#selectRecord.get(userGroup.workspaceId, userGroup.teamId, idempotency.keyHash)
    return row === undefined ? null : idempotencyRecordOf(userGroup, row)
  }

  saveRecord(
    { workspaceId, environment, teamId, providedId, name, token }: RotatedUserGroup,
    { keyHash, fingerprint, expiresAt }: Idempotency,
  ): void {
    this.#saveRecord.run(
      workspaceId,
      teamId,
      keyHash,
      environment,
      fingerprint,
      providedId,
      name,
      token.keyId,
      token.sealed,
      expiresAt,
    )
  }

  /** Deletes the superseded tokens and idempotency keys of a user group. */
  deleteAll({ workspaceId, teamId }: OfUserGroup): void {
    this.#deleteSuperseded.run(workspaceId, teamId)
    this.#deleteRecords.run(workspaceId, teamId)
  }
}
