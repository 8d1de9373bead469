import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startNewProcess as startService } from '../support/service.ts'
import { failingDisk } from '../support/small-disk.ts'
import { Acknowledged, assertWhole, readiness } from './acknowledged.ts'

test('if the file system becomes read-only, writes get 503, reads succeed and nothing is lost', async (t) => {
  const disk = failingDisk(t)
  if (disk === null) return
  const settings = { UGS_DATA_DIR: join(disk.folder, 'data') }
  const first = await startService(t, settings)
  const acknowledged = new Acknowledged()
  await acknowledged.createSome(first)
  disk.fail()
  for (let i = 0; i < 10; i++) assert.equal(await acknowledged.create(first), false)
  await acknowledged.assertKept(first)
  assert.equal(await readiness(first), 200)
  assert.match(
    first.stderr(),
    /"code":"unavailable","reason":"SQLITE_IOERR_WRITE: the disk is full or failing; free some space and check/,
  )
  assert.doesNotMatch(first.stderr(), /"code":"internal"/)

  await first.stop()
  disk.mountAgain()
  const second = { ...(await startService(t, settings)), tokens: first.tokens }
  await acknowledged.assertKept(second)
  await acknowledged.createSome(second)
  assertWhole(join(settings.UGS_DATA_DIR, 'ugs.db'))
  await second.stop()
})
