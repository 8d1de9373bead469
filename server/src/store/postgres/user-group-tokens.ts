import { timingSafeEqual } from 'node:crypto'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import type { IdempotencyRecord } from '../../domain/user-group/decisions.ts'
import type { UserGroupLocation } from '../../domain/user-group/location.ts'
import type { RotateUserGroupToken, TokenReference } from '../../domain/user-group/user-group-store.ts'
import { idempotencyRecordOf } from '../user-group-row.ts'
import type { Attempt } from './retry.ts'
import type { TokenRow } from './user-group-sql.ts'
import type { UserGroupStatements } from './user-group-statements.ts'

/** Looks up the tokens of user groups, and the responses to rotations with an idempotency key. */
export class UserGroupTokens {
  readonly #statements: UserGroupStatements

  constructor(statements: UserGroupStatements) {
    this.#statements = statements
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
}
