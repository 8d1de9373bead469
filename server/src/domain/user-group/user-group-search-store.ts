import type { MappingEntry } from '../data-source/data-source.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { UserGroup } from './user-group.ts'

export interface UserGroupSearchStore {
  /**
   * Finds user groups in the order of `sort`; without it, in order of `user_group_id` if the filter has `providedIdPrefix`, otherwise of
   * team id.
   * Examines a bounded number of rows per call, so it may return fewer than `limit`, even none, and a position to
   * continue at.
   */
  search(query: SearchUserGroups): Promise<SearchResult>

  /** Counts the user groups that a search finds, in a bounded number of rows per call. */
  count(query: Omit<SearchUserGroups, 'limit' | 'sort'>): Promise<SearchCount>

  /** Adds changes to the search index wherever many have gathered. Searches find user groups that it lacks, but read each of them. */
  updateIndex(): Promise<number>

  /** Removes deleted user groups and replaced names from the search index. */
  eraseFromIndex(): Promise<number>

  /** Counts how many mappings have each mapping entry. Reads a bounded number of entries per call. */
  countEntries(query: CountEntries): Promise<EntryCounts>
}

/** Orders that an index serves. Names are in the order of their code points, without the case of ASCII letters. */
export const sortFields = ['name', 'user_group_id', 'created_at'] as const

export interface UserGroupSort {
  readonly by: (typeof sortFields)[number]
  readonly isDescending: boolean
}

/** Conditions that must all hold. */
export interface UserGroupFilter {
  /** Case-sensitive. */
  readonly providedIdPrefix?: string
  /** Part of the name. Folded before it is compared (`foldText`). */
  readonly namePart?: string
  /** Part of the user group id or of the name. Folded before it is compared. */
  readonly textPart?: string
  /** Value at a path of the properties: a string, or a number or boolean as JSON writes it. */
  readonly property?: { readonly path: readonly string[]; readonly value: string }
  /** The mapping has at least one of these entries. */
  readonly mappedTo?: readonly MappingEntry[]
  /** The mapping has this key. */
  readonly schemaKey?: string
  readonly suspended?: boolean
}

/** Conditions of a caller. A mapping entry stands for those with either id of its data source. */
export type UserGroupSearch = Omit<UserGroupFilter, 'mappedTo'> & { readonly mappedTo?: MappingEntry }

/** Problems because of which the dashboards of a user group may be empty. */
export const healthProblems = ['no_mapping', 'unresolved', 'never_viewed'] as const

export type HealthProblem = (typeof healthProblems)[number]

export interface SearchUserGroups extends TenantScope {
  readonly filter: UserGroupFilter
  readonly sort?: UserGroupSort | undefined
  /** Position returned by a search with the same filter and order; null starts at the beginning. */
  readonly position: string | null
  readonly limit: number
}

interface SearchResult {
  readonly userGroups: readonly UserGroup[]
  /** Position of the next call; null at the end. */
  readonly position: string | null
}

interface SearchCount {
  readonly count: number
  /** Position of the next call; null at the end. */
  readonly position: string | null
}

interface CountEntries extends TenantScope {
  /** Counts entries after this one; null starts at the beginning. */
  readonly after: MappingEntry | null
}

export interface EntryCounts {
  /** In order of keys. The count of the last entry may be incomplete. */
  readonly counts: readonly { readonly entry: MappingEntry; readonly count: number }[]
  readonly isEnd: boolean
}
