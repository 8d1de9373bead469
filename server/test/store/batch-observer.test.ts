import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import type { Store } from '../../src/domain/store.ts'
import type { BatchObserver } from '../../src/store/batch-observer.ts'
import { openStore } from '../../src/store/open-store.ts'
import { migratedDatabase } from '../support/database.ts'
import { lifo, type Scope } from '../support/scope.ts'
import { temporaryFolder } from '../support/service.ts'
import { creation } from './postgres/postgres-support.ts'
import { freshKey } from './contract/store-fixtures.ts'
import { defaults } from './store-options.ts'

interface Batch {
  readonly kind: string
  readonly calls: readonly unknown[]
  end?: 'done' | 'failed'
}

/** Returns an observer that records all batches. The context of a call is its number. */
function recordingObserver() {
  const batches: Batch[] = []
  let calls = 0
  const observer: BatchObserver = {
    requestContext: () => ++calls,
    begin: (kind, of) => {
      const batch: Batch = { kind, calls: of }
      batches.push(batch)
      return (failed) => {
        assert.equal(batch.end, undefined, 'a batch must end only once')
        batch.end = failed ? 'failed' : 'done'
      }
    },
  }
  return { observer, batches }
}

async function openObserved(t: Scope, url: string): Promise<{ store: Store; batches: Batch[] }> {
  const { observer, batches } = recordingObserver()
  const store = await openStore(parseDatabaseUrl(url), { ...defaults, observer })
  lifo(t).after(() => store.close())
  return { store, batches }
}

const find = (store: Store) => store.userGroups.find(freshKey())

describe('an observer of batches', () => {
  it('is notified of each SQLite transaction and its calls', async (t) => {
    const { store, batches } = await openObserved(t, `sqlite:${join(temporaryFolder(t), 'ugs.db')}`)
    await Promise.all([find(store), store.userGroups.getOrCreate(creation()), find(store)])
    await find(store)
    assert.deepEqual(batches, [
      { kind: 'transaction', calls: [1, 2, 3], end: 'done' },
      { kind: 'transaction', calls: [4], end: 'done' },
    ])
  })

  it('is notified of a failed SQLite transaction and of the transactions that retry its calls', async (t) => {
    const path = join(temporaryFolder(t), 'ugs.db')
    const { store, batches } = await openObserved(t, `sqlite:${path}`)
    const database = new BetterSqlite3(path)
    database.exec(
      `CREATE TRIGGER gate BEFORE INSERT ON user_group WHEN new.name = 'refused' BEGIN SELECT RAISE(ABORT, ''); END`,
    )
    database.close()
    const [found, refused] = await Promise.allSettled([
      find(store),
      store.userGroups.getOrCreate(creation({ change: { name: 'refused' } })),
    ])
    assert.deepEqual([found.status, refused.status], ['fulfilled', 'rejected'])
    assert.deepEqual(batches, [
      { kind: 'transaction', calls: [1, 2], end: 'failed' },
      { kind: 'transaction', calls: [1], end: 'done' },
      { kind: 'transaction', calls: [2], end: 'failed' },
    ])
  })

  it('is notified of each PostgreSQL statement that calls share, and of those calls', async (t) => {
    const { store, batches } = await openObserved(t, await migratedDatabase(t))
    const key = freshKey()
    await Promise.all([store.userGroups.find(key), find(store), store.userGroups.find(key)])
    assert.deepEqual(batches, [{ kind: 'read', calls: [1, 2, 3], end: 'done' }])
  })
})
