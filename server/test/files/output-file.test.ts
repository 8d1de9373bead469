import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, it, type TestContext } from 'node:test'
import { deleteFile, UnfinishedFile, writeFileOrStream, writeFileWhole } from '../../src/output-file.ts'
import { readOnlyView, smallDisk } from '../support/small-disk.ts'
import { asOther, isRoot } from '../support/other-user.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const stream = (file: string, text = 'new') =>
  writeFileOrStream(file, (target) => pipeline(Readable.from([text]), target))

/** Both ways to write a file. */
const writers = {
  writeFileWhole: (file: string) => Promise.resolve().then(() => writeFileWhole(file, 'new')),
  writeFileOrStream: stream,
}

const withCode = (code: string) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, code)
  return true
}

/** A device in a folder of the test, so that a fault cannot replace one of this machine. */
function deviceIn(t: TestContext, folder: string, minor: string): string | null {
  const device = join(folder, `device-${minor}`)
  try {
    execFileSync('mknod', ['-m', '666', device, 'c', '1', minor], { stdio: 'pipe' })
    closeSync(openSync(device, 'r'))
    return device
  } catch (error) {
    if (process.env.CI === 'true') throw error
    console.error(`SKIPPED, as there can be no device in ${folder}: ${t.name}`)
    t.skip('no device can be created')
    return null
  }
}

for (const [name, write] of Object.entries(writers)) {
  describe(name, () => {
    it('creates a file that only its owner can read', async (t) => {
      const folder = temporaryFolder(t)
      await write(join(folder, 'file'))
      assert.equal(readFileSync(join(folder, 'file'), 'utf8'), 'new')
      assert.equal(statSync(join(folder, 'file')).mode & 0o777, 0o600)
      assert.deepEqual(readdirSync(folder), ['file'])
    })

    it('replaces a file, with its mode, and leaves its other hard links', async (t) => {
      const folder = temporaryFolder(t)
      const file = join(folder, 'file')
      writeFileSync(file, 'old')
      chmodSync(file, 0o642)
      linkSync(file, join(folder, 'other'))
      await write(file)
      assert.deepEqual([readFileSync(file, 'utf8'), statSync(file).mode & 0o7777], ['new', 0o642])
      assert.equal(readFileSync(join(folder, 'other'), 'utf8'), 'old')
    })

    it('keeps owner and group', async (t) => {
      if (!isRoot(t)) return
      const file = join(temporaryFolder(t), 'file')
      writeFileSync(file, 'old')
      chownSync(file, 1234, 2345)
      await write(file)
      const { uid, gid } = statSync(file)
      assert.deepEqual([readFileSync(file, 'utf8'), uid, gid], ['new', 1234, 2345])
    })

    it('follows symbolic links, also to a file that does not exist, and leaves them', async (t) => {
      const folder = temporaryFolder(t)
      mkdirSync(join(folder, 'a/b'), { recursive: true })
      symlinkSync('a/b', join(folder, 'to-folder'))
      // Relative to the folder of the link, not to the path with which it is found.
      symlinkSync('../file', join(folder, 'a/b/link'))
      symlinkSync('to-folder/link', join(folder, 'chain'))
      for (const content of ['absent', 'old']) {
        if (content === 'old') writeFileSync(join(folder, 'a/file'), content)
        await write(join(folder, 'chain'))
        assert.equal(readFileSync(join(folder, 'a/file'), 'utf8'), 'new')
      }
      assert.equal(readlinkSync(join(folder, 'chain')), 'to-folder/link')
      assert.equal(readlinkSync(join(folder, 'a/b/link')), '../file')
      assert.deepEqual(readdirSync(folder).sort(), ['a', 'chain', 'to-folder'])
      assert.deepEqual(readdirSync(join(folder, 'a')).sort(), ['b', 'file'])
    })

    it('refuses a loop, a folder, and a folder that is missing', async (t) => {
      const folder = temporaryFolder(t)
      symlinkSync('loop', join(folder, 'loop'))
      symlinkSync('.', join(folder, 'to-folder'))
      symlinkSync('missing/file', join(folder, 'to-missing'))
      for (const [path, code] of [
        ['loop', 'ELOOP'],
        ['to-folder', 'EISDIR'],
        ['.', 'EISDIR'],
        ['new/', 'ENOENT'],
        ['to-missing', 'ENOENT'],
        ['missing/file', 'ENOENT'],
      ] as const)
        await assert.rejects(write(`${folder}/${path}`), withCode(code), path)
      await assert.rejects(write(''), withCode('ENOENT'))
      assert.deepEqual(readdirSync(folder).sort(), ['loop', 'to-folder', 'to-missing'])
    })

    it('refuses a socket', async (t) => {
      const file = join(temporaryFolder(t), 'socket')
      const server = createServer().listen(file)
      await once(server, 'listening')
      await assert.rejects(write(file), withCode(name === 'writeFileWhole' ? 'EINVAL' : 'ENXIO'))
      assert.ok(lstatSync(file).isSocket())
      server.close()
    })

    it('on a full disk keeps the file as it was', async (t) => {
      const disk = smallDisk(t, 1)
      if (disk === null) return
      const file = join(disk.folder, 'file')
      writeFileSync(file, 'old')
      disk.fill()
      await assert.rejects(write(file), withCode('ENOSPC'))
      assert.equal(readFileSync(file, 'utf8'), 'old')
      assert.deepEqual(readdirSync(disk.folder).sort(), ['ballast', 'file'])
    })

    it('on a read-only disk changes nothing', async (t) => {
      const folder = temporaryFolder(t)
      writeFileSync(join(folder, 'file'), 'old')
      const view = readOnlyView(t, folder)
      if (view === null) return
      await assert.rejects(write(join(view, 'file')), withCode('EROFS'))
      assert.deepEqual(readdirSync(folder), ['file'])
    })
  })
}

