import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parts } from '../../../scripts/current-build.js'
import { temporaryFolder } from '../support/temporary-folder.ts'

test('npm ci says what it builds, and builds only parts whose inputs have changed', (t) => {
  const folder = temporaryFolder(t)
  const script = fileURLToPath(new URL('../../../scripts/build-if-stale.js', import.meta.url))
  const write = (file: string, text = '') => {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  for (const { inputs, outputs } of Object.values(parts))
    for (const file of [...inputs, ...outputs]) write(file)
  const names = Object.keys(parts)
  const scripts = Object.fromEntries(names.map((name) => [`build:${name}`, `echo ${name}`]))
  write('package.json', JSON.stringify({ scripts }))
  const run = (...args: string[]) => {
    const options = { cwd: folder, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], options)
    assert.equal(status, 0, stderr)
    return stdout + stderr
  }
  assert.equal(run('service', 'console'), 'service\nconsole\nBuilding the service.\nBuilding the console.\n')
  assert.equal(run('service', 'console'), '')
  assert.equal(run(), 'packages\nBuilding the packages.\n')
  write('console/index.html', 'changed')
  assert.equal(run(), 'console\nBuilding the console.\n')
  rmSync(join(folder, parts.service.outputs[0] ?? ''))
  assert.equal(run(), 'service\nBuilding the service.\n')
})
