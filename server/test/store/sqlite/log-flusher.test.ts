import assert from 'node:assert/strict'
import { closeSync, copyFileSync, fstatSync, openSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { LogFlusher, type FlushOptions } from '../../../src/store/sqlite/log-flusher.ts'
import { temporaryFolder } from '../../support/service.ts'

function recordingObserver() {
  const flushes: (readonly unknown[])[] = []
  const observer = {
    requestContext: () => undefined,
    begin: (_: string, contexts: readonly unknown[]) => {
      flushes.push(contexts)
      return () => undefined
    },
  }
  return { observer, flushes }
}

function openFlusher(t: TestContext, options?: FlushOptions) {
  const path = join(temporaryFolder(t), 'ugs.db')
  const database = new BetterSqlite3(path, { timeout: 0 })
  database.pragma('journal_mode = WAL')
  database.exec('CREATE TABLE one (value)')
  const countInFile = () => {
    copyFileSync(path, `${path}.copy`)
    const copy = new BetterSqlite3(`${path}.copy`)
    try {
      return copy.prepare('SELECT count(*) FROM sqlite_schema').pluck().get()
    } finally {
      copy.close()
    }
  }
  // A link to a device that cannot be flushed stands for a log on a failing disk.
  const log = `${path}-log`
  symlinkSync('/dev/null', log)
  const removeLog = () => rmSync(log, { force: true })
  const repair = () => {
    removeLog()
    symlinkSync(`${path}-wal`, log)
  }
  const open = (file: string) => {
    const flusher = new LogFlusher(database, file, options)
    t.after(() => {
      database.close()
      flusher.close()
    })
    return flusher
  }
  return {
    database,
    countInFile,
    removeLog,
    repair,
    open: () => open(`${path}-wal`),
    openFailing: () => open(log),
  }
}

const failure = { name: 'FlushError', message: /^FLUSH_FAILED: .* \(EINVAL\); check the disk/ }

describe('LogFlusher', () => {
  it('leaves the commits in the log', async (t) => {
    const { open, countInFile } = openFlusher(t)
    const flusher = open()
    flusher.flush([])
    await (flusher.whenFlushed() ?? assert.fail())
    assert.equal(flusher.whenFlushed(), undefined)
    assert.equal(countInFile(), 0)
  })

  it('flushes once for all commits made during another flush', async (t) => {
    const { observer, flushes } = recordingObserver()
    const { open } = openFlusher(t, { observer })
    const flusher = open()
    for (const context of [1, 2, 3]) flusher.flush([context])
    await flusher.whenFlushed()
    assert.equal(flusher.whenFlushed(), undefined)
    assert.deepEqual(flushes, [[1], [2, 3]])
  })

  it('flushes a log that was created again', async (t) => {
    const { database, open } = openFlusher(t)
    const flusher = open()
    database.pragma('journal_mode = DELETE')
    database.pragma('journal_mode = WAL')
    database.exec('CREATE TABLE two (value)')
    flusher.flush([])
    await (flusher.whenFlushed() ?? assert.fail())
    assert.equal(flusher.whenFlushed(), undefined)
  })

  it('fails if the log cannot be flushed, until all commits are in the database file', async (t) => {
    const { observer, flushes } = recordingObserver()
    const { openFailing, repair, countInFile } = openFlusher(t, { observer })
    const flusher = openFailing()
    flusher.flush([1])
    await assert.rejects(flusher.whenFlushed() ?? assert.fail(), failure)
    await assert.rejects(flusher.whenFlushed() ?? assert.fail(), failure)
    repair()
    await (flusher.whenFlushed() ?? assert.fail())
    assert.equal(flusher.whenFlushed(), undefined)
    assert.equal(countInFile(), 1)
    // No flush is observed again for a request that has failed.
    assert.deepEqual(flushes, [[1]])
  })

  it('fails if the log is missing, and closes no file of others', async (t) => {
    const { openFailing, removeLog, repair } = openFlusher(t)
    const flusher = openFailing()
    removeLog()
    flusher.flush([])
    await assert.rejects(flusher.whenFlushed() ?? assert.fail(), { message: /ENOENT/ })
    const other = openSync('/dev/null', 'r')
    t.after(() => closeSync(other))
    repair()
    await (flusher.whenFlushed() ?? assert.fail())
    assert.ok(fstatSync(other).isCharacterDevice())
  })

  it('fails until a read transaction allows the log to be emptied', async (t) => {
    const { database, openFailing, repair } = openFlusher(t)
    const reader = new BetterSqlite3(database.name)
    reader.exec('BEGIN; SELECT * FROM one')
    const flusher = openFailing()
    repair()
    flusher.flush([])
    await assert.rejects(flusher.whenFlushed() ?? assert.fail(), {
      name: 'FlushError',
      message: /SQLITE_BUSY/,
    })
    reader.close()
    await (flusher.whenFlushed() ?? assert.fail())
    assert.equal(flusher.whenFlushed(), undefined)
  })
})
