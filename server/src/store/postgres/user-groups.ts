import type { Environment } from '../../domain/environment.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import {
  createdUserGroup,
  decideChange,
  decideCreation,
  decideDeletion,
  decideEndOfGracePeriod,
  decideGetOrCreate,
  decideRestoration,
  decideRotation,
  decideSuspension,
  isSuspended,
  mappingToCheck,
  rotatedUserGroupOf,
  type RotationTarget,
} from '../../domain/user-group/decisions.ts'
import type {
  ChangeStamp,
  DeleteUserGroup,
  EndGracePeriod,
  GetOrCreateOutcome,
  GetOrCreateUserGroup,
  IdentifiedToken,
  ListUserGroups,
  NewToken,
  RestoreOutcome,
  RestoreUserGroup,
  RotateOutcome,
  RotateUserGroupToken,
  SecretKeyRetired,
  SuspendOutcome,
  SuspendUserGroup,
  TokenOwner,
  UpdateOutcome,
  UpdateUserGroup,
  UserGroupStore,
} from '../../domain/user-group/user-group-store.ts'
import { changesNothing, type UserGroup, type UserGroupKey } from '../../domain/user-group/user-group.ts'
import { auditCells, auditedChangeOf } from '../audit-row.ts'
import {
  idempotencyRecordOf,
  columns,
  tokenlessUserGroupOf,
  userGroupOf,
  viewOf,
  type UserGroupRow,
} from '../user-group-row.ts'
import type { Mappings } from './mappings.ts'
import type { PrimaryPool, Statement } from './primary-pool.ts'
import type { Attempt, Retry } from './retry.ts'
import {
  deleteUserGroup,
  endGracePeriod,
  restoreUserGroup,
  selectDeleted,
  selectPage,
  selectRetiredSecretKey,
  type SupersededTokenRow,
  type TokenRow,
} from './user-group-sql.ts'
import type { ByHash, UserGroupStatements } from './user-group-statements.ts'

/**
 * The operations on user groups and their tokens. Each one loads rows, decides, and applies the decision in one statement
 * that takes effect only if the rows are unchanged; otherwise the operation starts over. If the connection breaks in that
 * statement, the commit is ambiguous: the next attempt finds out from the rows whether it happened.
 */
export class UserGroups implements UserGroupStore {
  readonly #primary: PrimaryPool
  readonly #retry: Retry
  readonly #statements: UserGroupStatements
  readonly #mappings: Mappings

  constructor(primary: PrimaryPool, retry: Retry, statements: UserGroupStatements, mappings: Mappings) {
    this.#primary = primary
    this.#retry = retry
    this.#statements = statements
    this.#mappings = mappings
  }

