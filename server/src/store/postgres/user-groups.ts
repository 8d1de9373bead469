import { isRegistered, type RegisteredEntry } from '../../domain/data-source/data-source.ts'
import type {
  UserGroupStore,
  ChangeStamp,
  DeleteUserGroup,
  EndGracePeriod,
  RestoreOutcome,
  RestoreUserGroup,
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
import { newEventId } from '../../domain/audit/audit-event.ts'
import type { Environment } from '../../domain/environment.ts'
import { changesNothing, type UserGroup, type UserGroupKey } from '../../domain/user-group/user-group.ts'
import { mismatchOf } from '../expectation.ts'
import { ResolvedMappings } from '../resolved-mappings.ts'
import { eventValues } from './audit-log.ts'
import type { PrimaryPool, Statement } from './primary-pool.ts'
import type { Attempt, Retry } from './retry.ts'
import {
  columns,
  createdUserGroupOf,
  rotatedUserGroupOf,
  tokenOf,
  tokenlessUserGroupOf,
  userGroupOf,
  viewOf,
  type TokenlessRow,
  type UserGroupRow,
} from '../user-group-row.ts'
import {
  deleteUserGroup,
  restoreUserGroup,
  selectById,
  selectPage,
  selectRetiredSecretKey,
  type IdempotencyRow,
  type SupersededTokenRow,
  type TokenRow,
} from './user-group-sql.ts'
import type { ByHash, UserGroupStatements } from './user-group-statements.ts'

/**
 * The operations on user groups and their tokens: each reads, decides, and makes one change, and may be repeated at any
 * point. A creation or a rotation takes effect only where what was read still holds, and otherwise starts over; an update
 * sets what it was sent, whatever else was changed in between.
 */
export class UserGroups implements UserGroupStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #statements: UserGroupStatements
  readonly #resolvedMappings = new ResolvedMappings()

  constructor(primary: PrimaryPool, retry: Retry, statements: UserGroupStatements) {
    this.#primary = primary
    this.#retry = retry
    this.#statements = statements
  }

  getOrCreate(command: GetOrCreateUserGroup): Promise<GetOrCreateOutcome> {
    const { key, change, mayWrite, mappingMode = 'free', issueToken, author, requestId, now } = command
    // Drawn once: by its token a user group is known as this call's, should its creation be in doubt.
    let token: NewToken | undefined
    return this.#retry.run(async (attempt) => {
      for (let isRepeated = false; ; isRepeated = true) {
        const row = await this.#statements.selectView.add(key, attempt)
        if (row === null) {
          if (!mayWrite) return { outcome: 'write_required' }
          if (change.name === undefined) return { outcome: 'name_required' }
          const refusal = await this.#checkMapping(command, attempt)
          if (refusal !== null) return refusal
          token ??= issueToken(key)
          const retired = isRepeated ? await this.#checkSecretKey(token) : null
          if (retired !== null) return retired
          const { workspaceId, environment, providedId } = key
          const { name } = change
          const creation = {
            workspaceId,
            environment,
            providedId,
            name,
            change,
            mappingMode,
            token,
            author,
            requestId,
            now,
          }
          const teamId = await attempt.change((sent) => this.#statements.insert.add(creation, attempt, sent))
          if (teamId !== null)
            return { outcome: 'created', userGroup: createdUserGroupOf(command, teamId, token) }
          continue
        }
        const isOurs = attempt.isAmbiguous && (await this.#isOf(row, key, token, attempt))
        if (changesNothing(row, change)) {
          if (!isOurs) return { outcome: 'unchanged', userGroup: viewOf(key, row), stamp: row.stamp }
          const created = await this.#statements.select.add(key, attempt)
          if (created !== null) return { outcome: 'created', userGroup: userGroupOf(key, created) }
          continue
        }
        if (!mayWrite) return { outcome: 'write_required' }
        const refusal = await this.#checkMapping(command, attempt)
        if (refusal !== null) return refusal
        const changed = await this.#change(command, row, attempt)
        if (changed !== null)
          return { outcome: isOurs ? 'created' : 'updated', userGroup: userGroupOf(key, changed) }
      }
    })
  }

  getOrCreateMany(commands: readonly GetOrCreateUserGroup[]): Promise<readonly GetOrCreateOutcome[]> {
    return Promise.all(commands.map((command) => this.getOrCreate(command)))
  }

  update(command: UpdateUserGroup): Promise<UpdateOutcome> {
    const { key, expected, change } = command
    return this.#retry.run(async (attempt) => {
      for (;;) {
        const row = await this.#statements.select.add(key, attempt)
        if (row === null) return { outcome: 'not_found' }
        const isDone = changesNothing(row, change)
        // A first try that is in doubt may be what made it another revision.
        const mismatch = isDone && attempt.isAmbiguous ? null : mismatchOf(row, expected)
        if (mismatch !== null) return { outcome: mismatch }
        if (isDone) {
          return { outcome: attempt.isAmbiguous ? 'updated' : 'unchanged', userGroup: userGroupOf(key, row) }
        }
        const refusal = await this.#checkMapping(command, attempt)
        if (refusal !== null) return refusal
        const changed = await this.#change(command, row, attempt)
        if (changed !== null) return { outcome: 'updated', userGroup: userGroupOf(key, changed) }
      }
    })
  }

  suspend(command: SuspendUserGroup): Promise<SuspendOutcome> {
    const { key, expected, suspended, now } = command
    return this.#retry.run(async (attempt) => {
      for (;;) {
        const row = await this.#statements.select.add(key, attempt)
        if (row === null) return { outcome: 'not_found' }
        const isDone = (row.suspended_at !== null) === suspended
        const mismatch = isDone && attempt.isAmbiguous ? null : mismatchOf(row, expected)
        if (mismatch !== null) return { outcome: mismatch }
        if (isDone) {
          return { outcome: attempt.isAmbiguous ? 'updated' : 'unchanged', userGroup: userGroupOf(key, row) }
        }
        const [changed] = await attempt.change((sent) =>
          this.#primary.query(
            setSuspended,
            [
              ...[key.workspaceId, row.team_id, suspended ? now : null, expected?.revision ?? null],
              ...eventValues(command),
            ],
            sent,
          ),
        )
        if (changed !== undefined) return { outcome: 'updated', userGroup: userGroupOf(key, changed) }
      }
    })
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
      const [known] = await this.#primary.query(selectById, [workspaceId, environment, teamId])
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

  rotate(command: RotateUserGroupToken): Promise<RotateOutcome> {
    const { workspaceId, environment, target, idempotency, issueToken } = command
    const tenantScope = { workspaceId, environment }
    let token: NewToken | undefined
    return this.#retry.run(async (attempt) => {
      for (let isRepeated = false; ; isRepeated = true) {
        const found = await this.#findTarget(tenantScope, target, attempt)
        // After the row: should the first try have happened only just now, the row may be from before it or after it.
        if (attempt.isAmbiguous && token !== undefined) {
          const own = await this.#selectOwner({ ...tenantScope, hash: token.hash }, attempt)
          if (own !== null)
            return { outcome: 'rotated', userGroup: rotatedUserGroupOf(tenantScope, own, token) }
        }
        // After the token: had another rotation with the same key come in between, its answer is found here.
        if (idempotency !== undefined) {
          const hash = idempotency.keyHash
          const known = await this.#statements.selectIdempotencyKey.add({ ...tenantScope, hash }, attempt)
          if (known !== null && known.expires_at > command.now)
            return replayOf(tenantScope, known, idempotency.fingerprint)
        }
        if (found === null) return { outcome: 'not_found' }
        const { row, hash: oldHash } = found
        if (oldHash === null) return { outcome: 'superseded' }
        const expected = 'providedId' in target ? target.expected : undefined
        const mismatch = mismatchOf(row, expected)
        if (mismatch !== null) return { outcome: mismatch }
        token ??= issueToken({ ...tenantScope, providedId: row.provided_id })
        const retired = isRepeated ? await this.#checkSecretKey(token) : null
        if (retired !== null) return retired
        const rotation = {
          ...command,
          teamId: row.team_id,
          oldHash,
          expectedRevision: expected?.revision ?? null,
          token,
        }
        const rotated = await attempt.change((sent) =>
          this.#statements.replaceToken.add(rotation, attempt, sent),
        )
        if (rotated !== null)
          return { outcome: 'rotated', userGroup: rotatedUserGroupOf(tenantScope, rotated, token) }
      }
    })
  }

  findByToken(
    workspaceId: number,
    environment: Environment,
    hash: Uint8Array,
    now: number,
  ): Promise<TokenOwner | null> {
    const tenantScope = { workspaceId, environment }
    return this.#retry.run(async (attempt) => {
      for (;;) {
        const row = await this.#selectOwner({ ...tenantScope, hash }, attempt)
        const validUntil = row !== null && 'valid_until' in row ? row.valid_until : null
        if (row?.suspended_at !== null || (validUntil !== null && validUntil <= now)) return null
        const dataSources = await this.#selectRegistered(tenantScope, row, attempt)
        if (dataSources === null) continue
        const issuedAt = 'issued_at' in row ? row.issued_at : row.token_issued_at
        const userGroup = tokenlessUserGroupOf(tenantScope, row)
        return { userGroup, issuedAt, validUntil, dataSources, stamp: row.stamp }
      }
    })
  }

  isUnchanged(
    workspaceId: number,
    environment: Environment,
    teamId: number,
    stamp: ChangeStamp,
  ): Promise<boolean> {
    const known = { workspaceId, environment, teamId, stamp }
    return this.#retry.run((attempt) => this.#statements.isUnchanged.add(known, attempt))
  }

  identifyToken(
    workspaceId: number,
    environment: Environment,
    hash: Uint8Array,
  ): Promise<IdentifiedToken | null> {
    const tenantScope = { workspaceId, environment }
    return this.#retry.run(async (attempt) => {
      const row = await this.#selectOwner({ ...tenantScope, hash }, attempt)
      if (row === null) return null
      const validUntil = 'valid_until' in row ? row.valid_until : null
      return { userGroup: tokenlessUserGroupOf(tenantScope, row), validUntil }
    })
  }

  async endGracePeriod(command: EndGracePeriod): Promise<void> {
    const { workspaceId, environment, tokenHash, now } = command
    const values = [workspaceId, tokenHash, now, environment, ...eventValues(command)]
    await this.#retry.run((attempt) =>
      attempt.change((sent) => this.#primary.query(endGracePeriod, values, sent)),
    )
  }

  find(key: UserGroupKey): Promise<UserGroup | null> {
    return this.#retry.run(async (attempt) => {
      const row = await this.#statements.select.add(key, attempt)
      return row && userGroupOf(key, row)
    })
  }

  findById(workspaceId: number, environment: Environment, teamId: number): Promise<UserGroup | null> {
    return this.#retry.run(async () => {
      const [row] = await this.#primary.query(selectById, [workspaceId, environment, teamId])
      return row === undefined ? null : userGroupOf({ workspaceId, environment }, row)
    })
  }

  list({ workspaceId, environment, afterProvidedId, limit }: ListUserGroups): Promise<UserGroup[]> {
    return this.#retry.run(async () => {
      const rows = await this.#primary.query(selectPage, [
        workspaceId,
        environment,
        afterProvidedId ?? '',
        limit,
      ])
      return rows.map((row) => userGroupOf({ workspaceId, environment }, row))
    })
  }

  async deleteExpiredIdempotencyKeys(now: number): Promise<number> {
    // In batches, so that a statement never takes long, and a workspace at a time, so that each is for one place of a
    // distributed database. Every process does this every hour; what two remove at once is gone all the same.
    for (let total = 0; ;) {
      const expired = await this.#retry.run(() =>
        this.#primary.query(selectExpiredIdempotencyKeys, [now, batchSize]),
      )
      for (const workspaceId of new Set(expired.map(({ workspace_id }) => workspace_id))) {
        const keys = expired.filter(({ workspace_id }) => workspace_id === workspaceId)
        const deleted = await this.#retry.run(() =>
          this.#primary.query(deleteExpiredIdempotencyKeys, [
            workspaceId,
            now,
            keys.map(({ environment }) => environment),
            keys.map(({ key_hash }) => key_hash),
          ]),
        )
        total += deleted.length
      }
      if (expired.length < batchSize) return total
    }
  }

  /** Says which entries are at fault; that none is, the statement that writes the mapping finds out once more. */
  async #checkMapping(
    { key, change: { mapping }, mappingMode = 'free' }: UpdateUserGroup,
    attempt: Attempt,
  ): Promise<UnregisteredMapping | null> {
    if (mappingMode === 'free' || mapping === undefined || mapping === null) return null
    const resolved = await this.#statements.resolveMapping.add({ ...tenantScopeOf(key), mapping }, attempt)
    const entries = resolved.entries.filter((entry) => !isRegistered(entry))
    return entries.length === 0 ? null : { outcome: 'mapping_unregistered', entries }
  }

  /** Asked where nothing came of a creation or a rotation, and nobody else's is there. */
  async #checkSecretKey({ keyId }: NewToken): Promise<SecretKeyRetired | null> {
    const isRetired = (await this.#primary.query(selectRetiredSecretKey, [keyId])).length > 0
    return isRetired ? { outcome: 'secret_key_retired', keyId } : null
  }

  #change(
    { key, expected, change, mappingMode = 'free', author, requestId, now }: UpdateUserGroup,
    row: Pick<UserGroupRow, 'team_id'>,
    attempt: Attempt,
  ): Promise<UserGroupRow | null> {
    const expectedRevision = expected?.revision ?? null
    const rest = { change, mappingMode, expectedRevision, author, requestId, now }
    const item = { ...tenantScopeOf(key), teamId: row.team_id, ...rest }
    return attempt.change((sent) => this.#statements.update.add(item, attempt, sent))
  }

  /** Whether this token is, or was, that of the user group. */
  async #isOf(
    row: Pick<UserGroupRow, 'team_id'>,
    { workspaceId, environment }: TenantScope,
    token: NewToken | undefined,
    attempt: Attempt,
  ): Promise<boolean> {
    if (token === undefined) return false
    const owner = await this.#selectOwner({ workspaceId, environment, hash: token.hash }, attempt)
    return owner?.team_id === row.team_id
  }

  /** With the hash of its current token; null where the one that is given was replaced. */
  async #findTarget(
    tenantScope: TenantScope,
    target: RotateUserGroupToken['target'],
    attempt: Attempt,
  ): Promise<{ row: TokenlessRow; hash: Uint8Array | null } | null> {
    if ('tokenHash' in target) {
      const row = await this.#selectOwner({ ...tenantScope, hash: target.tokenHash }, attempt)
      return row && { row, hash: 'valid_until' in row ? null : target.tokenHash }
    }
    const row = await this.#statements.select.add({ ...tenantScope, providedId: target.providedId }, attempt)
    return row && { row, hash: row.token_hash }
  }

  /**
   * Of a token that is the current one or, in a second step that most calls do without, one that was replaced: a token
   * that is neither current now nor replaced later was not current when it was asked for.
   */
  async #selectOwner(token: ByHash, attempt: Attempt): Promise<TokenRow | SupersededTokenRow | null> {
    return (
      (await this.#statements.selectByToken.add(token, attempt)) ??
      (await this.#statements.selectBySupersededToken.add(token, attempt))
    )
  }

  /** Null where the registry was changed after the row was read: both are to be read anew, so that they are of one time. */
  async #selectRegistered(
    tenantScope: TenantScope,
    { mapping, registry_version: version }: TokenRow,
    attempt: Attempt,
  ): Promise<readonly RegisteredEntry[] | null> {
    if (mapping === null || version === null) return []
    const versioned = { ...tenantScope, version, mapping }
    const known = this.#resolvedMappings.get(versioned)
    if (known !== undefined) return known
    const resolved = await this.#statements.resolveMapping.add({ ...tenantScope, mapping }, attempt)
    if (resolved.registryVersion !== undefined && resolved.registryVersion !== version) return null
    const entries = resolved.entries.filter(isRegistered)
    this.#resolvedMappings.set(versioned, entries)
    return entries
  }
}

