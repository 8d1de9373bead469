import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { openStore as openFromSource } from '../../../src/store/open-store.ts'
import { poll } from '../../failover/poll.ts'
import { temporaryFolder } from '../../support/service.ts'
import { mint, actor } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

// The checkpoint thread cannot run TypeScript.
const { openStore } = (await import(new URL('../../../dist/store/open-store.js', import.meta.url).href)) as {
  openStore: typeof openFromSource
}

/** Size of a page in the write-ahead log, including its frame header. */
const pageInLog = 4096 + 24
/** Length of the log, in pages, at which it is checkpointed. */
const maxPages = 4000

async function openFilled(t: TestContext, open: typeof openFromSource, isRead = false) {
  const path = join(temporaryFolder(t), 'ugs.db')
  const store = await open({ kind: 'sqlite', path }, defaults)
  const observer = new BetterSqlite3(path)
  t.after(() => observer.close())
  const length = observer.prepare<[], { log: number; checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)')
  const pagesLeft = () => {
    const { log, checkpointed } = length.get() ?? assert.fail()
    return log - checkpointed
  }
  let created = 0
  const create = async () => {
    await store.userGroups.getOrCreate({
      key: { workspaceId: 1, environment: 'Customer', providedId: `group-${created}` },
      change: { name: 'A', properties: JSON.stringify({ fill: 'x'.repeat(30_000) }) },
      mayWrite: true,
      issueToken: mint,
      ...actor,
      now: 1,
    })
    created++
    // On a busy machine, the thread of the checkpoint gets less CPU time than the writer.
    if (pagesLeft() > maxPages && !isRead) await sleep(20)
  }
  const close = async () => {
    await store.close()
    assert.equal(observer.pragma('integrity_check', { simple: true }), 'ok')
    assert.equal(observer.prepare('SELECT count(*) FROM user_group').pluck().get(), created)
  }
  const logBytes = () => statSync(`${path}-wal`).size
  return { path, store, observer, create, pagesLeft, logBytes, close }
}

for (const [how, open] of [
  ['a thread', openStore],
  ['commits if no thread can be started', openFromSource],
] as const)
  test(`the write-ahead log is checkpointed by ${how}, and restarts`, async (t) => {
    const { path, create, close } = await openFilled(t, open)
    const size = () => statSync(path).size / 4096
    while (size() < 4 * maxPages) await create()
    assert.ok(statSync(`${path}-wal`).size / pageInLog < 2.5 * maxPages)
    await close()
  })

test('the write-ahead log is checkpointed after a long read transaction has ended', async (t) => {
  const { observer, create, pagesLeft, close } = await openFilled(t, openStore)
  const reader = new BetterSqlite3(observer.name)
  reader.exec('BEGIN; SELECT count(*) FROM user_group')
  while (pagesLeft() < 1.5 * maxPages) await create()
  reader.close()
  await poll('a checkpoint', 20_000, async () => {
    await create()
    return pagesLeft() < maxPages ? true : undefined
  })
  await close()
})

/** Maximum size of the file of the log after it restarts. */
const maxFileBytes = 40 * 1_048_576

for (const [how, isIdle] of [
  ['by the next commits', false],
  ['while nothing is written', true],
] as const)
  test(`the file of the write-ahead log shrinks ${how} after a long read transaction of another process`, async (t) => {
    const { path, store, create, logBytes, close } = await openFilled(t, openStore, true)
    const program = `const db = require('better-sqlite3')(process.argv[1]); db.exec('BEGIN; SELECT count(*) FROM user_group'); console.log('reading'); process.stdin.resume()`
    const reader = spawn(process.execPath, ['-e', program, path], { stdio: ['pipe', 'pipe', 'inherit'] })
    t.after(() => reader.kill())
    await once(reader.stdout, 'data')
    while (logBytes() < 1.5 * maxFileBytes) await create()
    await store.shrinkLog()
    await create()
    assert.ok(logBytes() > maxFileBytes, 'the reader still needs the log')
    reader.kill()
    await once(reader, 'exit')
    await poll('a smaller log', 20_000, async () => {
      if (isIdle) await store.shrinkLog()
      else await create()
      return logBytes() <= (isIdle ? 0 : maxFileBytes) ? true : undefined
    })
    await close()
  })
