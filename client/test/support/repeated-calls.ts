import assert from 'node:assert/strict'
import type { UserGroupManagement } from '../../src/user-group-management.ts'
import { serviceFailure } from './calls.ts'
import { allOf, type Managed } from './managed.ts'

/** Of the first request that changes something. */
type Fate = 'lose request' | 'lose answer'

/** What the call is to be, and what is to have become of it. */
interface RepeatedCall {
  readonly name: string
  /** Prepares what the call is about. */
  readonly prepare: (managed: Managed, id: string, testing: Managed) => Promise<Prepared>
  /** How the call ends where the answer is lost: it resolves, unless this says otherwise. */
  readonly fails?: true
  /** Whether it is sent once, so that it fails where the request is lost too. */
  readonly isOnce?: true
}

interface Prepared {
  readonly call: (management: UserGroupManagement) => Promise<unknown>
  /** Asserts that it took effect once. `result` is undefined where the call failed. */
  readonly done: (result: unknown, fate: Fate) => Promise<void>
}

/** A user group at revision 2, of name B. */
async function changed({ create, management }: Managed, id: string): Promise<number> {
  const { teamId } = await create(id, { name: 'A' })
  await management.updateUserGroup(teamId, { name: 'B' })
  return teamId
}

/** Every call that changes something. */
export const repeatedCalls: readonly RepeatedCall[] = [
  {
    name: 'updateUserGroup',
    prepare: async (managed, id) => {
      const teamId = await changed(managed, id)
      return {
        call: (management) => management.updateUserGroup(teamId, { name: 'C' }),
        done: async (result) => {
          assert.deepEqual(result, await managed.management.getUserGroup(teamId))
          assert.deepEqual(namesOf(await managed.management.listUserGroupVersions(teamId)), ['B', 'A'])
        },
      }
    },
  },
  {
    name: 'updateUserGroup of a revision',
    fails: true,
    prepare: async (managed, id) => {
      const teamId = await changed(managed, id)
      return {
        call: (management) => management.updateUserGroup(teamId, { name: 'C' }, { ifRevision: 2 }),
        done: async () => {
          const { name, revision } = await managed.management.getUserGroup(teamId)
          assert.deepEqual([name, revision], ['C', 3])
        },
      }
    },
  },
  ...([undefined, 2] as const).map((ifRevision): RepeatedCall => ({
    name: `rotateUserGroupToken${ifRevision === undefined ? '' : ' of a revision'}`,
    prepare: async (managed, id) => {
      const teamId = await changed(managed, id)
      return {
        call: (management) => management.rotateUserGroupToken(teamId, {}, { ifRevision }),
        done: async (result) => {
          assert.equal(result, await managed.management.getUserGroupToken(teamId))
          assert.equal((await managed.management.getUserGroup(teamId)).revision, 3)
        },
      }
    },
  })),
  {
    name: 'suspendUserGroup',
    prepare: async (managed, id) => {
      const teamId = await changed(managed, id)
      return {
        call: (management) => management.suspendUserGroup(teamId),
        done: async (result) => {
          const group = await managed.management.getUserGroup(teamId)
          assert.deepEqual([group.revision, group.suspendedAt === null], [3, false])
          assert.deepEqual(result, group)
        },
      }
    },
  },
  {
    name: 'resumeUserGroup',
    prepare: async (managed, id) => {
      const teamId = await changed(managed, id)
      await managed.management.suspendUserGroup(teamId)
      return {
        call: (management) => management.resumeUserGroup(teamId),
        done: async (result) => {
          const group = await managed.management.getUserGroup(teamId)
          assert.deepEqual([group.revision, group.suspendedAt], [4, null])
          assert.deepEqual(result, group)
        },
      }
    },
  },
  {
    name: 'restoreUserGroupVersion',
    prepare: async (managed, id) => {
      const teamId = await changed(managed, id)
      return {
        call: (management) => management.restoreUserGroupVersion(teamId, 1),
        done: async () => {
          const { name, revision } = await managed.management.getUserGroup(teamId)
          assert.deepEqual([name, revision], ['A', 3])
        },
      }
    },
  },
  {
    name: 'deleteUserGroup',
    prepare: async (managed, id) => {
      const teamId = await changed(managed, id)
      return {
        call: (management) => management.deleteUserGroup(teamId, { ifRevision: 2 }),
        done: async () => {
          const deleted = await allOf(managed.management.listDeletedUserGroups())
          assert.equal(deleted.filter((group) => group.teamId === teamId).length, 1)
        },
      }
    },
  },
  {
    name: 'restoreDeletedUserGroup',
    prepare: async (managed, id) => {
      const teamId = await changed(managed, id)
      await managed.management.deleteUserGroup(teamId)
      return {
        call: (management) => management.restoreDeletedUserGroup(teamId),
        done: async (result) => assert.deepEqual(result, await managed.management.getUserGroup(teamId)),
      }
    },
  },
  {
    name: 'promoteUserGroups',
    prepare: async ({ management: direct }, id, testing) => {
      await testing.create(id)
      return {
        call: (management) => management.promoteUserGroups({ userGroupIds: [id] }),
        done: async (result, fate) => {
          const [promoted] = await allOf(direct.searchUserGroups({ userGroupIdPrefix: id }))
          assert.equal(promoted?.revision, 1)
          const outcomes = (result as { outcome: string }[]).map(({ outcome }) => outcome)
          assert.deepEqual(outcomes, [fate === 'lose answer' ? 'unchanged' : 'created'])
        },
      }
    },
  },
  {
    name: 'reportLeakedToken',
    prepare: async (managed, id) => {
      const teamId = await changed(managed, id)
      const token = await managed.management.getUserGroupToken(teamId)
      return {
        call: (management) => management.reportLeakedToken({ token, rotate: true }),
        done: async (result, fate) => {
          const { kind, rotated } = result as { kind: string; rotated: boolean }
          assert.deepEqual([kind, rotated], ['user_group_token', fate === 'lose request'])
          assert.equal((await managed.management.getUserGroup(teamId)).revision, 3)
          assert.equal(await managed.renderer.introspect(token), null)
        },
      }
    },
  },
  {
    name: 'createApiToken',
    fails: true,
    isOnce: true,
    prepare: (managed, id) =>
      Promise.resolve({
        call: (management) => management.createApiToken({ name: id, scopes: ['read'] }),
        done: async (_, fate) => {
          const made = (await managed.management.listApiTokens()).filter(({ name }) => name === id)
          assert.equal(made.length, fate === 'lose answer' ? 1 : 0)
        },
      }),
  },
  {
    name: 'rotateApiToken',
    fails: true,
    isOnce: true,
    prepare: async (managed, id) => {
      const { apiToken } = await managed.management.createApiToken({ name: id, scopes: ['read'] })
      return {
        call: (management) => management.rotateApiToken(apiToken.id),
        done: async (_, fate) => {
          const made = (await managed.management.listApiTokens()).filter(({ name }) => name === id)
          assert.equal(made.length, fate === 'lose answer' ? 2 : 1)
        },
      }
    },
  },
  {
    name: 'revokeApiToken',
    prepare: async (managed, id) => {
      const { apiToken } = await managed.management.createApiToken({ name: id, scopes: ['read'] })
      return {
        call: (management) => management.revokeApiToken(apiToken.id),
        done: async (result) => {
          const all = await managed.management.listApiTokens()
          const { revokedAt, ...token } = all.find((one) => one.id === apiToken.id) ?? apiToken
          assert.ok(revokedAt)
          assert.deepEqual(result, { ...token, revokedAt })
        },
      }
    },
  },
  {
    name: 'createWorkspace',
    fails: true,
    prepare: (managed, id) =>
      Promise.resolve({
        call: (management) => management.createWorkspace({ name: id }),
        done: async () => {
          const error = await serviceFailure(managed.management.createWorkspace({ name: id }))
          assert.equal(error.code, 'already_exists')
        },
      }),
  },
  {
    name: 'createSchema',
    prepare: ({ management: direct }, id) =>
      Promise.resolve({
        call: (management) => management.createSchema({ providedId: id, name: id }),
        done: async (result) => {
          const made = (await direct.listSchemas()).filter(({ providedId }) => providedId === id)
          assert.deepEqual(made, [result])
        },
      }),
  },
  {
    name: 'createDataSource',
    prepare: async ({ management: direct }, id) => {
      const { id: schemaId } = await direct.createSchema({ providedId: id, name: id })
      return {
        call: (management) => management.createDataSource({ schemaId, providedId: id, name: id }),
        done: async (result) => {
          const made = (await allOf(direct.listDataSources())).filter(({ providedId }) => providedId === id)
          assert.deepEqual(made, [result])
        },
      }
    },
  },
  {
    name: 'deleteSchema',
    prepare: async ({ management: direct }, id) => {
      const schema = await direct.createSchema({ providedId: id, name: id })
      return {
        call: (management) => management.deleteSchema(schema.id),
        done: async () =>
          assert.equal(
            (await direct.listSchemas()).some((one) => one.id === schema.id),
            false,
          ),
      }
    },
  },
  {
    name: 'deleteDataSource',
    prepare: async ({ management: direct }, id) => {
      const { id: schemaId } = await direct.createSchema({ providedId: id, name: id })
      const made = await direct.createDataSource({ schemaId, providedId: id, name: id })
      return {
        call: (management) => management.deleteDataSource(made.id),
        done: async () =>
          assert.equal(
            (await allOf(direct.listDataSources())).some((one) => one.id === made.id),
            false,
          ),
      }
    },
  },
]

function namesOf(versions: readonly { readonly name: string }[]): string[] {
  return versions.map(({ name }) => name)
}
