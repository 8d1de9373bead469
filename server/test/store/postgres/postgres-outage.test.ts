import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import { firstEventId } from '../../../src/domain/audit/audit-event.ts'
import type { Store } from '../../../src/domain/store.ts'
import { deleteExpired } from '../../../src/domain/expiry.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { freshDatabase, migratedDatabase } from '../../support/database.ts'
import { DatabaseProxy } from '../../support/database-proxy.ts'
import {
  assertUnavailable,
  brief,
  briefToTheServer,
  created,
  creation,
  openProxied,
  rotation,
  statements,
  takes,
} from './postgres-support.ts'
import {
  deletion,
  freshKey,
  mint,
  newSession,
  newWorkspace,
  actor,
  referenceOf,
  text,
  noneExpired,
} from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

const apiToken = () => ({
  ...actor,
  tokenHash: randomBytes(32),
  workspaceId: 1,
  environment: 'Customer' as const,
  name: 'A',
  scopes: ['write' as const],
  createdAt: 1000,
  expiresAt: null,
})

const key = { ...freshKey(), providedId: 'there' }
const token = mint(key, { bucket: 0, teamId: 1 })

const tenantScope = { workspaceId: 1, environment: 'Customer' } as const
const allEvents = { since: 0, beforeEventId: firstEventId(Infinity), limit: 9 }

/** All operations of a store except `close`. */
const operations: Record<string, (store: Store) => Promise<unknown>> = {
  getOrCreateUserGroup: (store) => store.userGroups.getOrCreate(creation({ key })),
  getOrCreateUserGroups: (store) => store.userGroups.getOrCreateMany([creation({ key }), creation()]),
  updateUserGroup: (store) => store.userGroups.update({ key, change: { name: 'B' }, ...actor, now: 1 }),
  rotateUserGroupToken: (store) => store.userGroups.rotate(rotation(token)),
  findByToken: (store) => store.userGroups.findByToken(1, 'Customer', referenceOf(token), 1),
  isUnchanged: (store) =>
    store.userGroups.isUnchanged(1, 'Customer', { location: { bucket: 0, teamId: 1 }, stamp: '1/1' }),
  findUserGroup: (store) => store.userGroups.find(key),
  listUserGroups: (store) =>
    store.userGroups.list({ workspaceId: 1, environment: 'Customer', afterProvidedId: null, limit: 5 }),
  deleteUserGroup: (store) => store.userGroups.delete(deletion(key)),
  deleteExpired: (store) => deleteExpired(store, { ...noneExpired, now: 1 }),
  createWorkspace: (store) => store.workspaces.create(newWorkspace('new')),
  listWorkspaces: (store) => store.workspaces.list(),
  createApiToken: (store) => store.apiTokens.create(apiToken()),
  createFirstApiTokens: (store) => store.apiTokens.createFirst([apiToken()]),
  findApiToken: (store) => store.apiTokens.find(randomBytes(32)),
  listApiTokens: (store) => store.apiTokens.list(),
  limitApiToken: (store) =>
    store.apiTokens.limit({ id: 1, rateLimit: { perSecond: 1, burst: 1 }, ...actor, now: 1 }),
  reportUsage: (store) => store.apiTokens.reportUsage([{ apiTokenId: 1, costMs: 1, aheadMs: 1, fullMs: 1 }]),
  revokeApiToken: (store) => store.apiTokens.revoke({ id: 1, ...actor, now: 1 }),
  rotateApiToken: (store) =>
    store.apiTokens.rotate({ id: 1, tokenHash: randomBytes(32), oldTokenValidUntil: 1, ...actor, now: 1 }),
  recordApiTokenUses: (store) => store.apiTokens.recordUses([{ id: 1, usedAt: 60_000 }]),
  createConsoleSession: (store) => store.consoleSessions.create(newSession(randomBytes(32), 1, 1)),
  findConsoleSession: (store) => store.consoleSessions.find(randomBytes(32)),
  touchConsoleSession: (store) => store.consoleSessions.touch(randomBytes(32), 1),
  deleteConsoleSession: (store) => store.consoleSessions.delete(randomBytes(32)),
  listAuditEvents: (store) => store.audit.list({ ...tenantScope, teamId: 1, ...allEvents }),
  pruneAuditEvents: (store) => store.audit.prune({ ...tenantScope, ...actor, before: 1001, now: 9000 }),
  endGracePeriod: (store) =>
    store.userGroups.endGracePeriod({ ...tenantScope, token: referenceOf(token), ...actor, now: 1 }),
  listSecretKeyChecks: (store) => store.secretKeys.listChecks(),
  addSecretKeyCheck: (store) => store.secretKeys.addCheck({ keyId: 'k1', sealed: randomBytes(3) }),
  retireSecretKey: (store) => store.secretKeys.retire('k2'),
  listRetiredSecretKeys: (store) => store.secretKeys.listRetired(),
  ping: (store) => store.ping(),
}

