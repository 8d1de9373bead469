import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Store } from '../../../src/domain/store.ts'
import { eachLoss, losing, type Lose } from './losing-connections.ts'
import { created, creation, openPostgres, openProxied, statements } from './postgres-support.ts'
import {
  actor,
  deletion,
  freshKey,
  newSession,
  newWorkspace,
  plain,
  withoutHashes,
} from '../contract/store-fixtures.ts'

const apiToken = () =>
  ({
    ...actor,
    tokenHash: randomBytes(32),
    workspaceId: 1,
    environment: 'Customer',
    name: 'A',
    scopes: ['write'],
    createdAt: 1000,
    expiresAt: null,
  }) as const

describe('PostgreSQL: an update', () => {
  eachLoss('reports updated', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const key = await created(store)
    const command = { key, change: { name: 'B', properties: '{"a":1}' }, ...actor, now: 3000 }
    const result = await losing(proxy, statements.update, lose, () => store.userGroups.update(command))
    assert.equal(result.outcome, 'updated')
    const group = await store.userGroups.find(key)
    assert.deepEqual([group?.name, group?.properties, group?.updatedAt], ['B', '{"a":1}', 3000])
    assert.deepEqual(plain('userGroup' in result && result.userGroup), plain(group))
  })

  eachLoss('by get or create is applied once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { token } = await created(store, { key: { ...freshKey(), providedId: 'got' } })
    const key = { ...freshKey(), providedId: 'got' }
    const result = await losing(proxy, statements.update, lose, () =>
      store.userGroups.getOrCreate(creation({ key, change: { name: 'B' }, ...actor, now: 3000 })),
    )
    assert.notEqual(result.outcome, 'created')
    const group = await store.userGroups.find(key)
    assert.deepEqual([group?.name, group?.updatedAt], ['B', 3000])
    assert.deepEqual(plain(group?.token), plain(token))
  })
})

describe('PostgreSQL: other changes of the store', () => {
  eachLoss('deletes a user group once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const key = await created(store)
    assert.equal(
      await losing(proxy, statements.deleteUserGroup, lose, () => store.userGroups.delete(deletion(key))),
      'deleted',
    )
    assert.equal(await store.userGroups.find(key), null)
    assert.equal(await store.userGroups.delete(deletion(key)), 'not_found')
  })

  it('keeps a user group that another process creates with the same id before the retry', async (t) => {
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
      store.userGroups.delete(deletion(key)),
    )
    assert.equal(outcome, 'deleted')
    assert.deepEqual([(await store.userGroups.find(key))?.teamId], others)
    assert.notEqual(others[0], key.teamId)
  })

  eachLoss('creates a workspace once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const created = await losing(proxy, statements.createWorkspace, lose, () =>
      store.workspaces.create(newWorkspace('new', 7)),
    )
    assert.equal(created?.workspace.name, 'new')
    assert.equal((await store.workspaces.list()).length, 2)
    assert.equal(await store.workspaces.create(newWorkspace('new', 8)), null)
  })

  it('creates no workspace whose name another process takes meanwhile', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const lose: Lose = async (caught) => {
      assert.notEqual(await other.workspaces.create(newWorkspace('new', 8)), null)
      caught.drop()
    }
    assert.equal(
      await losing(proxy, statements.createWorkspace, lose, () =>
        store.workspaces.create(newWorkspace('new', 7)),
      ),
      null,
    )
  })

  eachLoss('creates an API token once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const token = apiToken()
    const created = await losing(proxy, statements.createApiToken, lose, () => store.apiTokens.create(token))
    assert.deepEqual(withoutHashes(await store.apiTokens.list()), [created])
    assert.deepEqual(await store.apiTokens.find(token.tokenHash), created)
  })

  eachLoss('creates the first API tokens once and reports it', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const tokens = [apiToken(), apiToken()]
    const wereCreated = await losing(
      proxy,
      statements.commit,
      lose,
      () => store.apiTokens.createFirst(tokens),
      // The retry waits here until the commit.
      /^LOCK TABLE/,
    )
    assert.equal(wereCreated, true)
    assert.equal((await store.apiTokens.list()).length, 2)
    assert.equal(await store.apiTokens.createFirst([apiToken()]), false)
  })

  eachLoss('revokes an API token once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await store.apiTokens.create(apiToken())
    const revoked = await losing(
      proxy,
      statements.revokeApiToken,
      lose,
      () => store.apiTokens.revoke({ id, ...actor, now: 2000 }),
      statements.lockApiToken,
    )
    assert.equal(revoked?.revokedAt, 2000)
    assert.equal((await store.apiTokens.revoke({ id, ...actor, now: 3000 }))?.revokedAt, 2000)
  })

  for (const [title, oldTokenValidUntil] of [
    ['which stays valid', 9000],
    // The old token has expired when the retry runs.
    ['which expires at once', 2000],
  ] as const) {
    eachLoss(`rotates an API token once, ${title}`, async (t, lose) => {
      const { store, proxy } = await openProxied(t)
      const old = await store.apiTokens.create(apiToken())
      const { tokenHash } = apiToken()
      const command = { id: old.id, tokenHash, oldTokenValidUntil, ...actor, now: 2000 }
      const result = await losing(
        proxy,
        statements.commit,
        lose,
        () => store.apiTokens.rotate(command),
        // The retry waits here until the commit.
        statements.lockApiToken,
      )
      assert.ok(result.outcome === 'rotated')
      const { apiToken: created, oldApiToken } = result
      assert.deepEqual(created, { ...old, id: created.id, createdAt: 2000 })
      assert.deepEqual(oldApiToken, { ...old, expiresAt: oldTokenValidUntil, replacedBy: created.id })
      assert.deepEqual(withoutHashes(await store.apiTokens.list()), [oldApiToken, created])
      assert.deepEqual(await store.apiTokens.find(tokenHash), created)
      assert.deepEqual(await store.apiTokens.rotate({ ...command, tokenHash: randomBytes(32) }), {
        outcome: 'superseded',
        replacedBy: created.id,
      })
    })
  }

  it('does not rotate an API token that another process rotates meanwhile', async (t) => {
    const { store, proxy, url } = await openProxied(t)
    const other = await openPostgres(t, url)
    const { id } = await store.apiTokens.create(apiToken())
    const rotate = (by: Store) =>
      by.apiTokens.rotate({ id, tokenHash: randomBytes(32), oldTokenValidUntil: 2000, ...actor, now: 2000 })
    const lose: Lose = async (caught) => {
      assert.equal((await rotate(other)).outcome, 'rotated')
      caught.drop()
    }
    const result = await losing(proxy, statements.lockApiToken, lose, () => rotate(store))
    assert.equal(result.outcome, 'superseded')
    assert.equal((await store.apiTokens.list()).length, 2)
  })

  eachLoss('sets the rate limit of an API token', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await store.apiTokens.create(apiToken())
    const rateLimit = { perSecond: 5, burst: 9 }
    const limited = await losing(
      proxy,
      statements.limitApiToken,
      lose,
      () => store.apiTokens.limit({ id, rateLimit, ...actor, now: 2000 }),
      statements.lockApiToken,
    )
    assert.deepEqual(limited?.rateLimit, rateLimit)
    assert.deepEqual((await store.apiTokens.list())[0]?.rateLimit, rateLimit)
  })

  eachLoss('keeps the last use of an API token', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await store.apiTokens.create(apiToken())
    await losing(
      proxy,
      statements.recordApiTokenUses,
      lose,
      () => store.apiTokens.recordUses([{ id, usedAt: 60_000 }]),
      statements.lockApiTokens,
    )
    assert.equal((await store.apiTokens.list())[0]?.lastUsedAt, 60_000)
  })

  eachLoss('keeps the check of a secret key', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const check = { keyId: 'k1', sealed: Buffer.from([1, 2, 3]) }
    const kept = await losing(proxy, statements.addSecretKeyCheck, lose, () =>
      store.secretKeys.addCheck(check),
    )
    assert.deepEqual(plain(kept), plain(check))
    assert.deepEqual(plain(await store.secretKeys.listChecks()), plain([check]))
  })
})

