import type { Database, Statement } from 'better-sqlite3'
import type { Author } from '../../domain/audit/audit-event.ts'
import { changedFields } from '../../domain/user-group/user-group.ts'
import { isRegistered, type MappingMode } from '../../domain/data-source/data-source.ts'
import type { Environment } from '../../domain/environment.ts'
import type {
  ChangeStamp,
  EndGracePeriod,
  GetOrCreateOutcome,
  GetOrCreateUserGroup,
  IdentifiedToken,
  ListUserGroups,
  NewToken,
  RotateOutcome,
  RotateUserGroupToken,
  SecretKeyRetired,
  SuspendOutcome,
  SuspendUserGroup,
  TokenOwner,
  UnregisteredMapping,
  UpdateOutcome,
  UpdateUserGroup,
} from '../../domain/user-group/user-group-store.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import {
  changesNothing,
  type UserGroup,
  type UserGroupChange,
  type UserGroupKey,
} from '../../domain/user-group/user-group.ts'
import { auditedChangeOf } from '../audit-row.ts'
import { mismatchOf } from '../expectation.ts'
import {
  createdUserGroupOf,
  rotatedUserGroupOf,
  tokenlessColumns,
  tokenlessUserGroupOf,
  tokenOf,
  userGroupOf,
  viewColumns,
  viewOf,
  type TokenlessRow,
  type UserGroupRow,
  type ViewRow,
} from '../user-group-row.ts'
import { revisionsKept } from '../versions.ts'
import type { AuditLog } from './audit-log.ts'
import type { DataSources } from './data-sources.ts'
import type { ChangeTracker } from './change-tracker.ts'

type IdempotencyRow = Pick<
  UserGroupRow,
  'team_id' | 'provided_id' | 'name' | 'token_key_id' | 'token_sealed'
> & { fingerprint: Uint8Array }

/** `viewColumns`, in their order, the sealed token in hexadecimal digits: a blob comes in memory of its own, which is allocated for each. */
const viewColumnsAsText = viewColumns.replace(/user_group\.token_sealed/, 'hex($&)')
type ViewValues = [
  teamId: number,
  name: string,
  mapping: string | null,
  properties: string | null,
  keyId: string,
  sealed: string,
]

/** The operations on user groups and their tokens. Each runs inside a transaction of `GroupCommit`. */
export class UserGroups {
  readonly #audit: AuditLog
  readonly #changeTracker: ChangeTracker
  readonly #dataSources: DataSources
  readonly #select: Statement<[number, Environment, string], UserGroupRow>
  readonly #selectView: Statement<[number, Environment, string], ViewValues>
  readonly #selectByToken: Statement<[number, Uint8Array, Environment], UserGroupRow>
  readonly #selectOwner: Statement<[number, Uint8Array, Environment], TokenlessRow>
  readonly #selectBySupersededToken: Statement<
    [number, Uint8Array, Environment],
    TokenlessRow & { issued_at: number; valid_until: number }
  >
  readonly #endGracePeriod: Statement<[number, number, Uint8Array, number]>
  readonly #selectPage: Statement<[number, Environment, string, number], UserGroupRow>
  readonly #selectRetiredSecretKey: Statement<[string]>
  readonly #insert: Statement
  readonly #selectById: Statement<[number, number, Environment], UserGroupRow>
  readonly #update: Statement<[string, string | null, string | null, number, Author, number], UserGroupRow>
  readonly #insertVersion: Statement<[number]>
  readonly #deleteVersions: Statement<[number, number, number]>
  readonly #suspend: Statement<[number | null, number], UserGroupRow>
  readonly #updateToken: Statement
  readonly #insertSupersededToken: Statement
  readonly #selectIdempotencyKey: Statement<[number, Environment, Uint8Array, number], IdempotencyRow>
  readonly #saveIdempotencyKey: Statement
  readonly #deleteExpiredIdempotencyKeys: Statement<[number]>

