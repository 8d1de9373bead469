import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inputs, outputs } from '../../scripts/current-build.js'
import { temporaryFolder } from './support/temporary-folder.ts'

test('npm ci says that it builds, and builds only once', (t) => {
  const folder = temporaryFolder(t)
  const script = fileURLToPath(new URL('../../scripts/build-if-stale.js', import.meta.url))
  for (const file of [...inputs, ...outputs]) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    writeFileSync(join(folder, file), '')
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { build: 'node -p 1+1' } }))
  const run = () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
      cwd: folder,
      encoding: 'utf8',
    })
    assert.equal(status, 0, stderr)
    return { stdout, stderr }
  }
  assert.deepEqual(run(), {
    stdout: '2\n',
    stderr: 'Building the service, the console and the packages. This takes about a minute.\n',
  })
  assert.deepEqual(run(), { stdout: '', stderr: '' })
})
