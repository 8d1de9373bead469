import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/service.ts'
import { findTool, type Tool } from '../support/tool.ts'
import { readDeployed } from './deploy-folder.ts'

const systemdAnalyze: Tool = {
  name: 'systemd-analyze 250 or newer',
  hint: 'apt-get install systemd',
  commands: ['systemd-analyze'],
  probe: ['security', '--help'],
}

/** Maximum exposure that `systemd-analyze security` may report, of 100. */
const threshold = 15

test('the unit is valid and has a low exposure level', (t) => {
  const command = findTool(t, systemdAnalyze)
  if (command === undefined) return
  const unit = readDeployed('../server/systemd/user-group-service@.service')
  assert.match(unit, /^LimitCORE=0$/m)
  const file = join(temporaryFolder(t), 'user-group-service@8081.service')
  // `systemd-analyze` checks that the programs exist; on this machine their paths may differ.
  writeFileSync(file, unit.replaceAll(/^(Exec\w+)=\S+/gm, `$1=${process.execPath}`))
  const run = (...args: string[]) => spawnSync(command, [...args, file], { encoding: 'utf8' })

  const verified = run('verify')
  assert.equal(verified.status, 0, verified.stderr)
  assert.doesNotMatch(verified.stderr, /user-group-service/)
  const judged = run('security', '--no-pager', '--offline=true', `--threshold=${threshold}`)
  assert.equal(judged.status, 0, judged.stdout + judged.stderr)

  writeFileSync(file, `${unit}\nProtectSystm=strict\n`)
  assert.match(run('verify').stderr, /ProtectSystm/)
})
