import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { ApiToken } from '../../../src/domain/api-token/api-token.ts'
import type { Store } from '../../../src/domain/store.ts'
import { deleteExpired } from '../../../src/domain/expiry.ts'
import { newSession, origin } from './store-fixtures.ts'

/** What every store must do with the sessions of the console. */
export function describeConsoleSessions(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: the contract of a store, sessions of the console`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const apiToken = (): Promise<ApiToken> =>
      store.apiTokens.create({
        ...origin,
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

    it('finds the API token as it is now, and not as it was when its session began', async () => {
      const { id } = await apiToken()
      const hash = randomBytes(32)
      await store.sessions.create(newSession(hash, id, 5000))
      await store.apiTokens.revoke({ id, ...origin, now: 6000 })
      assert.equal((await store.sessions.find(hash))?.apiToken.revokedAt, 6000)
    })

    it('keeps the last use of one session, and when it began', async () => {
      const { id } = await apiToken()
      const [used, other] = [randomBytes(32), randomBytes(32)]
      await store.sessions.create(newSession(used, id, 5000))
      await store.sessions.create(newSession(other, id, 5000))
      await store.sessions.touch(used, 7000)
      const [found, unused] = [await store.sessions.find(used), await store.sessions.find(other)]
      assert.deepEqual([found?.createdAt, found?.lastUsedAt], [5000, 7000])
      assert.deepEqual([unused?.createdAt, unused?.lastUsedAt], [5000, 5000])
    })

    it('makes none by a use of what there is not, or no longer', async () => {
      const { id } = await apiToken()
      const hash = randomBytes(32)
      await store.sessions.touch(hash, 7000)
      assert.equal(await store.sessions.find(hash), null)
      await store.sessions.create(newSession(hash, id, 5000))
      await store.sessions.delete(hash)
      await store.sessions.touch(hash, 7000)
      assert.equal(await store.sessions.find(hash), null)
    })

    it('deletes one session and no other, and one that is gone without a word', async () => {
      const { id } = await apiToken()
      const [left, other] = [randomBytes(32), randomBytes(32)]
      await store.sessions.create(newSession(left, id, 5000))
      await store.sessions.create(newSession(other, id, 5000))
      await store.sessions.delete(left)
      await store.sessions.delete(left)
      assert.equal(await store.sessions.find(left), null)
      assert.notEqual(await store.sessions.find(other), null)
    })

    it('forgets those that were last used then or before, and counts them', async () => {
      const fresh = await openFreshStore()
      try {
        const { id } = await fresh.apiTokens.create({
          ...origin,
          ...{ tokenHash: randomBytes(32), workspaceId: 1, environment: 'Testing', name: 'A token' },
          ...{ scopes: ['admin'], createdAt: 1000, expiresAt: null },
        })
        const hashes = [randomBytes(32), randomBytes(32), randomBytes(32)] as const
        for (const hash of hashes) await fresh.sessions.create(newSession(hash, id, 1000))
        await fresh.sessions.touch(hashes[1], 2000)
        await fresh.sessions.touch(hashes[2], 2001)
        const forget = (usedBefore: number) => deleteExpired(fresh, { now: 0, deletedBefore: 0, usedBefore })
        assert.equal(await forget(999), 0)
        assert.equal(await forget(2000), 2)
        const found = await Promise.all(hashes.map((hash) => fresh.sessions.find(hash)))
        assert.deepEqual(
          found.map((session) => session !== null),
          [false, false, true],
        )
        assert.equal(await forget(2000), 0)
      } finally {
        await fresh.close()
      }
    })
  })
}
