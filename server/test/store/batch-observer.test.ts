import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { parseDatabaseUrl } from '../../src/config/database-url.ts'
import type { Store } from '../../src/domain/store.ts'
import type { BatchObserver } from '../../src/store/batch-observer.ts'
import { openStore } from '../../src/store/open-store.ts'
import { SlowStatements } from '../../src/store/slow-statements.ts'
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
  it('is notified of each SQLite transaction and flush, and of the calls', async (t) => {
    const { store, batches } = await openObserved(t, `sqlite:${join(temporaryFolder(t), 'ugs.db')}`)
    await Promise.all([find(store), store.userGroups.getOrCreate(creation()), find(store)])
    await find(store)
    assert.deepEqual(batches, [
      { kind: 'transaction', calls: [1, 2, 3], end: 'done' },
      { kind: 'flush', calls: [1, 2, 3], end: 'done' },
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
      { kind: 'flush', calls: [1], end: 'done' },
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

describe('slow statements', () => {
  it('are those that take at least the threshold, with at most 120 characters of their text', (t) => {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    const reports: unknown[] = []
    const slowStatements = new SlowStatements(1000, (...report) => reports.push(report))
    const end = slowStatements.start()
    const took = (ms: number, statement: string) => {
      now += ms
      end(statement)
    }
    took(999.9, 'fast')
    took(1000, 'slow')
    took(1, 'fast')
    took(5000.4, `\n  SELECT\n  ${'x'.repeat(200)}`)
    assert.deepEqual(reports, [
      ['slow', 1000],
      [`SELECT ${'x'.repeat(113)}`, 5000],
    ])
  })

  /** Runs a creation and returns all its statements: with a threshold of 0, all are slow. */
  async function statementsOfCreation(t: Scope, url: string): Promise<string[]> {
    const statements: string[] = []
    const slowStatements = new SlowStatements(0, (statement) => statements.push(statement))
    const store = await openStore(parseDatabaseUrl(url), { ...defaults, slowStatements })
    t.after(() => store.close())
    statements.length = 0
    const command = creation({ change: { name: 'secret' } })
    await store.userGroups.getOrCreate(command)
    const text = statements.join('\n')
    assert.ok(!text.includes('secret') && !text.includes(command.key.providedId), text)
    return statements
  }

  it('have the name of the operation on SQLite', async (t) => {
    const url = `sqlite:${join(temporaryFolder(t), 'ugs.db')}`
    assert.deepEqual(await statementsOfCreation(t, url), ['UserGroups.getOrCreate', 'COMMIT', 'flush'])
  })

  it('have the name or the text of the statement on PostgreSQL', async (t) => {
    const statements = await statementsOfCreation(t, await migratedDatabase(t))
    assert.match(statements.join('\n'), /^user_group_create_[0-9a-f]{12}$/m)
  })
})

describe('the space of a store', () => {
  it('is the size of the SQLite files with the write-ahead log, and what is free on their disk', async (t) => {
    const folder = temporaryFolder(t)
    const { store } = await openObserved(t, `sqlite:${join(folder, 'ugs.db')}`)
    const { size, free } = await store.space()
    const sizes = readdirSync(folder).map((file) => statSync(join(folder, file)).size)
    assert.equal(sizes.length, 3)
    assert.equal(
      size,
      sizes.reduce((sum, size) => sum + size),
    )
    assert.ok(Number(free) > 0)
  })

  it('is the size of the PostgreSQL database', async (t) => {
    const { store } = await openObserved(t, await migratedDatabase(t))
    const { size, free } = await store.space()
    assert.ok(size > 1_000_000, String(size))
    assert.equal(free, null)
  })
})
