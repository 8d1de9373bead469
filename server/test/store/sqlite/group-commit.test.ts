import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { GroupCommit } from '../../../src/store/sqlite/group-commit.ts'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { ChangeTracker } from '../../../src/store/sqlite/change-tracker.ts'
import { temporaryFolder } from '../../support/service.ts'

const files = { check: () => undefined, checkOccasionally: () => undefined }

function openDatabase(t: TestContext): BetterSqlite3.Database {
  const database = new BetterSqlite3(join(temporaryFolder(t), 'ugs.db'))
  t.after(() => database.close())
  migrate(database, 'auto')
  return database
}

test('a group commit does not run a committed batch again when a step after the commit fails', async (t) => {
  const database = openDatabase(t)
  let failures = 0
  const failing = () => {
    failures++
    throw new BetterSqlite3.SqliteError('disk I/O error', 'SQLITE_IOERR_READ')
  }
  const guards = { files, checkpointer: { afterCommit: failing }, changeTracker: new ChangeTracker(database) }
  const batch = new GroupCommit(database, guards, { lockTimeoutMs: 5000 })
  let runs = 0
  const insert = database.prepare("INSERT INTO retired_secret_key VALUES ('one')")
  const results = await Promise.all([
    batch.run('insert', () => insert.run().changes),
    batch.run('read', () => (runs++, 'read')),
  ])
  assert.deepEqual([results, runs, failures], [[1, 'read'], 1, 1])
})

test('a group commit pauses bulk work while other operations are requested', async (t) => {
  const database = openDatabase(t)
  const checkpointer = { afterCommit: () => undefined }
  const guards = { files, checkpointer, changeTracker: new ChangeTracker(database) }
  const batch = new GroupCommit(database, guards, { lockTimeoutMs: 5000 })
  const ended: string[] = []
  const read = async () => {
    await batch.run('read', () => undefined)
    // Longer than bulk work takes without a pause, and shorter than any timer.
    for (let i = 0; i < 100; i++) await Promise.resolve()
    ended.push('read')
  }
  const bulk = async () => {
    await batch.runInBackground('bulk', () => undefined)
    ended.push('bulk')
  }
  await Promise.all([bulk(), read()])
  assert.deepEqual(ended, ['read', 'bulk'])
})
