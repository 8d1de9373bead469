import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { assertSucceeded, assertRefused, startManaged } from '../../support/admin-api.ts'
import { importedIn } from '../../support/bulk.ts'
import { configureWorkers } from '../../support/database.ts'
import type { Scope } from '../../support/scope.ts'
import type { RunningService } from '../../support/service.ts'
import { openSession } from '../../support/session.ts'
import { Upload } from '../../support/upload.ts'

const settings = { UGS_LOCK_TIMEOUT_MS: '300' }
const { service, admin, adminToken } = await startManaged({ after }, settings)
// Citus does not pass the time-out on. A statement that still waits after the response could take effect.
if (service.databaseUrl !== undefined) await configureWorkers(service.databaseUrl, 'lock_timeout = 300')

/** Blocks all writes until the returned function is called. */
async function lock(t: Scope, { dataFolder, databaseUrl }: RunningService): Promise<() => Promise<void>> {
  if (databaseUrl !== undefined) {
    const session = await openSession(t, databaseUrl)
    await session.query('BEGIN; LOCK TABLE user_group IN SHARE ROW EXCLUSIVE MODE')
    return async () => {
      await session.query('ROLLBACK')
    }
  }
  const database = new BetterSqlite3(join(dataFolder, 'ugs.db'))
  t.after(() => void database.close())
  database.exec('BEGIN IMMEDIATE')
  return () => Promise.resolve(void database.exec('ROLLBACK'))
}

const rowOf = (id: string) => `{"user_group_id":"${id}","name":"Name"}\n`
const exported = async () => (await admin.exportUserGroups()).text
const idIn = (row: string) => (JSON.parse(row) as { user_group_id: string }).user_group_id
async function holds(rows: readonly string[]): Promise<boolean> {
  const text = await exported()
  return rows.every((row) => text.includes(idIn(row)))
}

describe('an import whose store is lost', () => {
  test('in the middle reports the last imported line, and a second import completes it', async (t) => {
    const rows = Array.from({ length: 5000 }, (_, i) => rowOf(`lost ${String(i).padStart(4, '0')}`))
    const upload = new Upload(service.origin, adminToken)
    await upload.send(rows.slice(0, 3000).join(''))
    // The first batch is imported, so the outage begins in the middle. A batch may take several transactions.
    while (!(await holds(rows.slice(0, 512)))) await sleep(20)
    const unlock = await lock(t, service)
    await upload.send(rows.slice(3000).join(''))
    const { message } = assertRefused(await upload.end(), 'importUserGroups', 'unavailable')
    await unlock()
    const [, line = ''] =
      /; the rows before line (\d+) are imported; import the whole file again to continue$/.exec(message) ??
      []
    const text = await exported()
    const done = rows.findIndex((row) => !text.includes(idIn(row)))
    assert.ok(Number(line) > 1 && Number(line) - 1 <= done, `${line}, and ${done} are there`)

    const again = await admin.importUserGroups({ body: rows.join('') })
    const { summary } = importedIn(assertSucceeded<unknown[]>(again, 'importUserGroups'))
    assert.deepEqual([summary.rows, summary.refused, summary.updated], [rows.length, 0, 0])
    assert.ok(summary.unchanged >= Number(line) - 1)
  })

  test('from the start changes nothing and reports it', async (t) => {
    const unlock = await lock(t, service)
    const response = await admin.importUserGroups({ body: rowOf('never') })
    await unlock()
    const { message } = assertRefused(response, 'importUserGroups', 'unavailable')
    assert.match(message, /; the rows before line 1 are imported/)
    assert.ok(Number(response.headers['retry-after']) > 0)
    assert.ok(!(await exported()).includes('never'))
  })
})
