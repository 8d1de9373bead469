import assert from 'node:assert/strict'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import type { Command } from 'commander'
import { buildProgram } from '../../src/cli/program.ts'
import { freshDatabase } from '../support/database.ts'
import { leavesOf } from '../support/commands.ts'
import { runUgs, temporaryFolder } from '../support/service.ts'

const folder = temporaryFolder({ after })
const absent = join(folder, 'absent')
/** A configuration. Commands that read rows open the store first. */
const file = join(folder, 'file.csv')
writeFileSync(file, '{"version":1}')

/** Commands that create a store, need none, or have their own message for a file that is missing. */
const others = [
  'serve',
  'migrate',
  'doctor',
  'log-level',
  'accept-timeline',
  'store copy',
  'backup verify',
  'restore',
  'completion',
  'api-token generate',
]
/** Values of arguments and options for which `1` is not valid, and options that a command needs besides the mandatory ones. */
const values: Record<string, string> = {
  file,
  kind: 'shared',
  action: 'suspend',
  '--environment': 'Testing',
  '--url': 'https://example.com/',
  '--older-than': '1d',
}
const more: Record<string, string[]> = { 'webhook redeliver': ['--delivery', '1'] }

function argumentsOf(name: string, { registeredArguments, options }: Command): string[] {
  return [
    ...registeredArguments.map((argument) => values[argument.name()] ?? '1'),
    ...options
      .filter(({ mandatory, defaultValue }) => mandatory && defaultValue === undefined)
      .flatMap(({ long }) => [long as string, values[long as string] ?? '1']),
    ...(more[name] ?? []),
  ]
}

describe('without a store', () => {
  for (const [name, command] of leavesOf(buildProgram())) {
    if (others.includes(name)) continue
    it(`${name} creates none`, async () => {
      const { code, stdout, stderr } = await runUgs([...name.split(' '), ...argumentsOf(name, command)], {
        UGS_DATA_DIR: absent,
      })
      assert.equal(
        stderr,
        `ugs: no store in ${absent} (there is no ugs.db); set UGS_DATA_DIR or DATABASE_URL, or run \`ugs serve\` to create one\n`,
      )
      assert.deepEqual([code, stdout], [1, ''])
      assert.ok(!existsSync(absent))
    })
  }

  it('a command creates none in an empty PostgreSQL database', async (t) => {
    const url = await freshDatabase(t)
    for (let i = 0; i < 2; i++) {
      const { code, stderr } = await runUgs(['workspace', 'list'], { DATABASE_URL: url })
      assert.equal(code, 1)
      assert.match(
        stderr,
        /^ugs: postgres:.* there is no store in this database; check DATABASE_URL, or run /,
      )
    }
  })

  it('a command names the file of DATABASE_URL, and creates neither file nor data folder', async () => {
    const { code, stderr } = await runUgs(['workspace', 'list'], {
      DATABASE_URL: `sqlite:${folder}/other.db`,
      UGS_DATA_DIR: absent,
    })
    assert.equal(code, 1)
    assert.ok(stderr.startsWith(`ugs: no store in ${folder} (there is no other.db); `), stderr)
    assert.deepEqual(readdirSync(folder), ['file.csv'])
  })
})
