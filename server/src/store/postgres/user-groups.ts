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
  UpdateOutcome,
  UpdateUserGroup,
} from '../../domain/store.ts'
import type { UserGroup, UserGroupChange, UserGroupKey } from '../../domain/user-group.ts'
import type { Primary, Statement } from './primary.ts'
import type { Attempt, Retry } from './retry.ts'
import {
  selectPage,
  UserGroupStatements,
  type IdempotencyRow,
  type Realm,
  type UserGroupRow,
} from './user-group-statements.ts'

/**
 * The operations on user groups and their tokens: each reads, decides, and makes one change, and may be repeated at any
 * point. A creation or a rotation takes effect only where what was read still holds, and otherwise starts over; an update
 * sets what it was sent, whatever else was changed in between.
 */
export class UserGroups {
  readonly #primary: Primary
  readonly #retry: Retry
  readonly #statements: UserGroupStatements

  constructor(primary: Primary, retry: Retry) {
    this.#primary = primary
    this.#retry = retry
    this.#statements = new UserGroupStatements(primary)
  }

  getOrCreate({ key, change, mayWrite, mintToken, now }: GetOrCreateUserGroup): Promise<GetOrCreateOutcome> {
    // Drawn once: by its token a user group is known as this call's, should its creation be in doubt.
    let token: MintedToken | undefined
    return this.#retry.run(async (attempt) => {
      for (;;) {
        const row = await this.#statements.select.add(key, attempt)
        if (row === null) {
          if (!mayWrite) return { outcome: 'write_required' }
          if (change.name === undefined) return { outcome: 'name_required' }
          token ??= mintToken(key)
          const creation = { ...key, name: change.name, change, token, now }
          const created = await attempt.change((sent) => this.#statements.insert.add(creation, attempt, sent))
          if (created !== null) return { outcome: 'created', userGroup: userGroupOf(key, created) }
          continue
        }
        const isOurs = attempt.isInDoubt && (await this.#isOf(row, key, token, attempt))
        if (changesNothing(row, change)) {
          return { outcome: isOurs ? 'created' : 'unchanged', userGroup: userGroupOf(key, row) }
        }
        if (!mayWrite) return { outcome: 'write_required' }
        const changed = await this.#change(key, row, change, now, attempt)
        if (changed !== null)
          return { outcome: isOurs ? 'created' : 'updated', userGroup: userGroupOf(key, changed) }
      }
    })
  }

