import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import BetterSqlite3, { type Database } from 'better-sqlite3'
import { migrate } from '../../../src/store/sqlite/migrate.ts'
import { ChangeTracker } from '../../../src/store/sqlite/change-tracker.ts'
import { temporaryFolder } from '../../support/service.ts'

/** Creates a database with two user groups and opens two connections, as two processes would. */
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

/** Runs a transaction in the way the store does. */
function transaction(
  database: Database,
  stamps: ChangeTracker,
  work: () => void,
  end: 'COMMIT' | 'ROLLBACK',
): void {
  database.exec('BEGIN')
  stamps.detectForeignChanges()
  work()
  stamps.beforeCommit()
  database.exec(end)
  if (end === 'ROLLBACK') stamps.afterRollback()
}

describe('the change tracker of a process, while another process writes', () => {
  it('attributes only its own changes to itself', (t) => {
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

  it('detects a change of the other process that follows its own rollback', (t) => {
    const { own, other, stamps, ids } = twoProcesses(t)
    const { current } = stamps
    transaction(own, stamps, () => rename(own, ids[0]), 'ROLLBACK')
    rename(other, ids[1])
    transaction(own, stamps, () => undefined, 'COMMIT')
    assert.equal(stamps.isUnchanged(ids[1] as number, current), false)
  })

  it('detects a change of the other process between two of its own transactions', (t) => {
    const { own, other, stamps, ids } = twoProcesses(t)
    transaction(own, stamps, () => rename(own, ids[0]), 'COMMIT')
    const { current } = stamps
    rename(other, ids[1])
    transaction(own, stamps, () => rename(own, ids[0]), 'COMMIT')
    assert.equal(stamps.isUnchanged(ids[1] as number, current), false)
  })

  it('detects a change of the other process in the next transaction after a failed check', (t) => {
    const { own, other, stamps, ids } = twoProcesses(t)
    const { current } = stamps
    rename(other, ids[1])
    // Shadows the table `change_count` on this connection.
    own.exec('CREATE TEMP TABLE change_count (something TEXT)')
    assert.throws(() => transaction(own, stamps, () => undefined, 'COMMIT'), /no such column/)
    own.exec('ROLLBACK')
    stamps.afterRollback()
    own.exec('DROP TABLE temp.change_count')
    transaction(own, stamps, () => undefined, 'COMMIT')
    assert.equal(stamps.isUnchanged(ids[1] as number, current), false)
  })

  it('detects a change of the other process when the change counter was deleted', (t) => {
    const { own, other, stamps, ids } = twoProcesses(t)
    other.exec('DELETE FROM change_count')
    transaction(own, stamps, () => undefined, 'COMMIT')
    const { current } = stamps
    rename(other, ids[1])
    transaction(own, stamps, () => undefined, 'COMMIT')
    assert.equal(stamps.isUnchanged(ids[1] as number, current), false)
  })
})
