import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setImmediate as eventLoopTick } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import BetterSqlite3 from 'better-sqlite3'
import { cases } from '../../support/cases.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { StoreError } from '../../../src/store/store-error.ts'
import { temporaryFolder } from '../../support/service.ts'
import { describeStore } from '../contract/store-contract.ts'
import { describeSessionLimit } from '../contract/console-sessions-contract.ts'
import { describeConfiguration } from '../contract/configuration-contract.ts'
import { describeErasure } from '../contract/erasure-contract.ts'
import { describeEvents } from '../contract/events-contract.ts'
import { describeJobs } from '../contract/jobs-contract.ts'
import { describePaging } from '../contract/paging-contract.ts'
import { describeMarks } from '../contract/marks-property.ts'
import { describeMappingEntries } from '../contract/mapping-entries-contract.ts'
import { describeMigrations } from '../contract/migrations-contract.ts'
import { userGroupOf, unchanged, withoutState } from '../contract/created-user-group.ts'
import { describeSearchIndex } from '../contract/search-index-contract.ts'
import { describeProcesses } from '../contract/store-processes.ts'
import { describeUnchanged } from '../contract/unchanged-contract.ts'
import { mint, actor } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

const folder = temporaryFolder({ after })
let files = 0
const freshPath = () => join(folder, `${files++}.db`)
const open = (path: string, lockTimeoutMs = 5000) =>
  openStore({ kind: 'sqlite', path }, { ...defaults, lockTimeoutMs })

describeStore('SQLite', () => open(freshPath()))
describeSearchIndex('SQLite', () => open(freshPath()))
describePaging('SQLite', () => open(freshPath()))
describeSessionLimit('SQLite', () => open(freshPath()))
describeEvents('SQLite', () => open(freshPath()))
describeJobs('SQLite', () => open(freshPath()))
describeConfiguration('SQLite', () => open(freshPath()))

const pathOf = (url: string) => url.replace('sqlite:', '')

describeUnchanged('SQLite', () => `sqlite:${freshPath()}`)

describeProcesses('SQLite', {
  dialect: 'sqlite',
  freshUrl: () => `sqlite:${freshPath()}`,
  placeOf: pathOf,
  count: (url, table) => {
    const database = new BetterSqlite3(pathOf(url))
    assert.equal(database.pragma('integrity_check', { simple: true }), 'ok')
    const count = database.prepare(`SELECT count(*) FROM ${table}`).pluck().get() as number
    database.close()
    return count
  },
})

const query = (url: string, sql: string) => {
  const database = new BetterSqlite3(pathOf(url), { readonly: true })
  const rows = database.prepare<[], Record<string, unknown>>(sql).all()
  database.close()
  return rows
}

describeMappingEntries('SQLite', { freshUrl: () => `sqlite:${freshPath()}`, query })
describeErasure('SQLite', { freshUrl: () => `sqlite:${freshPath()}`, query })
describeMarks('SQLite', { freshUrl: () => `sqlite:${freshPath()}`, query })

describeMigrations('SQLite', {
  dialect: 'sqlite',
  freshUrl: () => `sqlite:${freshPath()}`,
  query,
  execute: (url, sql) => new BetterSqlite3(pathOf(url)).exec(sql).close(),
})

const key = (providedId: string) => ({ workspaceId: 1, environment: 'Customer', providedId }) as const
const create = (providedId: string, name = 'A') => ({
  key: key(providedId),
  change: { name },
  mayWrite: true,
  issueToken: mint,
  ...actor,
  now: 1,
})

