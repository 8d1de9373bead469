import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { eachLoss, losing, type Lose } from './losing-connections.ts'
import { created, creation, openPostgres, openProxied, statements } from './postgres-support.ts'
import { deletion, freshKey, newSession, newWorkspace, origin, plain } from '../contract/store-fixtures.ts'

const apiToken = () =>
  ({
    ...origin,
    tokenHash: randomBytes(32),
    workspaceId: 1,
    environment: 'Customer',
    name: 'A',
    scopes: ['write'],
    createdAt: 1000,
    expiresAt: null,
  }) as const

describe('PostgreSQL: an update', () => {
  eachLoss('says updated', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const key = await created(store)
    const command = { key, change: { name: 'B', properties: '{"a":1}' }, ...origin, now: 3000 }
    const result = await losing(proxy, statements.update, lose, () => store.updateUserGroup(command))
    assert.equal(result.outcome, 'updated')
    const group = await store.findUserGroup(key)
    assert.deepEqual([group?.name, group?.properties, group?.updatedAt], ['B', '{"a":1}', 3000])
    assert.deepEqual(plain('userGroup' in result && result.userGroup), plain(group))
  })

  eachLoss('is made once by a get too', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { token } = await created(store, { key: { ...freshKey(), providedId: 'got' } })
    const key = { ...freshKey(), providedId: 'got' }
    const result = await losing(proxy, statements.update, lose, () =>
      store.getOrCreateUserGroup(creation({ key, change: { name: 'B' }, ...origin, now: 3000 })),
    )
    assert.notEqual(result.outcome, 'created')
    const group = await store.findUserGroup(key)
    assert.deepEqual([group?.name, group?.updatedAt], ['B', 3000])
    assert.deepEqual(plain(group?.token), plain(token))
  })
})

