import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { SlowStatements } from '../../src/store/slow-statements.ts'
import { temporaryFolder } from '../support/service.ts'
import { find, openObserved, statementsOfCreation } from './contract/observed-store.ts'
import { creation } from './postgres/postgres-support.ts'

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

  it('have the name of the operation on SQLite', async (t) => {
    const url = `sqlite:${join(temporaryFolder(t), 'ugs.db')}`
    assert.deepEqual(await statementsOfCreation(t, url), ['UserGroups.getOrCreate', 'COMMIT', 'flush'])
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
})