describe('writing as a user without rights', () => {
  it('refuses a file of another owner, a protected file, and a protected folder', (t) => {
    if (!isRoot(t)) return
    const folder = temporaryFolder(t)
    chmodSync(folder, 0o755)
    const [open, closed] = [join(folder, 'open'), join(folder, 'closed')]
    for (const path of [open, closed]) mkdirSync(path)
    const [shared, protectedFile, inClosed] = [join(open, 'a'), join(open, 'b'), join(closed, 'c')]
    for (const [path, mode] of [
      [shared, 0o666],
      [protectedFile, 0o644],
      [inClosed, 0o666],
    ] as const) {
      writeFileSync(path, 'old')
      chmodSync(path, mode)
    }
    chmodSync(open, 0o777)
    chmodSync(closed, 0o755)
    for (const [path, code] of [
      [shared, 'EPERM'],
      [protectedFile, 'EACCES'],
      [inClosed, 'EACCES'],
    ] as const) {
      assert.throws(() => asOther(() => writeFileWhole(path, 'new')), withCode(code), path)
      assert.equal(readFileSync(path, 'utf8'), 'old')
    }
    asOther(() => writeFileWhole(join(open, 'own'), 'new'))
    assert.deepEqual(readdirSync(open).sort(), ['a', 'b', 'own'])
    assert.deepEqual(readdirSync(closed), ['c'])
  })
})

