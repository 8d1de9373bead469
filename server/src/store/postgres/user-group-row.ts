import type { Environment } from '../../domain/environment.ts'
import type { RotatedUserGroup } from '../../domain/store.ts'
import type { Author, TokenlessUserGroup, UserGroup } from '../../domain/user-group.ts'

/** What one statement serves: each is about one workspace, so that a distributed database sends it to one place. */
export interface Realm {
  readonly workspaceId: number
  readonly environment: Environment
}

export interface UserGroupRow {
  readonly team_id: number
  readonly provided_id: string
  readonly name: string
  readonly mapping: string | null
  readonly properties: string | null
  readonly token_hash: Uint8Array
  readonly token_key_id: string
  readonly token_sealed: Uint8Array
  readonly token_issued_at: number
  readonly created_at: number
  readonly updated_at: number
  readonly revision: number
  readonly updated_by: Author | null
  readonly suspended_at: number | null
}

const tokenColumnNames = ['token_hash', 'token_key_id', 'token_sealed'] as const

export type TokenlessRow = Omit<UserGroupRow, (typeof tokenColumnNames)[number]>

const tokenlessColumnNames = [
  'team_id',
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
] as const satisfies readonly (keyof TokenlessRow)[]

/** The columns of a row, less workspace and environment, which whoever asks knows. */
export const columnNames = [...tokenlessColumnNames, ...tokenColumnNames]

const ofUserGroup = (names: readonly string[]) => names.map((name) => `user_group.${name}`).join(', ')

export const columns = ofUserGroup(columnNames)
export const tokenlessColumns = ofUserGroup(tokenlessColumnNames)

export function userGroupOf(realm: Realm, row: UserGroupRow): UserGroup {
  return {
    ...tokenlessUserGroupOf(realm, row),
    token: { keyId: row.token_key_id, sealed: row.token_sealed },
  }
}

export function tokenlessUserGroupOf(
  { workspaceId, environment }: Realm,
  row: TokenlessRow,
): TokenlessUserGroup {
  return {
    workspaceId,
    environment,
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
