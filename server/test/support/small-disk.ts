import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { errorCodeOf } from '../../src/domain/error-code.ts'

/** A file system that is full after some MB. */
export interface SmallDisk {
  readonly folder: string
  /** Writes until there is no byte left. */
  readonly fill: () => void
  /** Gives the room back that `fill` took. */
  readonly free: () => void
}

/** Null, and the test is skipped, where this user may not mount; where CI is set, that is a failure. */
export function smallDisk(t: TestContext, megabytes: number): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-small-disk-'))
  if (!isMounted(t, ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'tmpfs', folder], folder))
    return null
  const ballast = join(folder, 'ballast')
  return { folder, fill: () => writeUntilFull(ballast), free: () => rmSync(ballast, { force: true }) }
}

/** The same folder once more, where nobody can write to it; null as above. */
export function readOnlyView(t: TestContext, folder: string): string | null {
  const view = mkdtempSync(join(tmpdir(), 'ugs-read-only-'))
  if (!isMounted(t, ['--bind', folder, view], view)) return null
  execFileSync('mount', ['-o', 'remount,ro,bind', view])
  return view
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
  // What was started on it may still be ending.
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