  update({ key, change, now }: UpdateUserGroup): Promise<UpdateOutcome> {
    return this.#retry.run(async (attempt) => {
      for (;;) {
        const row = await this.#statements.select.add(key, attempt)
        if (row === null) return { outcome: 'not_found' }
        if (changesNothing(row, change)) {
          return { outcome: attempt.isInDoubt ? 'updated' : 'unchanged', userGroup: userGroupOf(key, row) }
        }
        const changed = await this.#change(key, row, change, now, attempt)
        if (changed !== null) return { outcome: 'updated', userGroup: userGroupOf(key, changed) }
      }
    })
  }

  rotateToken(command: RotateUserGroupToken): Promise<RotateOutcome> {
    const { workspaceId, environment, target, idempotency, mintToken } = command
    const realm = { workspaceId, environment }
    let token: MintedToken | undefined
    return this.#retry.run(async (attempt) => {
      for (;;) {
        if (attempt.isInDoubt && token !== undefined) {
          const row = await this.#statements.selectByToken.add({ ...realm, hash: token.hash }, attempt)
          if (row !== null) return { outcome: 'rotated', userGroup: rotatedUserGroupOf(realm, row, token) }
        }
        const row =
          'tokenHash' in target
            ? await this.#statements.selectByToken.add({ ...realm, hash: target.tokenHash }, attempt)
            : await this.#statements.select.add({ ...realm, providedId: target.providedId }, attempt)
        // After the token: had another rotation with the same key come in between, its answer is found here.
        if (idempotency !== undefined) {
          const hash = idempotency.keyHash
          const known = await this.#statements.selectIdempotencyKey.add({ ...realm, hash }, attempt)
          if (known !== null && known.expires_at > command.now)
            return replayOf(realm, known, idempotency.fingerprint)
        }
        if (row === null) return { outcome: 'not_found' }
        if ('valid_until' in row && row.valid_until !== null) return { outcome: 'superseded' }
        token ??= mintToken({ ...realm, providedId: row.provided_id })
        const rotation = { ...command, row, token }
        const rotated = await attempt.change((sent) =>
          this.#statements.replaceToken.add(rotation, attempt, sent),
        )
        if (rotated !== null)
          return { outcome: 'rotated', userGroup: rotatedUserGroupOf(realm, rotated, token) }
      }
    })
  }

  findByToken(realm: Realm, hash: Uint8Array, now: number): Promise<TokenOwner | null> {
    return this.#retry.run(async (attempt) => {
      const row = await this.#statements.selectByToken.add({ ...realm, hash }, attempt)
      if (row === null || (row.valid_until !== null && row.valid_until <= now)) return null
      return { userGroup: userGroupOf(realm, row), validUntil: row.valid_until }
    })
  }

  find(key: UserGroupKey): Promise<UserGroup | null> {
    return this.#retry.run(async (attempt) => {
      const row = await this.#statements.select.add(key, attempt)
      return row && userGroupOf(key, row)
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

  delete(key: UserGroupKey): Promise<boolean> {
    let teamId: number | undefined
    return this.#retry.run(async (attempt) => {
      const row = await this.#statements.select.add(key, attempt)
      // Should the first try be in doubt, one that has the same id by now is another user group.
      if (row?.team_id !== (teamId ??= row?.team_id) || row === null) return attempt.isInDoubt
      const deleted = await attempt.change((sent) =>
        this.#primary.query(
          'DELETE FROM user_group WHERE workspace_id = $1 AND team_id = $2 RETURNING team_id',
          [key.workspaceId, row.team_id],
          sent,
        ),
      )
      return deleted.length === 1 || attempt.isInDoubt
    })
  }

  async forgetExpiredIdempotencyKeys(now: number): Promise<number> {
    // In batches, so that a statement never takes long. Each process does this every hour: what another one is about to
    // remove is passed over rather than waited for.
    for (let total = 0; ;) {
      const [row] = await this.#retry.run(() =>
        this.#primary.query(deleteExpiredIdempotencyKeys, [now, batchSize]),
      )
      const deleted = row?.count ?? 0
      total += deleted
      if (deleted < batchSize) return total
    }
  }

  #change(
    key: UserGroupKey,
    row: UserGroupRow,
    change: UserGroupChange,
    now: number,
    attempt: Attempt,
  ): Promise<UserGroupRow | null> {
    const item = { ...key, teamId: row.team_id, change, now }
    return attempt.change((sent) => this.#statements.update.add(item, attempt, sent))
  }

  /** Whether this token is, or was, that of the user group. */
  async #isOf(
    row: UserGroupRow,
    { workspaceId, environment }: Realm,
    token: MintedToken | undefined,
    attempt: Attempt,
  ): Promise<boolean> {
    if (token === undefined) return false
    const owner = await this.#statements.selectByToken.add(
      { workspaceId, environment, hash: token.hash },
      attempt,
    )
    return owner?.team_id === row.team_id
  }
}

const batchSize = 1000

const deleteExpiredIdempotencyKeys: Statement<{ count: number }> = {
  text: `WITH expired AS (
           SELECT workspace_id, environment, key_hash FROM idempotency_key
           WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
         ), deleted AS (
           DELETE FROM idempotency_key USING expired
           WHERE idempotency_key.workspace_id = expired.workspace_id
             AND idempotency_key.environment = expired.environment AND idempotency_key.key_hash = expired.key_hash
           RETURNING 1
         )
         SELECT count(*) AS count FROM deleted`,
}

function changesNothing(row: UserGroupRow, change: UserGroupChange): boolean {
  return (
    (change.name === undefined || change.name === row.name) &&
    (change.mapping === undefined || sameJson(change.mapping, row.mapping)) &&
    (change.properties === undefined || sameJson(change.properties, row.properties))
  )
}

function userGroupOf({ workspaceId, environment }: Realm, row: UserGroupRow): UserGroup {
  return {
    workspaceId,
    environment,
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

function replayOf(realm: Realm, known: IdempotencyRow, fingerprint: Uint8Array): RotateOutcome {
  if (Buffer.compare(known.fingerprint, fingerprint) !== 0) return { outcome: 'idempotency_key_reused' }
  const token = { keyId: known.token_key_id, sealed: known.token_sealed }
  return { outcome: 'replayed', userGroup: rotatedUserGroupOf(realm, known, token) }
}

function rotatedUserGroupOf(
  { workspaceId, environment }: Realm,
  row: Pick<UserGroupRow, 'team_id' | 'provided_id' | 'name'>,
  { keyId, sealed }: { keyId: string; sealed: Uint8Array },
): RotatedUserGroup {
  return {
    workspaceId,
    environment,
    providedId: row.provided_id,
    teamId: row.team_id,
    name: row.name,
    token: { keyId, sealed },
  }
}
