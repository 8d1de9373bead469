import assert from 'node:assert/strict'
import { after, describe, it, type TestContext } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { shareOf } from '../../support/cases.ts'
import { sendRequest } from '../../support/http.ts'
import { DatabaseProxy, type CaughtStatement } from '../../support/database-proxy.ts'
import { freshDatabase } from '../../support/database.ts'
import { openSession } from '../../support/session.ts'
import { failureIn, runUgs, startService, temporaryFolder } from '../../support/service.ts'
import {
  assertCopyFails,
  assertSameRows,
  copiedTables,
  copyStore,
  kill,
  startCopy,
} from '../../support/store-copy.ts'
import { changing, rowsOfSource, sourceFile } from './copy-support.ts'
import { created, placeOf, rowsOf, terminateOthers, waitingForLocks } from './postgres-support.ts'

const source = await sourceFile({ after })
const threeBatches = await sourceFile({ after }, 2050)

/** Waits for statements that match the patterns, in this order. Passes all but the last, and returns that one. */
async function caughtAt(proxy: DatabaseProxy, patterns: readonly RegExp[]): Promise<CaughtStatement> {
  let caught: CaughtStatement | undefined
  for (const pattern of patterns) {
    const next = proxy.next(pattern)
    caught?.pass()
    caught = await next
  }
  assert.ok(caught)
  return caught
}

/** Asserts that commands refuse the unfinished copy and say how to finish it. */
async function assertUnfinished(t: TestContext, url: string, commands = [['migrate']]): Promise<void> {
  for (const command of commands) {
    const settings = { DATABASE_URL: url, PORT: '0', UGS_DATA_DIR: temporaryFolder(t) }
    const { code, stderr } = await runUgs(command, settings)
    assert.equal(code, 1, stderr)
    assert.match(
      failureIn(stderr),
      new RegExp(
        `${placeOf(url)}: a copy into this database was not finished; run \`ugs store copy\` again to finish it\\s*$`,
      ),
    )
  }
}

const insert = { userGroups: /^INSERT INTO user_group/, superseded: /^INSERT INTO superseded_token/ }
const begin = [/^COMMENT ON .*being filled/, /^DELETE FROM workspace/]
const finish = [/^INSERT INTO secret_key_check/, /^COMMENT ON/]

/** Points in time at which a copy is ended by kill -9. */
const interruptions: Record<
  string,
  {
    /** Statements up to that point. */
    readonly at: readonly RegExp[]
    /** The server still runs the last statement. */
    readonly runs?: true
    /** The target is marked as unfinished afterwards. Without the mark it is either empty or complete. */
    readonly isUnfinished: boolean
  }
