import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { deployFolder, helm, parseYaml, readDeployed } from './deploy-folder.ts'

const chart = join(deployFolder, 'helm/user-group-service')

/** Values for places in values.yaml that do not accept any text, list or object. */
const examples: Record<string, unknown> = {
  'image.pullPolicy': 'Never',
  'image.digest': `sha256:${'a'.repeat(64)}`,
  'secret.databaseUrl': 'postgres://b@c/d',
  'sqlite.size': '1Gi',
  'sqlite.backup.size': '1Gi',
  settings: { LOG_LEVEL: 'warn' },
  temporaryStorage: '2Gi',
  'service.type': 'NodePort',
  'metrics.podMonitor.interval': '1m',
}

const needed = {
  image: { repository: 'a' },
  secret: { databaseUrl: 'postgres://a@b/c', secretKeys: 'a' },
  ingress: { host: 'a.example', tlsSecret: 'a' },
}
/** Values that enable everything, apart from what is enabled itself. */
const bases = {
  'on PostgreSQL': needed,
  'with options': {
    ...needed,
    metrics: { enabled: true },
    ingress: { ...needed.ingress, enabled: true },
    autoscaling: { enabled: true },
    configuration: { customer: { api_tokens: [{ token_env: 'A' }] }, tokens: 'a' },
  },
  'with files for the monitoring': {
    ...needed,
    prometheusRule: { enabled: true },
    dashboard: { enabled: true },
  },
  'with a PodMonitor': { ...needed, metrics: { enabled: true, podMonitor: { enabled: true } } },
  'with SQLite': { ...needed, sqlite: { enabled: true } },
}

/** Returns the path of each value, and a value other than the default. */
function otherValues(defaults: object, prefix = ''): (readonly [path: string, value: unknown])[] {
  return Object.entries(defaults).flatMap(([name, value]) => {
    const path = prefix + name
    if (path in examples) return [[path, examples[path]] as const]
    if (typeof value === 'number') return [[path, value + 1] as const]
    if (typeof value === 'boolean') return [[path, !value] as const]
    if (typeof value === 'string') return [[path, 'other'] as const]
    if (Array.isArray(value)) return [[path, [{ name: 'other' }]] as const]
    if (Object.keys(value as object).length === 0) return [[path, { other: 'b' }] as const]
    return otherValues(value as object, `${path}.`)
  })
}

test('each value of the chart changes the manifests', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const folder = temporaryFolder(t)
  const render = (base: string, ...options: string[]) => {
    const args = ['template', 'release', chart, '--values', join(folder, base), ...options]
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
    assert.equal(status, 0, `${options.join(' ')}: ${stderr}`)
    return stdout
  }
  const manifests = Object.entries(bases).map(([base, values]) => {
    writeFileSync(join(folder, base), JSON.stringify(values))
    return [base, render(base)] as const
  })
  const [defaults] = await parseYaml(readDeployed('helm/user-group-service/values.yaml'))
  for (const [path, value] of otherValues(defaults)) {
    const option = ['--set-json', `${path}=${JSON.stringify(value)}`]
    assert.ok(
      manifests.some(([base, before]) => render(base, ...option) !== before),
      path,
    )
  }
})