describe('PostgreSQL: a database that refuses connections', () => {
  it('makes every operation fail as unavailable at its deadline, and none ambiguously', async (t) => {
    const { store, proxy } = await openProxied(t, brief)
    await store.apiTokens.create(apiToken())
    proxy.refuse()
    await Promise.all(
      Object.entries(operations).map(([name, operate]) =>
        assertUnavailable(operate(store), { reason: 'ECONNRESET', isAmbiguous: false }, name),
      ),
    )
  })

  it('fails no operation when it accepts connections before the deadline', async (t) => {
    const { store, proxy } = await openProxied(t)
    // The API token of the console session.
    await store.apiTokens.create(apiToken())
    proxy.refuse()
    const attempts = proxy.connections
    const results = Object.values(operations).map((operate) => operate(store))
    const done = Promise.all(results)
    // After this number of refused connections, each operation has failed at least once.
    while (proxy.connections < attempts + 2 * defaults.poolSize) await new Promise(setImmediate)
    proxy.open()
    await done
  })

  it('is reconnected automatically', async (t) => {
    const { store, proxy } = await openProxied(t, brief)
    const before = await created(store)
    proxy.refuse()
    await assertUnavailable(store.ping(), { isAmbiguous: false })
    proxy.open()
    await store.ping()
    assert.equal((await store.userGroups.find(before))?.teamId, before.teamId)
    await created(store)
  })

  it('does not prevent a start when it accepts connections before the deadline', async (t) => {
    const proxy = await DatabaseProxy.start(t, await freshDatabase(t))
    proxy.refuse()
    const opening = openStore(parseDatabaseUrl(proxy.url), defaults)
    while (proxy.connections < 2) await new Promise(setImmediate)
    proxy.open()
    const store = await opening
    await store.ping()
    await store.close()
  })

  it('fails a start at the deadline, with an error that names the database and a remedy', async (t) => {
    const proxy = await DatabaseProxy.start(t, await freshDatabase(t))
    proxy.refuse()
    await assert.rejects(openStore(parseDatabaseUrl(proxy.url), { ...defaults, ...brief }), (error) => {
      assert.ok(error instanceof Error)
      assert.equal(error.name, 'StoreError')
      const { pathname } = new URL(proxy.url)
      assert.equal(
        error.message,
        `postgres://${proxy.address}${pathname}: the server cannot be reached; check that it runs, and the hosts and ports in the URL (ECONNRESET)`,
      )
      return true
    })
  })
})

describe('PostgreSQL: a database that is lost during an operation', () => {
  for (const [name, pattern, operate] of [
    ['createWorkspace', statements.createWorkspace, operations.createWorkspace],
    ['createApiToken', statements.createApiToken, operations.createApiToken],
    ['createFirstApiTokens', statements.commit, operations.createFirstApiTokens],
    ['revokeApiToken', statements.lockApiToken, operations.revokeApiToken],
    ['rotateApiToken', statements.lockApiToken, operations.rotateApiToken],
    ['addSecretKeyCheck', statements.addSecretKeyCheck, operations.addSecretKeyCheck],
    ['createConsoleSession', statements.createConsoleSession, operations.createConsoleSession],
    ['pruneAuditEvents', statements.commit, operations.pruneAuditEvents],
    ['getOrCreateUserGroup', statements.createUserGroup, operations.getOrCreateUserGroup],
    ['getOrCreateUserGroups', statements.createUserGroup, operations.getOrCreateUserGroups],
  ] as const) {
    it(`makes ${name} fail with an ambiguous outcome`, async (t) => {
      const { store, proxy } = await openProxied(t, brief)
      const next = proxy.next(pattern)
      const result = assertUnavailable(operate?.(store), { isAmbiguous: true }, name)
      await (await next).run()
      proxy.refuse()
      await result
    })
  }

  it('makes a rotation fail with an ambiguous outcome, which a read of the user group resolves', async (t) => {
    const { store, proxy } = await openProxied(t, brief)
    const group = await created(store)
    const next = proxy.next(statements.rotate)
    const result = assertUnavailable(store.userGroups.rotate(rotation(group.token)), { isAmbiguous: true })
    await (await next).run()
    proxy.refuse()
    await result
    proxy.open()
    const after = await store.userGroups.find(group)
    assert.notEqual(after && text(after.token.sealed), text(group.token.sealed))
  })

  it('makes updates and deletions fail with an ambiguous outcome, but not reads', async (t) => {
    const { store, proxy } = await openProxied(t, brief)
    const groups = [await created(store), await created(store), await created(store)] as const
    const caught = [
      proxy.next(statements.update),
      proxy.next(statements.deleteUserGroup),
      proxy.next(/^SELECT \* FROM api_token/),
    ]
    const results = [
      assertUnavailable(
        store.userGroups.update({ key: groups[0], change: { name: 'B' }, ...actor, now: 1 }),
        {
          isAmbiguous: true,
        },
      ),
      assertUnavailable(store.userGroups.delete(deletion(groups[1])), { isAmbiguous: true }),
      assertUnavailable(store.apiTokens.list(), { isAmbiguous: false }),
    ]
    await Promise.all(caught)
    proxy.refuse()
    await Promise.all(results)
  })
})

