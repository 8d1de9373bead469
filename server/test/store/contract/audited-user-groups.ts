import { hash, randomBytes } from 'node:crypto'
import type {
  GetOrCreateUserGroup,
  RotateUserGroupToken,
} from '../../../src/domain/user-group/user-group-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import type { UserGroup } from '../../../src/domain/user-group/user-group.ts'
import {
  by,
  eventOf,
  createUserGroup,
  newKey,
  newUserGroup,
  now,
  tenantScope,
  type AuditedChange,
} from './audit-events.ts'
import { mint, actor, referenceOf, unknownTokenOf } from './store-fixtures.ts'

const unknown = { teamId: 999_999_999 }

export const ofUserGroups: Record<string, (store: Store) => Promise<AuditedChange>> = {
  'creating a user group': (store) => {
    const key = newKey()
    const create = (over: Partial<GetOrCreateUserGroup> = {}) =>
      store.userGroups.getOrCreate(newUserGroup({ key, ...by, now, ...over }))
    const unregistered = { name: 'B', mapping: '{"nowhere":"nothing"}' }
    return Promise.resolve({
      change: create,
      events: async () => [eventOf('user_group.created', (await store.userGroups.find(key)) as UserGroup)],
      nothing: {
        'a retry': ['unchanged', create],
        'a change without the scope': [
          'write_required',
          () => create({ change: { name: 'B' }, mayWrite: false }),
        ],
        'a creation without the scope': ['write_required', () => create({ key: newKey(), mayWrite: false })],
        'a creation without a name': ['name_required', () => create({ key: newKey(), change: {} })],
        'a refused mapping': [
          'mapping_refused',
          () => create({ change: unregistered, mappingMode: 'registered' }),
        ],
        'a creation with a refused mapping': [
          'mapping_refused',
          () => create({ key: newKey(), change: unregistered, mappingMode: 'registered' }),
        ],
      },
    })
  },

  'updating a user group with get or create': async (store) => {
    const group = await createUserGroup(store)
    const change = () =>
      store.userGroups.getOrCreate(newUserGroup({ key: group, change: { name: 'B' }, ...by, now }))
    return {
      change,
      events: () => [eventOf('user_group.updated', group, { changed_fields: ['name'] })],
      nothing: { 'a retry': ['unchanged', change] },
    }
  },

  'updating a user group': async (store) => {
    const group = await createUserGroup(store, { change: { name: 'A', properties: '{"a":1}' } })
    const { teamId, revision } = group
    const update = (over: Partial<Parameters<Store['userGroups']['update']>[0]> = {}) =>
      store.userGroups.update({
        ...{ key: group, change: { name: 'A', mapping: '{"a":"b"}', properties: null } },
        ...{ ...by, now, ...over },
      })
    const change = { name: 'C' }
    return {
      change: () => update({ expected: { teamId, revision } }),
      events: () => [eventOf('user_group.updated', group, { changed_fields: ['mapping', 'properties'] })],
      nothing: {
        'a retry': ['unchanged', update],
        'an unknown user group': ['not_found', () => update({ key: newKey(), change })],
        'another expected user group': ['not_found', () => update({ key: group, change, expected: unknown })],
        'an earlier revision': [
          'revision_mismatch',
          () => update({ change, expected: { teamId, revision } }),
        ],
        'a refused mapping': [
          'mapping_refused',
          () => update({ change: { mapping: '{"nowhere":"nothing"}' }, mappingMode: 'registered' }),
        ],
      },
    }
  },

  ...Object.fromEntries(
    ([true, false] as const).map((suspended) => [
      suspended ? 'suspending a user group' : 'resuming a user group',
      async (store: Store) => {
        const group = await createUserGroup(store)
        const { teamId, revision } = group
        if (!suspended) await store.userGroups.suspend({ key: group, suspended: true, ...actor, now: 1000 })
        const suspend = (over: Partial<Parameters<Store['userGroups']['suspend']>[0]> = {}) =>
          store.userGroups.suspend({ key: group, suspended, ...by, now, ...over })
        return {
          change: suspend,
          events: () => [eventOf(suspended ? 'user_group.suspended' : 'user_group.resumed', group)],
          nothing: {
            'a retry': ['unchanged', suspend],
            'an unknown user group': ['not_found', () => suspend({ key: newKey() })],
            'an earlier revision': [
              'revision_mismatch',
              () => suspend({ suspended: !suspended, expected: { teamId, revision } }),
            ],
          },
        } satisfies AuditedChange
      },
    ]),
  ),

  'deleting a user group': async (store) => {
    const group = await createUserGroup(store, { change: { name: 'A', mapping: '{"a":"b"}' } })
    const other = await createUserGroup(store)
    const remove = (over: Partial<Parameters<Store['userGroups']['delete']>[0]> = {}) =>
      store.userGroups.delete({ key: group, ...by, now, ...over })
    const { teamId } = other
    return {
      change: remove,
      events: () => [eventOf('user_group.deleted', group)],
      nothing: {
        'a retry': ['not_found', remove],
        'another revision': [
          'revision_mismatch',
          () => remove({ key: other, expected: { teamId, revision: 2 } }),
        ],
        'another expected user group': ['not_found', () => remove({ key: other, expected: unknown })],
      },
    }
  },

  'restoring a user group': async (store) => {
    const [group, taken] = [
      await createUserGroup(store, { change: { name: 'A', mapping: '{"a":"b"}' } }),
      await createUserGroup(store),
    ]
    for (const key of [group, taken]) await store.userGroups.delete({ key, ...actor, now: 5000 })
    await createUserGroup(store, { key: taken })
    const restore = ({ teamId } = group, deletedAfter = 0) =>
      store.userGroups.restore({ ...tenantScope, teamId, deletedAfter, ...by, now })
    return {
      change: () => restore(),
      events: () => [eventOf('user_group.restored', group)],
      nothing: {
        'a retry': ['not_found', () => restore()],
        'a user group whose id is taken': ['id_taken', () => restore(taken)],
        'a user group that was deleted too long ago': ['not_found', () => restore(taken, 5000)],
      },
    }
  },

  'rotating a user group token': async (store) => {
    const group = await createUserGroup(store)
    const { providedId, teamId, revision } = group
    const idempotency = {
      ...{ keyHash: randomBytes(32), fingerprint: hash('sha256', 'body', 'buffer') },
      expiresAt: now + 86_400_000,
    }
    const rotate = (over: Partial<RotateUserGroupToken> = {}) =>
      store.userGroups.rotate({
        ...{ ...tenantScope, target: { token: referenceOf(group.token) }, oldTokenValidUntil: now + 90_000 },
        ...{ issueToken: mint, ...by, now, ...over },
      })
    return {
      change: () => rotate({ idempotency }),
      events: () => [eventOf('user_group.token_rotated', group, { grace_period_seconds: 90 })],
      nothing: {
        'a retry with the idempotency key': ['replayed', () => rotate({ idempotency })],
        'a retry without the idempotency key': ['superseded', rotate],
        'the idempotency key with another body': [
          'idempotency_key_reused',
          () => rotate({ idempotency: { ...idempotency, fingerprint: randomBytes(32) } }),
        ],
        'an unknown token': ['not_found', () => rotate({ target: { token: unknownTokenOf(group) } })],
        'an earlier revision': [
          'revision_mismatch',
          () => rotate({ target: { providedId, expected: { teamId, revision } } }),
        ],
      },
    }
  },

  'ending a grace period': async (store) => {
    const group = await createUserGroup(store)
    const rotated = await store.userGroups.rotate({
      ...{ ...tenantScope, target: { providedId: group.providedId }, oldTokenValidUntil: now + 1 },
      ...{ issueToken: mint, ...actor, now: 2000 },
    })
    if (!('userGroup' in rotated)) throw new Error(rotated.outcome)
    const end = (token = referenceOf(group.token), over: Partial<TenantScope> = {}) =>
      store.userGroups.endGracePeriod({ ...tenantScope, token, ...by, now, ...over })
    return {
      change: () => end(),
      events: () => [eventOf('user_group.grace_period_ended', group)],
      nothing: {
        'a retry': [undefined, () => end()],
        'a current token': [undefined, () => end(referenceOf(rotated.userGroup.token))],
        'an unknown token': [undefined, () => end(unknownTokenOf(group))],
      },
    }
  },
}
