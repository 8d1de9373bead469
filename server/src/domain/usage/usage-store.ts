import type { Actor } from '../audit/audit-event.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { UserGroupLocation } from '../user-group/location.ts'
import type { Month } from './calendar.ts'

/** Number of rows that the store reads at once: a few milliseconds of work, for which other requests wait on SQLite. */
export const maxRowsExamined = 10_000

/**
 * The days on which user groups, viewers and resources were seen. A mark sets the bit of a day, so marking again, in any order and by any
 * process, changes nothing.
 */
export interface UsageStore {
  /** Adds the days of marks, but of no user group that was erased. Each row occurs once in `marks`. */
  record(marks: readonly Mark[]): Promise<void>

  /** Returns those of the names that a user group has in a month. */
  findNames(place: MonthOfUserGroup, column: NameColumn, names: readonly string[]): Promise<readonly string[]>

  /** Counts the rows of each user group in a slice. Null if it has more than `rows`. */
  countRows(query: UsageSlice & { readonly rows: number }): Promise<ReadonlyMap<number, number> | null>

  /** Counts the different names of a user group in a month, in a bounded number of rows. */
  countNames(place: MonthOfUserGroup, column: NameColumn, rows: NameRows): Promise<NameCount>

  /** Returns the ids and names of user groups, also of deleted ones that can be restored. */
  findUserGroups(scope: TenantScope, teamIds: readonly number[]): Promise<readonly NamedUserGroup[]>

  /** Lists user groups that were seen in a month, by team id. Reads `rows` rows at most, so that there may be more after the last one. */
  listTeamIds(
    query: UsageSlice & { readonly rows: number; readonly limit: number },
  ): Promise<readonly number[]>

  /** Returns the usage of each user group in a slice. */
  sumUserGroups(slice: UsageSlice): Promise<readonly UserGroupUsage[]>

  /** Lists the viewers that were seen in a month, by team id and viewer id. */
  listViewers(query: ListViewers): Promise<readonly ViewerUsage[]>

  /** Returns the usage of each resource in a slice. */
  sumResources(slice: UsageSlice): Promise<readonly ResourceUsage[]>

  /** Returns the usage of each day in a slice. */
  sumDays(slice: UsageSlice): Promise<DayUsage>

  /** Returns the place of row number `rows` of a slice, by team id and viewer id unless it has several team ids. Null if it has fewer. */
  findSliceEnd(query: UsageSlice & { readonly rows: number }): Promise<SliceEnd | null>

  /** Deletes the rows of a viewer in batches, and returns how many. Appends an audit event for each batch. */
  eraseViewer(command: EraseViewer): Promise<number>

  /** Deletes the rows of a user group in these months, and returns how many. */
  eraseUserGroup(command: EraseUsage): Promise<number>

  /** Deletes the rows of months before `month`, and returns how many. */
  deleteExpired(month: Month): Promise<number>
}

export interface EraseUsage extends TenantScope {
  readonly teamId: number
  readonly months: readonly Month[]
}

/** A row to add: its days, of which one is set, are added to those of the row that exists. */
export interface Mark extends MonthOfUserGroup {
  readonly viewerId: string
  readonly resource: string
  /** Bitmap: bit 0 is the 1st. */
  readonly days: number
  /** Rounded down to the minute, in milliseconds since the Unix epoch. */
  readonly lastSeenAt: number
}

export interface MonthOfUserGroup extends TenantScope, UserGroupLocation {
  readonly month: Month
}

/** Names that clients choose. */
export type NameColumn = 'viewerId' | 'resource'

export interface NamedUserGroup {
  readonly teamId: number
  readonly providedId: string
  readonly name: string
}

interface NameRows {
  /** Counts only names after this one. */
  readonly after: string
  readonly rows: number
}

interface NameCount {
  readonly count: number
  /** The last name that was counted; null if no more follow. */
  readonly last: string | null
}

interface ListViewers extends TenantScope {
  readonly month: Month
  /** Undefined for all user groups. */
  readonly teamIds?: readonly number[] | undefined
  readonly afterTeamId: number
  readonly afterViewerId: string
  readonly limit: number
}

/** Rows of a month: of all user groups, of some, or of some viewers of one. */
export interface UsageSlice extends TenantScope {
  readonly month: Month
  readonly teamIds?: readonly number[] | undefined
  readonly afterTeamId?: number | undefined
  readonly lastTeamId?: number | undefined
  readonly afterViewerId?: string | undefined
  readonly lastViewerId?: string | undefined
}

export interface SliceEnd {
  readonly teamId: number
  readonly viewerId: string
}

interface Seen {
  /** Bitmap of the days on which anyone looked. */
  readonly days: number
  readonly lastSeenAt: number
}

interface Viewers {
  /** Number of viewers. */
  readonly viewers: number
  /** Number of pairs of a viewer and a day. */
  readonly viewerDays: number
}

export interface UserGroupUsage extends Seen, Viewers {
  readonly teamId: number
  /** True if some viewers are counted as one. */
  readonly isTruncated: boolean
}

export interface ViewerUsage extends Seen {
  readonly teamId: number
  readonly viewerId: string
}

export interface ResourceUsage extends Seen, Viewers {
  readonly resource: string
  readonly userGroups: number
}

interface DayUsage {
  readonly userGroups: number
  readonly viewers: number
  /** Number of user groups by day, from the 1st. */
  readonly userGroupsByDay: readonly number[]
  readonly viewersByDay: readonly number[]
}

export interface EraseViewer extends TenantScope, Actor {
  readonly viewerId: string
  /** Null for all user groups. */
  readonly teamId: number | null
  readonly now: number
}
