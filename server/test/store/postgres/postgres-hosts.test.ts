import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseDatabaseUrl } from '../../../src/config/database-url.ts'
import type { Store } from '../../../src/domain/store.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { freshDatabase } from '../../support/database.ts'
import { DatabaseProxy } from '../../support/database-proxy.ts'
import {
  assertUnavailable,
  brief,
  briefToTheServer,
  created,
  creation,
  openPostgres,
  rotation,
  statements,
} from './postgres-support.ts'
import { count, freshKey, newWorkspace, actor, text } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

// No server listens on this port.
const closed = '127.0.0.1:1'

/** Starts two servers with the same data, like a primary and its standby. */
async function twoHosts(t: TestContext) {
  const url = await freshDatabase(t)
  const [first, second] = [await DatabaseProxy.start(t, url), await DatabaseProxy.start(t, url)]
  return { url, first, second, both: first.urlWith(second.address) }
}

describe('PostgreSQL: several hosts', () => {
  it('are skipped when no server listens', async (t) => {
    const { first } = await twoHosts(t)
    const store = await openPostgres(t, first.url.replace('@', `@${closed},`))
    await created(store)
  })

  it('are not contacted when an earlier one accepts writes', async (t) => {
    const { first, second, both } = await twoHosts(t)
    const store = await openPostgres(t, both)
    await Promise.all(Array.from({ length: 20 }, () => created(store)))
    assert.ok(first.connections > 0)
    assert.equal(second.connections, 0)
  })

  it('are skipped when they refuse connections', async (t) => {
    const { first, second, both } = await twoHosts(t)
    first.refuse()
    await created(await openPostgres(t, both))
    assert.ok(second.connections > 0)
  })

  it('are skipped when they accept no writes', async (t) => {
    const { first, second, both } = await twoHosts(t)
    await first.becomeReadOnly()
    await created(await openPostgres(t, both))
    assert.ok(second.count(statements.createUserGroup) > 0)
    assert.equal(first.count(statements.createUserGroup), 0)
  })

  it('are skipped when they do not respond', async (t) => {
    const { first, both } = await twoHosts(t)
    first.swallow()
    await created(await openPostgres(t, both, briefToTheServer))
  })

  it('prevent a start when none accepts writes, with an error that names all of them and a remedy', async (t) => {
    const { first, second, both } = await twoHosts(t)
    await Promise.all([first.becomeReadOnly(), second.becomeReadOnly()])
    await assert.rejects(openStore(parseDatabaseUrl(both), { ...defaults, ...brief }), {
      name: 'StoreError',
      message: `postgres://${first.address},${second.address}${new URL(first.url).pathname}: no host accepts writes; add the primary to the hosts of the URL, or set default_transaction_read_only to off on it (25006)`,
    })
  })

  const failures: Record<string, (first: DatabaseProxy) => unknown> = {
    'accepts no more writes': (first) => first.becomeReadOnly(),
    'closes all connections': (first) => first.refuse(),
    'no longer responds': (first) => first.swallow(),
  }
  for (const [title, fail] of Object.entries(failures)) {
    it(`fail no operation when the first ${title} and the second takes over`, async (t) => {
      const { first, second, both } = await twoHosts(t)
      await second.becomeReadOnly()
      const store = await openPostgres(t, both, {
        ...briefToTheServer,
        deadlineMs: 20_000,
      })
      const groups = await Promise.all(Array.from({ length: 8 }, () => created(store)))
      second.becomeWritable()
      await fail(first)
      const results = await Promise.all([
        ...groups.map(({ token }) => store.userGroups.rotate(rotation(token))),
        ...groups.map((key) => store.userGroups.update({ key, change: { name: 'B' }, ...actor, now: 3000 })),
        ...groups.map(() => store.userGroups.getOrCreate(creation())),
      ])
      assert.deepEqual(count(results), { rotated: 8, updated: 8, created: 8 })
      assert.ok(second.count(statements.rotate) > 0)
      const after = await Promise.all(groups.map((group) => store.userGroups.find(group)))
      assert.deepEqual(
        after.map((group) => group && text(group.token.sealed)),
        results.slice(0, 8).map((result) => 'userGroup' in result && text(result.userGroup.token.sealed)),
      )
    })
  }

  it('are found although another one does not respond to connections', async (t) => {
    const { first, second, both } = await twoHosts(t)
    const store = await openPostgres(t, both, {
      connectTimeoutMs: 20_000,
      statementTimeoutMs: 500,
      deadlineMs: 15_000,
    })
    await created(store)
    await second.becomeReadOnly()
    first.swallow()
    const creating = created(store)
    while (second.connections < 3) await sleep(10)
    second.becomeWritable()
    await creating
    first.open()
  })

  it('are tried in a cycle, so that the first is found when it accepts writes again', async (t) => {
    const { first, second, both } = await twoHosts(t)
    const store = await openPostgres(t, both)
    const swap = async (from: DatabaseProxy, to: DatabaseProxy) => {
      to.becomeWritable()
      await from.becomeReadOnly()
      await created(store)
    }
    await swap(first, second)
    await swap(second, first)
    await swap(first, second)
    assert.deepEqual(
      [first, second].map((host) => host.count(statements.createUserGroup) > 0),
      [true, true],
    )
  })
})

describe('PostgreSQL: a single host that accepts no more writes', () => {
  const isReadOnly = async (t: TestContext): Promise<[Store, DatabaseProxy]> => {
    const proxy = await DatabaseProxy.start(t, await freshDatabase(t))
    const store = await openPostgres(t, proxy.url, brief)
    await created(store, { key: { ...freshKey(), providedId: 'there' } })
    await proxy.becomeReadOnly()
    return [store, proxy]
  }

  it('makes changes fail as unavailable', async (t) => {
    const [store] = await isReadOnly(t)
    await assertUnavailable(store.userGroups.getOrCreate(creation()), { reason: '25006' })
    await assertUnavailable(store.workspaces.create(newWorkspace('new')), { reason: '25006' })
  })

  it('is used again when it accepts writes', async (t) => {
    const [store, proxy] = await isReadOnly(t)
    await assertUnavailable(store.userGroups.getOrCreate(creation()), { reason: '25006' })
    proxy.becomeWritable()
    await created(store)
  })
})
