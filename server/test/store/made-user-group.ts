import type { GetOrCreateOutcome } from '../../src/domain/store.ts'
import type { UserGroup } from '../../src/domain/user-group.ts'

/** Whole, as it is told of where a call made or changed it. */
export function madeBy(result: GetOrCreateOutcome): UserGroup {
  if (result.outcome === 'created' || result.outcome === 'updated') return result.userGroup
  throw new Error(`expected to create or change a user group, and got ${result.outcome}`)
}
