import type { MappingEntry } from '../data-source/data-source.ts'
import type { TenantScope } from '../tenant-scope.ts'
import type { UserGroup } from './user-group.ts'

export interface UserGroupSearchStore {
  /**
   * Finds user groups in order of `user_group_id` if the filter has `providedIdPrefix`, otherwise in order of team id.
   * Examines a bounded number of rows per call, so it may return fewer than `limit`, even none, and a position to
   * continue at.
   */
  search(query: SearchUserGroups): Promise<SearchResult>

  /** Adds changes to the search index wherever many have gathered. Searches find user groups that it lacks, but read each of them. */
  updateIndex(): Promise<number>

  /** Removes deleted user groups and replaced names from the search index. */
  eraseFromIndex(): Promise<number>

  /** Counts how many mappings have each mapping entry. Reads a bounded number of entries per call. */
  countEntries(query: CountEntries): Promise<EntryCounts>
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

export interface SearchUserGroups extends TenantScope {
  readonly filter: UserGroupFilter
  /** Position returned by a search with the same filter; null starts at the beginning. */
  readonly position: string | null
  readonly limit: number
}

interface SearchResult {
  readonly userGroups: readonly UserGroup[]
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
