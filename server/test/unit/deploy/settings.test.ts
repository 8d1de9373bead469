import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { settings } from '../../../src/config/settings.ts'
import { deployFolder, readDeployed } from '../../deploy/deploy-folder.ts'

const stopMs = Number(settings.UGS_DRAIN_MS.default) + Number(settings.UGS_CLOSE_TIMEOUT_MS.default)

const files = readdirSync(deployFolder, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && !`${entry.parentPath}/`.includes('/lint/'))
  .map((entry) => join(entry.parentPath, entry.name))

test('deploy/ uses only existing settings', () => {
  const named = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bUGS_[A-Z_]+\b/g)].map(([name]) => name),
  )
  assert.ok(named.length > 0)
  assert.deepEqual(
    [...new Set(named)].filter((name) => !(name in settings)),
    [],
  )
})

test('deploy/ contains no secret', () => {
  for (const file of files) {
    const text = readFileSync(file, 'utf8')
    assert.doesNotMatch(
      text,
      /ug[at]_(customer|testing)_\w|BEGIN [A-Z ]*PRIVATE KEY|:[A-Za-z0-9+/]{43}=/,
      file,
    )
    assert.doesNotMatch(text, /:\/\/[^\s:@/]+:[^\s@/]+@/, file)
  }
})

test('every supervisor allows the service enough time to stop', () => {
  const unit = readDeployed('../server/systemd/user-group-service@.service')
  assert.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) * 1000 > stopMs)
  const service = readDeployed('compose.yaml').split('\n  postgres:\n')[0] ?? ''
  assert.ok(Number(/stop_grace_period: (\d+)s/.exec(service)?.[1]) * 1000 > stopMs)
})

test('the proxies match the settings', () => {
  const haproxy = readDeployed('haproxy/haproxy.cfg')
  const [, inter, fall] = /check inter (\d+)ms fall (\d+)/.exec(haproxy) ?? []
  assert.ok(Number(inter) * Number(fall) * 2 < Number(settings.UGS_DRAIN_MS.default))
  const nginx = readDeployed('nginx/user-group-service.conf')
  const failMs = [...nginx.matchAll(/fail_timeout=(\d+)s/g)].map(([, seconds]) => Number(seconds) * 1000)
  assert.equal(failMs.length, 2)
  for (const ms of failMs) assert.ok(ms > Number(settings.UGS_DRAIN_MS.default))
  const keptMs = Number(/keepalive_timeout (\d+)s/.exec(nginx)?.[1]) * 1000
  assert.ok(keptMs < Number(settings.UGS_KEEP_ALIVE_TIMEOUT_MS.default))
})