describe('SQLite: the file', () => {
  it('keeps acknowledged changes when it is opened again', async () => {
    const path = freshPath()
    const first = await open(path)
    const created = await first.userGroups.getOrCreate(create('a'))
    await first.close()
    const second = await open(path)
    const found = await second.userGroups.getOrCreate(create('a'))
    await second.close()
    assert.deepEqual(withoutState(found), unchanged(userGroupOf(created)))
  })

  it('is created once when two threads open it at the same time', async () => {
    const files = cases(15)
    // Both threads wait for each other before they open a file.
    const arrived = new Int32Array(new SharedArrayBuffer(4 * files))
    const script = `
      const { arrived, folder, store, options } = require('node:worker_threads').workerData
      import(store).then(async ({ openStore }) => {
        for (let i = 0; i < arrived.length; i++) {
          Atomics.add(arrived, i, 1)
          while (Atomics.load(arrived, i) < 2);
          const store = await openStore({ kind: 'sqlite', path: folder + '/at-once-' + i + '.db' }, options)
          await store.close()
        }
      })`
    const store = new URL('../../../dist/store/open-store.js', import.meta.url).href
    const open = () =>
      new Worker(script, {
        eval: true,
        execArgv: [],
        workerData: { arrived, folder, store, options: defaults },
      })
    const ends = [open(), open()].map((worker) =>
      // Releases the other thread if one fails.
      once(worker, 'exit').finally(() => arrived.fill(2)),
    )
    await Promise.all(ends)
  })

  it('waits for another process that is writing, then reports the store as unavailable', async () => {
    const path = freshPath()
    const store = await open(path, 50)
    const other = new BetterSqlite3(path)
    other.exec('BEGIN IMMEDIATE')
    await assert.rejects(store.userGroups.getOrCreate(create('a')), {
      name: 'Fault',
      code: 'unavailable',
      reason: 'SQLITE_BUSY: the database is locked by another process; stop it, or retry',
    })
    assert.equal(await store.userGroups.find(key('a')), null)
    other.exec('ROLLBACK')
    assert.equal((await store.userGroups.getOrCreate(create('a'))).outcome, 'created')
    other.close()
    await store.close()
  })

  it('serves reads while writes wait for another process, and writes when that process has finished', async () => {
    const path = freshPath()
    const store = await open(path)
    await store.userGroups.getOrCreate(create('a'))
    const other = new BetterSqlite3(path)
    other.exec("BEGIN IMMEDIATE; UPDATE user_group SET name = 'Not yet'")
    let written = false
    // All of them run in the same event-loop iteration.
    const writing = store.userGroups.getOrCreate(create('b')).then(({ outcome }) => {
      written = true
      return outcome
    })
    const reads = [store.userGroups.getOrCreate(create('a')), store.userGroups.getOrCreate(create('a'))]
    assert.deepEqual(
      (await Promise.all(reads)).map(({ outcome }) => outcome),
      ['unchanged', 'unchanged'],
    )
    assert.equal((await store.userGroups.find(key('a')))?.name, 'A')
    assert.equal(written, false)
    other.exec('COMMIT')
    assert.equal(await writing, 'created')
    assert.equal((await store.userGroups.find(key('a')))?.name, 'Not yet')
    other.close()
    await store.close()
  })

  it('closes after the operations that wait for another process', async () => {
    const path = freshPath()
    const store = await open(path)
    const other = new BetterSqlite3(path)
    other.exec('BEGIN IMMEDIATE')
    const writing = store.userGroups.getOrCreate(create('a'))
    await store.userGroups.find(key('a'))
    const closing = store.close()
    // Gives an early close enough ticks to finish.
    for (let tick = 0; tick < 10; tick++) await eventLoopTick()
    other.exec('ROLLBACK')
    assert.equal((await writing).outcome, 'created')
    await closing
    other.close()
  })

  it('waits for a lock once for all simultaneous operations, not once for each', async () => {
    const path = freshPath()
    const store = await open(path, 300)
    const other = new BetterSqlite3(path)
    other.exec('BEGIN IMMEDIATE')
    const started = process.hrtime.bigint()
    const results = await Promise.allSettled(
      Array.from({ length: 48 }, (_, i) => store.userGroups.getOrCreate(create(`waits-${i}`))),
    )
    // One wait takes 0.3 s, 48 waits take 14 s. The limit distinguishes them even on a slow machine.
    assert.ok(process.hrtime.bigint() - started < 7_000_000_000n)
    for (const { status } of results) assert.equal(status, 'rejected')
    other.close()
    await store.close()
  })

  it('restarts a transaction that read before another process wrote', async () => {
    const path = freshPath()
    const store = await open(path)
    await store.userGroups.getOrCreate(create('a', 'Before'))
    const other = new BetterSqlite3(path)
    let interfered = false
    // The other process commits between the read and the write of this transaction.
    const result = await store.userGroups.getOrCreate({
      ...create('b'),
      issueToken: (userGroup, location) => {
        if (!interfered) other.exec("UPDATE user_group SET name = 'After'")
        interfered = true
        return mint(userGroup, location)
      },
    })
    assert.equal(result.outcome, 'created')
    assert.equal((await store.userGroups.find(key('a')))?.name, 'After')
    other.close()
    await store.close()
  })

  it('fails one operation of a transaction without failing the others', async () => {
    const store = await open(freshPath())
    const [first, second, third] = await Promise.allSettled([
      store.userGroups.getOrCreate(create('a')),
      store.userGroups.getOrCreate({
        ...create('b'),
        issueToken: () => {
          throw new Error('no token')
        },
      }),
      store.userGroups.getOrCreate(create('c')),
    ])
    assert.deepEqual([first.status, second.status, third.status], ['fulfilled', 'rejected', 'fulfilled'])
    assert.notEqual(await store.userGroups.find(key('a')), null)
    assert.equal(await store.userGroups.find(key('b')), null)
    assert.notEqual(await store.userGroups.find(key('c')), null)
    await store.close()
  })

  it('is written only when something changes', async () => {
    const path = freshPath()
    const store = await open(path)
    await store.userGroups.getOrCreate(create('a'))
    const other = new BetterSqlite3(path)
    const version = () => other.pragma('data_version', { simple: true })
    const before = version()
    await store.userGroups.getOrCreate(create('a'))
    await store.userGroups.update({ key: key('a'), change: { name: 'A' }, ...actor, now: 2 })
    assert.equal(version(), before)
    await store.userGroups.update({ key: key('a'), change: { name: 'B' }, ...actor, now: 2 })
    assert.notEqual(version(), before)
    other.close()
    await store.close()
  })

  const refused: Record<string, { prepare: (path: string) => void | Promise<void>; message: RegExp }> = {
    'has a newer version': {
      prepare: async (path) => {
        await (await open(path)).close()
        const database = new BetterSqlite3(path)
        database.exec("INSERT INTO schema_migration VALUES (1000, 'from the future', 0)")
        database.close()
      },
      message: /schema version 1000, and this release knows up to \d+/,
    },
    'belongs to another program': {
      prepare: (path) => {
        const database = new BetterSqlite3(path)
        database.exec('CREATE TABLE something (a)')
        database.close()
      },
      message: /belongs to another program/,
    },
    'is not a database': {
      prepare: (path) => writeFileSync(path, 'This is a text and not a database. '.repeat(100)),
      message: /not a SQLite database.*SQLITE_NOTADB/,
    },
  }
  for (const [title, { prepare, message }] of Object.entries(refused)) {
    it(`is refused with an error that names the file when it ${title}`, async () => {
      const path = freshPath()
      await prepare(path)
      await assert.rejects(open(path), (error) => {
        assert.ok(error instanceof StoreError)
        assert.ok(error.message.startsWith(path))
        assert.match(error.message, message)
        return true
      })
    })
  }

  it('is left unchanged when it belongs to another program', async () => {
    const path = freshPath()
    const other = new BetterSqlite3(path)
    other.exec('CREATE TABLE something (a)')
    await assert.rejects(open(path), StoreError)
    assert.equal(other.pragma('journal_mode', { simple: true }), 'delete')
    other.close()
  })

  it('is refused when its folder does not exist', async () => {
    await assert.rejects(open(join(folder, 'nowhere', 'ugs.db')), /the folder does not exist/)
  })

  it('is refused when it is a folder', async () => {
    const path = freshPath()
    mkdirSync(path)
    await assert.rejects(open(path), { name: 'StoreError', message: /SQLITE_CANTOPEN/ })
  })
})
