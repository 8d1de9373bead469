import type { Sealed } from '../domain/secret-key/keyring.ts'
import type { TenantScope } from '../domain/tenant-scope.ts'
import type { Author } from '../domain/audit/audit-event.ts'
import type { IdempotencyRecord } from '../domain/user-group/decisions.ts'
import type {
  DeletedUserGroup,
  TokenlessUserGroup,
  UserGroup,
  UserGroupKey,
  UserGroupVersion,
  UserGroupView,
} from '../domain/user-group/user-group.ts'

// Rows of user groups and their conversion to the domain. Both dialects have the same columns.

/** The columns of a user group without its token, workspace and environment, with the properties that they store. */
const propertyOf = {
  team_id: 'teamId',
  provided_id: 'providedId',
  name: 'name',
  mapping: 'mapping',
  properties: 'properties',
  token_issued_at: 'tokenIssuedAt',
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  revision: 'revision',
  updated_by: 'updatedBy',
  suspended_at: 'suspendedAt',
} as const satisfies Record<string, keyof TokenlessUserGroup>

/** Columns that a change of a user group writes, besides the revision. */
export const changedColumns = [
  'name',
  'mapping',
  'properties',
  'updated_at',
  'updated_by',
  'suspended_at',
] as const satisfies readonly Column[]

/** Columns of an earlier version of a user group, besides its revision. */
export const versionColumns = [
  'updated_at',
  'updated_by',
  'name',
  'mapping',
  'properties',
] as const satisfies readonly Column[]

export type Column = keyof typeof propertyOf
export type PropertyOf<Name extends Column> = (typeof propertyOf)[Name]

export type TokenlessRow = { readonly [Name in Column]: TokenlessUserGroup[PropertyOf<Name>] }

export interface UserGroupRow extends TokenlessRow {
  readonly token_hash: Uint8Array
  readonly token_key_id: string
  readonly token_sealed: Uint8Array
}

export type IdempotencyRow = Pick<
  UserGroupRow,
  'team_id' | 'provided_id' | 'name' | 'token_key_id' | 'token_sealed'
> & { readonly fingerprint: Uint8Array; readonly expires_at: number }

export type DeletedRow = UserGroupRow & { readonly deleted_at: number; readonly deleted_by: Author }

export type VersionRow = Pick<UserGroupRow, 'revision' | (typeof versionColumns)[number]>

const tokenlessColumnNames = Object.keys(propertyOf)
const columnNames = [...tokenlessColumnNames, 'token_hash', 'token_key_id', 'token_sealed']

const viewColumnNames = [
  'team_id',
  'name',
  'mapping',
  'properties',
  'token_key_id',
  'token_sealed',
] as const satisfies readonly (keyof UserGroupRow)[]

export type ViewRow = Pick<UserGroupRow, (typeof viewColumnNames)[number]>

const ofUserGroup = (names: readonly string[]) => names.map((name) => `user_group.${name}`).join(', ')

export const columns = ofUserGroup(columnNames)
/** Columns of the response to an unchanged GET. Reading all columns takes twice as long. */
export const viewColumns = ofUserGroup(viewColumnNames)
export const tokenlessColumns = ofUserGroup(tokenlessColumnNames)

/** Returns the value of a column. */
export function columnValue<Name extends Column>(
  userGroup: Pick<TokenlessUserGroup, PropertyOf<Name>>,
  column: Name,
): unknown {
  return userGroup[propertyOf[column]]
}

/** All columns, including workspace and environment: the content of a deleted user group. */
export const keptColumns = ['workspace_id', 'environment', ...columnNames].join(', ')
/** The same columns for a restored user group, which is a new revision. */
export const restoredColumns = keptColumns.replace('revision', 'revision + 1')

function tokenOf(row: Pick<UserGroupRow, 'token_key_id' | 'token_sealed'>): Sealed {
  return { keyId: row.token_key_id, sealed: row.token_sealed }
}

export function userGroupOf(tenantScope: TenantScope, row: UserGroupRow): UserGroup {
  return { ...tokenlessUserGroupOf(tenantScope, row), token: tokenOf(row) }
}

export function viewOf({ workspaceId, environment, providedId }: UserGroupKey, row: ViewRow): UserGroupView {
  const { team_id: teamId, name, mapping, properties } = row
  return { workspaceId, environment, providedId, teamId, name, mapping, properties, token: tokenOf(row) }
}

export function tokenlessUserGroupOf(
  { workspaceId, environment }: TenantScope,
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

export function idempotencyRecordOf(
  { workspaceId, environment }: TenantScope,
  row: IdempotencyRow,
): IdempotencyRecord {
  const { team_id: teamId, provided_id: providedId, name } = row
  return {
    fingerprint: row.fingerprint,
    expiresAt: row.expires_at,
    userGroup: { workspaceId, environment, providedId, teamId, name, token: tokenOf(row) },
  }
}

export function deletedUserGroupOf(tenantScope: TenantScope, row: DeletedRow): DeletedUserGroup {
  return { ...userGroupOf(tenantScope, row), deletedAt: row.deleted_at, deletedBy: row.deleted_by }
}

export function versionOf(row: VersionRow): UserGroupVersion {
  return {
    revision: row.revision,
    updatedAt: row.updated_at,
    updatedBy: row.updated_by,
    name: row.name,
    mapping: row.mapping,
    properties: row.properties,
  }
}
