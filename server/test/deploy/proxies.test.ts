import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { deployFolder } from './deploy-folder.ts'
import { haproxy, nginx } from './proxy-tools.ts'

test('HAProxy accepts its configuration', (t) => {
  const command = findTool(t, haproxy)
  if (command === undefined) return
  const { status, stdout, stderr } = spawnSync(
    command,
    ['-c', '-dW', '-f', join(deployFolder, 'haproxy/haproxy.cfg')],
    { encoding: 'utf8' },
  )
  assert.equal(status, 0, stdout + stderr)
})

test('nginx accepts its configuration', (t) => {
  const command = findTool(t, nginx)
  if (command === undefined) return
  const folder = temporaryFolder(t)
  const file = join(folder, 'nginx.conf')
  const included = join(deployFolder, 'nginx/user-group-service.conf')
  writeFileSync(file, `pid ${folder}/pid; events {} http { access_log off; include ${included}; }`)
  const { status, stderr } = spawnSync(command, ['-t', '-p', folder, '-e', join(folder, 'log'), '-c', file], {
    encoding: 'utf8',
  })
  assert.equal(status, 0, stderr)
  assert.doesNotMatch(stderr, /\[(warn|error|emerg)\]/)
})
