import assert from 'node:assert/strict'
import {
  chmodSync,
  closeSync,
  existsSync,
  ftruncateSync,
  openSync,
  readdirSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { examine, examineOne, findingsOf, statusesOf } from '../support/doctor.ts'
import { runUgs, startNewProcess, temporaryFolder } from '../support/service.ts'
import { readOnlyView, smallDisk } from '../support/small-disk.ts'

describe('ugs doctor on SQLite', () => {
  /** Creates a store without a running service. */
  async function createStore(folder: string): Promise<string> {
    const { code, stderr } = await runUgs(['migrate'], { UGS_DATA_DIR: folder })
    assert.equal(code, 0, stderr)
    return join(folder, 'ugs.db')
  }

  function change(file: string, sql: string): void {
    const database = new BetterSqlite3(file)
    database.exec(sql)
    database.close()
  }

  /** Overwrites the first page of a table. */
  function damage(file: string, table: string): void {
    const database = new BetterSqlite3(file, { readonly: true })
    const page = Number(
      database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(table),
    )
    const size = Number(database.pragma('page_size', { simple: true }))
    database.close()
    const descriptor = openSync(file, 'r+')
    writeSync(descriptor, Buffer.alloc(size, 0xff), 0, size, (page - 1) * size)
    closeSync(descriptor)
  }

  it('reports a store that does not exist, and creates nothing', async (t) => {
    const folder = join(temporaryFolder(t), 'absent')
    const { code, stdout } = await runUgs(['doctor', '--json'], { UGS_DATA_DIR: folder })
    assert.equal(code, 1)
    assert.match(findingsOf(stdout, 'file')[0]?.problem ?? '', /ugs\.db does not exist/)
    assert.equal(statusesOf(stdout).get('schema'), 'skipped')
    assert.ok(!existsSync(folder))
  })

  it("reports files that are no database, empty, another program's, or without their log", async (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'ugs.db')
    const found = async () => (await examine({ UGS_DATA_DIR: folder }, 'file'))[0]?.problem ?? ''
    writeFileSync(file, 'no database'.repeat(100))
    assert.match(await found(), /is not a SQLite database/)
    rmSync(file)
    writeFileSync(file, '')
    assert.match(await found(), /is empty/)
    change(file, 'CREATE TABLE other (id)')
    assert.match(await found(), /belongs to another program/)
    rmSync(file)

    const service = await startNewProcess(t, { UGS_DATA_DIR: join(folder, 'data') })
    await service.stop('SIGKILL')
    rmSync(join(folder, 'data', 'ugs.db-wal'))
    const lost = await examineOne({ UGS_DATA_DIR: join(folder, 'data') }, 'file')
    assert.match(lost.problem, /ugs\.db-wal is missing and holds the last commits/)
    assert.match(lost.remedy, /^Put it back/)
  })

  it('reports pending migrations and a newer release', async (t) => {
    const folder = temporaryFolder(t)
    const file = await createStore(folder)
    change(
      file,
      "DELETE FROM schema_migration; INSERT INTO schema_migration VALUES (998, 'additive-later', 1)",
    )
    const pending = await examineOne({ UGS_DATA_DIR: folder }, 'schema')
    assert.equal(pending.problem, 'The migration 0001-schema is pending.')
    assert.equal(pending.remedy, 'Run `ugs migrate`.')
    change(file, "INSERT INTO schema_migration VALUES (1, 'schema', 1), (999, 'later', 1)")
    const newer = await examineOne({ UGS_DATA_DIR: folder }, 'schema')
    assert.match(newer.problem, /^The database has schema version 999, and this release knows up to \d+\.$/)
    assert.equal(newer.remedy, 'Start the release that wrote it, or a newer one.')
    change(file, "UPDATE schema_migration SET name = 'additive-later' WHERE version = 999")
    assert.deepEqual(await examine({ UGS_DATA_DIR: folder }, 'schema'), [])
  })

  it('reports missing indexes, and its command creates them', async (t) => {
    const folder = temporaryFolder(t)
    const file = await createStore(folder)
    assert.deepEqual(await examine({ UGS_DATA_DIR: folder }, 'indexes'), [])
    change(file, 'DROP INDEX audit_event_by_user_group')
    const { problem, remedy } = await examineOne({ UGS_DATA_DIR: folder }, 'indexes')
    assert.equal(problem, 'The index audit_event_by_user_group is missing.')
    const [, statement] = /`sqlite3 \S+ "(.+)"`/.exec(remedy) ?? []
    change(file, statement as string)
    assert.deepEqual(await examine({ UGS_DATA_DIR: folder }, 'indexes'), [])
  })

  it('reports ids near their limit', async (t) => {
    const folder = temporaryFolder(t)
    const file = await createStore(folder)
    const found = async (share: number) => {
      const last = Math.floor(Number.MAX_SAFE_INTEGER * share)
      change(file, `DELETE FROM sqlite_sequence; INSERT INTO sqlite_sequence VALUES ('user_group', ${last})`)
      return (await examine({ UGS_DATA_DIR: folder }, 'ids'))[0]
    }
    assert.equal(await found(0.7), undefined)
    assert.equal((await found(0.9))?.severity, 'warning')
    assert.equal((await found(0.99))?.severity, 'error')
    assert.match((await found(0.99))?.problem ?? '', /^The ids of user_group\.team_id are at /)
  })

  it('reports files that all users may read, and exits with 1 for warnings only with --strict', async (t) => {
    const folder = temporaryFolder(t)
    const file = await createStore(folder)
    chmodSync(file, 0o644)
    chmodSync(folder, 0o755)
    const readable = await examineOne({ UGS_DATA_DIR: folder }, 'permissions')
    assert.deepEqual(readable, {
      check: 'permissions',
      severity: 'warning',
      problem: `All users of this machine may read or write ${file}.`,
      remedy: `Run \`chmod o-rwx ${file}\`.`,
    })
    const exit = async (...args: string[]) =>
      (await runUgs(['doctor', '--skip', 'disk', ...args], { UGS_DATA_DIR: folder })).code
    assert.equal(await exit(), 0)
    assert.equal(await exit('--strict'), 1)
    chmodSync(folder, 0o700)
    assert.deepEqual(await examine({ UGS_DATA_DIR: folder }, 'permissions'), [])
    assert.equal(await exit('--strict'), 0)
  })

  it('reports files that cannot be written, without writing next to them', async (t) => {
    const folder = temporaryFolder(t)
    await createStore(folder)
    const view = readOnlyView(t, folder)
    if (view === null) return
    const { code, stdout } = await runUgs(['doctor', '--json'], { UGS_DATA_DIR: view })
    assert.equal(code, 1)
    const [closed] = findingsOf(stdout, 'file')
    assert.match(closed?.problem ?? '', /the database cannot be opened for writing/)
    assert.match(closed?.remedy ?? '', /^Check the owner and mode of the file/)
    assert.deepEqual(readdirSync(folder).sort(), ['ugs.db'])

    // A service has the file open.
    const database = new BetterSqlite3(join(folder, 'ugs.db'))
    database.prepare('SELECT count(*) FROM workspace').get()
    const findings = await examine({ UGS_DATA_DIR: view }, 'permissions')
    database.close()
    assert.match(findings[0]?.problem ?? '', /^This user may not write .*ugs\.db\.$/)
  })

  it('reports a large log', async (t) => {
    const service = await startNewProcess(t)
    await service.stop('SIGKILL')
    const log = openSync(join(service.dataFolder, 'ugs.db-wal'), 'r+')
    ftruncateSync(log, 300 * 1_048_576)
    closeSync(log)
    const large = await examineOne({ UGS_DATA_DIR: service.dataFolder }, 'log')
    assert.match(large.problem, /ugs\.db-wal has 300 MiB/)
    assert.match(large.remedy, /`fuser -v /)
  })

  it('reports a full disk', async (t) => {
    const disk = smallDisk(t, 16)
    if (disk === null) return
    await createStore(join(disk.folder, 'data'))
    const full = await examineOne({ UGS_DATA_DIR: join(disk.folder, 'data') }, 'disk')
    assert.equal(full.severity, 'error')
    assert.match(full.problem, /has \d+ MiB free; writes will fail soon/)
  })

  it('reads the whole file with --deep', async (t) => {
    const folder = temporaryFolder(t)
    const file = await createStore(folder)
    const deep = async () =>
      (await runUgs(['doctor', '--deep', '--json', '--skip', 'disk'], { UGS_DATA_DIR: folder })).stdout
    assert.equal(statusesOf(await deep()).get('content'), 'passed')
    damage(file, 'audit_event')
    const [damaged] = findingsOf(await deep(), 'content')
    assert.match(damaged?.problem ?? '', /ugs\.db is damaged/)
    assert.match(damaged?.remedy ?? '', /`ugs restore`/)
    const { stdout } = await runUgs(['doctor', '--json'], { UGS_DATA_DIR: folder })
    assert.equal(statusesOf(stdout).get('content'), 'skipped')
  })

  it('escapes names of files', async (t) => {
    const folder = join(temporaryFolder(t), 'a\u001b[31m')
    const { stdout } = await runUgs(['doctor'], { UGS_DATA_DIR: folder })
    assert.ok(!stdout.includes('\u001b'))
    assert.match(stdout, /\\u001b/)
  })
})
