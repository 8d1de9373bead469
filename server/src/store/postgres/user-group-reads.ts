import type { Environment } from '../../domain/environment.ts'
import type { TenantScope } from '../../domain/tenant-scope.ts'
import { isSuspended, isTokenActive } from '../../domain/user-group/decisions.ts'
import type { UserGroupLocation } from '../../domain/user-group/location.ts'
import type { UserGroup, UserGroupKey } from '../../domain/user-group/user-group.ts'
import type {
  ActiveUserGroup,
  IdentifiedToken,
  ListUserGroups,
  TokenOwner,
  TokenReference,
  UserGroupState,
} from '../../domain/user-group/user-group-store.ts'
import { tokenlessUserGroupOf, userGroupOf } from '../user-group-row.ts'
import type { Distribution } from './citus/distribution.ts'
import type { Mappings } from './mappings.ts'
import type { PrimaryPool } from './primary-pool.ts'
import type { Retry } from './retry.ts'
import * as sql from './user-group-sql.ts'
import { withBucket, type UserGroupStatements } from './user-group-statements.ts'
import type { UserGroupTokens } from './user-group-tokens.ts'

export interface UserGroupParts {
  readonly statements: UserGroupStatements
  readonly mappings: Mappings
  readonly tokens: UserGroupTokens
  readonly distribution: Distribution
}

/** Hash of no token. */
const noHash = new Uint8Array()

/** The operations that read user groups. */
export class UserGroupReads {
  protected readonly primary: PrimaryPool
  protected readonly retry: Retry
  protected readonly statements: UserGroupStatements
  protected readonly mappings: Mappings
  protected readonly tokens: UserGroupTokens
  protected readonly distribution: Distribution

  constructor(primary: PrimaryPool, retry: Retry, parts: UserGroupParts) {
    this.primary = primary
    this.retry = retry
    this.statements = parts.statements
    this.mappings = parts.mappings
    this.tokens = parts.tokens
    this.distribution = parts.distribution
  }

  findByToken(
    workspaceId: number,
    environment: Environment,
    token: TokenReference,
    now: number,
  ): Promise<TokenOwner | null> {
    const scope = { workspaceId, environment }
    return this.retry.run(async (attempt) => {
      for (;;) {
        const row = await this.tokens.find(scope, token, attempt)
        if (row === null) return null
        const { valid_until: validUntil, stamp } = row
        const userGroup = tokenlessUserGroupOf(scope, row)
        if (!isTokenActive({ userGroup, validUntil }, now)) return null
        const dataSources = await this.mappings.findRegistered(scope, row, attempt)
        if (dataSources === null) continue
        const issuedAt = row.issued_at ?? row.token_issued_at
        return { userGroup, state: { location: token, stamp }, issuedAt, validUntil, dataSources }
      }
    })
  }

  findActive(
    workspaceId: number,
    environment: Environment,
    location: UserGroupLocation,
  ): Promise<ActiveUserGroup | null> {
    const scope = { workspaceId, environment }
    const item = { ...scope, ...location, hash: noHash }
    return this.retry.run(async (attempt) => {
      for (;;) {
        const row = await this.statements.selectByToken.add(item, attempt)
        if (row === null) return null
        const userGroup = tokenlessUserGroupOf(scope, row)
        if (isSuspended(userGroup)) return null
        const dataSources = await this.mappings.findRegistered(scope, row, attempt)
        if (dataSources !== null) return { userGroup, state: { location, stamp: row.stamp }, dataSources }
      }
    })
  }

  identifyToken(
    workspaceId: number,
    environment: Environment,
    token: TokenReference,
  ): Promise<IdentifiedToken | null> {
    const scope = { workspaceId, environment }
    return this.retry.run(async (attempt) => {
      const row = await this.tokens.find(scope, token, attempt)
      return row && { userGroup: tokenlessUserGroupOf(scope, row), validUntil: row.valid_until }
    })
  }

  isUnchanged(
    workspaceId: number,
    environment: Environment,
    { location: { bucket, teamId }, stamp }: UserGroupState,
  ): Promise<boolean> {
    const item = { workspaceId, environment, bucket, teamId, stamp }
    return this.retry.run((attempt) => this.statements.isUnchanged.add(item, attempt))
  }

  find(key: UserGroupKey): Promise<UserGroup | null> {
    return this.retry.run(async (attempt) => {
      const row = await this.statements.select.add(withBucket(key), attempt)
      return row && userGroupOf(key, row)
    })
  }

  findById(workspaceId: number, environment: Environment, teamId: number): Promise<UserGroup | null> {
    return this.retry.run(() => this.selectById({ workspaceId, environment }, teamId))
  }

  async list(query: ListUserGroups): Promise<UserGroup[]> {
    const values = [query.workspaceId, query.environment, query.afterProvidedId ?? '', query.limit]
    const rows = await this.retry.query(sql.selectPage, values, null)
    return rows.map((row) => userGroupOf(query, row))
  }

  protected async selectById(
    { workspaceId, environment }: TenantScope,
    teamId: number,
  ): Promise<UserGroup | null> {
    const select = () => this.primary.query(sql.selectById, [workspaceId, environment, teamId])
    const [row] = await this.distribution.onNodeOf(null, select)
    return row === undefined ? null : userGroupOf({ workspaceId, environment }, row)
  }
}
