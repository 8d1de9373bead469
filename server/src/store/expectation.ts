import type { ExpectedUserGroup } from '../domain/user-group/user-group-store.ts'

/** What a change finds where the user group is not the one that the caller knows; null where it is. */
export function mismatchOf(
  row: { readonly team_id: number; readonly revision: number },
  expected: ExpectedUserGroup | undefined,
): 'not_found' | 'revision_mismatch' | null {
  if (expected === undefined) return null
  if (row.team_id !== expected.teamId) return 'not_found'
  const isAsKnown = expected.revision === undefined || expected.revision === row.revision
  return isAsKnown ? null : 'revision_mismatch'
}
