import assert from 'node:assert/strict'
import type { UserGroupManagement } from '../../src/index.ts'
import { serviceFailure } from './client.ts'
import { allOf, type ManagementFixture } from './management.ts'

/** Behavior of the first request that changes something. */
type Fate = 'lose request' | 'lose response'

/** An operation and its expected effect when a request or response is lost. */
interface RetriedOperation {
  readonly name: string
  /** Prepares the state that the operation needs. */
  readonly prepare: (fixture: ManagementFixture, id: string, testing: ManagementFixture) => Promise<Prepared>
  /** Set if the call fails when the response is lost. */
  readonly fails?: true
  /** Set if the operation is sent once, so that it also fails when the request is lost. */
  readonly isNonIdempotent?: true
}

interface Prepared {
  readonly call: (management: UserGroupManagement) => Promise<unknown>
  /** Asserts that the operation took effect once. `result` is undefined if the call failed. */
  readonly done: (result: unknown, fate: Fate) => Promise<void>
}

/** Creates a user group at revision 2, named B. */
async function changed({ create, management }: ManagementFixture, id: string): Promise<number> {
  const { teamId } = await create(id, { name: 'A' })
  await management.updateUserGroup(teamId, { name: 'B' })
  return teamId
}

const url = 'https://receiver.invalid/'

/** Creates a webhook endpoint for an event that no test causes. */
async function createEndpoint({ management }: ManagementFixture, name: string): Promise<number> {
  const fields = { name, url, eventTypes: ['api_token.revoked'] } as const
  return (await management.createWebhookEndpoint(fields)).webhookEndpoint.id
}

