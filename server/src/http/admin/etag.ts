import { Fault } from '../../domain/fault.ts'
import type { ExpectedUserGroup } from '../../domain/user-group/user-group-store.ts'

/** Returns the strong entity tag of a user group's state (RFC 9110, section 8.8.3). */
export function etagOf({ teamId, revision }: { teamId: number; revision: number }): string {
  return `"${teamId}.${revision}"`
}

/**
 * Returns the state that a conditional change requires (If-Match, RFC 9110, section 13.1.1).
 * @param findRevision reads the current revision; called only if If-Match lists several entity tags or none of this user group
 * @throws Fault `revision_mismatch`, and the errors of `findRevision`
 */
export async function expectedOf(
  teamId: number,
  ifMatch: string | undefined,
  findRevision: () => Promise<number>,
): Promise<ExpectedUserGroup> {
  if (ifMatch === undefined || ifMatch.trim() === '*') return { teamId }
  const revisions = ifMatch.split(',').flatMap((tag) => {
    const [, team, revision] = /^\s*"(\d{1,16})\.(\d{1,16})"\s*$/.exec(tag) ?? []
    return Number(team) === teamId ? [Number(revision)] : []
  })
  const [only] = revisions
  if (only === undefined) {
    // An unknown user group must get a 404, not a 412.
    await findRevision()
    throw new Fault(
      'revision_mismatch',
      'If-Match: names no state of this user group. Send the ETag of the response that showed it.',
    )
  }
  return { teamId, revision: revisions.length === 1 ? only : await oneOf(revisions, findRevision) }
}

async function oneOf(revisions: readonly number[], findRevision: () => Promise<number>): Promise<number> {
  const revision = await findRevision()
  return revisions.includes(revision) ? revision : (revisions[0] as number)
}