> = {
  'before the first write': { at: begin.slice(0, 1), isUnfinished: false },
  'while it marks the target as unfinished': { at: begin, isUnfinished: false },
  'as soon as the target is marked as unfinished': {
    at: [...begin, /^COMMIT/],
    runs: true,
    isUnfinished: true,
  },
  'before the first rows of a table': { at: [insert.userGroups], isUnfinished: true },
  'while rows are committed': {
    at: [insert.userGroups, /^COMMIT/],
    runs: true,
    isUnfinished: true,
  },
  'before a counter is set': { at: [/^SELECT setval\('user_group/], isUnfinished: true },
  'between two tables': { at: [insert.superseded], isUnfinished: true },
  'during verification': {
    at: [...finish.slice(0, 1), /^SELECT count.* FROM user_group/],
    isUnfinished: true,
  },
  'before it removes the mark': { at: finish, isUnfinished: true },
  'while it removes the mark': { at: finish, runs: true, isUnfinished: false },
}

describe('ugs store copy, ended by kill -9', () => {
  for (const [when, { at, runs, isUnfinished }] of shareOf(Object.entries(interruptions), 2, 4)) {
    it(`resumes when it is run again: ${when}`, async (t) => {
      const url = await freshDatabase(t)
      const proxy = await DatabaseProxy.start(t, url)
      const copying = startCopy(t, source.url, proxy.url)
      const caught = await caughtAt(proxy, at)
      await kill(copying)
      if (runs) await caught.run()
      else caught.drop()
      if (isUnfinished) await assertUnfinished(t, url)
      const copied = copiedTables(await copyStore(source.url, url))
      assert.deepEqual(
        copied.map(({ name, rows }) => [name, rows]),
        Object.entries(rowsOfSource(2)),
      )
      await assertSameRows(t, source.path, url)
      await changing({ url }, created)
    })
  }

  it('keeps the committed rows and does not write them again', async (t) => {
    const url = await freshDatabase(t)
    const proxy = await DatabaseProxy.start(t, url)
    const copying = startCopy(t, threeBatches.url, proxy.url)
    const caught = await caughtAt(proxy, [insert.userGroups, insert.userGroups, insert.userGroups])
    await kill(copying)
    caught.drop()
    assert.equal(await rowsOf(url, 'user_group'), 2000)
    const session = await openSession(t, url)
    const written = async () =>
      (await session.query('SELECT min(xmin::text), provided_id FROM user_group GROUP BY provided_id')).rows
    const before = await written()
    copiedTables(await copyStore(threeBatches.url, url))
    const after = new Set((await written()).map((row) => JSON.stringify(row)))
    for (const row of before) assert.ok(after.has(JSON.stringify(row)))
  })

  it('resumes after several interruptions', async (t) => {
    const url = await freshDatabase(t)
    for (let next = 1; next <= 2; next++) {
      const proxy = await DatabaseProxy.start(t, url)
      const copying = startCopy(t, threeBatches.url, proxy.url)
      const caught = await caughtAt(proxy, Array<RegExp>(next).fill(insert.userGroups))
      await kill(copying)
      caught.drop()
      await assertUnfinished(t, url, [['serve'], ['workspace', 'list'], ['migrate']])
    }
    copiedTables(await copyStore(threeBatches.url, url))
    await assertSameRows(t, threeBatches.path, url)
  })
})

describe('ugs store copy, when the target fails during the copy', () => {
  it('fails with a message when the server ends the session, and resumes when it is run again', async (t) => {
    const url = await freshDatabase(t)
    await changing({ url }, () => Promise.resolve())
    const session = await openSession(t, url)
    await session.query('BEGIN; LOCK TABLE user_group IN SHARE MODE')
    const copying = copyStore(source.url, url)
    await waitingForLocks(session)
    await session.query(terminateOthers)
    assertCopyFails(await copying, /^ugs: .+ \(57P01\)$/)
    await session.query('ROLLBACK')
    await assertUnfinished(t, url)
    copiedTables(await copyStore(source.url, url))
    await assertSameRows(t, source.path, url)
  })

  it('waits for a lock for longer than the configured timeouts', async (t) => {
    const url = await freshDatabase(t)
    await changing({ url }, () => Promise.resolve())
    const session = await openSession(t, url)
    await session.query('BEGIN; LOCK TABLE user_group IN SHARE MODE')
    const short = { UGS_LOCK_TIMEOUT_MS: '1', UGS_POSTGRES_STATEMENT_TIMEOUT_MS: '5000' }
    const copying = runUgs(['store', 'copy', '--from', source.url, '--to', url], short)
    await waitingForLocks(session, { longerThanMs: 6000 })
    await session.query('ROLLBACK')
    copiedTables(await copying)
  })

  for (const [where, at] of Object.entries({
    'rows are written': [insert.userGroups],
    'rows are read again': [...finish.slice(0, 1), /^SELECT count.* FROM user_group/],
    'the copy begins': begin,
    'the copy finishes': finish,
  })) {
    it(`fails with a message when the connection is lost while ${where}`, async (t) => {
      const url = await freshDatabase(t)
      const proxy = await DatabaseProxy.start(t, url)
      const copying = copyStore(source.url, proxy.url)
      const caught = await caughtAt(proxy, at)
      proxy.refuse()
      caught.drop()
      assertCopyFails(await copying, /^ugs: .+ \(E[A-Z]+\)$/)
      copiedTables(await copyStore(source.url, url))
      await assertSameRows(t, source.path, url)
    })
  }
})

describe('ugs store copy, when the source changes during the copy', () => {
  const isFoundOut =
    /^ugs: user_group: the source has 3 rows \(\w{64}\), the target 3 \(\w{64}\): one of them was written to meanwhile; stop the service and copy again into an empty database$/

  it('detects the changes of a running service and leaves the copy unfinished', async (t) => {
    const service = await startService(t)
    const { Customer: token } = service.tokens
    for (const user_group_id of ['a', 'b', 'c']) {
      await sendRequest(service.origin, { token, body: { user_group_id, name: 'A' } })
    }
    const from = `sqlite:${service.dataFolder}/ugs.db`
    const url = await freshDatabase(t)
    const proxy = await DatabaseProxy.start(t, url)
    const copying = copyStore(from, proxy.url)
    const caught = await caughtAt(proxy, finish.slice(0, 1))
    const { status } = await sendRequest(service.origin, {
      ...{ method: 'PUT', token, body: { user_group_id: 'b', name: 'changed' } },
    })
    assert.equal(status, 200)
    caught.pass()
    assertCopyFails(await copying, isFoundOut)
    await assertUnfinished(t, url)
    assertCopyFails(
      await copyStore(from, url),
      /^ugs: the target holds a row of user_group that the source does not/,
    )
  })

  const changes: Record<string, { statement: string; message: RegExp }> = {
    'was added': {
      statement: `INSERT INTO secret_key_check VALUES ('a', x'00')`,
      message: /^ugs: secret_key_check: the source has 3 rows \(\w+\), the target 2 \(/,
    },
    'was removed': {
      statement: "DELETE FROM user_group WHERE name = 'B'",
      message: /^ugs: user_group: the source has 1 rows \(\w+\), the target 2 \(/,
    },
  }
  for (const [title, { statement, message }] of Object.entries(changes)) {
    it(`detects that a row ${title}`, async (t) => {
      const changed = await sourceFile(t)
      const url = await freshDatabase(t)
      const proxy = await DatabaseProxy.start(t, url)
      const copying = copyStore(changed.url, proxy.url)
      const caught = await caughtAt(proxy, finish.slice(0, 1))
      const database = new BetterSqlite3(changed.path)
      database.exec(statement)
      database.close()
      caught.pass()
      assertCopyFails(await copying, message)
      await assertUnfinished(t, url)
    })
  }
})
