import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { errorCodeOf } from '../../src/domain/util/error-code.ts'

/** A file system of some MB. */
export interface SmallDisk {
  readonly folder: string
  /** Fills the file system. */
  readonly fill: () => void
  /** Frees the space that `fill` took. */
  readonly free: () => void
}

/** Returns null and skips the test if this user may not mount. With CI=true the test fails. */
export function smallDisk(t: TestContext, megabytes: number): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-small-disk-'))
  if (!isMounted(t, ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder], folder))
    return null
  const ballast = join(folder, 'ballast')
  return { folder, fill: () => writeUntilFull(ballast), free: () => rmSync(ballast, { force: true }) }
}

/** Mounts the folder again read-only. Returns null as above. */
export function readOnlyView(t: TestContext, folder: string): string | null {
  const view = mkdtempSync(join(tmpdir(), 'ugs-read-only-'))
  if (!isMounted(t, ['--bind', folder, view], view)) return null
  execFileSync('mount', ['-o', 'remount,ro,bind', view])
  return view
}

/** A file system that becomes read-only after an error, as after a disk failure. */
export interface FailingDisk {
  readonly folder: string
  readonly fail: () => void
  /** Makes it writable again. No process may use it. */
  readonly mountAgain: () => void
}

/** Returns null as above. */
export function failingDisk(t: TestContext): FailingDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-failing-disk-'))
  const image = `${folder}.ext4`
  t.after(() => rmSync(image))
  writeFileSync(image, '')
  truncateSync(image, 40 * 1024 * 1024)
  execFileSync('mkfs.ext4', ['-q', '-F', image])
  const mounting = ['-o', 'loop,errors=remount-ro', image, folder]
  if (!isMounted(t, mounting, folder)) return null
  return {
    folder,
    fail: () => {
      const device = execFileSync('findmnt', ['-n', '-o', 'SOURCE', folder], { encoding: 'utf8' })
      writeFileSync(`/sys/fs/ext4/${basename(device.trim())}/trigger_fs_error`, '1')
    },
    mountAgain: () => {
      execFileSync('umount', [folder])
      execFileSync('mount', mounting)
    },
  }
}

function isMounted(t: TestContext, args: readonly string[], folder: string): boolean {
  try {
    execFileSync('mount', args, { stdio: 'pipe' })
  } catch (error) {
    rmSync(folder, { recursive: true })
    if (process.env.CI === 'true') throw error
    console.error(`SKIPPED, as this user may not mount: ${t.name}`)
    t.skip('this user may not mount')
    return false
  }
  // A process that used it may still be ending.
  t.after(() => {
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true })
  })
  return true
}

function writeUntilFull(path: string): void {
  const file = openSync(path, 'a')
  try {
    for (let size = 65_536; size >= 1; size = Math.floor(size / 2)) {
      try {
        while (writeSync(file, Buffer.alloc(size)) > 0);
      } catch (error) {
        if (errorCodeOf(error) !== 'ENOSPC') throw error
      }
    }
  } finally {
    closeSync(file)
  }
}
