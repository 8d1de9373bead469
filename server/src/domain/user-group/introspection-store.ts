import type { UserGroupLocation } from './location.ts'

/** The last introspection of each user group. */
export interface IntrospectionStore {
  /** Stores the latest time of each user group. Ignores an earlier time than the stored one, and user groups that were erased. */
  record(introspections: readonly Introspection[]): Promise<void>

  /** Returns milliseconds since the Unix epoch for each user group, or null if there was none. */
  findLast(workspaceId: number, locations: readonly UserGroupLocation[]): Promise<readonly (number | null)[]>
}

interface IntrospectedUserGroup extends UserGroupLocation {
  readonly workspaceId: number
}

interface Introspection extends IntrospectedUserGroup {
  readonly introspectedAt: number
}