describe('PostgreSQL: a database that no longer responds', () => {
  // Timeouts far beyond the deadline, which alone must limit an operation.
  const slow = { statementTimeoutMs: 20_000, connectTimeoutMs: 20_000 }

  it('makes every operation fail as unavailable at its deadline', async (t) => {
    const { store, proxy } = await openProxied(t, { ...slow, ...brief })
    await created(store)
    proxy.swallow()
    const lasted = await takes(() =>
      Promise.all(
        Object.entries(operations).map(([name, operate]) =>
          assertUnavailable(operate(store), { reason: 'ETIMEDOUT' }, name),
        ),
      ),
    )
    assert.ok(lasted < 15_000, `${lasted} ms`)
    proxy.refuse()
  })

  it('reports sent changes as ambiguous, but not reads', async (t) => {
    const { store, proxy } = await openProxied(t, { ...slow, ...brief })
    const group = await created(store)
    const next = proxy.next(statements.rotate)
    const rotating = assertUnavailable(store.userGroups.rotate(rotation(group.token)), {
      isAmbiguous: true,
    })
    await next
    proxy.swallow()
    await rotating
    await assertUnavailable(store.userGroups.find(group), { isAmbiguous: false })
    proxy.refuse()
  })

  it('reports changes that were never sent as not ambiguous', async (t) => {
    const { store, proxy } = await openProxied(t, { ...slow, ...brief })
    // Removes all connections over which a statement could be sent.
    proxy.refuse()
    await assertUnavailable(store.workspaces.list())
    proxy.swallow()
    for (const name of ['createWorkspace', 'createApiToken', 'revokeApiToken']) {
      await assertUnavailable(operations[name]?.(store), { isAmbiguous: false }, name)
    }
    proxy.refuse()
  })

  it('makes a ping fail within about a second, regardless of the deadline of operations', async (t) => {
    const { store, proxy } = await openProxied(t, { ...slow, deadlineMs: 20_000 })
    proxy.swallow()
    const lasted = await takes(() => assertUnavailable(store.ping(), { reason: 'ETIMEDOUT' }))
    assert.ok(lasted < 10_000, `${lasted} ms`)
    proxy.refuse()
  })

  it('is disconnected and reconnected automatically', async (t) => {
    const { store, proxy } = await openProxied(t, {
      ...briefToTheServer,
      deadlineMs: 20_000,
    })
    const group = await created(store)
    proxy.swallow()
    const attempts = proxy.connections
    const found = store.userGroups.find(group)
    while (proxy.connections < attempts + 2) await new Promise(setImmediate)
    proxy.open()
    assert.equal((await found)?.teamId, group.teamId)
  })

  it('does not prevent the store from closing', async (t) => {
    const proxy = await DatabaseProxy.start(t, await migratedDatabase(t))
    const store = await openStore(parseDatabaseUrl(proxy.url), {
      ...defaults,
      ...brief,
      ...briefToTheServer,
    })
    await Promise.all(Array.from({ length: 4 }, () => created(store)))
    proxy.swallow()
    const calls = Object.values(operations).map((operate) => assert.rejects(operate(store)))
    const lasted = await takes(() => store.close())
    await Promise.all(calls)
    assert.ok(lasted < 15_000, `${lasted} ms`)
  })
})

describe('PostgreSQL: a store that is closed', () => {
  it('finishes operations in flight first', async (t) => {
    const proxy = await DatabaseProxy.start(t, await migratedDatabase(t))
    const store = await openStore(parseDatabaseUrl(proxy.url), defaults)
    const next = proxy.next(statements.createUserGroup)
    const result = store.userGroups.getOrCreate(creation())
    const caught = await next
    const closed = store.close()
    caught.pass()
    assert.equal((await result).outcome, 'created')
    await closed
  })

  it('finishes pending retries first', async (t) => {
    const proxy = await DatabaseProxy.start(t, await migratedDatabase(t))
    const store = await openStore(parseDatabaseUrl(proxy.url), defaults)
    proxy.refuse()
    const attempts = proxy.connections
    const result = store.userGroups.getOrCreate(creation())
    while (proxy.connections < attempts + 2) await new Promise(setImmediate)
    const closed = store.close()
    proxy.open()
    assert.equal((await result).outcome, 'created')
    await closed
  })
})
