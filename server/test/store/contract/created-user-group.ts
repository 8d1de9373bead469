import type { GetOrCreateOutcome } from '../../../src/domain/user-group/user-group-store.ts'
import type { UserGroup, UserGroupView } from '../../../src/domain/user-group/user-group.ts'

/** Returns the expected result of an unchanged GET. */
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

/** Removes the state for `isUnchanged`, which differs between stores and processes. */
export function withoutState<Result extends object>(result: Result): Omit<Result, 'state'> {
  return Object.fromEntries(Object.entries(result).filter(([name]) => name !== 'state')) as Omit<
    Result,
    'state'
  >
}

/** Returns the created or updated user group. Throws on any other outcome. */
export function userGroupOf(result: GetOrCreateOutcome): UserGroup {
  if (result.outcome === 'created' || result.outcome === 'updated') return result.userGroup
  throw new Error(`expected to create or change a user group, and got ${result.outcome}`)
}
