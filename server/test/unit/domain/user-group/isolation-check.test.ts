import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../../../src/domain/store.ts'
import { IsolationCheck } from '../../../../src/domain/user-group/isolation-check.ts'
import type { UserGroupManagement } from '../../../../src/domain/user-group/user-group-management.ts'

test('a page has both kinds of findings where there is little, however slow the machine is', async () => {
  const shared = { id: 1, providedId: 'eu', name: 'EU', schemaProvidedId: 'sales' }
  const store = {
    acceptedFindings: { find: () => Promise.resolve([]) },
    dataSources: {
      listSchemas: () => Promise.resolve([{ id: 1 }]),
      listShared: () => Promise.resolve({ dataSources: [shared], afterId: null }),
      resolveEntries: () => Promise.resolve([{ schema: null, dataSource: null }]),
    },
    userGroupSearch: {
      countEntries: () =>
        Promise.resolve({ counts: [{ entry: ['sales', 'nothing'], count: 2 }], isEnd: true }),
    },
  } as unknown as Store
  const items = [1, 2].map((teamId) => ({ teamId, revision: 1, updatedAt: 1 }))
  const management = {
    search: () => Promise.resolve({ items, position: null }),
  } as unknown as UserGroupManagement
  let now = 0
  const clock = { now: () => now, monotonic: () => (now += 60_000) }
  const check = new IsolationCheck({ store, management, clock })
  const scope = { workspaceId: 1, environment: 'Customer' } as const
  const list = (limit: number) => check.list(scope, {}, { position: null, limit })
  const kinds = async (limit: number) => (await list(limit)).items.map(({ kind }) => kind)
  assert.deepEqual(await kinds(10), ['shared', 'unresolved'])
  assert.equal((await list(10)).position, null)
  assert.deepEqual(await kinds(1), ['shared'])
  assert.equal((await list(1)).position, check.positionOfUnresolved)
})
