import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { poll } from '../../failover/poll.ts'
import { temporaryFolder } from '../../support/service.ts'
import { mint, actor } from '../contract/store-fixtures.ts'
import { defaults } from '../store-options.ts'

// Loads the build, because the checkpoint thread cannot run TypeScript.
const { openStore } = (await import(
  new URL('../../../dist/store/open-store.js', import.meta.url).href
)) as typeof import('../../../src/store/open-store.ts')

/** Size of a page in the write-ahead log, including its frame header. */
const pageInLog = 4096 + 24

test('the write-ahead log is checkpointed before a commit must do it, restarts, and stays short', async (t) => {
  const path = join(temporaryFolder(t), 'ugs.db')
  const store = await openStore({ kind: 'sqlite', path }, defaults)
  let created = 0
  const create = () =>
    store.userGroups.getOrCreate({
      key: { workspaceId: 1, environment: 'Customer', providedId: `group-${created++}` },
      change: { name: 'A', properties: JSON.stringify({ fill: 'x'.repeat(30_000) }) },
      mayWrite: true,
      issueToken: mint,
      ...actor,
      now: 1,
    })
  const pagesInLog = () => statSync(`${path}-wal`).size / pageInLog
  const size = () => statSync(path).size
  const began = size()
  const isCheckpointed = () => size() > began + 1_000_000
  // If the checkpoint is faster than the writer, the log restarts before it has that length.
  while (pagesInLog() < 3700 && !isCheckpointed()) await create()
  assert.ok(pagesInLog() < 4000)
  await poll('a checkpoint', 20_000, async () => {
    // Writers check the length of the log from time to time.
    if (pagesInLog() < 3900) await create()
    return isCheckpointed() ? true : undefined
  })
  assert.ok(pagesInLog() < 4000)

  const groups = created * 4
  const observer = new BetterSqlite3(path, { readonly: true })
  const checkpoint = observer.prepare<[], { log: number; checkpointed: number }>(
    'PRAGMA wal_checkpoint(NOOP)',
  )
  while (created < groups) {
    await create()
    const { log, checkpointed } = checkpoint.get() ?? assert.fail()
    // On a busy machine, the thread of the checkpoint gets less CPU time than the writer.
    if (log - checkpointed > 3700) await sleep(20)
  }
  observer.close()
  assert.ok(pagesInLog() < 5000)
  await store.close()
  const database = new BetterSqlite3(path)
  assert.equal(database.pragma('integrity_check', { simple: true }), 'ok')
  assert.equal(database.prepare('SELECT count(*) FROM user_group').pluck().get(), groups)
  database.close()
})
