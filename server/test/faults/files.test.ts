import assert from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import {
  failureIn,
  runUgsInNewProcess as runUgs,
  startNewProcess as startService,
  temporaryFolder,
  type RunningService,
} from '../support/service.ts'
import { readOnlyView } from '../support/small-disk.ts'
import { Acknowledged, assertWhole, readiness } from './acknowledged.ts'

/** Starts a service and creates some user groups. */
async function startUsed(t: TestContext) {
  const service = await startService(t, { UGS_DATA_DIR: join(temporaryFolder(t), 'data') })
  const acknowledged = new Acknowledged()
  await acknowledged.createSome(service)
  return { service, acknowledged, path: join(service.dataFolder, 'ugs.db') }
}

/** Restarts the service, on the same folder or another, with the same API tokens. */
async function startAgain(
  t: TestContext,
  { dataFolder, tokens }: RunningService,
  folder = dataFolder,
): Promise<RunningService> {
  return { ...(await startService(t, { UGS_DATA_DIR: folder })), tokens }
}

/** Asserts that a start on this folder fails with the message. */
async function assertRefused(folder: string, message: RegExp): Promise<void> {
  const { code, stderr, stdout } = await runUgs(['serve'], { PORT: '0', UGS_DATA_DIR: folder })
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(failureIn(stderr), message)
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor)
  } catch {
    // The descriptor was closed in the meantime.
    return ''
  }
}

async function untilUnready(service: RunningService): Promise<void> {
  while ((await readiness(service)) === 200);
}

describe('a file of the store is lost while a service runs', () => {
  for (const suffix of ['-wal', '-shm']) {
    it(`ugs.db${suffix}: the service creates it again, and nothing is lost`, async (t) => {
      const { service, acknowledged, path } = await startUsed(t)
      rmSync(path + suffix)
      await acknowledged.createSome(service)
      assert.ok(statSync(path + suffix).isFile())
      await acknowledged.createSome(service)
      await service.stop('SIGKILL')
      const again = await startAgain(t, service)
      await acknowledged.assertKept(again)
      assertWhole(path)
    })
  }

  it('ugs.db-wal, while another process uses the store: 503 until that process ends', async (t) => {
    const { service, acknowledged, path } = await startUsed(t)
    const other = new BetterSqlite3(path)
    other.prepare('SELECT count(*) FROM user_group').get()
    rmSync(`${path}-wal`)
    assert.equal(await acknowledged.create(service), false)
    assert.equal(await readiness(service), 503)
    await service.logged('"reason":"STORE_FILES_LOST: the log was removed; stop every process')
    other.close()
    await acknowledged.createSome(service)
    await service.stop('SIGKILL')
    await acknowledged.assertKept(await startAgain(t, service))
    assertWhole(path)
  })

  it('the data folder: 503 from the next change on, and the store can be copied from the process', async (t) => {
    const { service, acknowledged, path } = await startUsed(t)
    rmSync(service.dataFolder, { recursive: true })
    assert.equal(await acknowledged.create(service), false)
    assert.equal(await readiness(service), 503)
    assert.equal(await acknowledged.assertNoneWrong(service), acknowledged.tokens.size)
    await service.logged(
      '"reason":"STORE_FILES_LOST: the database was removed or moved; copy it from /proc/PID/fd',
    )

    const rescued = join(temporaryFolder(t), 'data')
    mkdirSync(rescued)
    const open = `/proc/${service.pid}/fd`
    for (const descriptor of readdirSync(open)) {
      const [file = ''] = targetOf(join(open, descriptor)).split(' (deleted)')
      if ([path, `${path}-wal`].includes(file))
        copyFileSync(join(open, descriptor), join(rescued, basename(file)))
    }
    await service.stop('SIGKILL')
    const database = new BetterSqlite3(join(rescued, 'ugs.db'))
    const ids = database.prepare<[], string>('SELECT provided_id FROM user_group').pluck().all()
    database.close()
    for (const id of acknowledged.tokens.keys()) assert.ok(ids.includes(id))
    assertWhole(join(rescued, 'ugs.db'))
  })

  it('the data folder, without a change: reads soon get 503', async (t) => {
    const { service, acknowledged } = await startUsed(t)
    rmSync(service.dataFolder, { recursive: true })
    await untilUnready(service)
    assert.equal(await acknowledged.assertNoneWrong(service), acknowledged.tokens.size)
  })

  it('the data folder is moved away and back: the service recovers by itself', async (t) => {
    const { service, acknowledged } = await startUsed(t)
    renameSync(service.dataFolder, `${service.dataFolder}-moved`)
    assert.equal(await acknowledged.create(service), false)
    assert.equal(await readiness(service), 503)
    renameSync(`${service.dataFolder}-moved`, service.dataFolder)
    assert.equal(await readiness(service), 200)
    await acknowledged.createSome(service)
    await service.stop('SIGKILL')
    await acknowledged.assertKept(await startAgain(t, service))
  })

  it('the database is replaced by another: 503 until the service restarts', async (t) => {
    const { service, acknowledged, path } = await startUsed(t)
    const backup = join(temporaryFolder(t), 'backup.db')
    assert.equal((await service.ugs('backup', backup)).code, 0)
    renameSync(backup, path)
    assert.equal(await acknowledged.create(service), false)
    await service.logged('"reason":"STORE_FILES_LOST: ugs.db was replaced; stop the service')
    await service.stop()
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true })
    await acknowledged.assertKept(await startAgain(t, service))
  })

  it('the database is truncated: 503', async (t) => {
    const { service, path } = await startUsed(t)
    await service.stop()
    const again = await startAgain(t, service)
    truncateSync(path, 3 * 4096)
    await untilUnready(again)
    await again.logged('"reason":"SQLITE_CORRUPT: the database is damaged; restore a backup"')
  })

  it('the database is truncated, and the read pages are in the write-ahead log: 503', async (t) => {
    const { service, acknowledged, path } = await startUsed(t)
    await service.stop()
    const again = await startAgain(t, service)
    await acknowledged.createSome(again)
    truncateSync(path, 3 * 4096)
    assert.equal(await acknowledged.create(again), false)
    await again.logged('"reason":"STORE_FILES_LOST: the database was cut short; stop the service and restore')
    assert.equal(await readiness(again), 503)
  })
})

