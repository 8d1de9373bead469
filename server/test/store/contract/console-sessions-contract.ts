import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { ApiToken } from '../../../src/domain/api-token/api-token.ts'
import type { Store } from '../../../src/domain/store.ts'
import { deleteExpired } from '../../../src/domain/expiry.ts'
import { newSession, actor } from './store-fixtures.ts'

/** Tests the console sessions of a store. */
export function describeConsoleSessions(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: console sessions`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const apiToken = (): Promise<ApiToken> =>
      store.apiTokens.create({
        ...actor,
        ...{ tokenHash: randomBytes(32), workspaceId: 1, environment: 'Testing', name: 'A token' },
        ...{ scopes: ['admin'], createdAt: 1000, expiresAt: 9000 },
      })

    it('finds a session by its hash, with its API token', async () => {
      const signedIn = await apiToken()
      const hash = randomBytes(32)
      await store.sessions.create(newSession(hash, signedIn.id, 5000))
      const expected = { apiToken: signedIn, createdAt: 5000, lastUsedAt: 5000 }
      assert.deepEqual(await store.sessions.find(hash), expected)
      assert.equal(await store.sessions.find(randomBytes(32)), null)
    })

    it('returns the current state of the API token, not its state at sign-in', async () => {
      const { id } = await apiToken()
      const hash = randomBytes(32)
      await store.sessions.create(newSession(hash, id, 5000))
      await store.apiTokens.revoke({ id, ...actor, now: 6000 })
      assert.equal((await store.sessions.find(hash))?.apiToken.revokedAt, 6000)
    })

    it('records the last use of a session and keeps its creation time', async () => {
      const { id } = await apiToken()
      const [used, other] = [randomBytes(32), randomBytes(32)]
      await store.sessions.create(newSession(used, id, 5000))
      await store.sessions.create(newSession(other, id, 5000))
      await store.sessions.touch(used, 7000)
      const [found, unused] = [await store.sessions.find(used), await store.sessions.find(other)]
      assert.deepEqual([found?.createdAt, found?.lastUsedAt], [5000, 7000])
      assert.deepEqual([unused?.createdAt, unused?.lastUsedAt], [5000, 5000])
    })

    it('creates no session when an unknown or deleted one is used', async () => {
      const { id } = await apiToken()
      const hash = randomBytes(32)
      await store.sessions.touch(hash, 7000)
      assert.equal(await store.sessions.find(hash), null)
      await store.sessions.create(newSession(hash, id, 5000))
      await store.sessions.delete(hash)
      await store.sessions.touch(hash, 7000)
      assert.equal(await store.sessions.find(hash), null)
    })

    it('deletes only the given session, and accepts a repeated deletion', async () => {
      const { id } = await apiToken()
      const [deleted, other] = [randomBytes(32), randomBytes(32)]
      await store.sessions.create(newSession(deleted, id, 5000))
      await store.sessions.create(newSession(other, id, 5000))
      await store.sessions.delete(deleted)
      await store.sessions.delete(deleted)
      assert.equal(await store.sessions.find(deleted), null)
      assert.notEqual(await store.sessions.find(other), null)
    })

    it('deletes sessions that were last used at or before the given time, and returns their number', async () => {
      const fresh = await openFreshStore()
      try {
        const { id } = await fresh.apiTokens.create({
          ...actor,
          ...{ tokenHash: randomBytes(32), workspaceId: 1, environment: 'Testing', name: 'A token' },
          ...{ scopes: ['admin'], createdAt: 1000, expiresAt: null },
        })
        const hashes = [randomBytes(32), randomBytes(32), randomBytes(32)] as const
        for (const hash of hashes) await fresh.sessions.create(newSession(hash, id, 1000))
        await fresh.sessions.touch(hashes[1], 2000)
        await fresh.sessions.touch(hashes[2], 2001)
        const deleteUnused = (usedBefore: number) =>
          deleteExpired(fresh, { now: 0, deletedBefore: 0, usedBefore, changedBefore: 0 })
        assert.equal(await deleteUnused(999), 0)
        assert.equal(await deleteUnused(2000), 2)
        const found = await Promise.all(hashes.map((hash) => fresh.sessions.find(hash)))
        assert.deepEqual(
          found.map((session) => session !== null),
          [false, false, true],
        )
        assert.equal(await deleteUnused(2000), 0)
      } finally {
        await fresh.close()
      }
    })
  })
}
