import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { examineOne } from '../support/doctor.ts'
import { sendRequest } from '../support/http.ts'
import { scrape } from '../support/metrics.ts'
import { startNewProcess as startService, temporaryFolder } from '../support/service.ts'
import { assertFault } from '../support/user-api.ts'
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

async function damagedMetric(service: Parameters<typeof scrape>[0]): Promise<number> {
  return Number(/^ugs_store_damaged (\d)$/m.exec((await scrape(service)).text)?.[1])
}
