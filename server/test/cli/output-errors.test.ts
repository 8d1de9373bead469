import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { runUgs, temporaryFolder, ugsFile } from '../support/service.ts'

const folder = temporaryFolder({ after })
const settings = { UGS_DATA_DIR: join(folder, 'data') }
const inTesting = ['--environment', 'Testing']

type Output = 'pipe' | 'closed pipe' | 'full disk'

/** Runs a command in a new process. A closed pipe has no reader. */
async function run(args: readonly string[], { stdout, stderr }: { stdout: Output; stderr: Output }) {
  const full = openSync('/dev/full', 'w')
  const stdio = [stdout, stderr].map((output) => (output === 'full disk' ? full : 'pipe'))
  const child = spawn(process.execPath, [ugsFile, ...args], { env: settings, stdio: ['ignore', ...stdio] })
  closeSync(full)
  const read = { stdout: '', stderr: '' }
  for (const [name, output] of Object.entries({ stdout, stderr }) as [keyof typeof read, Output][]) {
    if (output === 'closed pipe') child[name]?.destroy()
    else child[name]?.setEncoding('utf8').on('data', (text: string) => (read[name] += text))
  }
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, ...read }
}

describe('the output of a command', () => {
  before(async () => {
    assert.equal((await runUgs(['migrate'], settings)).code, 0)
    const create = ['user-group', 'get-or-create', 'a', '--name', 'A', ...inTesting]
    const { code, stderr } = await runUgs(create, settings)
    assert.equal(code, 0, stderr)
  })

  for (const [title, ...args] of [
    ['help', '--help'],
    ['a table', 'user-group', 'list', ...inTesting],
    ['text', 'completion', 'bash'],
    ['an export', 'export', '-', '--format', 'csv', ...inTesting],
    ['an export to /dev/stdout', 'export', '/dev/stdout', '--format', 'csv', ...inTesting],
  ] as const) {
    it(`${title}: a closed pipe ends it without a message`, async () => {
      const { code, stderr } = await run(args, { stdout: 'closed pipe', stderr: 'pipe' })
      assert.equal(code, 141)
      assert.equal(stderr.replace(/^exporting: .*\n/, ''), '')
    })

    it(`${title}: a full disk is named`, async () => {
      const { code, stderr } = await run(args, { stdout: 'full disk', stderr: 'pipe' })
      assert.equal(code, 1)
      const message = title.includes('/dev/stdout')
        ? /^ugs: the file "\/dev\/stdout" cannot be written \(ENOSPC\)$/m
        : /^(?:ugs: |.*"msg":")standard output: no space left on device/m
      assert.match(stderr, message)
    })
  }

  for (const args of [
    ['migrate'],
    ['export', join(folder, 'export.csv'), ...inTesting],
    ['backup', join(folder, 'backup.db')],
    ['nonsense'],
  ]) {
    it(`${args[0]}: the exit code shows that standard error cannot be written`, async () => {
      const closed = await run(args, { stdout: 'pipe', stderr: 'closed pipe' })
      assert.deepEqual(closed, { code: 141, stdout: '', stderr: '' })
      const full = await run(args, { stdout: 'pipe', stderr: 'full disk' })
      assert.deepEqual(full, { code: 1, stdout: '', stderr: '' })
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.endsWith('.unfinished')),
        [],
      )
    })
  }
})
