import type { TenantScope } from '../tenant-scope.ts'
import type { UserGroupLocation } from './location.ts'
import type { DeletedUserGroup, UserGroupVersion } from './user-group.ts'

/** Earlier versions of user groups, and deleted user groups. */
export interface UserGroupHistoryStore {
  /** Returns the versions before the latest changes of name, mapping and properties, newest first. */
  listVersions(query: ListVersions): Promise<UserGroupVersion[]>

  /** Returns deleted user groups, in order of team id. */
  listDeleted(query: ListDeletedUserGroups): Promise<DeletedUserGroup[]>

  /**
   * Removes user groups deleted at `deletedBefore` or earlier, with their versions, and returns how many. Works in
   * batches, one transaction each.
   */
  deleteExpired(deletedBefore: number): Promise<number>
}

interface ListVersions extends UserGroupLocation {
  readonly workspaceId: number
  /** Returns only earlier revisions; null starts at the newest. */
  readonly beforeRevision: number | null
  readonly limit: number
}

interface ListDeletedUserGroups extends TenantScope {
  readonly deletedAfter: number
  readonly afterTeamId: number | null
  readonly limit: number
}