  constructor(database: Database, stamps: ChangeTracker, dataSources: DataSources, audit: AuditLog) {
    this.#changeTracker = stamps
    this.#dataSources = dataSources
    this.#audit = audit
    this.#select = database.prepare(
      'SELECT * FROM user_group WHERE workspace_id = ? AND environment = ? AND provided_id = ?',
    )
    this.#selectView = database
      .prepare<[number, Environment, string], ViewValues>(
        `SELECT ${viewColumnsAsText} FROM user_group WHERE workspace_id = ? AND environment = ? AND provided_id = ?`,
      )
      .raw()
    this.#selectByToken = database.prepare(
      'SELECT * FROM user_group WHERE workspace_id = ? AND token_hash = ? AND environment = ?',
    )
    this.#selectOwner = database.prepare(
      `SELECT ${tokenlessColumns} FROM user_group WHERE workspace_id = ? AND token_hash = ? AND environment = ?`,
    )
    this.#selectBySupersededToken = database.prepare(
      `SELECT ${tokenlessColumns}, superseded_token.issued_at, superseded_token.valid_until
       FROM superseded_token JOIN user_group USING (team_id)
       WHERE superseded_token.workspace_id = ? AND superseded_token.token_hash = ? AND environment = ?`,
    )
    this.#endGracePeriod = database.prepare(
      `UPDATE superseded_token SET valid_until = ?
       WHERE workspace_id = ? AND token_hash = ? AND valid_until > ?`,
    )
    this.#selectPage = database.prepare(
      `SELECT * FROM user_group WHERE workspace_id = ? AND environment = ? AND provided_id > ?
       ORDER BY provided_id LIMIT ?`,
    )
    this.#selectRetiredSecretKey = database.prepare('SELECT 1 FROM retired_secret_key WHERE key_id = ?')
    this.#insert = database.prepare(
      `INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, properties,
                               token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at,
                               updated_by)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#update = database.prepare(
      `UPDATE user_group
       SET name = ?, mapping = ?, properties = ?, updated_at = ?, updated_by = ?, revision = revision + 1
       WHERE team_id = ? RETURNING *`,
    )
    this.#insertVersion = database.prepare(
      `INSERT INTO user_group_version (workspace_id, team_id, revision, updated_at, updated_by, name, mapping, properties)
       SELECT workspace_id, team_id, revision, updated_at, updated_by, name, mapping, properties
       FROM user_group WHERE team_id = ?`,
    )
    this.#deleteVersions = database.prepare(
      'DELETE FROM user_group_version WHERE workspace_id = ? AND team_id = ? AND revision <= ?',
    )
    this.#suspend = database.prepare(
      'UPDATE user_group SET suspended_at = ?, revision = revision + 1 WHERE team_id = ? RETURNING *',
    )
    this.#selectById = database.prepare(
      'SELECT * FROM user_group WHERE team_id = ? AND workspace_id = ? AND environment = ?',
    )
    this.#updateToken = database.prepare(
      `UPDATE user_group SET token_hash = ?, token_key_id = ?, token_sealed = ?, token_issued_at = ?,
                             revision = revision + 1
       WHERE team_id = ?`,
    )
    this.#insertSupersededToken = database.prepare(
      `INSERT INTO superseded_token (workspace_id, token_hash, team_id, issued_at, superseded_at, valid_until)
       VALUES (?, ?, ?, ?, ?, ?)`,
    )
    this.#selectIdempotencyKey = database.prepare(
      `SELECT * FROM idempotency_key
       WHERE workspace_id = ? AND environment = ? AND key_hash = ? AND expires_at > ?`,
    )
    this.#saveIdempotencyKey = database.prepare(
      `INSERT OR REPLACE INTO idempotency_key (workspace_id, environment, key_hash, fingerprint, team_id, provided_id,
                                               name, token_key_id, token_sealed, expires_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#deleteExpiredIdempotencyKeys = database.prepare('DELETE FROM idempotency_key WHERE expires_at <= ?')
  }

  getOrCreate(command: GetOrCreateUserGroup): GetOrCreateOutcome {
    const { key, change, mayWrite, mappingMode, issueToken } = command
    const row = this.#selectView.get(key.workspaceId, key.environment, key.providedId)
    if (row !== undefined) {
      const userGroup = viewOf(key, viewRowOf(row))
      if (changesNothing(userGroup, change)) {
        return { outcome: 'unchanged', userGroup, stamp: this.#changeTracker.current }
      }
    }
    if (!mayWrite) return { outcome: 'write_required' }
    if (row === undefined && change.name === undefined) return { outcome: 'name_required' }
    const refusal = this.#checkMapping(key, change, mappingMode)
    if (refusal !== null) return refusal
    if (row !== undefined)
      return { outcome: 'updated', userGroup: this.#change(this.#selectRow(key) as UserGroupRow, command) }
    const token = issueToken(key)
    return this.#checkSecretKey(token) ?? { outcome: 'created', userGroup: this.#create(command, token) }
  }

  update(command: UpdateUserGroup): UpdateOutcome {
    const { key, expected, change, mappingMode } = command
    const row = this.#selectRow(key)
    if (row === undefined) return { outcome: 'not_found' }
    const mismatch = mismatchOf(row, expected)
    if (mismatch !== null) return { outcome: mismatch }
    if (changesNothing(row, change)) return { outcome: 'unchanged', userGroup: userGroupOf(key, row) }
    const refusal = this.#checkMapping(key, change, mappingMode)
    if (refusal !== null) return refusal
    return { outcome: 'updated', userGroup: this.#change(row, command) }
  }

  suspend(command: SuspendUserGroup): SuspendOutcome {
    const { key, expected, suspended, now } = command
    const row = this.#selectRow(key)
    if (row === undefined) return { outcome: 'not_found' }
    const mismatch = mismatchOf(row, expected)
    if (mismatch !== null) return { outcome: mismatch }
    if ((row.suspended_at !== null) === suspended)
      return { outcome: 'unchanged', userGroup: userGroupOf(key, row) }
    const changed = this.#suspend.get(suspended ? now : null, row.team_id) as UserGroupRow
    const action = suspended ? 'user_group.suspended' : 'user_group.resumed'
    this.#audit.append(action, auditedChangeOf(command), { userGroup: subjectOf(row) })
    return { outcome: 'updated', userGroup: userGroupOf(key, changed) }
  }

  rotate(command: RotateUserGroupToken): RotateOutcome {
    const { workspaceId, environment, target, idempotency, issueToken, now } = command
    const tenantScope = { workspaceId, environment }
    if (idempotency !== undefined) {
      const known = this.#selectIdempotencyKey.get(workspaceId, environment, idempotency.keyHash, now)
      if (known !== undefined) {
        return Buffer.compare(known.fingerprint, idempotency.fingerprint) === 0
          ? { outcome: 'replayed', userGroup: rotatedUserGroupOf(tenantScope, known, tokenOf(known)) }
          : { outcome: 'idempotency_key_reused' }
      }
    }
    const row =
      'tokenHash' in target
        ? this.#selectByToken.get(workspaceId, target.tokenHash, environment)
        : this.#select.get(workspaceId, environment, target.providedId)
    if (row === undefined) {
      const superseded =
        'tokenHash' in target &&
        this.#selectBySupersededToken.get(workspaceId, target.tokenHash, environment) !== undefined
      return { outcome: superseded ? 'superseded' : 'not_found' }
    }
    const mismatch = 'providedId' in target ? mismatchOf(row, target.expected) : null
    if (mismatch !== null) return { outcome: mismatch }
    const token = issueToken({ ...tenantScope, providedId: row.provided_id })
    const retired = this.#checkSecretKey(token)
    if (retired !== null) return retired
    this.#replaceToken(row, token, command)
    const userGroup = rotatedUserGroupOf(tenantScope, row, token)
    if (idempotency !== undefined) {
      this.#saveIdempotencyKey.run(
        workspaceId,
        environment,
        idempotency.keyHash,
        idempotency.fingerprint,
        userGroup.teamId,
        userGroup.providedId,
        userGroup.name,
        userGroup.token.keyId,
        userGroup.token.sealed,
        idempotency.expiresAt,
      )
    }
    return { outcome: 'rotated', userGroup }
  }

  findByToken(
    workspaceId: number,
    environment: Environment,
    tokenHash: Uint8Array,
    now: number,
  ): TokenOwner | null {
    const tenantScope = { workspaceId, environment }
    const current = this.#selectOwner.get(workspaceId, tokenHash, environment)
    if (current !== undefined) return this.#tokenOwnerOf(tenantScope, current, current.token_issued_at, null)
    const old = this.#selectBySupersededToken.get(workspaceId, tokenHash, environment)
    if (old === undefined || old.valid_until <= now) return null
    return this.#tokenOwnerOf(tenantScope, old, old.issued_at, old.valid_until)
  }

  identifyToken(
    workspaceId: number,
    environment: Environment,
    tokenHash: Uint8Array,
  ): IdentifiedToken | null {
    const tenantScope = { workspaceId, environment }
    const current = this.#selectOwner.get(workspaceId, tokenHash, environment)
    if (current !== undefined)
      return { userGroup: tokenlessUserGroupOf(tenantScope, current), validUntil: null }
    const old = this.#selectBySupersededToken.get(workspaceId, tokenHash, environment)
    return old === undefined
      ? null
      : { userGroup: tokenlessUserGroupOf(tenantScope, old), validUntil: old.valid_until }
  }

  endGracePeriod(command: EndGracePeriod): void {
    const { workspaceId, environment, tokenHash, now } = command
    const row = this.#selectBySupersededToken.get(workspaceId, tokenHash, environment)
    if (row === undefined || row.valid_until <= now) return
    this.#endGracePeriod.run(now, workspaceId, tokenHash, now)
    this.#audit.append('user_group.grace_period_ended', command, { userGroup: subjectOf(row) })
  }

  find(key: UserGroupKey): UserGroup | null {
    const row = this.#selectRow(key)
    return row === undefined ? null : userGroupOf(key, row)
  }

  list({ workspaceId, environment, afterProvidedId, limit }: ListUserGroups): UserGroup[] {
    return this.#selectPage
      .all(workspaceId, environment, afterProvidedId ?? '', limit)
      .map((row) => userGroupOf({ workspaceId, environment }, row))
  }

  findById(workspaceId: number, environment: Environment, teamId: number): UserGroup | null {
    const row = this.#selectById.get(teamId, workspaceId, environment)
    return row === undefined ? null : userGroupOf({ workspaceId, environment }, row)
  }

  isUnchanged(_workspaceId: number, _environment: Environment, teamId: number, stamp: ChangeStamp): boolean {
    return this.#changeTracker.isUnchanged(teamId, stamp)
  }

  deleteExpiredIdempotencyKeys(now: number): number {
    return this.#deleteExpiredIdempotencyKeys.run(now).changes
  }

  #selectRow({ workspaceId, environment, providedId }: UserGroupKey): UserGroupRow | undefined {
    return this.#select.get(workspaceId, environment, providedId)
  }

  #checkMapping(
    key: UserGroupKey,
    { mapping }: UserGroupChange,
    mode: MappingMode = 'free',
  ): UnregisteredMapping | null {
    if (mode === 'free' || mapping === undefined) return null
    const entries = this.#dataSources.resolve(key, mapping).filter((entry) => !isRegistered(entry))
    return entries.length === 0 ? null : { outcome: 'mapping_unregistered', entries }
  }

  #checkSecretKey({ keyId }: NewToken): SecretKeyRetired | null {
    const isRetired = this.#selectRetiredSecretKey.get(keyId) !== undefined
    return isRetired ? { outcome: 'secret_key_retired', keyId } : null
  }

  #tokenOwnerOf(
    tenantScope: TenantScope,
    row: TokenlessRow,
    issuedAt: number,
    validUntil: number | null,
  ): TokenOwner | null {
    if (row.suspended_at !== null) return null
    const userGroup = tokenlessUserGroupOf(tenantScope, row)
    const dataSources = this.#dataSources.findRegistered(tenantScope, row.mapping)
    return { userGroup, issuedAt, validUntil, dataSources, stamp: this.#changeTracker.current }
  }

  #create(command: GetOrCreateUserGroup, token: NewToken): UserGroup {
    const { key, change, author, now } = command
    const { workspaceId, environment, providedId } = key
    const { name, mapping = null, properties = null } = change
    const { hash, keyId, sealed } = token
    const { lastInsertRowid } = this.#insert.run(
      ...[workspaceId, environment, providedId, name, mapping, properties],
      ...[hash, keyId, sealed, now, now, now, author],
    )
    const teamId = Number(lastInsertRowid)
    this.#dataSources.replaceEntries(key, teamId, null, mapping)
    this.#audit.append('user_group.created', auditedChangeOf(command), { userGroup: { teamId, providedId } })
    return createdUserGroupOf(command, teamId, token)
  }

  #change(row: UserGroupRow, command: Omit<UpdateUserGroup, 'expected'>): UserGroup {
    const { key, change, author, now } = command
    this.#insertVersion.run(row.team_id)
    this.#deleteVersions.run(key.workspaceId, row.team_id, row.revision - revisionsKept)
    const changed = this.#update.get(
      change.name ?? row.name,
      change.mapping === undefined ? row.mapping : change.mapping,
      change.properties === undefined ? row.properties : change.properties,
      now,
      author,
      row.team_id,
    ) as UserGroupRow
    if (changed.mapping !== row.mapping)
      this.#dataSources.replaceEntries(key, row.team_id, row.mapping, changed.mapping)
    const details = { changed_fields: changedFields(row, changed) }
    this.#audit.append('user_group.updated', auditedChangeOf(command), { userGroup: subjectOf(row), details })
    return userGroupOf(key, changed)
  }

  #replaceToken(row: UserGroupRow, token: NewToken, command: RotateUserGroupToken): void {
    const { workspaceId, oldTokenValidUntil, now } = command
    this.#insertSupersededToken.run(
      workspaceId,
      row.token_hash,
      row.team_id,
      row.token_issued_at,
      now,
      oldTokenValidUntil,
    )
    this.#updateToken.run(token.hash, token.keyId, token.sealed, now, row.team_id)
    const details = { grace_period_seconds: Math.round((oldTokenValidUntil - now) / 1000) }
    this.#audit.append('user_group.token_rotated', command, { userGroup: subjectOf(row), details })
  }
}

/** Whose an audit event is. */
function subjectOf({ team_id, provided_id }: Pick<UserGroupRow, 'team_id' | 'provided_id'>) {
  return { teamId: team_id, providedId: provided_id }
}

function viewRowOf([team_id, name, mapping, properties, token_key_id, sealed]: ViewValues): ViewRow {
  return { team_id, name, mapping, properties, token_key_id, token_sealed: Buffer.from(sealed, 'hex') }
}
