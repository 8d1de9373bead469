import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { completionScript } from '../../src/cli/completion.ts'
import { buildProgram } from '../../src/cli/program.ts'
import { leavesOf } from '../support/commands.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const program = buildProgram()

/** Returns what bash offers for each of these lines, whose last word is incomplete. */
function offeredBy(lines: readonly string[]): string[][] {
  const asked = lines.map(
    (line) => `COMP_WORDS=(${line}) COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _ugs; echo "\${COMPREPLY[*]}"`,
  )
  const script = [completionScript(program, 'bash'), ...asked].join('\n')
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' })
  assert.deepEqual([status, stderr], [0, ''])
  return stdout

    .split('\n')
    .slice(0, -1)
    .map((words) => words.split(' ').filter((word) => word !== ''))
}

describe('the completion for bash', () => {
  it('completes commands, options and their values', () => {
    const expected: Record<string, string[]> = {
      'ugs conso': ['console-link', 'console-session'],
      'ugs api-token r': ['rotate', 'revoke'],
      'ugs api-token create --na': ['--name'],
      'ugs api-token create --name backend --environment ""': ['Customer', 'Testing'],
      'ugs user-group search --schema restore --l': ['--limit'],
      'ugs restore --l': [],
      'ugs completion z': ['zsh'],
      // A file or any text: bash completes files.
      'ugs api-token create --name ""': [],
    }
    assert.deepEqual(offeredBy(Object.keys(expected)), Object.values(expected))
  })

  it('knows all options of all commands', () => {
    const leaves = leavesOf(program)
    const offered = offeredBy(leaves.map(([name]) => `ugs ${name} --`))
    leaves.forEach(([name, { options }], i) => {
      const visible = options.filter(({ hidden }) => !hidden).map(({ long }) => long as string)
      assert.deepEqual(offered[i], [...visible, '--help'], name)
    })
  })
})

describe('the completion for another shell', () => {
  for (const shell of ['zsh', 'fish'] as const) {
    it(`is valid for ${shell}`, (t) => {
      const script = completionScript(program, shell)
      for (const [name, { options }] of leavesOf(program))
        for (const word of [...name.split(' '), ...options.map(({ long }) => (long as string).slice(2))])
          assert.ok(script.includes(word), word)
      const file = join(temporaryFolder(t), 'completion')
      writeFileSync(file, script)
      const { status, stderr, error } = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
      if (error === undefined) assert.deepEqual([status, stderr], [0, ''])
    })
  }
})
