import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import type { NewApiToken, RotateApiToken } from '../../../src/domain/api-token/api-token-store.ts'
import type { Store } from '../../../src/domain/store.ts'
import { count, freshKey, newWorkspace, actor, plain, withoutHashes } from './store-fixtures.ts'

/** Tests workspaces, API tokens and secret key checks of a store. */
export function describeAccess(name: string, openFreshStore: () => Promise<Store>): void {
  describe(`${name}: workspaces and API tokens`, () => {
    let store: Store
    before(async () => {
      store = await openFreshStore()
    })
    after(() => store.close())

    const listed = async (id: number) =>
      withoutHashes(await store.apiTokens.list()).find((one) => one.id === id)
    const apiToken = (tokenHash: Uint8Array, over: Partial<NewApiToken> = {}): NewApiToken => ({
      ...actor,
      tokenHash,
      workspaceId: 1,
      environment: 'Testing',
      name: 'A token',
      scopes: ['read', 'introspect'],
      createdAt: 1000,
      expiresAt: 9000,
      ...over,
    })

    it('has the workspace "default" from the start', async () => {
      const [first] = await store.workspaces.list()
      assert.deepEqual([first?.id, first?.name], [1, 'default'])
    })

    it('creates one workspace of a name when several requests create it at once', async () => {
      const name = freshKey().providedId
      const created = await Promise.all(
        Array.from({ length: 24 }, () => store.workspaces.create(newWorkspace(name, 7))),
      )
      const [first, ...others] = created.filter((result) => result !== null)
      assert.equal(others.length, 0)
      assert.equal(first?.workspace.createdAt, 7)
      assert.ok((await store.workspaces.list()).some(({ id }) => id === first.workspace.id))
    })

    it('finds an API token by its hash, and revokes it once', async () => {
      const tokenHash = randomBytes(32)
      const created = await store.apiTokens.create(apiToken(tokenHash))
      assert.deepEqual(created, {
        id: created.id,
        workspaceId: 1,
        environment: 'Testing',
        name: 'A token',
        scopes: ['read', 'introspect'],
        createdAt: 1000,
        expiresAt: 9000,
        revokedAt: null,
        lastUsedAt: null,
        replacedBy: null,
        rateLimit: null,
      })
      assert.deepEqual(await store.apiTokens.find(tokenHash), created)
      assert.equal(await store.apiTokens.find(randomBytes(32)), null)
      assert.equal((await store.apiTokens.revoke({ id: created.id, ...actor, now: 2000 }))?.revokedAt, 2000)
      assert.equal((await store.apiTokens.revoke({ id: created.id, ...actor, now: 3000 }))?.revokedAt, 2000)
      assert.equal((await store.apiTokens.find(tokenHash))?.revokedAt, 2000)
      assert.equal(await store.apiTokens.revoke({ id: 999_999, ...actor, now: 1 }), null)
      assert.ok((await store.apiTokens.list()).some(({ id }) => id === created.id))
    })

    const rotate = (id: number, over: Partial<RotateApiToken> = {}) =>
      store.apiTokens.rotate({
        ...{ id, tokenHash: randomBytes(32), oldTokenValidUntil: 3000, now: 2000 },
        ...actor,
        ...over,
      })

    it('lists the API tokens of one environment', async () => {
      const inCustomer = { workspaceId: 1, environment: 'Customer' } as const
      const { id } = await store.apiTokens.create(apiToken(randomBytes(32), inCustomer))
      const other = await store.apiTokens.create(apiToken(randomBytes(32)))
      const found = await store.apiTokens.list(inCustomer)
      assert.deepEqual([found.at(-1)?.id, found.some((one) => one.id === other.id)], [id, false])
    })

    it('rotates an API token, and the old one expires at the end of the grace period or earlier', async () => {
      const old = await store.apiTokens.create(apiToken(randomBytes(32)))
      const tokenHash = randomBytes(32)
      const result = await rotate(old.id, { tokenHash })
      assert.ok(result.outcome === 'rotated')
      const { id } = result.apiToken
      assert.deepEqual(result.apiToken, { ...old, id, createdAt: 2000, expiresAt: 10_000 })
      assert.deepEqual(result.oldApiToken, { ...old, expiresAt: 3000, replacedBy: id })
      assert.deepEqual(await store.apiTokens.find(tokenHash), result.apiToken)
      assert.deepEqual(await listed(old.id), result.oldApiToken)
      const later = await store.apiTokens.create(apiToken(randomBytes(32)))
      const longer = await rotate(later.id, { oldTokenValidUntil: 9999 })
      assert.ok(longer.outcome === 'rotated')
      assert.equal(longer.oldApiToken.expiresAt, 9000)
    })

    it('rotates an API token without an expiry to one without an expiry', async () => {
      const old = await store.apiTokens.create(apiToken(randomBytes(32), { expiresAt: null }))
      const result = await rotate(old.id)
      assert.ok(result.outcome === 'rotated')
      assert.deepEqual([result.apiToken.expiresAt, result.oldApiToken.expiresAt], [null, 3000])
    })

    it('rotates an API token once when several requests rotate it at once, and its successor again', async () => {
      const old = await store.apiTokens.create(apiToken(randomBytes(32)))
      const results = await Promise.all(
        [3000, 4000, 2000].map((oldTokenValidUntil) => rotate(old.id, { oldTokenValidUntil })),
      )
      assert.deepEqual(count(results), { rotated: 1, superseded: 2 })
      const first = results.find(({ outcome }) => outcome === 'rotated')
      assert.ok(first?.outcome === 'rotated')
      const superseded = { outcome: 'superseded', replacedBy: first.apiToken.id }
      assert.deepEqual(await rotate(old.id, { oldTokenValidUntil: 8000, now: 8000 }), superseded)
      assert.deepEqual(await listed(old.id), first.oldApiToken)
      assert.equal((await rotate(first.apiToken.id)).outcome, 'rotated')
    })

    it('rotates no API token that is revoked, expired or unknown', async () => {
      const before = async () => (await store.apiTokens.list()).length
      const revoked = await store.apiTokens.create(apiToken(randomBytes(32)))
      await store.apiTokens.revoke({ id: revoked.id, ...actor, now: 1500 })
      const expired = await store.apiTokens.create(apiToken(randomBytes(32), { expiresAt: 2000 }))
      const count = await before()
      assert.deepEqual(await rotate(revoked.id), { outcome: 'unusable' })
      assert.deepEqual(await rotate(expired.id), { outcome: 'unusable' })
      assert.deepEqual(await rotate(999_999), { outcome: 'not_found' })
      assert.equal(await before(), count)
    })

    it('sets the rate limit of an API token and copies it to the successor', async () => {
      const rateLimit = { perSecond: 500, burst: 2000 }
      const { id } = await store.apiTokens.create(apiToken(randomBytes(32)))
      const limited = await store.apiTokens.limit({ id, rateLimit, ...actor, now: 1500 })
      assert.deepEqual(limited?.rateLimit, rateLimit)
      const result = await rotate(id)
      assert.ok(result.outcome === 'rotated')
      assert.deepEqual(result.apiToken.rateLimit, rateLimit)
      const unlimited = await store.apiTokens.limit({
        ...{ id: result.apiToken.id, rateLimit: null, now: 1500 },
        ...actor,
      })
      assert.equal(unlimited?.rateLimit, null)
      const created = await store.apiTokens.create({ ...apiToken(randomBytes(32)), rateLimit })
      assert.deepEqual(await listed(created.id), created)
      assert.deepEqual(created.rateLimit, rateLimit)
    })

    it('adds up reported usage as if all requests had arrived one after another', async (t) => {
      // As on a machine that has just started.
      t.mock.method(process.hrtime, 'bigint', () => 1_000_000_000n)
      const { id } = await store.apiTokens.create(apiToken(randomBytes(32)))
      const other = await store.apiTokens.create(apiToken(randomBytes(32)))
      const reportUsage = async (costMs: number, aheadMs: number, fullMs = 1e9) => {
        const all = await store.apiTokens.reportUsage([
          { apiTokenId: id, costMs, aheadMs, fullMs },
          { apiTokenId: 999_999, costMs, aheadMs, fullMs },
          { apiTokenId: other.id, costMs: 1, aheadMs: 1, fullMs },
        ])
        assert.deepEqual(all.map(({ apiTokenId }) => apiTokenId).sort(), [id, other.id])
        return Math.round((all.find(({ apiTokenId }) => apiTokenId === id)?.aheadMs ?? 0) / 1e5)
      }
      // Without earlier reports, the usage of requests from long ago has already decayed.
      assert.equal(await reportUsage(1e5, -5e5), -5)
      assert.equal(await reportUsage(1e5, 1e5), 1)
      assert.equal(await reportUsage(2e5, 2e5), 3)
      assert.equal(await reportUsage(1e5, -9e5), 4)
      // A value far beyond the burst, as after a clock change, counts as one burst.
      assert.equal(await reportUsage(1e5, 1e5, 1e4), 1)
      assert.deepEqual(await store.apiTokens.reportUsage([]), [])
    })

    it('keeps the latest use of each API token', async () => {
      const hashes = [randomBytes(32), randomBytes(32)] as const
      const [a, b] = [
        await store.apiTokens.create(apiToken(hashes[0])),
        await store.apiTokens.create(apiToken(hashes[1])),
      ]
      await store.apiTokens.recordUses([])
      await store.apiTokens.recordUses([
        { id: b.id, usedAt: 60_000 },
        { id: a.id, usedAt: 120_000 },
        { id: 999_999, usedAt: 60_000 },
      ])
      await store.apiTokens.recordUses([{ id: a.id, usedAt: 60_000 }])
      assert.equal((await store.apiTokens.find(hashes[0]))?.lastUsedAt, 120_000)
      assert.equal((await store.apiTokens.find(hashes[1]))?.lastUsedAt, 60_000)
    })

    it('creates the first API tokens once, and only in an empty store', async () => {
      const fresh = await openFreshStore()
      try {
        const firsts = await Promise.all(
          Array.from({ length: 24 }, () =>
            fresh.apiTokens.createFirst([apiToken(randomBytes(32)), apiToken(randomBytes(32))]),
          ),
        )
        assert.equal(firsts.filter(Boolean).length, 1)
        assert.equal((await fresh.apiTokens.list()).length, 2)
      } finally {
        await fresh.close()
      }
      assert.equal(await store.apiTokens.createFirst([apiToken(randomBytes(32))]), false)
    })

    it('keeps the first check of a secret key', async () => {
      const first = { keyId: 'k9', sealed: Buffer.from([1, 2, 3]) }
      assert.deepEqual(plain(await store.secretKeys.addCheck(first)), plain(first))
      const second = await store.secretKeys.addCheck({ keyId: 'k9', sealed: Buffer.from([4]) })
      assert.deepEqual(plain(second), plain(first))
      assert.deepEqual(plain(await store.secretKeys.listChecks()), plain([first]))
    })
  })
}