describe('a file of the store is lost while no service runs', () => {
  it('ugs.db-wal after a crash: the service does not start until the file is back', async (t) => {
    const { service, acknowledged, path } = await startUsed(t)
    await service.stop('SIGKILL')
    renameSync(`${path}-wal`, `${path}-away`)
    await assertRefused(
      service.dataFolder,
      /^\S+: ugs\.db-wal is missing and holds the last commits; put it back, .* remove ugs\.db-shm$/,
    )
    renameSync(`${path}-away`, `${path}-wal`)
    await acknowledged.assertKept(await startAgain(t, service))
  })

  it('ugs.db-shm after a crash: the service creates it again', async (t) => {
    const { service, acknowledged, path } = await startUsed(t)
    await service.stop('SIGKILL')
    rmSync(`${path}-shm`)
    await acknowledged.assertKept(await startAgain(t, service))
    assertWhole(path)
  })

  const damages: Record<string, { damage: (path: string) => void; message: RegExp }> = {
    truncated: {
      damage: (path) => truncateSync(path, 5 * 4096 + 100),
      message: /ugs\.db: the database is damaged; restore a backup \(SQLITE_CORRUPT\)/,
    },
    'truncated to its first page': {
      damage: (path) => truncateSync(path, 4096),
      message: /ugs\.db: the database is damaged; restore a backup \(SQLITE_CORRUPT\)/,
    },
    'no database': {
      damage: (path) => writeFileSync(path, 'This is a text and not a database. '.repeat(1000)),
      message:
        /ugs\.db: the file is not a SQLite database; use another file, or restore a backup \(SQLITE_NOTADB\)/,
    },
  }
  for (const [state, { damage, message }] of Object.entries(damages)) {
    it(`the database is ${state}: the service does not start`, async (t) => {
      const { service, path } = await startUsed(t)
      await service.stop()
      damage(path)
      await assertRefused(service.dataFolder, message)
    })
  }

  it('the files are read-only: the service does not start', async (t) => {
    const { service, acknowledged } = await startUsed(t)
    await service.stop('SIGKILL')
    const view = readOnlyView(t, service.dataFolder)
    if (view === null) return
    await assertRefused(
      view,
      /ugs\.db: the database cannot be opened for writing; check the owner and mode of the file/,
    )
    await acknowledged.assertKept(await startAgain(t, service))
    await service.stop()
    await assertRefused(
      view,
      /ugs\.db: the database cannot be opened for writing; check the owner and mode of the file/,
    )
  })
})