/** Every operation that changes something. */
export const retriedOperations: readonly RetriedOperation[] = [
  {
    name: 'updateUserGroup',
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      return {
        call: (management) => management.updateUserGroup(teamId, { name: 'C' }),
        done: async (result) => {
          assert.deepEqual(result, await fixture.management.getUserGroup(teamId))
          assert.deepEqual(namesOf(await fixture.management.listUserGroupVersions(teamId)), ['B', 'A'])
        },
      }
    },
  },
  {
    name: 'updateUserGroup of a revision',
    fails: true,
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      return {
        call: (management) => management.updateUserGroup(teamId, { name: 'C' }, { ifRevision: 2 }),
        done: async () => {
          const { name, revision } = await fixture.management.getUserGroup(teamId)
          assert.deepEqual([name, revision], ['C', 3])
        },
      }
    },
  },
  ...([undefined, 2] as const).map((ifRevision): RetriedOperation => ({
    name: `rotateUserGroupToken${ifRevision === undefined ? '' : ' of a revision'}`,
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      return {
        call: (management) => management.rotateUserGroupToken(teamId, {}, { ifRevision }),
        done: async (result) => {
          assert.equal(result, await fixture.management.getUserGroupToken(teamId))
          assert.equal((await fixture.management.getUserGroup(teamId)).revision, 3)
        },
      }
    },
  })),
  {
    name: 'suspendUserGroup',
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      return {
        call: (management) => management.suspendUserGroup(teamId),
        done: async (result) => {
          const group = await fixture.management.getUserGroup(teamId)
          assert.deepEqual([group.revision, group.suspendedAt === null], [3, false])
          assert.deepEqual(result, group)
        },
      }
    },
  },
  {
    name: 'resumeUserGroup',
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      await fixture.management.suspendUserGroup(teamId)
      return {
        call: (management) => management.resumeUserGroup(teamId),
        done: async (result) => {
          const group = await fixture.management.getUserGroup(teamId)
          assert.deepEqual([group.revision, group.suspendedAt], [4, null])
          assert.deepEqual(result, group)
        },
      }
    },
  },
  {
    name: 'restoreUserGroupVersion',
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      return {
        call: (management) => management.restoreUserGroupVersion(teamId, 1),
        done: async () => {
          const { name, revision } = await fixture.management.getUserGroup(teamId)
          assert.deepEqual([name, revision], ['A', 3])
        },
      }
    },
  },
  {
    name: 'deleteUserGroup',
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      return {
        call: (management) => management.deleteUserGroup(teamId, { ifRevision: 2 }),
        done: async () => {
          const deleted = await allOf(fixture.management.listDeletedUserGroups())
          assert.equal(deleted.filter((group) => group.teamId === teamId).length, 1)
        },
      }
    },
  },
  {
    name: 'restoreDeletedUserGroup',
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      await fixture.management.deleteUserGroup(teamId)
      return {
        call: (management) => management.restoreDeletedUserGroup(teamId),
        done: async (result) => assert.deepEqual(result, await fixture.management.getUserGroup(teamId)),
      }
    },
  },
  {
    name: 'eraseUserGroup',
    fails: true,
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      await fixture.management.deleteUserGroup(teamId)
      return {
        call: (management) => management.eraseUserGroup(teamId),
        done: async () => {
          const deleted = await allOf(fixture.management.listDeletedUserGroups())
          assert.ok(!deleted.some((group) => group.teamId === teamId))
        },
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
          assert.deepEqual(outcomes, [fate === 'lose response' ? 'unchanged' : 'created'])
        },
      }
    },
  },
  {
    name: 'reportLeakedToken',
    prepare: async (fixture, id) => {
      const teamId = await changed(fixture, id)
      const token = await fixture.management.getUserGroupToken(teamId)
      return {
        call: (management) => management.reportLeakedToken({ token, rotate: true }),
        done: async (result, fate) => {
          const { kind, rotated } = result as { kind: string; rotated: boolean }
          assert.deepEqual([kind, rotated], ['user_group_token', fate === 'lose request'])
          assert.equal((await fixture.management.getUserGroup(teamId)).revision, 3)
          assert.equal(await fixture.renderer.introspect(token), null)
        },
      }
    },
  },
  {
    name: 'createApiToken',
    fails: true,
    isNonIdempotent: true,
    prepare: (fixture, id) =>
      Promise.resolve({
        call: (management) => management.createApiToken({ name: id, scopes: ['read'] }),
        done: async (_, fate) => {
          const created = (await fixture.management.listApiTokens()).filter(({ name }) => name === id)
          assert.equal(created.length, fate === 'lose response' ? 1 : 0)
        },
      }),
  },
  {
    name: 'rotateApiToken',
    fails: true,
    isNonIdempotent: true,
    prepare: async (fixture, id) => {
      const { apiToken } = await fixture.management.createApiToken({ name: id, scopes: ['read'] })
      return {
        call: (management) => management.rotateApiToken(apiToken.id),
        done: async (_, fate) => {
          const created = (await fixture.management.listApiTokens()).filter(({ name }) => name === id)
          assert.equal(created.length, fate === 'lose response' ? 2 : 1)
        },
      }
    },
  },
  {
    name: 'revokeApiToken',
    prepare: async (fixture, id) => {
      const { apiToken } = await fixture.management.createApiToken({ name: id, scopes: ['read'] })
      return {
        call: (management) => management.revokeApiToken(apiToken.id),
        done: async (result) => {
          const all = await fixture.management.listApiTokens()
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
    prepare: (fixture, id) =>
      Promise.resolve({
        call: (management) => management.createWorkspace({ name: id }),
        done: async () => {
          const error = await serviceFailure(fixture.management.createWorkspace({ name: id }))
          assert.equal(error.code, 'already_exists')
        },
      }),
  },
  {
    name: 'createWebhookEndpoint',
    fails: true,
    isNonIdempotent: true,
    prepare: ({ management: direct }, id) =>
      Promise.resolve({
        call: (management) => management.createWebhookEndpoint({ name: id, url }),
        done: async (_, fate) => {
          const created = (await direct.listWebhookEndpoints()).filter(({ name }) => name === id)
          assert.equal(created.length, fate === 'lose response' ? 1 : 0)
        },
      }),
  },
  {
    name: 'rotateWebhookSecret',
    fails: true,
    isNonIdempotent: true,
    prepare: async (fixture, id) => {
      const endpointId = await createEndpoint(fixture, id)
      return {
        call: (management) => management.rotateWebhookSecret(endpointId),
        done: async (_, fate) => {
          const rotated = await allOf(
            fixture.management.listAuditEvents({ action: 'webhook_endpoint.secret_rotated' }),
          )
          const own = rotated.filter(({ details }) => details?.webhook_endpoint_id === endpointId)
          assert.equal(own.length, fate === 'lose response' ? 1 : 0)
        },
      }
    },
  },
  {
    name: 'updateWebhookEndpoint',
    prepare: async (fixture, id) => {
      const endpointId = await createEndpoint(fixture, id)
      return {
        call: (management) => management.updateWebhookEndpoint(endpointId, { state: 'paused' }),
        done: async (result) => {
          const endpoint = await fixture.management.getWebhookEndpoint(endpointId)
          assert.equal(endpoint.state, 'paused')
          assert.deepEqual(result, { ...endpoint, pending: (result as typeof endpoint).pending })
        },
      }
    },
  },
  {
    name: 'deleteWebhookEndpoint',
    prepare: async (fixture, id) => {
      const endpointId = await createEndpoint(fixture, id)
      return {
        call: (management) => management.deleteWebhookEndpoint(endpointId),
        done: async () => {
          const error = await serviceFailure(fixture.management.getWebhookEndpoint(endpointId))
          assert.equal(error.code, 'not_found')
        },
      }
    },
  },
  {
    name: 'redeliverWebhooks',
    prepare: async (fixture, id) => {
      const endpointId = await createEndpoint(fixture, id)
      return {
        call: (management) => management.redeliverWebhooks(endpointId, { since: 0 }),
        done: (result) => {
          assert.equal(result, 0)
          return Promise.resolve()
        },
      }
    },
  },
  {
    name: 'createSchema',
    prepare: ({ management: direct }, id) =>
      Promise.resolve({
        call: (management) => management.createSchema({ providedId: id, name: id }),
        done: async (result) => {
          const created = (await direct.listSchemas()).filter(({ providedId }) => providedId === id)
          assert.deepEqual(created, [result])
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
          const created = (await allOf(direct.listDataSources())).filter(
            ({ providedId }) => providedId === id,
          )
          assert.deepEqual(created, [result])
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
      const created = await direct.createDataSource({ schemaId, providedId: id, name: id })
      return {
        call: (management) => management.deleteDataSource(created.id),
        done: async () =>
          assert.equal(
            (await allOf(direct.listDataSources())).some((one) => one.id === created.id),
            false,
          ),
      }
    },
  },
]

function namesOf(versions: readonly { readonly name: string }[]): string[] {
  return versions.map(({ name }) => name)
}
