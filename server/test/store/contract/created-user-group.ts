import type { GetOrCreateOutcome } from '../../../src/domain/user-group/user-group-store.ts'
import type { UserGroup, UserGroupView } from '../../../src/domain/user-group/user-group.ts'

/** What a call is told of a user group that stays as it is. */
export function unchanged(userGroup: UserGroup): unknown {
  const { workspaceId, environment, providedId, teamId, name, mapping, properties, token } = userGroup
  const view: UserGroupView = {
    workspaceId,
    environment,
    providedId,
    teamId,
    name,
    mapping,
    properties,
    token,
  }
  return { outcome: 'unchanged', userGroup: view }
}

/** Without what is not the same in each store and process. */
export function unstamped<Result extends object>(result: Result): Omit<Result, 'stamp'> {
  return Object.fromEntries(Object.entries(result).filter(([name]) => name !== 'stamp')) as Omit<
    Result,
    'stamp'
  >
}

/** Whole, as it is told of where a call made or changed it. */
export function madeBy(result: GetOrCreateOutcome): UserGroup {
  if (result.outcome === 'created' || result.outcome === 'updated') return result.userGroup
  throw new Error(`expected to create or change a user group, and got ${result.outcome}`)
}
