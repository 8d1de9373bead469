import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { ChangeTracker } from '../../../src/store/sqlite/change-tracker.ts'
import { temporaryFolder } from '../../support/service.ts'

/** A file with two user groups, and a connection to it of each of two processes. */
function twoProcesses(t: TestContext) {
  const path = join(temporaryFolder(t), 'ugs.db')
  const open = () => {
    const database = new BetterSqlite3(path)
    t.after(() => database.close())
    return database
  }
  const [own, other] = [open(), open()]
  own.pragma('journal_mode = WAL')
  migrate(own, 'auto')
  const insert = own.prepare(
    `INSERT INTO user_group (workspace_id, environment, provided_id, name, mapping, token_hash, token_key_id, token_sealed,
                             token_issued_at, created_at, updated_at)
     VALUES (1, 'Customer', ?, 'A', '{}', ?, 'k', x'00', 1, 1, 1)`,
  )
  const ids = ['a', 'b'].map((id) => Number(insert.run(id, Buffer.from(id)).lastInsertRowid))
  return { own, other, stamps: new ChangeTracker(own), ids }
}

const rename = (database: Database, teamId: number | undefined) =>
  database.prepare("UPDATE user_group SET name = name || 'B' WHERE team_id = ?").run(teamId)
const writeOther = (database: Database) =>
  database.prepare("INSERT INTO retired_secret_key VALUES ('k')").run()

/** As a turn of the store does it. */
function transaction(
  database: Database,
  stamps: ChangeTracker,
  work: () => void,
  end: 'COMMIT' | 'ROLLBACK',
): void {
  database.exec('BEGIN')
  stamps.look()
  work()
  stamps.beforeCommit()
  database.exec(end)
  if (end === 'ROLLBACK') stamps.afterRollback()
}

describe('the stamps of one process, where another one writes too:', () => {
  it('a change of its own is not taken for one of the other', (t) => {
    const { own, other, stamps, ids } = twoProcesses(t)
    const { current } = stamps
    transaction(own, stamps, () => rename(own, ids[0]), 'COMMIT')
    writeOther(other)
    transaction(own, stamps, () => undefined, 'COMMIT')
    assert.deepEqual(
      ids.map((id) => stamps.isUnchanged(id, current)),
      [false, true],
    )
  })

  it('one of the other is not taken for its own that was rolled back, however late', (t) => {
    const { own, other, stamps, ids } = twoProcesses(t)
    const { current } = stamps
    transaction(own, stamps, () => rename(own, ids[0]), 'ROLLBACK')
    rename(other, ids[1])
    transaction(own, stamps, () => undefined, 'COMMIT')
    assert.equal(stamps.isUnchanged(ids[1] as number, current), false)
  })

  it('nor for one of its own of the same moment', (t) => {
    const { own, other, stamps, ids } = twoProcesses(t)
    transaction(own, stamps, () => rename(own, ids[0]), 'COMMIT')
    const { current } = stamps
    rename(other, ids[1])
    transaction(own, stamps, () => rename(own, ids[0]), 'COMMIT')
    assert.equal(stamps.isUnchanged(ids[1] as number, current), false)
  })

  it('one of the other is noticed in the next transaction, where the first could not look', (t) => {
    const { own, other, stamps, ids } = twoProcesses(t)
    const { current } = stamps
    rename(other, ids[1])
    // Hides that of the file from this connection.
    own.exec('CREATE TEMP TABLE change_count (something TEXT)')
    assert.throws(() => transaction(own, stamps, () => undefined, 'COMMIT'), /no such column/)
    own.exec('ROLLBACK')
    stamps.afterRollback()
    own.exec('DROP TABLE temp.change_count')
    transaction(own, stamps, () => undefined, 'COMMIT')
    assert.equal(stamps.isUnchanged(ids[1] as number, current), false)
  })

  it('one of the other is noticed where none are counted any more', (t) => {
    const { own, other, stamps, ids } = twoProcesses(t)
    other.exec('DELETE FROM change_count')
    transaction(own, stamps, () => undefined, 'COMMIT')
    const { current } = stamps
    rename(other, ids[1])
    transaction(own, stamps, () => undefined, 'COMMIT')
    assert.equal(stamps.isUnchanged(ids[1] as number, current), false)
  })
})
