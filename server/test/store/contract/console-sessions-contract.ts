import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Person } from '../../../src/domain/principal.ts'
import type { TenantScope } from '../../../src/domain/tenant-scope.ts'
import { after, before, describe, it } from 'node:test'
import type { ApiToken } from '../../../src/domain/api-token/api-token.ts'
import type { NewSignInLink } from '../../../src/domain/console-session/console-session-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import { deleteExpired } from '../../../src/domain/expiry.ts'
import { newSession, actor, noneExpired } from './store-fixtures.ts'

const newLink = (hash: Uint8Array, apiToken: ApiToken, expiresAt: number): NewSignInLink => ({
  ...actor,
  ...{ hash, apiToken, expiresAt, now: 5000 },
})

const createApiToken = (store: Store): Promise<ApiToken> =>
  store.apiTokens.create({
    ...actor,
    ...{ tokenHash: randomBytes(32), workspaceId: 1, environment: 'Testing', name: 'A token' },
    ...{ scopes: ['admin'], createdAt: 1000, expiresAt: 9000 },
  })

/** Tests the console sessions of a store. */
export function describeConsoleSessions(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: console sessions`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const apiToken = () => createApiToken(store)

    it('finds a session by its hash, with its API token', async () => {
      const signedIn = await apiToken()
      const hash = randomBytes(32)
      await store.consoleSessions.create(newSession(hash, signedIn.id, 5000))
      const expected = { hash: Uint8Array.from(hash), principal: signedIn, createdAt: 5000, lastUsedAt: 5000 }
      const found = await store.consoleSessions.find(hash)
      assert.deepEqual(found && { ...found, hash: Uint8Array.from(found.hash) }, expected)
      assert.equal(await store.consoleSessions.find(randomBytes(32)), null)
    })

    it('keeps a person, lists the sessions of an environment, and ends one', async () => {
      const person: Person = {
        ...{ workspaceId: 1, environment: 'Testing', sub: 'ada', name: 'Ada', email: null, role: 'support' },
      }
      const hash = randomBytes(32)
      const session = { hash, principal: person, rule: 'team', requestId: 'request-1', now: 5000 }
      assert.equal(await store.consoleSessions.create(session), true)
      assert.deepEqual((await store.consoleSessions.find(hash))?.principal, person)
      const scope = { workspaceId: 1, environment: 'Testing' } as const
      const listed = async (tenantScope: TenantScope) =>
        (await store.consoleSessions.list(tenantScope)).filter(({ principal }) => 'sub' in principal)
      assert.deepEqual(
        (await listed(scope)).map(({ principal, createdAt }) => [principal, createdAt]),
        [[person, 5000]],
      )
      assert.deepEqual(await listed({ ...scope, environment: 'Customer' }), [])
      const ending = { ...actor, ...scope, hash, now: 6000 }
      assert.deepEqual(
        [await store.consoleSessions.end(ending), await store.consoleSessions.end(ending)],
        [true, false],
      )
      assert.equal(await store.consoleSessions.find(hash), null)
    })

    it('returns the current state of the API token, not its state at sign-in', async () => {
      const { id } = await apiToken()
      const hash = randomBytes(32)
      await store.consoleSessions.create(newSession(hash, id, 5000))
      await store.apiTokens.revoke({ id, ...actor, now: 6000 })
      const found = (await store.consoleSessions.find(hash))?.principal
      assert.equal(found && 'revokedAt' in found ? found.revokedAt : null, 6000)
    })

    it('records the last use of a session and keeps its creation time', async () => {
      const { id } = await apiToken()
      const [used, other] = [randomBytes(32), randomBytes(32)]
      await store.consoleSessions.create(newSession(used, id, 5000))
      await store.consoleSessions.create(newSession(other, id, 5000))
      await store.consoleSessions.touch(used, 7000)
      const [found, unused] = [
        await store.consoleSessions.find(used),
        await store.consoleSessions.find(other),
      ]
      assert.deepEqual([found?.createdAt, found?.lastUsedAt], [5000, 7000])
      assert.deepEqual([unused?.createdAt, unused?.lastUsedAt], [5000, 5000])
    })

    it('creates no session when an unknown or deleted one is used', async () => {
      const { id } = await apiToken()
      const hash = randomBytes(32)
      await store.consoleSessions.touch(hash, 7000)
      assert.equal(await store.consoleSessions.find(hash), null)
      await store.consoleSessions.create(newSession(hash, id, 5000))
      await store.consoleSessions.delete(hash)
      await store.consoleSessions.touch(hash, 7000)
      assert.equal(await store.consoleSessions.find(hash), null)
    })

    it('deletes only the given session, and accepts a repeated deletion', async () => {
      const { id } = await apiToken()
      const [deleted, other] = [randomBytes(32), randomBytes(32)]
      await store.consoleSessions.create(newSession(deleted, id, 5000))
      await store.consoleSessions.create(newSession(other, id, 5000))
      await store.consoleSessions.delete(deleted)
      await store.consoleSessions.delete(deleted)
      assert.equal(await store.consoleSessions.find(deleted), null)
      assert.notEqual(await store.consoleSessions.find(other), null)
    })

    it('ends the sessions that a new one replaces, and no others', async () => {
      const { id } = await apiToken()
      const [first, second, other] = [randomBytes(32), randomBytes(32), randomBytes(32)]
      const [hash, refused] = [randomBytes(32), randomBytes(32)]
      for (const existing of [first, second, other])
        await store.consoleSessions.create(newSession(existing, id, 5000))
      const replacedHashes = [first, second, randomBytes(32)]
      const linkHash = randomBytes(32)
      assert.equal(
        await store.consoleSessions.create({ ...newSession(refused, id, 6000), replacedHashes, linkHash }),
        false,
      )
      for (const existing of [first, second, other])
        assert.notEqual(await store.consoleSessions.find(existing), null)

      assert.equal(
        await store.consoleSessions.create({ ...newSession(hash, id, 6000), replacedHashes }),
        true,
      )
      for (const replaced of [first, second, refused])
        assert.equal(await store.consoleSessions.find(replaced), null)
      for (const existing of [other, hash]) assert.notEqual(await store.consoleSessions.find(existing), null)
    })

    it('finds a sign-in link by its hash, with its API token', async () => {
      const signedIn = await apiToken()
      const hash = randomBytes(32)
      await store.consoleSessions.createLink(newLink(hash, signedIn, 6000))
      assert.deepEqual(await store.consoleSessions.findLink(hash), { apiToken: signedIn, expiresAt: 6000 })
      assert.equal(await store.consoleSessions.findLink(randomBytes(32)), null)
      assert.equal(await store.consoleSessions.find(hash), null)
    })

    it('creates exactly one session if a link is used several times at once', async () => {
      const signedIn = await apiToken()
      const [linkHash, otherLink] = [randomBytes(32), randomBytes(32)]
      for (const hash of [linkHash, otherLink])
        await store.consoleSessions.createLink(newLink(hash, signedIn, 6000))
      const hashes = Array.from({ length: 8 }, () => randomBytes(32))
      const created = await Promise.all(
        hashes.map((hash) =>
          store.consoleSessions.create({ ...newSession(hash, signedIn.id, 5000), linkHash }),
        ),
      )
      const found = await Promise.all(hashes.map((hash) => store.consoleSessions.find(hash)))
      assert.deepEqual(
        found.map((session) => session !== null),
        created,
      )
      assert.equal(created.filter(Boolean).length, 1)
      assert.equal(await store.consoleSessions.findLink(linkHash), null)
      assert.notEqual(await store.consoleSessions.findLink(otherLink), null)
    })

    it('deletes expired sign-in links', async () => {
      const fresh = await openFreshStore()
      try {
        const links = [randomBytes(32), randomBytes(32)] as const
        const signedIn = await fresh.apiTokens.create({
          ...actor,
          ...{ tokenHash: randomBytes(32), workspaceId: 1, environment: 'Testing', name: 'A token' },
          ...{ scopes: ['admin'], createdAt: 1000, expiresAt: null },
        })
        await fresh.consoleSessions.createLink(newLink(links[0], signedIn, 6000))
        await fresh.consoleSessions.createLink(newLink(links[1], signedIn, 6001))
        const deleted = await deleteExpired(fresh, { ...noneExpired, now: 6000 })
        assert.equal(deleted, 1)
        assert.equal(await fresh.consoleSessions.findLink(links[0]), null)
        assert.notEqual(await fresh.consoleSessions.findLink(links[1]), null)
      } finally {
        await fresh.close()
      }
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
        for (const hash of hashes) await fresh.consoleSessions.create(newSession(hash, id, 1000))
        await fresh.consoleSessions.touch(hashes[1], 2000)
        await fresh.consoleSessions.touch(hashes[2], 2001)
        const deleteUnused = (usedBefore: number) => deleteExpired(fresh, { ...noneExpired, usedBefore })
        assert.equal(await deleteUnused(999), 0)
        assert.equal(await deleteUnused(2000), 2)
        const found = await Promise.all(hashes.map((hash) => fresh.consoleSessions.find(hash)))
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

/** Tests the maximum number of sessions, which one statement for all stores keeps. */
export function describeSessionLimit(name: string, openFreshStore: () => Promise<Store>): void {
  it(`${name}: keeps the thousand console sessions of an API token that were used last`, async (t) => {
    const store = await openFreshStore()
    t.after(() => store.close())
    const [{ id }, other] = [await createApiToken(store), await createApiToken(store)]
    const hashes = Array.from({ length: 1002 }, () => randomBytes(32))
    const ofOther = randomBytes(32)
    await store.consoleSessions.create(newSession(ofOther, other.id, 1))
    const sessions = hashes.map((hash, i) => newSession(hash, id, 5000 + i))
    await Promise.all(sessions.slice(0, 1000).map((session) => store.consoleSessions.create(session)))
    // Simultaneous ones would both end the same session.
    for (const session of sessions.slice(1000)) await store.consoleSessions.create(session)
    const found = await Promise.all([ofOther, ...hashes].map((hash) => store.consoleSessions.find(hash)))
    assert.deepEqual(
      found.map((session) => session !== null),
      [true, false, false, ...hashes.slice(2).map(() => true)],
    )
  })
}