  getOrCreate(command: GetOrCreateUserGroup): Promise<GetOrCreateOutcome> {
    const { key } = command
    // Issued once: after an ambiguous commit, the token tells that this operation created the user group.
    let token: NewToken | undefined
    return this.#retry.run(async (attempt) => {
      for (let isRepeated = false; ; isRepeated = true) {
        const row = await this.#statements.selectView.add(key, attempt)
        const isOurs = row !== null && attempt.isAmbiguous && (await this.#owns(row, key, token, attempt))
        const decision = decideGetOrCreate(row, command)
        switch (decision) {
          case 'unchanged': {
            if (row === null) continue
            if (!isOurs) return { outcome: 'unchanged', userGroup: viewOf(key, row), stamp: row.stamp }
            const created = await this.#statements.select.add(key, attempt)
            if (created !== null) return { outcome: 'created', userGroup: userGroupOf(key, created) }
            continue
          }
          case 'create': {
            const issue = () => (token ??= command.issueToken(key))
            const created = await this.#create(command, issue, isRepeated, attempt)
            if (created !== null) return created
            continue
          }
          case 'change': {
            const changed = await this.#change(command, attempt)
            if (changed?.outcome === 'mapping_unregistered') return changed
            if (changed?.outcome === 'updated')
              return { outcome: isOurs ? 'created' : 'updated', userGroup: changed.userGroup }
            continue
          }
          default:
            return { outcome: decision }
        }
      }
    })
  }

  getOrCreateMany(commands: readonly GetOrCreateUserGroup[]): Promise<readonly GetOrCreateOutcome[]> {
    return Promise.all(commands.map((command) => this.getOrCreate(command)))
  }

  update(command: UpdateUserGroup): Promise<UpdateOutcome> {
    return this.#retry.run((attempt) => untilApplied(() => this.#change(command, attempt)))
  }

  suspend(command: SuspendUserGroup): Promise<SuspendOutcome> {
    const { key, suspended } = command
    return this.#retry.run((attempt) =>
      untilApplied(async () => {
        const wasAmbiguous = attempt.isAmbiguous
        const item = {
          ...auditedChangeOf(command),
          providedId: key.providedId,
          weight: 0,
          decide: (current: UserGroup | null) =>
            wasAmbiguous && current !== null && isSuspended(current) === suspended
              ? { outcome: 'updated' as const, userGroup: current }
              : decideSuspension(current, command),
        }
        const outcome = await attempt.change((sent) => this.#statements.change.add(item, attempt, sent))
        return outcome as SuspendOutcome | null
      }),
    )
  }

  delete(command: DeleteUserGroup): Promise<'deleted' | 'not_found' | 'revision_mismatch'> {
    const { key, expected } = command
    let teamId = expected?.teamId
    return this.#retry.run(async (attempt) => {
      for (;;) {
        const row = await this.#statements.select.add(key, attempt)
        teamId ??= row?.team_id
        // After an ambiguous commit, a user group with the same user_group_id and another team id is a new one.
        if (row === null || row.team_id !== teamId) return attempt.isAmbiguous ? 'deleted' : 'not_found'
        const decision = decideDeletion(userGroupOf(key, row), command)
        if (decision.outcome !== 'deleted') return decision.outcome
        const { deleted, entries, event } = decision
        const values = [
          ...[key.workspaceId, teamId, deleted.revision, deleted.deletedAt, deleted.deletedBy],
          ...[entries.removed.map(([schemaKey]) => schemaKey), entries.removed.map(([, value]) => value)],
          ...auditCells(auditedChangeOf(command), event.action, { ...event, userGroup: deleted }),
        ]
        const rows = await attempt.change((sent) => this.#primary.query(deleteUserGroup, values, sent))
        if (rows.length === 1) return 'deleted'
      }
    })
  }

  restore(command: RestoreUserGroup): Promise<RestoreOutcome> {
    const { workspaceId, environment, teamId } = command
    return this.#retry.run(async (attempt) => {
      for (;;) {
        const [row] = await this.#primary.query(selectDeleted, [workspaceId, environment, teamId])
        const deleted =
          row === undefined ? null : { userGroup: userGroupOf(command, row), deletedAt: row.deleted_at }
        const decision = decideRestoration(deleted, row?.is_id_taken ?? false, command)
        if (decision.outcome !== 'restored') {
          const existing = attempt.isAmbiguous ? await this.#selectById(command, teamId) : null
          return existing === null ? decision : { outcome: 'restored', userGroup: existing }
        }
        const { userGroup, entries, event } = decision
        const values = [
          ...[workspaceId, teamId, deleted?.deletedAt],
          ...[entries.added.map(([schemaKey]) => schemaKey), entries.added.map(([, value]) => value)],
          ...auditCells(command, event.action, { ...event, userGroup }),
        ]
        const rows = await attempt.change((sent) => this.#primary.query(restoreUserGroup, values, sent))
        if (rows.length === 1) return { outcome: 'restored', userGroup }
      }
    })
  }

  rotate(command: RotateUserGroupToken): Promise<RotateOutcome> {
    let token: NewToken | undefined
    return this.#retry.run(async (attempt) => {
      for (let isRepeated = false; ; isRepeated = true) {
        const target = await this.#findTarget(command, attempt)
        // Reads in this order: an earlier attempt may commit after the target was read.
        if (attempt.isAmbiguous && token !== undefined) {
          const own = await this.#selectOwner({ ...scopeOf(command), hash: token.hash }, attempt)
          if (own !== null) {
            const userGroup = rotatedUserGroupOf(tokenlessUserGroupOf(command, own), token)
            return { outcome: 'rotated', userGroup }
          }
        }
        // Another rotation with the same idempotency key may commit after the target was read.
        const record = await this.#findRecord(command, attempt)
        const decision = decideRotation(target, record, command, (key) => (token ??= command.issueToken(key)))
        if (decision.outcome !== 'rotated') return decision
        const retired = isRepeated ? await this.#checkSecretKey(decision.token) : null
        if (retired !== null) return retired
        const expected = 'providedId' in command.target ? command.target.expected : undefined
        const item = { ...command, rotation: decision, expectedRevision: expected?.revision ?? null }
        const name = await attempt.change((sent) => this.#statements.replaceToken.add(item, attempt, sent))
        if (name !== null) return { outcome: 'rotated', userGroup: { ...decision.userGroup, name } }
      }
    })
  }

  endGracePeriod(command: EndGracePeriod): Promise<void> {
    const { workspaceId, tokenHash, now } = command
    return this.#retry.run(async (attempt) => {
      const row = await this.#statements.selectBySupersededToken.add(
        { ...scopeOf(command), hash: tokenHash },
        attempt,
      )
      const token = row && { userGroup: tokenlessUserGroupOf(command, row), validUntil: row.valid_until }
      const event = decideEndOfGracePeriod(token, command)
      if (event === null) return
      const cells = auditCells(command, event.action, { ...event, userGroup: token?.userGroup ?? null })
      const values = [workspaceId, tokenHash, now, ...cells]
      await attempt.change((sent) => this.#primary.query(endGracePeriod, values, sent))
    })
  }

  findByToken(
    workspaceId: number,
    environment: Environment,
    hash: Uint8Array,
    now: number,
  ): Promise<TokenOwner | null> {
    const scope = { workspaceId, environment }
    return this.#retry.run(async (attempt) => {
      for (;;) {
        const row = await this.#selectOwner({ ...scope, hash }, attempt)
        const validUntil = row !== null && 'valid_until' in row ? row.valid_until : null
        if (row?.suspended_at !== null || (validUntil !== null && validUntil <= now)) return null
        const dataSources = await this.#mappings.findRegistered(scope, row, attempt)
        if (dataSources === null) continue
        const issuedAt = 'issued_at' in row ? row.issued_at : row.token_issued_at
        const userGroup = tokenlessUserGroupOf(scope, row)
        return { userGroup, issuedAt, validUntil, dataSources, stamp: row.stamp }
      }
    })
  }

  identifyToken(
    workspaceId: number,
    environment: Environment,
    hash: Uint8Array,
  ): Promise<IdentifiedToken | null> {
    const scope = { workspaceId, environment }
    return this.#retry.run(async (attempt) => {
      const row = await this.#selectOwner({ ...scope, hash }, attempt)
      if (row === null) return null
      const validUntil = 'valid_until' in row ? row.valid_until : null
      return { userGroup: tokenlessUserGroupOf(scope, row), validUntil }
    })
  }

  isUnchanged(
    workspaceId: number,
    environment: Environment,
    teamId: number,
    stamp: ChangeStamp,
  ): Promise<boolean> {
    const item = { workspaceId, environment, teamId, stamp }
    return this.#retry.run((attempt) => this.#statements.isUnchanged.add(item, attempt))
  }

  find(key: UserGroupKey): Promise<UserGroup | null> {
    return this.#retry.run(async (attempt) => {
      const row = await this.#statements.select.add(key, attempt)
      return row && userGroupOf(key, row)
    })
  }

  findById(workspaceId: number, environment: Environment, teamId: number): Promise<UserGroup | null> {
    return this.#retry.run(() => this.#selectById({ workspaceId, environment }, teamId))
  }

  async list(query: ListUserGroups): Promise<UserGroup[]> {
    const { workspaceId, environment, afterProvidedId, limit } = query
    const values = [workspaceId, environment, afterProvidedId ?? '', limit]
    const rows = await this.#retry.query(selectPage, values)
    return rows.map((row) => userGroupOf(query, row))
  }

  async deleteExpiredIdempotencyKeys(now: number): Promise<number> {
    // In batches, to keep statements short, and by workspace, for one shard of a distributed database each.
    for (let total = 0; ;) {
      const expired = await this.#retry.query(selectExpiredIdempotencyKeys, [now, batchSize])
      for (const workspaceId of new Set(expired.map(({ workspace_id }) => workspace_id))) {
        const keys = expired.filter(({ workspace_id }) => workspace_id === workspaceId)
        const deleted = await this.#retry.query(deleteExpiredIdempotencyKeys, [
          workspaceId,
          now,
          keys.map(({ environment }) => environment),
          keys.map(({ key_hash }) => key_hash),
        ])
        total += deleted.length
      }
      if (expired.length < batchSize) return total
    }
  }

  /** Returns null if nothing was created: another operation did it, the registry changed, or the secret key is retired. */
  async #create(
    command: GetOrCreateUserGroup,
    issue: () => NewToken,
    isRepeated: boolean,
    attempt: Attempt,
  ): Promise<GetOrCreateOutcome | null> {
    const mapping = mappingToCheck(command)
    const { refusal, registryVersion } = await this.#mappings.check(command.key, mapping, attempt)
    if (refusal !== null) return refusal
    const token = issue()
    const retired = isRepeated ? await this.#checkSecretKey(token) : null
    if (retired !== null) return retired
    const creation = decideCreation(command, token)
    const { workspaceId, environment } = command.key
    const { author, requestId, now } = command
    const item = { workspaceId, environment, author, requestId, now, creation, registryVersion }
    const teamId = await attempt.change((sent) => this.#statements.insert.add(item, attempt, sent))
    return teamId === null ? null : { outcome: 'created', userGroup: createdUserGroup(creation, teamId) }
  }

  /** Returns null if the user group changed between loading and applying. */
  async #change(command: UpdateUserGroup, attempt: Attempt): Promise<UpdateOutcome | null> {
    const { key, change } = command
    const wasAmbiguous = attempt.isAmbiguous
    const item = {
      ...auditedChangeOf(command),
      providedId: key.providedId,
      weight: (change.mapping?.length ?? 0) + (change.properties?.length ?? 0),
      decide: (current: UserGroup | null) =>
        wasAmbiguous && current !== null && changesNothing(current, change)
          ? { outcome: 'updated' as const, userGroup: current }
          : decideChange(current, command),
    }
    return attempt.change((sent) => this.#statements.change.add(item, attempt, sent))
  }

  /** Runs after a creation or rotation had no effect, to tell the reason. */
  async #checkSecretKey({ keyId }: NewToken): Promise<SecretKeyRetired | null> {
    const isRetired = (await this.#primary.query(selectRetiredSecretKey, [keyId])).length > 0
    return isRetired ? { outcome: 'secret_key_retired', keyId } : null
  }

  /** Returns whether the token is or was that of the user group. */
  async #owns(
    row: Pick<UserGroupRow, 'team_id'>,
    scope: TenantScope,
    token: NewToken | undefined,
    attempt: Attempt,
  ): Promise<boolean> {
    if (token === undefined) return false
    const owner = await this.#selectOwner({ ...scopeOf(scope), hash: token.hash }, attempt)
    return owner?.team_id === row.team_id
  }

  async #findTarget(command: RotateUserGroupToken, attempt: Attempt): Promise<RotationTarget | null> {
    const { target } = command
    const scope = scopeOf(command)
    if ('tokenHash' in target) {
      const row = await this.#selectOwner({ ...scope, hash: target.tokenHash }, attempt)
      if (row === null) return null
      const userGroup = tokenlessUserGroupOf(scope, row)
      return { userGroup, tokenHash: target.tokenHash, isSuperseded: 'valid_until' in row }
    }
    const row = await this.#statements.select.add({ ...scope, providedId: target.providedId }, attempt)
    if (row === null) return null
    return { userGroup: tokenlessUserGroupOf(scope, row), tokenHash: row.token_hash, isSuperseded: false }
  }

  async #findRecord(command: RotateUserGroupToken, attempt: Attempt) {
    if (command.idempotency === undefined) return null
    const item = { ...scopeOf(command), hash: command.idempotency.keyHash }
    const row = await this.#statements.selectIdempotencyKey.add(item, attempt)
    return row && idempotencyRecordOf(command, row)
  }

  /**
   * Reads a current token or, in a second statement that most requests do not need, a superseded one. The order matters: a
   * token that is neither current in the first nor superseded in the second was never valid in between.
   */
  async #selectOwner(token: ByHash, attempt: Attempt): Promise<TokenRow | SupersededTokenRow | null> {
    return (
      (await this.#statements.selectByToken.add(token, attempt)) ??
      (await this.#statements.selectBySupersededToken.add(token, attempt))
    )
  }

  async #selectById({ workspaceId, environment }: TenantScope, teamId: number): Promise<UserGroup | null> {
    const [row] = await this.#primary.query(selectById, [workspaceId, environment, teamId])
    return row === undefined ? null : userGroupOf({ workspaceId, environment }, row)
  }
}

const selectById: Statement<UserGroupRow> = {
  text: `SELECT ${columns} FROM user_group
  WHERE workspace_id = $1 AND environment = $2 AND team_id = $3`,
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

async function untilApplied<Outcome>(operate: () => Promise<Outcome | null>): Promise<Outcome> {
  for (;;) {
    const outcome = await operate()
    if (outcome !== null) return outcome
  }
}

function scopeOf({ workspaceId, environment }: TenantScope): TenantScope {
  return { workspaceId, environment }
}
