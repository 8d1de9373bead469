import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readPage, readTable } from '../docs/support.ts'
import { scrape } from '../support/metrics.ts'
import { startService, temporaryFolder } from '../support/service.ts'
import { findTool, type Tool } from '../support/tool.ts'
import { userApi } from '../support/user-api.ts'
import { deployFolder, readDeployed } from './deploy-folder.ts'

const promtool: Tool = {
  name: 'promtool',
  hint: 'apt-get install prometheus',
  commands: ['promtool'],
  probe: ['--version'],
}

/** Runs promtool and returns its output, or undefined if it is not installed. */
function runPromtool(t: TestContext, args: readonly string[], input = '') {
  const command = findTool(t, promtool)
  if (command === undefined) return undefined
  return spawnSync(command, args, { encoding: 'utf8', input, cwd: join(deployFolder, 'prometheus') })
}

function assertFine(result: ReturnType<typeof runPromtool>): void {
  if (result !== undefined) assert.equal(result.status, 0, result.stdout + result.stderr)
}

const alerts = readDeployed('prometheus/alerts.yml')
const dashboard = JSON.parse(readDeployed('grafana/user-group-service.json'))

const expressions: string[] = [
  ...dashboard.annotations.list.map(({ expr }: any) => expr),
  ...dashboard.panels.flatMap(({ targets = [] }: any) => targets.map(({ expr }: any) => expr)),
]

test('Prometheus accepts the configuration and the rules', (t) => {
  assertFine(runPromtool(t, ['check', 'config', 'prometheus.yml']))
  assertFine(runPromtool(t, ['check', 'rules', '--lint=all', '--lint-fatal', 'alerts.yml']))
})

test('the alerts fire when they should, and only then', (t) => {
  assertFine(runPromtool(t, ['test', 'rules', 'alerts.test.yml']))
})

test('each alert has a test and a runbook section', () => {
  const names = [...alerts.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name = '']) => name)
  assert.ok(names.length > 0)
  const tests = readDeployed('prometheus/alerts.test.yml')
  const page = readPage('docs/operations.md')
  for (const name of names) {
    assert.match(tests, new RegExp(`alertname: ${name}\\n +eval_time: \\w+\\n +exp_alerts:\\n`), name)
    const [, rest] = page.split(`\n### ${name}\n`)
    assert.ok(rest !== undefined, `${name} has no section in docs/operations.md`)
    const steps = (rest.split('\n#')[0] as string).matchAll(/^- \*\*(\w+)\*\*:/gm)
    assert.deepEqual(
      Array.from(steps, ([, step]) => step),
      ['Symptom', 'Check', 'Action'],
      name,
    )
    assert.ok(alerts.includes(`runbook: docs/operations.md#${name.toLowerCase()}\n`), name)
  }
  assert.equal([...page.matchAll(/^### UserGroupService/gm)].length, names.length)
})

test('Prometheus accepts the queries of the dashboard', (t) => {
  assert.ok(expressions.length > 0)
  const file = join(temporaryFolder(t), 'rules.json')
  const rules = expressions.map((expr, i) => ({
    record: `panel:${i}`,
    expr: expr.replaceAll('$__rate_interval', '1m'),
  }))
  // JSON is valid YAML.
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  assertFine(runPromtool(t, ['check', 'rules', file]))
})

test('the dashboard and the alerts use only existing metrics', () => {
  const listed = readTable(readPage('docs/operations.md'), '## Metrics').map(([name = '', type = '']) => ({
    name: name.replaceAll('`', ''),
    type,
  }))
  const known = listed.flatMap(({ name, type }) =>
    type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name],
  )
  for (const [title, text] of Object.entries({ alerts, dashboard: expressions.join('\n') })) {
    const named = [...text.matchAll(/\b(?:ugs|process|nodejs)_\w+/g)].map(([name]) => name)
    assert.ok(named.length > 0, title)
    assert.deepEqual(
      named.filter((name) => !known.includes(name)),
      [],
      title,
    )
  }
})

test('the metrics pass the linter of Prometheus', async (t) => {
  const service = await startService(t, { UGS_METRICS_PORT: '0' })
  await userApi(service.origin, service.tokens.Testing).get({ user_group_id: 1 })
  const result = runPromtool(t, ['check', 'metrics'], (await scrape(service)).text)
  assertFine(result)
  if (result !== undefined) assert.equal(result.stdout + result.stderr, '')
})
