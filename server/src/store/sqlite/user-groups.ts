import type { Database, Statement } from 'better-sqlite3'
import type { Environment } from '../../domain/environment.ts'
import { isRegistered, type MappingMode } from '../../domain/data-source.ts'
import { sameJson } from '../../domain/json-text.ts'
import type {
  GetOrCreateOutcome,
  GetOrCreateUserGroup,
  ListUserGroups,
  MintedToken,
  RotatedUserGroup,
  RotateOutcome,
  RotateUserGroupToken,
  TokenOwner,
  UnregisteredMapping,
  UpdateOutcome,
  UpdateUserGroup,
} from '../../domain/store.ts'
import type { UserGroup, UserGroupChange, UserGroupKey } from '../../domain/user-group.ts'
import type { DataSources } from './data-sources.ts'

interface Row {
  team_id: number
  workspace_id: number
  environment: Environment
  provided_id: string
  name: string
  mapping: string | null
  properties: string | null
  token_hash: Uint8Array
  token_key_id: string
  token_sealed: Uint8Array
  token_issued_at: number
  created_at: number
  updated_at: number
}

type IdempotencyRow = Pick<Row, 'team_id' | 'provided_id' | 'name' | 'token_key_id' | 'token_sealed'> & {
  fingerprint: Uint8Array
}

/** The operations on user groups and their tokens. Each runs inside a transaction of `GroupCommit`. */
export class UserGroups {
  readonly #dataSources: DataSources
  readonly #select: Statement<[number, Environment, string], Row>
  readonly #selectByToken: Statement<[number, Uint8Array, Environment], Row>
  readonly #selectBySupersededToken: Statement<
    [number, Uint8Array, Environment],
    Row & { issued_at: number; valid_until: number }
  >
  readonly #selectPage: Statement<[number, Environment, string, number], Row>
  readonly #insert: Statement<unknown[], Row>
  readonly #update: Statement<[string, string | null, string | null, number, number], Row>
  readonly #updateToken: Statement<unknown[], Row>
  readonly #insertSupersededToken: Statement
  readonly #delete: Statement<[number]>
  readonly #selectIdempotencyKey: Statement<[number, Environment, Uint8Array, number], IdempotencyRow>
  readonly #saveIdempotencyKey: Statement
  readonly #deleteExpiredIdempotencyKeys: Statement<[number]>

