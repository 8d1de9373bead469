import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { readBlocks } from '../docs/blocks.ts'
import { examineOne } from '../support/doctor.ts'
import { sendRequest } from '../support/http.ts'
import { scrape } from '../support/metrics.ts'
import { runUgs, startNewProcess as startService, temporaryFolder } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { assertFault, tokenIn } from '../support/user-api.ts'
import { Acknowledged, apiOf } from './acknowledged.ts'

test('a service that starts on a damaged store serves reads and refuses changes, until `ugs store resume`', async (t) => {
  const environment = { UGS_DATA_DIR: join(temporaryFolder(t), 'data'), UGS_METRICS_PORT: '0' }
  const first = await startService(t, environment)
  const acknowledged = new Acknowledged()
  await acknowledged.createSome(first, 3)
  await first.stop()

  // The entry of group-1 in the index. In the table, the id has other neighbors.
  const path = join(environment.UGS_DATA_DIR, 'ugs.db')
  const database = new BetterSqlite3(path)
  const page = database
    .prepare("SELECT pageno FROM dbstat WHERE name = 'sqlite_autoindex_user_group_1'")
    .pluck()
    .get() as number
  database.close()
  const at = readFileSync(path).indexOf('group-1', (page - 1) * 4096)
  const file = openSync(path, 'r+')
  writeSync(file, Buffer.from('~'), 0, 1, at + 6)
  closeSync(file)

  const service = { ...(await startService(t, environment)), tokens: first.tokens }
  await service.logged('the store is damaged and refuses changes')
  assert.match(service.stderr(), /"reason":"STORE_DAMAGED: row \d+ missing from index/)
  for (const id of ['group-1', 'new'])
    assertFault(await apiOf(service).get({ user_group_id: id, name: id }), 'unavailable')
  assertFault(await apiOf(service).put({ user_group_id: 'group-0', name: 'Changed' }), 'unavailable')
  const unchanged = await apiOf(service).get({ user_group_id: 'group-0' })
  assert.equal(unchanged.status, 200)
  const { status, body } = await sendRequest(service.origin, { path: '/readyz' })
  assert.deepEqual([status, body], [200, { status: 'read_only' }])
  assert.equal(await damagedMetric(service), 1)
  assert.match((await examineOne(environment, 'damage')).problem, /services refuse changes/)
  const refusal = await service.ugs('store', 'resume')
  assert.equal(refusal.code, 1)
  assert.match(refusal.stderr, /still damaged \(row \d+ missing/)

  const repair = new BetterSqlite3(path)
  repair.exec('REINDEX')
  repair.close()
  assert.equal((await service.ugs('store', 'resume')).code, 0)
  await acknowledged.assertKept(service)
  await acknowledged.createSome(service, 1)
  assert.equal(await damagedMetric(service), 0)
})

test('a damaged table is recovered by the steps of docs/operations.md', async (t) => {
  const shell = findTool(t, {
    name: 'The sqlite3 shell',
    hint: 'apt-get install sqlite3',
    commands: ['sqlite3'],
    probe: ['--version'],
  })
  if (shell === undefined) return
  const folder = join(temporaryFolder(t), 'data')
  const environment = { UGS_DATA_DIR: folder }
  const first = await startService(t, environment)
  const acknowledged = new Acknowledged()
  await acknowledged.createSome(first, 40)
  await first.stop()

  const path = join(folder, 'ugs.db')
  const database = new BetterSqlite3(path)
  const pages = database
    .prepare("SELECT pageno FROM dbstat WHERE name = 'user_group' AND pagetype = 'leaf' ORDER BY path")
    .pluck()
    .all() as number[]
  database.close()
  const file = openSync(path, 'r+')
  // The kind of the page and the number of its cells.
  writeSync(file, Buffer.alloc(8), 0, 8, ((pages[1] as number) - 1) * 4096)
  closeSync(file)
  const refused = await runUgs(['store', 'resume'], environment)
  assert.equal(refused.code, 1, refused.stderr)

  const empty = { UGS_DATA_DIR: temporaryFolder(t) }
  execFileSync(shell, [join(empty.UGS_DATA_DIR, 'ugs.db'), 'PRAGMA application_id = 1430737664'])
  assert.match((await runUgs(['store', 'resume'], empty)).stderr, /the database has lost its tables/)

  const recovered = join(folder, 'recovered.db')
  const [recover] = readBlocks('docs/operations.md', 'A damaged store', 1)
  execFileSync('sh', ['-c', recover], { cwd: folder, stdio: 'pipe' })
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
  renameSync(recovered, path)
  const resumed = await runUgs(['store', 'resume'], environment)
  assert.equal(resumed.code, 0, resumed.stderr)

  const service = { ...(await startService(t, environment)), tokens: first.tokens }
  let lost = 0
  for (const [id, token] of acknowledged.tokens) {
    const response = await apiOf(service).put({ user_group_id: id })
    if (response.status === 404) lost++
    else assert.equal(tokenIn(response), token)
  }
  assert.ok(lost >= 1 && lost < 10, String(lost))
  await acknowledged.createSome(service, 1)
})

async function damagedMetric(service: Parameters<typeof scrape>[0]): Promise<number> {
  return Number(/^ugs_store_damaged (\d)$/m.exec((await scrape(service)).text)?.[1])
}
