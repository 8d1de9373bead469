import assert from 'node:assert/strict'
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import BetterSqlite3 from 'better-sqlite3'
import { runUgs, sharedService, temporaryFolder, type CommandResult } from '../support/service.ts'
import { secretKeyText } from '../support/secret-key.ts'

const folder = temporaryFolder({ after })
let names = 0
const fresh = (name: string) => join(folder, `${names++}-${name}`)
const restore = (file: string, dataFolder: string, ...options: string[]) =>
  runUgs(['restore', file, ...options], { UGS_DATA_DIR: dataFolder })

function assertFailure({ code, stdout, stderr }: CommandResult, message: RegExp): void {
  assert.deepEqual([code, stdout], [1, ''], stderr)
  assert.match(stderr, message)
  assert.doesNotMatch(stderr, / at .*:\d+|internal error/)
}

describe('ugs backup and restore', () => {
  const service = sharedService()
  const create = async (id: string): Promise<string> => {
    const { origin, tokens } = service()
    const response = await fetch(`${origin}/api/user`, {
      method: 'POST',
      headers: {
        authorization: `Token ${tokens.Testing}`,
        'content-type': 'application/json',
        'x-http-method-override': 'GET',
      },
      body: JSON.stringify({ user_group_id: id, name: 'A', properties: { text: 'x'.repeat(2000) } }),
    })
    const { user_group } = (await response.json()) as { user_group: { token: string } }
    return user_group.token
  }
  const backUp = async () => {
    const file = fresh('backup.db')
    const { code, stderr } = await service().ugs('backup', file)
    assert.equal(code, 0, stderr)
    return file
  }

  it('copies all acknowledged changes while a service is writing', async () => {
    const created = new Map<string, string>()
    let isDone = false
    const write = async (writer: number) => {
      for (let i = 0; !isDone; i++) created.set(`${writer}-${i}`, await create(`${writer}-${i}`))
    }
    const writers = Array.from({ length: 8 }, (_, writer) => write(writer))
    while (created.size < 500) await new Promise((resolve) => setImmediate(resolve))
    const before = [...created]
    const file = await backUp()
    isDone = true
    await Promise.all(writers)
    assert.ok(created.size > before.length)

    const dataFolder = fresh('data')
    mkdirSync(dataFolder)
    copyFileSync(join(service().dataFolder, 'secret-keys'), join(dataFolder, 'secret-keys'))
    const restored = await restore(file, dataFolder)
    assert.equal(restored.code, 0)
    assert.doesNotMatch(restored.stderr, /before you start/)
    assert.deepEqual(readdirSync(dataFolder).sort(), ['secret-keys', 'ugs.db'])
    const exported = await runUgs(['export', '-', '--format', 'ndjson', '--environment', 'Testing'], {
      UGS_DATA_DIR: dataFolder,
    })
    assert.equal(exported.code, 0, exported.stderr)
    const ids = new Set(
      exported.stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { user_group_id: string }).user_group_id),
    )
    assert.deepEqual(
      before.filter(([id]) => !ids.has(id)),
      [],
    )
    const args = ['user-group', 'show', '7-0', '--environment', 'Testing', '--show-token', '--json']
    const { stdout } = await runUgs(args, { UGS_DATA_DIR: dataFolder })
    assert.equal((JSON.parse(stdout) as { token: string }).token, created.get('7-0'))
  })

  it('creates one private file and replaces no file', async () => {
    const file = await backUp()
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(readFileSync(file).subarray(18, 20).toString('hex'), '0101', 'it needs no write-ahead log')
    const before = readFileSync(file)
    assertFailure(await service().ugs('backup', file), /already exists; move it/)
    assert.deepEqual(readFileSync(file), before)
    assertFailure(await service().ugs('backup', join(folder, 'none', 'b.db')), /the folder does not exist/)
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.includes('unfinished')),
      [],
    )
  })

  it('follows a symbolic link to a file that does not exist, and takes no standard output', async () => {
    const [file, link] = [fresh('backup.db'), fresh('link')]
    symlinkSync(file, link)
    assert.equal((await service().ugs('backup', link)).code, 0)
    assert.ok(lstatSync(link).isSymbolicLink())
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal((await service().ugs('backup', 'verify', link)).code, 0)
    symlinkSync(fresh('missing/backup.db'), `${link}-2`)
    assertFailure(
      await service().ugs('backup', `${link}-2`),
      /^ugs: .*link-2: cannot be created \(ENOENT\)\n$/,
    )
    assert.equal((await service().ugs('backup', '-')).code, 2)
    assert.ok(!existsSync('-'))
  })

  it('reports missing or wrong secret keys', async () => {
    const file = await backUp()
    const dataFolder = fresh('data')
    assertFailure(await restore(file, dataFolder), /^ugs: \S*secret-keys: is missing/)
    assert.ok(!existsSync(dataFolder))
    const { code, stderr } = await restore(file, dataFolder, '--unverified')
    assert.equal(code, 1)
    assert.match(stderr, /\nRestored .* bytes, checked.\n/)
    assert.match(
      stderr,
      /\nugs: the store is restored; fix this before you start the service: .*secret-keys: is missing/,
    )
    assert.deepEqual(readdirSync(dataFolder), ['ugs.db'])
    assertFailure(await restore(file, dataFolder, '--unverified'), /ugs\.db: already exists; move it/)

    const other = fresh('data')
    mkdirSync(other)
    writeFileSync(join(other, 'secret-keys'), `${secretKeyText('k1', 'other')}\n`)
    assertFailure(
      await restore(file, other),
      /backup\.db\.manifest: the secret key "k1", which signed the backup, is another key than that in \S*secret-keys; restore/,
    )
    const later = fresh('data')
    mkdirSync(later)
    writeFileSync(join(later, 'secret-keys'), `${secretKeyText('k2', 'other')}\n`)
    const { stderr: missing } = await restore(file, later)
    assert.match(
      missing,
      /the secret key "k1", which signed the backup, is missing in \S*secret-keys; restore that key/,
    )
    assert.doesNotMatch(missing, /altered/)
    const wrong = await restore(file, other, '--unverified')
    assert.equal(wrong.code, 1)
    assert.match(wrong.stderr, /the key "k1" is not the key with which this store is encrypted/)
  })

  it('notices any change after the backup', async () => {
    const verify = async (file: string) => {
      const dataFolder = fresh('data')
      mkdirSync(dataFolder)
      copyFileSync(join(service().dataFolder, 'secret-keys'), join(dataFolder, 'secret-keys'))
      const verified = await service().ugs('backup', 'verify', file)
      const restored = await restore(file, dataFolder)
      assert.equal(restored.code, verified.code, restored.stderr)
      assert.equal(existsSync(join(dataFolder, 'ugs.db')), verified.code === 0)
      return verified
    }
    const file = await backUp()
    const manifest = `${file}.manifest`
    const signed = readFileSync(manifest, 'utf8')
    assert.equal(statSync(manifest).mode & 0o777, 0o600)
    assert.match((await verify(file)).stderr, /^\S*backup\.db: unchanged since the backup\n$/)

    const { encrypted_sha256: digest } = JSON.parse(signed) as { encrypted_sha256: string }
    const forged = Buffer.from(digest, 'base64').map((byte, i) => (i === 20 ? byte ^ 1 : byte))
    for (const text of ['', '{}', '[]']) {
      writeFileSync(manifest, text)
      assertFailure(await verify(file), /\.manifest: is not a manifest of `ugs backup`; use another backup/)
    }
    writeFileSync(manifest, signed.replace(digest, Buffer.from(forged).toString('base64')))
    assertFailure(await verify(file), /\.manifest: was altered; use another backup/)
    rmSync(manifest)
    assertFailure(await verify(file), /\.manifest: is missing/)

    writeFileSync(manifest, signed)
    const link = fresh('link.db')
    symlinkSync(file, link)
    copyFileSync(manifest, `${link}.manifest`)
    const altered = fresh('altered.db')
    copyFileSync(file, altered)
    const database = new BetterSqlite3(altered)
    database.pragma('journal_mode = WAL')
    database.exec("UPDATE user_group SET name = 'B'")
    copyFileSync(`${altered}-wal`, `${file}-wal`)
    database.close()
    for (const path of [file, link])
      assertFailure(await verify(path), /backup\.db-wal: would alter the backup/)
    rmSync(`${file}-wal`)
    writeFileSync(`${file}-journal`, '')
    assertFailure(await verify(file), /backup\.db-journal: would alter the backup/)
    rmSync(`${file}-journal`)

    new BetterSqlite3(file).exec("UPDATE user_group SET name = 'B' WHERE provided_id = '0-0'").close()
    assertFailure(await verify(file), /backup\.db: was altered after the backup; use another backup/)
  })

  it('refuses damaged files and files that are not backups', async () => {
    const whole = readFileSync(await backUp())
    const damaged = Buffer.from(whole)
    damaged.fill(0xa5, 3 * 4096, 6 * 4096)
    const newer = fresh('newer.db')
    writeFileSync(newer, whole)
    new BetterSqlite3(newer).exec("INSERT INTO schema_migration VALUES (99, 'later', 1)").close()
    const foreign = fresh('foreign.db')
    new BetterSqlite3(foreign).exec('CREATE TABLE t (a)').close()
    const written = (content: Buffer | string) => {
      const file = fresh('file.db')
      writeFileSync(file, content)
      return file
    }
    const cases: [file: string, message: RegExp][] = [
      [join(folder, 'none.db'), /none\.db: there is no such file/],
      [written('no database'), /is not a SQLite database/],
      [written(''), /is not a store of the User Group Service/],
      [foreign, /is not a store of the User Group Service/],
      [newer, /has schema version 99, and this release knows up to \d+/],
      [written(whole.subarray(0, whole.length - 5 * 4096)), /damaged/],
      [written(damaged), /damaged/],
    ]
    for (const [file, message] of cases) {
      const dataFolder = fresh('data')
      assertFailure(await restore(file, dataFolder, '--unverified'), message)
      assert.deepEqual(readdirSync(dataFolder), [], file)
    }
  })

  it('refers to the tools of PostgreSQL for a PostgreSQL store', async () => {
    for (const command of ['backup', 'restore']) {
      const { code, stderr } = await runUgs([command, fresh('b.db')], {
        DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      })
      assert.equal(code, 2)
      assert.match(stderr, /the tools of PostgreSQL/)
    }
  })
})
