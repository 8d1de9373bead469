import type { GetOrCreateUserGroup } from '../../../src/domain/user-group/user-group-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { UserGroup, UserGroupKey } from '../../../src/domain/user-group/user-group.ts'
import type { Registry } from './registry.ts'
import { freshKey, mint, actor } from './store-fixtures.ts'
import { userGroupOf } from './created-user-group.ts'

export type Mapping = Record<string, string>

/** Returns an unused key in the workspace and environment of the registry. */
export function keyIn({ tenantScope }: Registry): UserGroupKey {
  return { ...tenantScope, providedId: freshKey().providedId }
}

export function getOrCreate(store: Store, key: UserGroupKey, over: Partial<GetOrCreateUserGroup> = {}) {
  return store.userGroups.getOrCreate({
    ...{ key, change: { name: 'A' }, mayWrite: true, issueToken: mint, ...actor, now: 1000 },
    ...over,
  })
}

/** Creates a user group with this mapping, without checking the registry. A string is used as JSON. */
export async function mapped(store: Store, key: UserGroupKey, mapping: Mapping | string): Promise<UserGroup> {
  const text = typeof mapping === 'string' ? mapping : JSON.stringify(mapping)
  const result = await getOrCreate(store, key, { change: { name: 'A', mapping: text } })
  return userGroupOf(result)
}
