import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, test, type TestContext } from 'node:test'
import { setImmediate as nextIteration } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { Fault } from '../../../src/domain/fault.ts'
import { GroupCommit, type GroupCommitGuards } from '../../../src/store/sqlite/group-commit.ts'
import { FlushError } from '../../../src/store/sqlite/log-flusher.ts'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { ChangeTracker } from '../../../src/store/sqlite/change-tracker.ts'
import { temporaryFolder } from '../../support/service.ts'

function open(t: TestContext, own: Partial<GroupCommitGuards> = {}) {
  const database = new BetterSqlite3(join(temporaryFolder(t), 'ugs.db'))
  t.after(() => database.close())
  database.pragma('journal_mode = WAL')
  migrate(database, 'auto')
  const guards = {
    files: { check: () => undefined, checkOccasionally: () => undefined },
    checkpointer: { afterCommit: () => undefined, isRunning: false },
    changeTracker: new ChangeTracker(database),
    integrity: { refuseChange: () => undefined, afterError: () => undefined },
    flusher: { flush: () => undefined, whenFlushed: () => undefined },
    ...own,
  }
  const insert = database.prepare('INSERT INTO retired_secret_key VALUES (?)')
  return { database, commit: new GroupCommit(database, guards, { lockTimeoutMs: 5000 }), insert }
}

interface Running {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Returns a flusher whose flushes end when the test says so. */
function controlledFlusher() {
  let flushes = 0
  let running: Running | undefined
  const flusher = {
    flush: () => {
      flushes++
      if (running !== undefined) return
      const settle: Partial<Pick<Running, 'resolve' | 'reject'>> = {}
      const promise = new Promise<void>((resolve, reject) => Object.assign(settle, { resolve, reject }))
      promise.catch(() => undefined)
      running = { promise, ...settle } as Running
    },
    whenFlushed: () => running?.promise,
  }
  const end = (error?: Error) => {
    if (error === undefined) running?.resolve()
    else running?.reject(error)
    running = undefined
  }
  return { flusher, end, count: () => flushes }
}

test('a group commit does not run a committed batch again when a step after the commit fails', async (t) => {
  let failures = 0
  const failing = () => {
    failures++
    throw new BetterSqlite3.SqliteError('disk I/O error', 'SQLITE_IOERR_READ')
  }
  const { commit, insert } = open(t, {
    checkpointer: { afterCommit: failing, isRunning: false },
  })
  let runs = 0
  const results = await Promise.all([
    commit.run('insert', () => insert.run('one').changes),
    commit.run('read', () => (runs++, 'read')),
  ])
  assert.deepEqual([results, runs, failures], [[1, 'read'], 1, 1])
})

test('a group commit pauses bulk work while other operations are requested', async (t) => {
  const { commit } = open(t)
  const ended: string[] = []
  const read = async () => {
    await commit.run('read', () => undefined)
    // Longer than bulk work takes without a pause, and shorter than any timer.
    for (let i = 0; i < 100; i++) await Promise.resolve()
    ended.push('read')
  }
  const bulk = async () => {
    await commit.runInBackground('bulk', () => undefined)
    ended.push('bulk')
  }
  await Promise.all([bulk(), read()])
  assert.deepEqual(ended, ['read', 'bulk'])
})

/** Requests an operation and returns whether it has ended, after it has run. */
async function ends(operation: Promise<unknown>): Promise<() => boolean> {
  let hasEnded = false
  operation.then(
    () => (hasEnded = true),
    () => undefined,
  )
  for (let i = 0; i < 3; i++) await nextIteration()
  return () => hasEnded
}

describe('a group commit', () => {
  it('returns no result before the commits that it may depend on are on disk', async (t) => {
    const { flusher, end } = controlledFlusher()
    const { commit, insert } = open(t, { flusher })
    const first = commit.run('read', () => undefined)
    // Commits of a process that was killed.
    assert.equal((await ends(first))(), false)
    end()
    await first
    await commit.run('read', () => undefined)
    const writing = commit.run('write', () => insert.run('one'))
    const hasWritten = await ends(writing)
    const reading = commit.run('read', () => undefined)
    const hasRead = await ends(reading)
    await commit.runWithoutFlush('confirmation', () => undefined)
    assert.deepEqual([hasWritten(), hasRead()], [false, false])
    end()
    await Promise.all([writing, reading])
  })

  it("waits until another process's commits are on disk, even if an operation fails meanwhile", async (t) => {
    const { flusher, end, count } = controlledFlusher()
    const { database, commit } = open(t, { flusher })
    const first = commit.run('read', () => undefined)
    await ends(first)
    end()
    await first
    const other = new BetterSqlite3(database.name)
    other.exec("INSERT INTO retired_secret_key VALUES ('one')")
    other.close()
    const failing = commit.run('failing', () => {
      throw new Error('a defect')
    })
    const reading = commit.run('read', () => undefined)
    failing.catch(() => undefined)
    assert.equal((await ends(reading))(), false)
    assert.equal(count(), 2)
    end()
    await reading
    await assert.rejects(failing, /a defect/)
  })

  it('flushes nothing after a change that was rolled back', async (t) => {
    const { flusher, end, count } = controlledFlusher()
    const { commit, insert } = open(t, { flusher })
    const first = commit.run('read', () => undefined)
    await ends(first)
    end()
    await first
    const failing = () => {
      insert.run('one')
      throw new Error('a defect')
    }
    await assert.rejects(commit.run('failing', failing), /a defect/)
    await commit.run('read', () => undefined)
    assert.equal(count(), 1)
  })

  it('says that a change may have taken effect if it cannot be flushed', async (t) => {
    const { flusher, end } = controlledFlusher()
    const { commit, insert } = open(t, { flusher })
    const writing = commit.run('write', () => insert.run('one'))
    await ends(writing)
    end(new FlushError('FLUSH_FAILED: the disk'))
    await assert.rejects(
      writing,
      (error) =>
        error instanceof Fault &&
        error.code === 'unavailable' &&
        error.message.includes('may have taken effect') &&
        error.reason === 'FLUSH_FAILED: the disk',
    )
  })
})