describe('an output that is no regular file', () => {
  it('gets the content: a FIFO', async (t) => {
    const file = join(temporaryFolder(t), 'fifo')
    execFileSync('mkfifo', [file])
    // Opened for reading and writing, so that neither side waits.
    const reader = openSync(file, 'r+')
    await stream(file)
    const bytes = Buffer.alloc(10)
    assert.equal(bytes.toString('utf8', 0, readSync(reader, bytes)), 'new')
    closeSync(reader)
    assert.ok(lstatSync(file).isFIFO())
    assert.throws(() => writeFileWhole(file, 'new'), withCode('EINVAL'))
    assert.throws(() => deleteFile(file), withCode('EINVAL'))
    assert.ok(lstatSync(file).isFIFO())
  })

  for (const [name, minor, code] of [
    ['null', '3', null],
    ['full', '7', 'ENOSPC'],
  ] as const) {
    it(`gets the content and stays: the device ${name}, also behind a link`, async (t) => {
      const folder = temporaryFolder(t)
      const device = deviceIn(t, folder, minor)
      if (device === null) return
      symlinkSync(device, join(folder, 'link'))
      for (const path of [device, join(folder, 'link')]) {
        if (code === null) await stream(path)
        else await assert.rejects(stream(path), withCode(code))
        assert.throws(() => writeFileWhole(path, 'new'), withCode('EINVAL'))
        assert.throws(() => deleteFile(path), withCode('EINVAL'))
      }
      assert.ok(lstatSync(device).isCharacterDevice())
      assert.ok(lstatSync(join(folder, 'link')).isSymbolicLink())
      assert.equal(readdirSync(folder).length, 2)
    })
  }

  it('gets the content at its end: an open descriptor of a file', async (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'file')
    writeFileSync(file, 'old ')
    const descriptor = openSync(file, 'a')
    symlinkSync(`/proc/self/fd/${descriptor}`, join(folder, 'link'))
    for (const path of [
      `/dev/fd/${descriptor}`,
      `/proc/${process.pid}/fd/${descriptor}`,
      join(folder, 'link'),
    ])
      await stream(path, 'more ')
    closeSync(descriptor)
    assert.equal(readFileSync(file, 'utf8'), 'old more more more ')
    assert.deepEqual(readdirSync(folder).sort(), ['file', 'link'])
    assert.throws(() => writeFileWhole('/dev/fd/1', 'new'), withCode('EINVAL'))
  })
})

describe('an unfinished file', () => {
  it('is deleted with those of SQLite, and leaves the file as it was', (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'file')
    writeFileSync(file, 'old')
    const unfinished = new UnfinishedFile(file)
    for (const suffix of ['-journal', '-wal', '-shm']) writeFileSync(unfinished.path + suffix, '')
    unfinished.delete()
    unfinished.delete()
    assert.deepEqual(readdirSync(folder), ['file'])
    assert.equal(readFileSync(file, 'utf8'), 'old')
  })

  it('does not replace a file, nor one that another process creates meanwhile, if it must be new', (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'file')
    const unfinished = new UnfinishedFile(file, { mustBeNew: true })
    writeFileSync(file, 'other')
    assert.throws(() => unfinished.finish(), withCode('EEXIST'))
    unfinished.delete()
    assert.throws(() => new UnfinishedFile(file, { mustBeNew: true }), withCode('EEXIST'))
    assert.equal(readFileSync(file, 'utf8'), 'other')
    assert.deepEqual(readdirSync(folder), ['file'])
  })

  it('leaves a file of two writers whole', async (t) => {
    const folder = temporaryFolder(t)
    const file = join(folder, 'file')
    const texts = ['a', 'b'].map((char) => char.repeat(300_000))
    await Promise.all(texts.map((text) => stream(file, text)))
    assert.ok(texts.includes(readFileSync(file, 'utf8')))
    assert.deepEqual(readdirSync(folder), ['file'])
  })

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    it(`is deleted by ${signal}, which ends the process as usual`, async (t) => {
      const folder = temporaryFolder(t)
      const module = new URL('../../dist/output-file.js', import.meta.url).href
      const program = `import(${JSON.stringify(module)}).then(({ UnfinishedFile }) => {
        console.log(new UnfinishedFile(${JSON.stringify(join(folder, 'file'))}).path)
        setInterval(() => undefined, 1000)
      })`
      const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
      t.after(() => child.kill('SIGKILL'))
      await once(child.stdout, 'data')
      assert.equal(readdirSync(folder).length, 1)
      child.kill(signal)
      assert.deepEqual(await once(child, 'exit'), [null, signal])
      assert.deepEqual(readdirSync(folder), [])
    })
  }

  it('leaves no listener', async (t) => {
    const counts = () => ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP'].map((event) => process.listenerCount(event))
    const before = counts()
    await stream(join(temporaryFolder(t), 'file'))
    assert.deepEqual(counts(), before)
  })
})

describe('deleteFile', () => {
  it('deletes the file behind a link, and nothing if there is none', (t) => {
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'file'), '')
    symlinkSync('file', join(folder, 'link'))
    for (let i = 0; i < 2; i++) {
      deleteFile(join(folder, 'link'))
      assert.deepEqual(readdirSync(folder), ['link'])
    }
    assert.throws(() => deleteFile(folder), withCode('EISDIR'))
  })
})
