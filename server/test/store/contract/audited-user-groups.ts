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
  made,
  newKey,
  newUserGroup,
  now,
  tenantScope,
  type AuditedChange,
} from './audit-events.ts'
import { hashOf, mint, origin } from './store-fixtures.ts'

const unknown = { teamId: 999_999_999 }

export const ofUserGroups: Record<string, (store: Store) => Promise<AuditedChange>> = {
  'a creation': (store) => {
    const key = newKey()
    const create = (over: Partial<GetOrCreateUserGroup> = {}) =>
      store.userGroups.getOrCreate(newUserGroup({ key, ...by, now, ...over }))
    const unregistered = { name: 'B', mapping: '{"nowhere":"nothing"}' }
    return Promise.resolve({
      change: create,
      events: async () => [eventOf('user_group.created', (await store.userGroups.find(key)) as UserGroup)],
      nothing: {
        'the same again': ['unchanged', create],
        'another, without the right': [
          'write_required',
          () => create({ change: { name: 'B' }, mayWrite: false }),
        ],
        'a new one, without the right': ['write_required', () => create({ key: newKey(), mayWrite: false })],
        'a new one without a name': ['name_required', () => create({ key: newKey(), change: {} })],
        'a mapping that is refused': [
          'mapping_unregistered',
          () => create({ change: unregistered, mappingMode: 'registered' }),
        ],
        'a new one whose mapping is refused': [
          'mapping_unregistered',
          () => create({ key: newKey(), change: unregistered, mappingMode: 'registered' }),
        ],
      },
    })
  },

  'a get that changes': async (store) => {
    const group = await made(store)
    const change = () =>
      store.userGroups.getOrCreate(newUserGroup({ key: group, change: { name: 'B' }, ...by, now }))
    return {
      change,
      events: () => [eventOf('user_group.updated', group, { changed_fields: ['name'] })],
      nothing: { 'the same again': ['unchanged', change] },
    }
  },

  'an update': async (store) => {
    const group = await made(store, { change: { name: 'A', properties: '{"a":1}' } })
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
        'the same again': ['unchanged', update],
        'an unknown one': ['not_found', () => update({ key: newKey(), change })],
        'another one': ['not_found', () => update({ key: group, change, expected: unknown })],
        'an earlier revision': [
          'revision_mismatch',
          () => update({ change, expected: { teamId, revision } }),
        ],
        'a mapping that is refused': [
          'mapping_unregistered',
          () => update({ change: { mapping: '{"nowhere":"nothing"}' }, mappingMode: 'registered' }),
        ],
      },
    }
  },

  ...Object.fromEntries(
    ([true, false] as const).map((suspended) => [
      suspended ? 'a suspension' : 'its end',
      async (store: Store) => {
        const group = await made(store)
        const { teamId, revision } = group
        if (!suspended) await store.userGroups.suspend({ key: group, suspended: true, ...origin, now: 1000 })
        const suspend = (over: Partial<Parameters<Store['userGroups']['suspend']>[0]> = {}) =>
          store.userGroups.suspend({ key: group, suspended, ...by, now, ...over })
        return {
          change: suspend,
          events: () => [eventOf(suspended ? 'user_group.suspended' : 'user_group.resumed', group)],
          nothing: {
            'the same again': ['unchanged', suspend],
            'an unknown one': ['not_found', () => suspend({ key: newKey() })],
            'an earlier revision': [
              'revision_mismatch',
              () => suspend({ suspended: !suspended, expected: { teamId, revision } }),
            ],
          },
        } satisfies AuditedChange
      },
    ]),
  ),

  'a deletion': async (store) => {
    const group = await made(store, { change: { name: 'A', mapping: '{"a":"b"}' } })
    const other = await made(store)
    const remove = (over: Partial<Parameters<Store['userGroups']['delete']>[0]> = {}) =>
      store.userGroups.delete({ key: group, ...by, now, ...over })
    const { teamId } = other
    return {
      change: remove,
      events: () => [eventOf('user_group.deleted', group)],
      nothing: {
        'the same again': ['not_found', remove],
        'another revision': [
          'revision_mismatch',
          () => remove({ key: other, expected: { teamId, revision: 2 } }),
        ],
        'another one': ['not_found', () => remove({ key: other, expected: unknown })],
      },
    }
  },

  'a restoration': async (store) => {
    const [group, taken] = [
      await made(store, { change: { name: 'A', mapping: '{"a":"b"}' } }),
      await made(store),
    ]
    for (const key of [group, taken]) await store.userGroups.delete({ key, ...origin, now: 5000 })
    await made(store, { key: taken })
    const restore = ({ teamId } = group, deletedAfter = 0) =>
      store.userGroups.restore({ ...tenantScope, teamId, deletedAfter, ...by, now })
    return {
      change: () => restore(),
      events: () => [eventOf('user_group.restored', group)],
      nothing: {
        'the same again': ['not_found', () => restore()],
        'one whose id is taken': ['id_taken', () => restore(taken)],
        'one that was deleted too long ago': ['not_found', () => restore(taken, 5000)],
      },
    }
  },

  'a rotation': async (store) => {
    const group = await made(store)
    const { providedId, teamId, revision } = group
    const idempotency = {
      ...{ keyHash: randomBytes(32), fingerprint: hash('sha256', 'body', 'buffer') },
      expiresAt: now + 86_400_000,
    }
    const rotate = (over: Partial<RotateUserGroupToken> = {}) =>
      store.userGroups.rotate({
        ...{ ...tenantScope, target: { tokenHash: hashOf(group.token) }, oldTokenValidUntil: now + 90_000 },
        ...{ issueToken: mint, ...by, now, ...over },
      })
    return {
      change: () => rotate({ idempotency }),
      events: () => [eventOf('user_group.token_rotated', group, { grace_period_seconds: 90 })],
      nothing: {
        'the same again, by its key': ['replayed', () => rotate({ idempotency })],
        'the same again, without the key': ['superseded', rotate],
        'its key with another body': [
          'idempotency_key_reused',
          () => rotate({ idempotency: { ...idempotency, fingerprint: randomBytes(32) } }),
        ],
        'an unknown token': ['not_found', () => rotate({ target: { tokenHash: randomBytes(32) } })],
        'an earlier revision': [
          'revision_mismatch',
          () => rotate({ target: { providedId, expected: { teamId, revision } } }),
        ],
      },
    }
  },

  'the end of a grace period': async (store) => {
    const group = await made(store)
    const rotated = await store.userGroups.rotate({
      ...{ ...tenantScope, target: { providedId: group.providedId }, oldTokenValidUntil: now + 1 },
      ...{ issueToken: mint, ...origin, now: 2000 },
    })
    if (!('userGroup' in rotated)) throw new Error(rotated.outcome)
    const end = (tokenHash = hashOf(group.token), over: Partial<TenantScope> = {}) =>
      store.userGroups.endGracePeriod({ ...tenantScope, tokenHash, ...by, now, ...over })
    return {
      change: () => end(),
      events: () => [eventOf('user_group.grace_period_ended', group)],
      nothing: {
        'the same again': [undefined, () => end()],
        'a current token': [undefined, () => end(hashOf(rotated.userGroup.token))],
        'an unknown token': [undefined, () => end(randomBytes(32))],
      },
    }
  },
}
