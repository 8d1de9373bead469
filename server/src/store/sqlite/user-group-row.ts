import type { Environment } from '../../domain/environment.ts'
import type { RotatedUserGroup } from '../../domain/store.ts'
import type { Author, TokenlessUserGroup, UserGroup, UserGroupKey } from '../../domain/user-group.ts'

export interface UserGroupRow {
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
  revision: number
  updated_by: Author | null
  suspended_at: number | null
}

export function keyOf(row: UserGroupRow): UserGroupKey {
  return { workspaceId: row.workspace_id, environment: row.environment, providedId: row.provided_id }
}

export function userGroupOf(row: UserGroupRow): UserGroup {
  return { ...tokenlessUserGroupOf(row), token: { keyId: row.token_key_id, sealed: row.token_sealed } }
}

export type TokenlessRow = Omit<UserGroupRow, 'token_hash' | 'token_key_id' | 'token_sealed'>

export const tokenlessColumns = [
  'team_id',
  'workspace_id',
  'environment',
  'provided_id',
  'name',
  'mapping',
  'properties',
  'token_issued_at',
  'created_at',
  'updated_at',
  'revision',
  'updated_by',
  'suspended_at',
]
  .map((column) => `user_group.${column}`)
  .join(', ')

export function tokenlessUserGroupOf(row: TokenlessRow): TokenlessUserGroup {
  return {
    workspaceId: row.workspace_id,
    environment: row.environment,
    providedId: row.provided_id,
    teamId: row.team_id,
    name: row.name,
    mapping: row.mapping,
    properties: row.properties,
    revision: row.revision,
    updatedBy: row.updated_by,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    tokenIssuedAt: row.token_issued_at,
    suspendedAt: row.suspended_at,
  }
}

export function rotatedUserGroupOf(
  workspaceId: number,
  environment: Environment,
  row: Pick<UserGroupRow, 'team_id' | 'provided_id' | 'name' | 'token_key_id' | 'token_sealed'>,
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