const setSuspended: Statement<UserGroupRow> = {
  text: `WITH changed AS (
           UPDATE user_group SET suspended_at = $3::bigint, revision = revision + 1
           WHERE workspace_id = $1 AND team_id = $2 AND coalesce($4::bigint, revision) = revision
             AND (suspended_at IS NULL) <> ($3::bigint IS NULL)
           RETURNING *
         ), audited AS (
           INSERT INTO audit_event (workspace_id, environment, event_id, action, author, request_id, team_id, provided_id)
           SELECT workspace_id, environment, $5::uuid,
                  CASE WHEN suspended_at IS NULL THEN 'user_group.resumed' ELSE 'user_group.suspended' END,
                  $6, $7, team_id, provided_id
           FROM changed
         )
         SELECT ${columns} FROM changed AS user_group`,
}

const endGracePeriod: Statement<unknown> = {
  text: `WITH changed AS (
           UPDATE superseded_token SET valid_until = $3
           FROM user_group
           WHERE superseded_token.workspace_id = $1 AND superseded_token.token_hash = $2
             AND valid_until > $3 AND user_group.workspace_id = superseded_token.workspace_id
             AND user_group.team_id = superseded_token.team_id AND user_group.environment = $4
           RETURNING user_group.*
         )
         INSERT INTO audit_event (workspace_id, environment, event_id, action, author, request_id, team_id, provided_id)
         SELECT workspace_id, environment, $5::uuid, 'user_group.grace_period_ended', $6, $7, team_id, provided_id
         FROM changed`,
}

const batchSize = 1000

const selectExpiredIdempotencyKeys: Statement<{
  readonly workspace_id: number
  readonly environment: Environment
  readonly key_hash: Uint8Array
}> = {
  text: `SELECT workspace_id, environment, key_hash FROM idempotency_key
         WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2`,
}

const deleteExpiredIdempotencyKeys: Statement<unknown> = {
  text: `DELETE FROM idempotency_key
         WHERE workspace_id = $1 AND expires_at <= $2
           AND (environment, key_hash) IN (SELECT * FROM unnest($3::text[], $4::bytea[]))
         RETURNING 1`,
}

function tenantScopeOf({ workspaceId, environment }: UserGroupKey): TenantScope {
  return { workspaceId, environment }
}

function replayOf(tenantScope: TenantScope, known: IdempotencyRow, fingerprint: Uint8Array): RotateOutcome {
  if (Buffer.compare(known.fingerprint, fingerprint) !== 0) return { outcome: 'idempotency_key_reused' }
  return { outcome: 'replayed', userGroup: rotatedUserGroupOf(tenantScope, known, tokenOf(known)) }
}
