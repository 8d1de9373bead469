import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HealthSearch } from '../../../../src/domain/user-group/user-group-health.ts'
import { listBatchSize, type SearchPage } from '../../../../src/domain/user-group/user-group-management.ts'

test('counts user groups with a problem in batches, because their content may be large', async () => {
  const limits: number[] = []
  const total = 10_500
  const management = {
    search: (_scope: object, _search: object, { position, limit }: SearchPage) => {
      limits.push(limit)
      const start = Number(position)
      const end = Math.min(start + limit, total)
      const items = Array.from({ length: end - start }, (_, i) => ({ teamId: start + i + 1, mapping: null }))
      return Promise.resolve({ items, position: end < total ? String(end) : null })
    },
  }
  const store = {
    dataSources: { listSchemas: () => Promise.resolve([]) },
    introspections: { findLast: () => Promise.resolve([]) },
  }
  const parts = { store, management, clock: { now: () => 0, monotonic: () => 0 } }
  const healthSearch = new HealthSearch(parts as unknown as ConstructorParameters<typeof HealthSearch>[0])
  const scope = { workspaceId: 1, environment: 'Customer' } as const
  assert.deepEqual(await healthSearch.count(scope, {}, 'no_mapping'), { count: 10_000, isExact: false })
  assert.deepEqual(await healthSearch.count(scope, {}, 'unresolved'), { count: 0, isExact: true })
  assert.ok(Math.max(...limits) <= listBatchSize, String(Math.max(...limits)))
})