describe('PostgreSQL: whatever else changes the store', () => {
  eachLoss('deletes a user group once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const key = await created(store)
    assert.equal(
      await losing(proxy, statements.deleteUserGroup, lose, () => store.deleteUserGroup(deletion(key))),
      'deleted',
    )
    assert.equal(await store.findUserGroup(key), null)
    assert.equal(await store.deleteUserGroup(deletion(key)), 'not_found')
  })

  it('deletes no other that has been created with the same id before it is known', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const key = await created(store)
    const others: number[] = []
    const lose: Lose = async (caught) => {
      await caught.run()
      others.push((await created(other, { key })).teamId)
      caught.cutOff()
    }
    const outcome = await losing(proxy, statements.deleteUserGroup, lose, () =>
      store.deleteUserGroup(deletion(key)),
    )
    assert.equal(outcome, 'deleted')
    assert.deepEqual([(await store.findUserGroup(key))?.teamId], others)
    assert.notEqual(others[0], key.teamId)
  })

  eachLoss('makes a workspace once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const made = await losing(proxy, statements.createWorkspace, lose, () =>
      store.createWorkspace(newWorkspace('new', 7)),
    )
    assert.equal(made?.workspace.name, 'new')
    assert.equal((await store.listWorkspaces()).length, 2)
    assert.equal(await store.createWorkspace(newWorkspace('new', 8)), null)
  })

  it('makes no workspace whose name another process has taken meanwhile', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const lose: Lose = async (caught) => {
      assert.notEqual(await other.createWorkspace(newWorkspace('new', 8)), null)
      caught.drop()
    }
    assert.equal(
      await losing(proxy, statements.createWorkspace, lose, () =>
        store.createWorkspace(newWorkspace('new', 7)),
      ),
      null,
    )
  })

  eachLoss('makes an API token once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const token = apiToken()
    const made = await losing(proxy, statements.createApiToken, lose, () => store.createApiToken(token))
    assert.deepEqual(await store.listApiTokens(), [made])
    assert.deepEqual(await store.findApiToken(token.tokenHash), made)
  })

  eachLoss('makes the first API tokens once, and says so', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const tokens = [apiToken(), apiToken()]
    const wereMade = await losing(
      proxy,
      statements.commit,
      lose,
      () => store.createFirstApiTokens(tokens),
      // The repetition waits there, until the commit.
      /^LOCK TABLE/,
    )
    assert.equal(wereMade, true)
    assert.equal((await store.listApiTokens()).length, 2)
    assert.equal(await store.createFirstApiTokens([apiToken()]), false)
  })

  eachLoss('revokes an API token once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await store.createApiToken(apiToken())
    const revoked = await losing(proxy, statements.revokeApiToken, lose, () =>
      store.revokeApiToken({ id, ...origin, now: 2000 }),
    )
    assert.equal(revoked?.revokedAt, 2000)
    assert.equal((await store.revokeApiToken({ id, ...origin, now: 3000 }))?.revokedAt, 2000)
  })

  for (const [what, oldTokenValidUntil] of [
    ['which works on', 9000],
    // When the repetition comes, it no longer works.
    ['which stops at once', 2000],
  ] as const) {
    eachLoss(`makes one API token in the place of another, ${what}`, async (t, lose) => {
      const { store, proxy } = await openProxied(t)
      const old = await store.createApiToken(apiToken())
      const { tokenHash } = apiToken()
      const command = { id: old.id, tokenHash, oldTokenValidUntil, ...origin, now: 2000 }
      const result = await losing(
        proxy,
        statements.commit,
        lose,
        () => store.rotateApiToken(command),
        // The repetition waits there, until the commit.
        statements.lockApiToken,
      )
      assert.ok(result.outcome === 'rotated')
      const { apiToken: made, oldApiToken } = result
      assert.deepEqual(made, { ...old, id: made.id, createdAt: 2000 })
      assert.deepEqual(oldApiToken, { ...old, expiresAt: oldTokenValidUntil, replacedBy: made.id })
      assert.deepEqual(await store.listApiTokens(), [oldApiToken, made])
      assert.deepEqual(await store.findApiToken(tokenHash), made)
      assert.deepEqual(await store.rotateApiToken({ ...command, tokenHash: randomBytes(32) }), {
        outcome: 'superseded',
        replacedBy: made.id,
      })
    })
  }

  it('makes no API token in the place of one that another process has replaced meanwhile', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const { id } = await store.createApiToken(apiToken())
    const rotate = (by: Store) =>
      by.rotateApiToken({ id, tokenHash: randomBytes(32), oldTokenValidUntil: 2000, ...origin, now: 2000 })
    const lose: Lose = async (caught) => {
      assert.equal((await rotate(other)).outcome, 'rotated')
      caught.drop()
    }
    const result = await losing(proxy, statements.lockApiToken, lose, () => rotate(store))
    assert.equal(result.outcome, 'superseded')
    assert.equal((await store.listApiTokens()).length, 2)
  })

  eachLoss('limits an API token, and tells of it once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await store.createApiToken(apiToken())
    const rateLimit = { perSecond: 5, burst: 9 }
    const limited = await losing(proxy, statements.limitApiToken, lose, () =>
      store.limitApiToken({ id, rateLimit, ...origin, now: 2000 }),
    )
    assert.deepEqual(limited?.rateLimit, rateLimit)
    assert.deepEqual((await store.listApiTokens())[0]?.rateLimit, rateLimit)
  })

  eachLoss('keeps the last use of an API token', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await store.createApiToken(apiToken())
    await losing(proxy, statements.recordApiTokenUses, lose, () =>
      store.recordApiTokenUses([{ id, usedAt: 60_000 }]),
    )
    assert.equal((await store.listApiTokens())[0]?.lastUsedAt, 60_000)
  })

  eachLoss('keeps the check of a secret key', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const check = { keyId: 'k1', sealed: Buffer.from([1, 2, 3]) }
    const kept = await losing(proxy, statements.addSecretKeyCheck, lose, () => store.addSecretKeyCheck(check))
    assert.deepEqual(plain(kept), plain(check))
    assert.deepEqual(plain(await store.listSecretKeyChecks()), plain([check]))
  })
})

describe('PostgreSQL: a session of the console', () => {
  const begin = async (store: Store) => {
    const { id } = await store.createApiToken(apiToken())
    const hash = randomBytes(32)
    await store.createConsoleSession(newSession(hash, id, 1000))
    return { id, hash }
  }

  eachLoss('begins once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await begin(store)
    const hash = randomBytes(32)
    await losing(proxy, statements.createConsoleSession, lose, () =>
      store.createConsoleSession(newSession(hash, id, 2000)),
    )
    const found = await store.findConsoleSession(hash)
    assert.deepEqual([found?.apiToken.id, found?.createdAt, found?.lastUsedAt], [id, 2000, 2000])
  })

  eachLoss('is used', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { hash } = await begin(store)
    await losing(proxy, statements.touchConsoleSession, lose, () => store.touchConsoleSession(hash, 3000))
    assert.equal((await store.findConsoleSession(hash))?.lastUsedAt, 3000)
  })

  eachLoss('ends', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { hash } = await begin(store)
    await losing(proxy, statements.deleteConsoleSession, lose, () => store.deleteConsoleSession(hash))
    assert.equal(await store.findConsoleSession(hash), null)
  })
})
