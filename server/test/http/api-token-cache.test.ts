import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { ApiTokenManagement, createApiToken } from '../../src/domain/api-token/api-token-management.ts'
import { Authentication } from '../../src/http/authentication.ts'
import { openStore } from '../../src/store/open-store.ts'
import { temporaryFolder } from '../support/service.ts'
import { defaults } from '../store/store-options.ts'
import { actor } from '../store/contract/store-fixtures.ts'

const cacheMs = 5000

describe('a revoked API token', async () => {
  const store = await openStore(
    { kind: 'sqlite', path: join(temporaryFolder({ after }), 'ugs.db') },
    defaults,
  )
  after(() => store.close())

  /** Starts authentication with an API token and clocks that the test sets. */
  async function inUse() {
    const time = { now: 1_000_000, monotonic: 50 }
    const clock = { now: () => time.now, monotonic: () => time.monotonic }
    const lastUsedTracker = { note: () => undefined }
    const description = { workspaceId: 1, environment: 'Customer', name: 'A', scopes: ['write'] } as const
    const created = await createApiToken(store, { ...actor, ...description, createdAt: 1, expiresAt: null })
    const revokedIds = new Set<number>()
    const parts = { store, clock, lastUsedTracker, cacheMs, revokedIds }
    const authentication = new Authentication(['Token'], parts)
    const management = new ApiTokenManagement({ store, clock, revokedIds })
    const use = async () => authentication.authenticate(`Token ${created.token}`)
    assert.equal((await use()).id, created.apiToken.id)
    return { time, use, management, id: created.apiToken.id }
  }

  it('stops at once in the process that revoked it', async () => {
    const { use, management, id } = await inUse()
    await management.revoke({ ...actor, workspaceId: 1, environment: 'Customer' }, id)
    await assert.rejects(use, { code: 'unauthenticated' })
  })

  it('is trusted until the cache time after its lookup if another process revoked it', async () => {
    const { time, use, id } = await inUse()
    await store.apiTokens.revoke({ id, ...actor, now: 1 })
    time.monotonic += cacheMs - 1
    assert.equal((await use()).id, id)
    time.monotonic += 1
    await assert.rejects(use, { code: 'unauthenticated' })
  })

  it('is not trusted longer if the clock is set back', async () => {
    const { time, use, id } = await inUse()
    await store.apiTokens.revoke({ id, ...actor, now: 1 })
    time.now -= 3000
    time.monotonic += cacheMs
    await assert.rejects(use, { code: 'unauthenticated' })
  })
})
