import type { Actor } from '../audit/audit-event.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { Month } from '../usage/calendar.ts'
import type { UserGroupLocation } from './location.ts'
import type { DeletedUserGroup, UserGroupVersion } from './user-group.ts'

/** Earlier versions of user groups, their superseded tokens, deleted user groups, and idempotency keys of rotations. */
export interface UserGroupHistoryStore {
  /** Returns the versions before the latest changes of name, mapping and properties, newest first. */
  listVersions(query: ListVersions): Promise<UserGroupVersion[]>

  /** Returns the grace periods that end after `now`, the last to end first, at most 100. */
  listGracePeriods(query: ListGracePeriods): Promise<GracePeriod[]>

  /** Returns deleted user groups, in order of team id. */
  listDeleted(query: ListDeletedUserGroups): Promise<DeletedUserGroup[]>

  /**
   * Removes user groups deleted at `deletedBefore` or earlier, with their versions, and returns how many. Works in
   * batches, one transaction each.
   */
  deleteExpired(deletedBefore: number): Promise<number>

  /** Deletes the idempotency keys that expire at `now` or earlier, in batches, and returns how many. */
  deleteExpiredIdempotencyKeys(now: number): Promise<number>

  /**
   * Removes a deleted user group with its versions and usage, and its id and all details from its audit events. Later writes of its
   * usage and last introspection are ignored. Returns null if there is no such deleted user group.
   */
  erase(command: EraseUserGroup): Promise<ErasedHistory | null>
}

export interface EraseUserGroup extends TenantScope, Actor {
  readonly teamId: number
  readonly now: number
  /** Months with usage. */
  readonly months: readonly Month[]
  /** Number of rows of usage that were erased before. */
  readonly usageRows: number
}

/** Numbers of erased rows. */
export interface ErasedHistory {
  readonly versions: number
  readonly auditEvents: number
  readonly usageRows: number
}

interface ListVersions extends UserGroupLocation {
  readonly workspaceId: number
  /** Returns only earlier revisions; null starts at the newest. */
  readonly beforeRevision: number | null
  readonly limit: number
}

interface ListGracePeriods extends UserGroupLocation {
  readonly workspaceId: number
  readonly now: number
}

/** Time in which a superseded token is valid for viewing. */
export interface GracePeriod {
  readonly supersededAt: number
  readonly validUntil: number
}

interface ListDeletedUserGroups extends TenantScope {
  readonly deletedAfter: number
  readonly afterTeamId: number | null
  readonly limit: number
}
