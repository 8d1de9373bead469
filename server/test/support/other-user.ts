import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import type { TestContext } from 'node:test'
import { ugsFile } from './build-output.ts'

/** Returns true, or skips the test, unless this user is root. With CI=true the test fails. */
export function isRoot(t: TestContext): boolean {
  if (process.getuid?.() === 0) return true
  assert.notEqual(process.env.CI, 'true', 'run the tests as root')
  console.error(`SKIPPED, as it needs root: ${t.name}`)
  t.skip('needs root')
  return false
}

const other = 65_534

/** Runs a function with the rights of another user. */
export function asOther<T>(work: () => T): T {
  process.setegid?.(other)
  process.seteuid?.(other)
  try {
    return work()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}

/** Runs a `ugs` command as another user. */
export function runUgsAsOther(args: readonly string[], settings: Record<string, string>): string {
  const env = { PATH: process.env.PATH ?? '', ...settings }
  const { stdout, stderr, status } = spawnSync(process.execPath, [ugsFile, ...args], {
    ...{ env, uid: other, gid: other, cwd: '/', encoding: 'utf8' },
  })
  assert.equal(status, 1, stdout + stderr)
  return stdout + stderr
}