  constructor(database: Database, dataSources: DataSources) {
    this.#dataSources = dataSources
    this.#select = database.prepare(
      'SELECT * FROM user_group WHERE workspace_id = ? AND environment = ? AND provided_id = ?',
    )
    this.#selectByToken = database.prepare(
      'SELECT * FROM user_group WHERE workspace_id = ? AND token_hash = ? AND environment = ?',
    )
    this.#selectBySupersededToken = database.prepare(
      `SELECT user_group.*, superseded_token.issued_at, superseded_token.valid_until
       FROM superseded_token JOIN user_group USING (team_id)
       WHERE superseded_token.workspace_id = ? AND superseded_token.token_hash = ? AND environment = ?`,
    )
    this.#selectPage = database.prepare(
      `SELECT * FROM user_group WHERE workspace_id = ? AND environment = ? AND provided_id > ?
       ORDER BY provided_id LIMIT ?`,
    )
    this.#insert = database.prepare(
      `INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, properties,
                               token_hash, token_key_id, token_sealed, token_issued_at, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING *`,
    )
    this.#update = database.prepare(
      `UPDATE user_group SET name = ?, mapping = ?, properties = ?, updated_at = ? WHERE team_id = ? RETURNING *`,
    )
    this.#updateToken = database.prepare(
      `UPDATE user_group SET token_hash = ?, token_key_id = ?, token_sealed = ?, token_issued_at = ?
       WHERE team_id = ? RETURNING *`,
    )
    this.#insertSupersededToken = database.prepare(
      `INSERT INTO superseded_token (workspace_id, token_hash, team_id, issued_at, superseded_at, valid_until)
       VALUES (?, ?, ?, ?, ?, ?)`,
    )
    this.#delete = database.prepare('DELETE FROM user_group WHERE team_id = ?')
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
    const { key, change, mayWrite, mappingMode, mintToken, now } = command
    const row = this.#selectRow(key)
    if (row !== undefined && changesNothing(row, change))
      return { outcome: 'unchanged', userGroup: userGroupOf(row) }
    if (!mayWrite) return { outcome: 'write_required' }
    if (row === undefined && change.name === undefined) return { outcome: 'name_required' }
    const refusal = this.#checkMapping(key, change, mappingMode)
    if (refusal !== null) return refusal
    return row === undefined
      ? { outcome: 'created', userGroup: this.#create(key, change, mintToken(key), now) }
      : { outcome: 'updated', userGroup: this.#change(row, change, now) }
  }

  update({ key, change, mappingMode, now }: UpdateUserGroup): UpdateOutcome {
    const row = this.#selectRow(key)
    if (row === undefined) return { outcome: 'not_found' }
    if (changesNothing(row, change)) return { outcome: 'unchanged', userGroup: userGroupOf(row) }
    const refusal = this.#checkMapping(key, change, mappingMode)
    if (refusal !== null) return refusal
    return { outcome: 'updated', userGroup: this.#change(row, change, now) }
  }

  rotateToken(command: RotateUserGroupToken): RotateOutcome {
    const { workspaceId, environment, target, idempotency, now } = command
    if (idempotency !== undefined) {
      const known = this.#selectIdempotencyKey.get(workspaceId, environment, idempotency.keyHash, now)
      if (known !== undefined) {
        return Buffer.compare(known.fingerprint, idempotency.fingerprint) === 0
          ? { outcome: 'replayed', userGroup: rotatedUserGroupOf(workspaceId, environment, known) }
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
    const userGroup = rotatedUserGroupOf(workspaceId, environment, this.#replaceToken(row, command))
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
    const current = this.#selectByToken.get(workspaceId, tokenHash, environment)
    if (current !== undefined) return this.#tokenOwnerOf(current, current.token_issued_at, null)
    const old = this.#selectBySupersededToken.get(workspaceId, tokenHash, environment)
    if (old === undefined || old.valid_until <= now) return null
    return this.#tokenOwnerOf(old, old.issued_at, old.valid_until)
  }

  find(key: UserGroupKey): UserGroup | null {
    const row = this.#selectRow(key)
    return row === undefined ? null : userGroupOf(row)
  }

  list({ workspaceId, environment, afterProvidedId, limit }: ListUserGroups): UserGroup[] {
    return this.#selectPage.all(workspaceId, environment, afterProvidedId ?? '', limit).map(userGroupOf)
  }

  delete(key: UserGroupKey): boolean {
    const row = this.#selectRow(key)
    if (row === undefined) return false
    this.#dataSources.replaceEntries(key, row.team_id, row.mapping, null)
    this.#delete.run(row.team_id)
    return true
  }

  forgetExpiredIdempotencyKeys(now: number): number {
    return this.#deleteExpiredIdempotencyKeys.run(now).changes
  }

  #selectRow({ workspaceId, environment, providedId }: UserGroupKey): Row | undefined {
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

  #tokenOwnerOf(row: Row, issuedAt: number, validUntil: number | null): TokenOwner {
    const userGroup = userGroupOf(row)
    const dataSources = this.#dataSources.findRegistered(userGroup, row.mapping)
    return { userGroup, issuedAt, validUntil, dataSources }
  }

  #create(key: UserGroupKey, change: UserGroupChange, token: MintedToken, now: number): UserGroup {
    const row = this.#insert.get(
      key.workspaceId,
      key.environment,
      key.providedId,
      change.name,
      change.mapping ?? null,
      change.properties ?? null,
      token.hash,
      token.keyId,
      token.sealed,
      now,
      now,
      now,
    ) as Row
    this.#dataSources.replaceEntries(key, row.team_id, null, row.mapping)
    return userGroupOf(row)
  }

  #change(row: Row, change: UserGroupChange, now: number): UserGroup {
    const changed = this.#update.get(
      change.name ?? row.name,
      change.mapping === undefined ? row.mapping : change.mapping,
      change.properties === undefined ? row.properties : change.properties,
      now,
      row.team_id,
    ) as Row
    const userGroup = userGroupOf(changed)
    if (changed.mapping !== row.mapping)
      this.#dataSources.replaceEntries(userGroup, row.team_id, row.mapping, changed.mapping)
    return userGroup
  }

  #replaceToken(row: Row, { mintToken, oldTokenValidUntil, now }: RotateUserGroupToken): Row {
    const token = mintToken(keyOf(row))
    this.#insertSupersededToken.run(
      row.workspace_id,
      row.token_hash,
      row.team_id,
      row.token_issued_at,
      now,
      oldTokenValidUntil,
    )
    return this.#updateToken.get(token.hash, token.keyId, token.sealed, now, row.team_id) as Row
  }
}

function changesNothing(row: Row, change: UserGroupChange): boolean {
  return (
    (change.name === undefined || change.name === row.name) &&
    (change.mapping === undefined || sameJson(change.mapping, row.mapping)) &&
    (change.properties === undefined || sameJson(change.properties, row.properties))
  )
}

function keyOf(row: Row): UserGroupKey {
  return { workspaceId: row.workspace_id, environment: row.environment, providedId: row.provided_id }
}

function userGroupOf(row: Row): UserGroup {
  return {
    workspaceId: row.workspace_id,
    environment: row.environment,
    providedId: row.provided_id,
    teamId: row.team_id,
    name: row.name,
    mapping: row.mapping,
    properties: row.properties,
    token: { keyId: row.token_key_id, sealed: row.token_sealed },
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    tokenIssuedAt: row.token_issued_at,
  }
}

function rotatedUserGroupOf(
  workspaceId: number,
  environment: Environment,
  row: Pick<Row, 'team_id' | 'provided_id' | 'name' | 'token_key_id' | 'token_sealed'>,
): RotatedUserGroup {
  return {
    workspaceId,
    environment,
    providedId: row.provided_id,
    teamId: row.team_id,
    name: row.name,
    token: { keyId: row.token_key_id, sealed: row.token_sealed },
  }
}
