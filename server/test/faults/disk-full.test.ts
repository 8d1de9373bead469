import assert from 'node:assert/strict'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import {
  failureIn,
  runUgsInNewProcess as runUgs,
  startNewProcess as startService,
} from '../support/service.ts'
import { smallDisk } from '../support/small-disk.ts'
import { assertSuccess } from '../support/user-api.ts'
import { Acknowledged, apiOf, assertWhole, readiness } from './acknowledged.ts'

describe('a full disk under a SQLite store', () => {
  it('fails writes with 503, loses nothing, and recovers once there is space', async (t) => {
    const disk = smallDisk(t, 6)
    if (disk === null) return
    const settings = { DATABASE_URL: `sqlite:${join(disk.folder, 'ugs.db')}`, UGS_DATA_DIR: disk.folder }
    const first = await startService(t, settings)
    const token = (
      await first.ugs('api-token', 'create', '--environment', 'Testing', '--name', 'test')
    ).stdout.trim()
    const service = { ...first, tokens: { Customer: token, Testing: token } }
    const acknowledged = new Acknowledged()
    await acknowledged.createSome(service)
    assert.match(
      service.stderr(),
      /"free_mb":\d,"threshold_mb":1024,"msg":"the disk of the store is nearly full/,
    )
    disk.fill()
    const filledAt = performance.now()
    // Allocated space can still be written.
    while (await acknowledged.create(service));

    // Unchanged GETs succeed in the same batch as failing writes.
    const [id = ''] = acknowledged.tokens.keys()
    const results = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        if (i % 2 === 0) return acknowledged.create(service)
        assertSuccess(await apiOf(service).get({ user_group_id: id }))
        return null
      }),
    )
    assert.deepEqual(new Set(results), new Set([null, false]))
    await acknowledged.assertKept(service)
    // The service stays ready, because most requests are reads.
    assert.equal(await readiness(service), 200)
    assert.match(
      service.stderr(),
      /"code":"unavailable","reason":"SQLITE_FULL: the disk is full .* free some space/,
    )
    // A line a second, although each change fails.
    const lines = service.stderr().match(/"reason":"SQLITE_FULL.*"msg":"request failed"/g)?.length ?? 0
    assert.ok(lines <= (performance.now() - filledAt) / 1000 + 1, `${lines} lines`)

    disk.free()
    await acknowledged.createSome(service)
    await acknowledged.assertKept(service)
    assert.equal(await service.stop('SIGKILL'), null)
    const second = { ...(await startService(t, settings)), tokens: service.tokens }
    await acknowledged.assertKept(second)
    assertWhole(join(disk.folder, 'ugs.db'))

    disk.fill()
    while (await acknowledged.create(second));
    await second.stop('SIGKILL')
    // The write-ahead log already has its space, so reads succeed after a restart too.
    const third = { ...(await startService(t, settings)), tokens: service.tokens }
    await acknowledged.assertKept(third)
    disk.free()
    await acknowledged.createSome(third)
    await acknowledged.assertKept(third)
  })

  it('is reported at the first start, with the remedy', async (t) => {
    const disk = smallDisk(t, 1)
    if (disk === null) return
    const folder = join(disk.folder, 'data')
    mkdirSync(folder)
    disk.fill()
    const { code, stderr } = await runUgs(['serve'], { PORT: '0', UGS_DATA_DIR: folder })
    assert.equal(code, 1)
    assert.match(
      failureIn(stderr),
      /^\S*ugs\.db: the disk is full or failing; free some space and check the disk \(SQLITE_\w+\)$/,
    )
    disk.free()
    await startService(t, { UGS_DATA_DIR: folder })
  })

  it('fails a backup, which names the backup and leaves no file', async (t) => {
    const disk = smallDisk(t, 1)
    if (disk === null) return
    const service = await startService(t)
    const backup = join(disk.folder, 'backup.db')
    disk.fill()
    const { code, stderr } = await service.ugs('backup', backup)
    assert.equal(code, 1)
    assert.match(stderr, /^ugs: \S*backup\.db: the disk is full or failing; free some space .*\n$/)
    assert.deepEqual(readdirSync(disk.folder), ['ballast'])
  })
})
