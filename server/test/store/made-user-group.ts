import type { GetOrCreateOutcome } from '../../src/domain/store.ts'
import type { UserGroup, UserGroupView } from '../../src/domain/user-group.ts'

/** What a call is told of a user group that stays as it is. */
export function unchanged(userGroup: UserGroup): GetOrCreateOutcome {
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

/** Whole, as it is told of where a call made or changed it. */
export function madeBy(result: GetOrCreateOutcome): UserGroup {
  if (result.outcome === 'created' || result.outcome === 'updated') return result.userGroup
  throw new Error(`expected to create or change a user group, and got ${result.outcome}`)
}
