import { Fault } from '../../domain/fault.ts'
import type { ExpectedUserGroup } from '../../domain/store.ts'

/** A strong entity tag (RFC 9110, section 8.8.3): no two states of user groups have the same. */
export function etagOf({ teamId, revision }: { teamId: number; revision: number }): string {
  return `"${teamId}.${revision}"`
}

/**
 * What a change of this user group expects by its If-Match (RFC 9110, section 13.1.1).
 * @param findRevision what the revision is now: it is asked for where several entity tags are named
 * @throws Fault `revision_mismatch`, and what `findRevision` throws
 */
export async function expectedOf(
  teamId: number,
  ifMatch: string | undefined,
  findRevision: () => Promise<number>,
): Promise<ExpectedUserGroup> {
  if (ifMatch === undefined || ifMatch.trim() === '*') return { teamId }
  const revisions = ifMatch.split(',').flatMap((tag) => {
    const [, team, revision] = /^\s*"(\d{1,15})\.(\d{1,15})"\s*$/.exec(tag) ?? []
    return Number(team) === teamId ? [Number(revision)] : []
  })
  const [only] = revisions
  if (only === undefined) {
    // An unknown user group is told as such.
    await findRevision()
    throw new Fault(
      'revision_mismatch',
      'If-Match: names no state of this user group; send the ETag that it was answered with',
    )
  }
  return { teamId, revision: revisions.length === 1 ? only : await oneOf(revisions, findRevision) }
}

async function oneOf(revisions: readonly number[], findRevision: () => Promise<number>): Promise<number> {
  const revision = await findRevision()
  return revisions.includes(revision) ? revision : (revisions[0] as number)
}
