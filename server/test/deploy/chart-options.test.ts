import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTool } from '../support/tool.ts'
import { allValues, image } from './chart-examples.ts'
import { assertRestricted, assertSchemas, podsOf, render, renderText, workloadOf } from './chart-rendering.ts'
import { helm, parseYaml, readDeployed } from './deploy-folder.ts'

test('the chart runs the image with a digest instead of the tag', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const digest = `sha256:${'a'.repeat(64)}`
  const values = { image: { ...image, tag: 'b', digest }, secret: { existing: 'keys' } }
  for (const { containers } of (await render(t, command, values)).flatMap(podsOf))
    assert.equal(containers[0].image, `${image.repository}@${digest}`)
})

test('the chart leaves ids and security contexts to the cluster if they are null', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const [base, sqlite] = [allValues['with an existing Secret'], allValues['with SQLite']]
  // As documented for OpenShift.
  const podSecurityContext = { runAsUser: null, runAsGroup: null, fsGroup: null }
  for (const values of [base, sqlite]) {
    const manifests = await render(t, command, { ...values, podSecurityContext })
    await assertSchemas(manifests)
    for (const pod of manifests.flatMap(podsOf)) {
      assertRestricted(pod)
      assert.deepEqual(Object.keys(pod.securityContext).sort(), ['runAsNonRoot', 'seccompProfile'])
    }
  }
  const none = await render(t, command, { ...base, podSecurityContext: null, securityContext: null })
  for (const { containers, ...pod } of none.flatMap(podsOf)) {
    assert.ok(!('securityContext' in pod))
    assert.ok(!('securityContext' in containers[0]))
  }
})

test('the chart with one replica does not block evictions', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const manifests = await render(t, command, { image, secret: { existing: 'keys' }, replicas: 1 })
  assert.equal(workloadOf(manifests).spec.replicas, 1)
  assert.ok(!manifests.some(({ kind }) => kind === 'PodDisruptionBudget'))
})

test('the chart names its objects by nameOverride', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const more = { prometheusRule: { enabled: true }, dashboard: { enabled: true }, nameOverride: 'other' }
  const text = renderText(t, command, { ...allValues['with all values set'], ...more }, 'long-release')
  const manifests = (await parseYaml(text)).filter((manifest) => manifest !== null)
  for (const { metadata } of manifests) assert.match(metadata.name, /^other(-|$)/)
  const named = text.split('\n').filter((line) => line.includes('long-release'))
  for (const line of named) assert.match(line, /app\.kubernetes\.io\/instance: long-release$/)
})

const egressPorts: Record<string, [settings: object, ports: number[]]> = {
  nothing: [{ LOG_LEVEL: 'debug', UGS_MAX_WEBHOOK_ENDPOINTS: '0', UGS_TRACES: 'off' }, []],
  webhooks: [{ UGS_MAX_WEBHOOK_ENDPOINTS: '5' }, [443]],
  'webhooks at private addresses': [{ UGS_WEBHOOK_PRIVATE_ADDRESSES: 'on' }, [443]],
  'webhooks without TLS': [{ UGS_WEBHOOK_HTTP: 'on' }, [443, 80]],
  traces: [{ UGS_TRACES: 'on' }, [4318]],
  'traces to a port': [{ UGS_TRACES: 'on', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4400' }, [4400]],
  'traces over HTTPS, and webhooks': [
    {
      ...{ UGS_TRACES: 'on', UGS_MAX_WEBHOOK_ENDPOINTS: '5' },
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://collector.example/v1/traces',
    },
    [443],
  ],
}
for (const [title, [settings, ports]] of Object.entries(egressPorts)) {
  test(`the chart opens the ports of settings for ${title}`, async (t) => {
    const command = findTool(t, helm)
    if (command === undefined) return
    const manifests = await render(t, command, { image, secret: { existing: 'keys' }, settings })
    const { egress } = manifests.find(({ kind }) => kind === 'NetworkPolicy').spec
    const rules = egress.slice(2).flatMap(({ ports }: any) => ports.map(({ port }: any) => port))
    assert.deepEqual(rules, ports)
  })
}

test('the chart contains the alerts and the dashboard', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const values = { image, secret: { existing: 'keys' } }
  const labels = { release: 'prometheus' }
  const enabled = { prometheusRule: { enabled: true, labels }, dashboard: { enabled: true } }
  const manifests = await render(t, command, { ...values, ...enabled })
  await assertSchemas(manifests)
  const rule = manifests.find(({ kind }) => kind === 'PrometheusRule')
  assert.equal(rule.metadata.labels.release, 'prometheus')
  assert.deepEqual([rule.spec], await parseYaml(readDeployed('prometheus/alerts.yml')))
  const { metadata, data } = manifests.find(({ kind }) => kind === 'ConfigMap')
  assert.equal(metadata.labels.grafana_dashboard, '1')
  assert.deepEqual(Object.values(data), [readDeployed('grafana/user-group-service.json')])
})
