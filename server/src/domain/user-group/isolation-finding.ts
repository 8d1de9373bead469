import { hash } from 'node:crypto'
import type { Author } from '../audit/audit-event.ts'
import type { MappingEntry, ResolvedEntry } from '../data-source/data-source.ts'
import type { Total } from '../util/page.ts'
import type { TokenlessUserGroup } from './user-group.ts'

export const findingKinds = ['shared', 'unresolved', 'mapped_twice'] as const

export type FindingKind = (typeof findingKinds)[number]

/** `accepted` while an acceptance holds. It ends when the affected user groups are others than those that were accepted. */
export const findingStatuses = ['open', 'accepted'] as const

export type FindingStatus = (typeof findingStatuses)[number]

export interface FindingKey {
  readonly kind: FindingKind
  /** The entry, with provided ids if it is registered. */
  readonly entry: MappingEntry
}

/** A mapping entry that several user groups share, that names no registered data source, or whose schema has another entry. */
export interface IsolationFinding extends FindingKey {
  readonly dataSource: ResolvedEntry['dataSource']
  readonly affected: AffectedUserGroups
  readonly status: FindingStatus
  /** The last acceptance, also if it no longer holds. */
  readonly acceptance: Acceptance | null
}

/** A decision that a finding is intended. */
export interface Acceptance {
  /** Version of the affected user groups. */
  readonly version: string
  readonly reason: string
  readonly acceptedAt: number
  readonly acceptedBy: Author
}

export interface AffectedUserGroups {
  readonly first: readonly TokenlessUserGroup[]
  readonly total: Total
  /** Time of the last change of name, mapping or properties of one of them. */
  readonly changedAt: number
  /** Differs if other user groups are affected. The same for any number above `maxAffected`. */
  readonly version: string
}

/** Maximum number of user groups that a finding counts and compares. */
export const maxAffected = 200
/** Number of user groups that a finding lists. */
const maxListed = 10

/** @param userGroups those affected in order of team id, at most one more than `maxAffected` */
export function affectedOf(userGroups: readonly TokenlessUserGroup[]): AffectedUserGroups {
  const isExact = userGroups.length <= maxAffected
  const counted = userGroups.slice(0, maxAffected)
  const compared = isExact ? counted.map(({ teamId }) => teamId) : 'many'
  return {
    first: userGroups.slice(0, maxListed),
    total: { count: counted.length, isExact },
    changedAt: counted.reduce((latest, { updatedAt }) => Math.max(latest, updatedAt), 0),
    version: hash('sha256', JSON.stringify(compared), 'base64url').slice(0, 22),
  }
}
