import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Store } from '../../../../src/domain/store.ts'
import { ResponseCache, type CachedOperation } from '../../../../src/http/user/response-cache.ts'

const scope = { workspaceId: 1, environment: 'Customer' } as const

/** A cache whose responses are numbered. */
function numbered(maxBytes = 100_000) {
  const state = { isUnchanged: true, cacheUntil: Infinity, now: 1000, responses: 0, checks: 0 }
  const isUnchanged = () => {
    state.checks++
    return Promise.resolve(state.isUnchanged)
  }
  const store = { userGroups: { isUnchanged } as unknown as Store['userGroups'] }
  const cache = new ResponseCache(store, maxBytes, { now: () => state.now })
  const get = async (
    body: string,
    operation: CachedOperation = 'introspect',
    ofScope: Parameters<typeof cache.get>[1] = scope,
  ) => {
    const { json } = await cache.get(operation, ofScope, Buffer.from(body), () =>
      Promise.resolve({
        json: String(++state.responses),
        state: { location: { bucket: 1, teamId: 1 }, stamp: '1' },
        cacheUntil: state.cacheUntil,
      }),
    )
    return json
  }
  return { state, get }
}

test('a cached response is used only while the store confirms that the user group is unchanged', async () => {
  const { state, get } = numbered()
  assert.deepEqual([await get('a'), await get('a'), state.checks], ['1', '1', 1])
  state.isUnchanged = false
  assert.deepEqual([await get('a'), state.checks], ['2', 2])
})

test('each operation, workspace, environment and body has its own response', async () => {
  const { get } = numbered()
  const first = await get('a')
  const others = [
    await get('b'),
    await get('a', 'getOrCreate'),
    await get('a', 'introspect', { ...scope, workspaceId: 2 }),
    await get('a', 'introspect', { ...scope, environment: 'Testing' }),
  ]
  assert.equal(new Set([first, ...others]).size, 5)
  assert.equal(await get('a'), first)
})

test('a response that may not be cached is not, and replaces none', async () => {
  const { state, get } = numbered(4000)
  await get('cached')
  state.cacheUntil = 0
  assert.deepEqual([await get('a'), await get('a')], ['2', '3'])
  // Asked for twice, as a cache that is half full requires.
  for (let i = 0; i < 40; i++) await get(`other ${i >> 1}`)
  assert.equal(await get('cached'), '1')
})

test('a response is cached until it expires', async () => {
  const { state, get } = numbered()
  state.cacheUntil = 2000
  assert.deepEqual([await get('a'), await get('a')], ['1', '1'])
  state.now = 2000
  assert.deepEqual([await get('a'), state.checks], ['2', 1])
})

test('a cache that is half full keeps only what is asked for again', async () => {
  const { get } = numbered(4000)
  // Some ten entries fill half of it.
  for (let i = 0; i < 20; i++) await get(`filler ${i}`)
  const first = await get('late')
  const second = await get('late')
  assert.notEqual(second, first)
  assert.equal(await get('late'), second)
})

test('without memory there is no cache', async () => {
  const { get } = numbered(0)
  assert.deepEqual([await get('a'), await get('a')], ['1', '2'])
})
