import { hash } from 'node:crypto'
import type { UserGroupKey } from './user-group.ts'

/**
 * Number of buckets. Each user group belongs to one, and so do all its rows: PostgreSQL can partition its large tables by bucket,
 * and Citus distributes them by it. The number never changes: tokens contain the bucket.
 */
export const bucketCount = 1024

/** The place of the rows of a user group. */
export interface UserGroupLocation {
  /** From 0 to 1023. */
  readonly bucket: number
  readonly teamId: number
}

/**
 * Returns the bucket of a user group: ten bits of a SHA-256, so that the user groups of one workspace spread evenly.
 */
export function bucketOf({ workspaceId, environment, providedId }: UserGroupKey): number {
  // As hex, because it takes half the time of a buffer.
  const digest = hash('sha256', `${workspaceId}/${environment}/${providedId}`, 'hex')
  return parseInt(digest.slice(0, 4), 16) % bucketCount
}

export function locationOf(userGroup: UserGroupKey & { readonly teamId: number }): UserGroupLocation {
  return { bucket: bucketOf(userGroup), teamId: userGroup.teamId }
}