describe('PostgreSQL: a console session', () => {
  const begin = async (store: Store) => {
    const { id } = await store.apiTokens.create(apiToken())
    const hash = randomBytes(32)
    await store.consoleSessions.create(newSession(hash, id, 1000))
    return { id, hash }
  }

  eachLoss('begins once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await begin(store)
    const hash = randomBytes(32)
    await losing(proxy, statements.createConsoleSession, lose, () =>
      store.consoleSessions.create(newSession(hash, id, 2000)),
    )
    const found = await store.consoleSessions.find(hash)
    assert.deepEqual(
      [found && 'id' in found.principal && found.principal.id, found?.createdAt, found?.lastUsedAt],
      [id, 2000, 2000],
    )
  })

  eachLoss('is used', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { hash } = await begin(store)
    await losing(proxy, statements.touchConsoleSession, lose, () => store.consoleSessions.touch(hash, 3000))
    assert.equal((await store.consoleSessions.find(hash))?.lastUsedAt, 3000)
  })

  eachLoss('ends', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { hash } = await begin(store)
    await losing(proxy, statements.deleteConsoleSession, lose, () => store.consoleSessions.delete(hash))
    assert.equal(await store.consoleSessions.find(hash), null)
  })
})

describe('PostgreSQL: a webhook endpoint', () => {
  const scope = { workspaceId: 1, environment: 'Customer' } as const
  const sealing = () => {
    const sealed = randomBytes(8)
    return (id: number) => ({ keyId: 'k', sealed: Buffer.concat([sealed, Buffer.from([id])]) })
  }
  const create = async (store: Store) => {
    const created = await store.webhookEndpoints.create({
      ...actor,
      ...scope,
      name: 'A',
      url: 'https://example.com',
      eventTypes: [],
      now: 1000,
      position: await store.events.head(),
      maxOfWorkspace: 9,
      sealSecret: sealing(),
    })
    assert.ok('id' in created)
    return created
  }

  eachLoss('is created once', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const other = await create(store)
    const created = await losing(
      proxy,
      statements.commit,
      lose,
      () => create(store),
      // The retry waits here until the commit.
      statements.lockWebhooks,
    )
    const found = (await store.webhookEndpoints.list(scope)).map(({ id }) => id)
    assert.deepEqual(found, [other.id, created.id])
  })

  eachLoss('gets one secret by a rotation', async (t, lose) => {
    const { store, proxy } = await openProxied(t)
    const { id } = await create(store)
    const rotation = { ...actor, ...scope, id, now: 2000, overlapEndsAt: 9000, sealSecret: sealing() }
    const rotated = await losing(
      proxy,
      statements.commit,
      lose,
      () => store.webhookEndpoints.rotateSecret(rotation),
      statements.lockWebhooks,
    )
    assert.ok(rotated !== null && 'id' in rotated)
    const [target] = await store.webhookDeliveries.targets()
    assert.deepEqual(
      target?.secrets.map(({ expiresAt }) => expiresAt),
      [null, 9000],
    )
  })
})
