import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { locationOf } from '../../../src/domain/user-group/location.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import {
  maxEntryBytes,
  ResponseCache,
  type CacheableResponse,
  type CachedOperation,
} from '../../../src/http/user/response-cache.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { getOrCreate } from '../../store/contract/mapped-user-groups.ts'
import { userGroupOf } from '../../store/contract/created-user-group.ts'
import { freshKey, actor } from '../../store/contract/store-fixtures.ts'
import { defaults } from '../../store/store-options.ts'
import { temporaryFolder } from '../../support/service.ts'
import { systemClock } from '../../../src/domain/util/clock.ts'

const store = await openStore({ kind: 'sqlite', path: join(temporaryFolder({ after }), 'ugs.db') }, defaults)
after(() => store.close())

interface Request {
  readonly operation?: CachedOperation
  readonly tenantScope?: Partial<TenantScope>
  readonly body?: string
}

/** Returns a cache with one user group behind it. Responses are numbered, so that a test sees if one comes from the cache. */
async function startCache({
  maxBytes = 1_000_000,
  ...over
}: Partial<CacheableResponse> & { maxBytes?: number } = {}) {
  const responses = new ResponseCache(store, maxBytes, systemClock)
  const key = freshKey()
  const location = locationOf(userGroupOf(await getOrCreate(store, key)))
  let count = 0
  const respond = async (): Promise<CacheableResponse> => {
    const found = await getOrCreate(store, key, { change: {} })
    assert.ok(found.outcome === 'unchanged')
    return { json: `{"response":${++count}}`, state: found.state, cacheUntil: Infinity, ...over }
  }
  const get = async ({ operation = 'getOrCreate', tenantScope = {}, body = '{}' }: Request = {}) => {
    const response = await responses.get(operation, { ...key, ...tenantScope }, Buffer.from(body), respond)
    assert.deepEqual(response.state?.location, location)
    return Number(/\d+/.exec(response.json)?.[0])
  }
  return {
    get,
    /** Returns the numbers of the responses to the same request, sent `times` times. */
    repeat: async (times: number, request?: Request) => {
      const numbers: number[] = []
      for (let i = 0; i < times; i++) numbers.push(await get(request))
      return numbers
    },
    change: () => store.userGroups.update({ key, change: { name: 'B' }, ...actor, now: 2000 }),
  }
}

describe('the response cache', () => {
  it('keeps a response until the user group changes', async () => {
    const { repeat, change } = await startCache()
    assert.deepEqual(await repeat(3), [1, 1, 1])
    await change()
    assert.deepEqual(await repeat(3), [2, 2, 2])
  })

  it('keeps a response from its second request on once it is half full', async () => {
    const { repeat, get } = await startCache({ maxBytes: 40_000 })
    await get({ body: 'x'.repeat(24_000) })
    assert.deepEqual(await repeat(4), [2, 3, 3, 3])
  })

  it('returns a response only for the same operation, workspace, environment and body', async () => {
    const { get } = await startCache()
    const requests: Request[] = [
      {},
      { operation: 'introspect' },
      { tenantScope: { workspaceId: 2 } },
      { tenantScope: { environment: 'Testing' } },
      { body: '{ }' },
      { body: '' },
      { body: '{"name":"\u00fc"}' },
      { body: '{"name":"\u00c3\u00bc"}' },
    ]
    for (const first of [1, 1])
      for (const [place, request] of requests.entries()) assert.equal(await get(request), first + place)
  })

  it('does not keep a response that ends without a change of the user group', async () => {
    const { repeat } = await startCache({ cacheUntil: 0 })
    assert.deepEqual(await repeat(3), [1, 2, 3])
  })

  it('does not keep a response about no user group', async () => {
    const responses = new ResponseCache(store, 1_000_000, systemClock)
    let count = 0
    const respond = () => Promise.resolve({ json: `${++count}`, state: null, cacheUntil: Infinity })
    for (let i = 1; i <= 3; i++)
      assert.equal((await responses.get('introspect', freshKey(), Buffer.from('x'), respond)).json, `${i}`)
  })

  it('does not keep an entry beyond its maximum size', async () => {
    const { repeat } = await startCache()
    assert.deepEqual(await repeat(3, { body: 'x'.repeat(maxEntryBytes - 500) }), [1, 1, 1])
    assert.deepEqual(await repeat(3, { body: 'x'.repeat(maxEntryBytes) }), [2, 3, 4])
    assert.deepEqual(await repeat(3, { body: 'x'.repeat(maxEntryBytes + 1) }), [5, 6, 7])
  })

  it('evicts the least recently used responses beyond its maximum size', async () => {
    const { repeat, get } = await startCache({ maxBytes: 100_000 })
    const bodies = Array.from({ length: 5 }, (_, i) => ({ body: `${i}`.repeat(24_000) }))
    for (const request of bodies) await repeat(2, request)
    const [first, , , , last] = bodies
    assert.equal(await get(last), 7)
    assert.equal(await get(first), 8)
  })

  it('is off with a maximum size of 0', async () => {
    const { repeat } = await startCache({ maxBytes: 0 })
    assert.deepEqual(await repeat(3), [1, 2, 3])
  })
})
