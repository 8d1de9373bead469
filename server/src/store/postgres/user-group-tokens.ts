import { timingSafeEqual } from 'node:crypto'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { IdempotencyRecord } from '../../domain/user-group/decisions.ts'
import type { UserGroupLocation } from '../../domain/user-group/location.ts'
import type { RotateUserGroupToken, TokenReference } from '../../domain/user-group/user-group-store.ts'
import { idempotencyRecordOf } from '../user-group-row.ts'
import type { Distribution } from './citus/distribution.ts'
import type { Statement } from './primary-pool.ts'
import type { Attempt, Retry } from './retry.ts'
import type { TokenRow } from './user-group-sql.ts'
import type { UserGroupStatements } from './user-group-statements.ts'

/** Number of idempotency keys that one statement deletes, to keep it short. */
const batchSize = 1000

/** Looks up the tokens of user groups, and the responses to rotations with an idempotency key. */
export class UserGroupTokens {
  readonly #retry: Retry
  readonly #statements: UserGroupStatements
  readonly #distribution: Distribution

  constructor(retry: Retry, statements: UserGroupStatements, distribution: Distribution) {
    this.#retry = retry
    this.#statements = statements
    this.#distribution = distribution
  }

  /** Returns the user group whose current or superseded token this is. */
  async find(scope: TenantScope, token: TokenReference, attempt: Attempt): Promise<TokenRow | null> {
    const { workspaceId, environment } = scope
    const { bucket, teamId, hash } = token
    const item = { workspaceId, environment, bucket, teamId, hash }
    const row = await this.#statements.selectByToken.add(item, attempt)
    const isOwner = row !== null && (timingSafeEqual(row.token_hash, hash) || row.valid_until !== null)
    return isOwner ? row : null
  }

  async findRecord(
    { workspaceId, environment }: TenantScope,
    { bucket, teamId }: UserGroupLocation,
    idempotency: RotateUserGroupToken['idempotency'],
    attempt: Attempt,
  ): Promise<IdempotencyRecord | null> {
    if (idempotency === undefined) return null
    const item = { workspaceId, environment, bucket, teamId, hash: idempotency.keyHash }
    const row = await this.#statements.selectIdempotencyKey.add(item, attempt)
    return row && idempotencyRecordOf(item, row)
  }

  async deleteExpiredRecords(now: number): Promise<number> {
    for (let total = 0; ;) {
      const expired = await this.#retry.query(selectExpired, [now, batchSize], null)
      const deleted = await this.#distribution.forEachShard(expired, (shardBucket, rows) =>
        this.#retry.query(
          deleteExpired,
          [
            now,
            shardBucket,
            rows.map(({ bucket }) => bucket),
            rows.map(({ workspace_id }) => workspace_id),
            rows.map(({ team_id }) => team_id),
            rows.map(({ key_hash }) => key_hash),
          ],
          shardBucket,
        ),
      )
      total += deleted.flat().length
      if (expired.length < batchSize) return total
    }
  }
}

const selectExpired: Statement<{
  readonly bucket: number
  readonly workspace_id: number
  readonly team_id: number
  readonly key_hash: Uint8Array
}> = {
  text: `SELECT bucket, workspace_id, team_id, key_hash FROM idempotency_key
         WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2`,
}

const deleteExpired: Statement<unknown> = {
  text: `DELETE FROM idempotency_key
         USING unnest($3::smallint[], $4::bigint[], $5::bigint[], $6::bytea[]) AS expired (bucket, workspace_id, team_id, key_hash)
         WHERE idempotency_key.workspace_id = expired.workspace_id AND idempotency_key.team_id = expired.team_id
           AND idempotency_key.key_hash = expired.key_hash AND idempotency_key.bucket = expired.bucket
           AND ($2::smallint IS NULL OR idempotency_key.bucket = ANY ($3::smallint[])) AND expires_at <= $1
         RETURNING 1`,
}
