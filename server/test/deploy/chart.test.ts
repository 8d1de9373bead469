import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { settings } from '../../src/config/settings.ts'
import { temporaryFolder } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { deployFolder, helm, importLint, parseYaml, readDeployed } from './deploy-folder.ts'

const chart = join(deployFolder, 'helm/user-group-service')
const models = join(deployFolder, 'lint/node_modules/kubernetes-models')

const image = { repository: 'registry.example/ugs' }
const databaseUrl = 'postgres://ugs:do-not-show@db.example/ugs'
const allValues: Record<string, object> = {
  'with an existing Secret': { image, secret: { existing: 'keys' } },
  'with all values set': {
    image: { ...image, tag: '1.2.3', pullPolicy: 'Always' },
    imagePullSecrets: [{ name: 'pull' }],
    secret: { databaseUrl, secretKeys: 'k1:do-not-show' },
    settings: { LOG_LEVEL: 'debug', UGS_POSTGRES_POOL_SIZE: '5', OTEL_TRACES_SAMPLER_ARG: '0.01' },
    networkPolicy: {
      from: [{ namespaceSelector: { matchLabels: { name: 'ingress' } } }],
      database: { to: [{ ipBlock: { cidr: '192.0.2.1/32' } }], port: 6432 },
    },
    ingress: {
      enabled: true,
      className: 'a',
      annotations: { a: 'b' },
      host: 'ugs.example',
      tlsSecret: 'tls',
    },
    metrics: {
      enabled: true,
      port: 9000,
      from: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      podMonitor: { enabled: true, labels: { release: 'prometheus' } },
    },
    autoscaling: { enabled: true },
    nodeSelector: { disk: 'ssd' },
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }],
  },
  'with everything disabled': {
    image,
    secret: { existing: 'keys' },
    migration: { enabled: false },
    networkPolicy: { enabled: false },
    metrics: { podMonitor: { enabled: true } },
  },
}

function run(t: TestContext, command: string, args: readonly string[], values: object) {
  const file = join(temporaryFolder(t), 'values.json')
  writeFileSync(file, JSON.stringify(values))
  return spawnSync(command, [...args, chart, '--values', file], { encoding: 'utf8' })
}

/** Validates against Kubernetes' schemas. Its types find unknown fields, which the schemas accept. */
async function assertValid(t: TestContext, manifests: readonly any[]): Promise<void> {
  const pathOf = ({ apiVersion, kind }: any) => join(models, apiVersion, `${kind}.js`)
  for (const manifest of manifests) {
    const module = await importLint(`kubernetes-models/${manifest.apiVersion}/${manifest.kind}.js`)
    new module[manifest.kind](manifest).validate()
  }
  const folder = temporaryFolder(t)
  const file = join(folder, 'manifests.ts')
  const lines = manifests.map((manifest, i) => {
    const type = `import(${JSON.stringify(pathOf(manifest))}).I${manifest.kind}`
    return `export const manifest${i}: ${type} = ${JSON.stringify(manifest)}`
  })
  writeFileSync(file, lines.join('\n'))
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext']
  const { status, stdout } = spawnSync(process.execPath, [tsc, ...options, file], {
    encoding: 'utf8',
    cwd: folder,
  })
  assert.equal(status, 0, stdout)
}

test('the validation finds fields that Kubernetes refuses', async (t) => {
  if (findTool(t, helm) === undefined) return
  const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }
  await assertValid(t, [account])
  await assert.rejects(assertValid(t, [{ ...account, automountServiceAccountToken: 'no' }]), /boolean/)
  await assert.rejects(assertValid(t, [{ ...account, automountToken: false }]), /automountToken/)
})

for (const [title, values] of Object.entries(allValues)) {
  test(`the chart ${title} passes the linter and renders valid manifests`, async (t) => {
    const command = findTool(t, helm)
    if (command === undefined) return
    const linted = run(t, command, ['lint', '--strict'], values)
    assert.equal(linted.status, 0, linted.stdout + linted.stderr)
    const { status, stdout, stderr } = run(t, command, ['template', 'release'], values)
    assert.equal(status, 0, stderr)
    const manifests = (await parseYaml(stdout)).filter((manifest) => manifest !== null)
    // The only kind that is not part of Kubernetes.
    const podMonitors = manifests.filter(({ kind }) => kind === 'PodMonitor')
    await assertValid(
      t,
      manifests.filter(({ kind }) => kind !== 'PodMonitor'),
    )
    assertMetrics(manifests, podMonitors, (values as any).metrics?.enabled ?? false)

    const secrets = manifests.filter(({ kind }) => kind === 'Secret')
    assert.ok(!JSON.stringify(manifests.filter(({ kind }) => kind !== 'Secret')).includes('do-not-show'))
    assert.deepEqual(
      secrets.map(({ stringData }) => Object.keys(stringData)),
      'existing' in (values as any).secret ? [] : [['DATABASE_URL', 'UGS_SECRET_KEYS']],
    )
    for (const { spec } of manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'Job')) {
      assertRestricted(spec.template.spec)
    }
    const { spec } = manifests.find(({ kind }) => kind === 'Deployment').spec.template
    const env = Object.fromEntries(spec.containers[0].env.map(({ name, value }: any) => [name, value]))
    const stopMs = Number(env.UGS_DRAIN_MS) + Number(env.UGS_CLOSE_TIMEOUT_MS)
    assert.ok(spec.terminationGracePeriodSeconds * 1000 > stopMs)
    assert.equal(env.UGS_MIGRATE, manifests.some(({ kind }) => kind === 'Job') ? 'check' : 'auto')
  })
}

/** Metrics have a port that is not in a Service. The monitor refers to its name. */
function assertMetrics(manifests: readonly any[], podMonitors: readonly any[], areEnabled: boolean): void {
  const { spec } = manifests.find(({ kind }) => kind === 'Deployment').spec.template
  const env = Object.fromEntries(spec.containers[0].env.map(({ name, value }: any) => [name, value]))
  const port = spec.containers[0].ports.find(({ name }: any) => name === 'metrics')
  assert.equal(port?.containerPort?.toString(), env.UGS_METRICS_PORT)
  assert.equal(port !== undefined, areEnabled)
  assert.deepEqual(
    manifests.find(({ kind }) => kind === 'Service').spec.ports.map(({ name }: any) => name),
    ['http'],
  )
  const policy = manifests.find(({ kind }) => kind === 'NetworkPolicy')
  const rules = policy?.spec.ingress.filter(({ ports }: any) => ports.some((p: any) => p.port === 'metrics'))
  assert.equal(rules?.length ?? 0, areEnabled ? 1 : 0)
  assert.equal(podMonitors.length, areEnabled ? 1 : 0)
  for (const { metadata, spec } of podMonitors) {
    assert.equal(metadata.labels.release, 'prometheus')
    assert.deepEqual(spec.podMetricsEndpoints, [{ port: 'metrics', interval: '30s' }])
  }
}

/** The Pod Security Standard "restricted", with a read-only root file system. */
function assertRestricted({ securityContext, containers, automountServiceAccountToken, volumes }: any): void {
  assert.equal(automountServiceAccountToken, false)
  assert.equal(securityContext.runAsNonRoot, true)
  assert.equal(securityContext.seccompProfile.type, 'RuntimeDefault')
  assert.deepEqual(
    volumes.map(({ name }: any) => name),
    ['temporary'],
  )
  for (const container of containers) {
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  }
}

const wrongValues: Record<string, [values: object, message: RegExp]> = {
  'no image': [{ secret: { existing: 'a' } }, /image\.repository: set the name of the image/],
  'no secrets': [{ image }, /secret\.databaseUrl: set it, or name a Secret/],
  'SQLite, which pods cannot share': [{ image, secret: { databaseUrl: 'sqlite:a' } }, /secret\/databaseUrl/],
  'an unknown setting': [
    { image, secret: { existing: 'a' }, settings: { UGS_X: '1' } },
    /invalid propertyName 'UGS_X'/,
  ],
  'a setting of the chart itself': [
    { image, secret: { existing: 'a' }, settings: { UGS_DRAIN_MS: '1' } },
    /invalid propertyName 'UGS_DRAIN_MS'/,
  ],
  'one replica': [{ image, secret: { existing: 'a' }, replicas: 1 }, /replicas/],
  'a misspelt value': [{ image, secret: { existing: 'a' }, replica: 3 }, /replica/],
  'an ingress without TLS': [
    { image, secret: { existing: 'a' }, ingress: { enabled: true, host: 'a.example' } },
    /ingress\.tlsSecret: set it; API tokens must not/,
  ],
}
for (const [title, [values, message]] of Object.entries(wrongValues)) {
  test(`the chart refuses ${title}`, (t) => {
    const command = findTool(t, helm)
    if (command === undefined) return
    const { status, stderr } = run(t, command, ['template', 'release'], values)
    assert.notEqual(status, 0)
    assert.match(stderr, message)
  })
}

test('the chart accepts every setting that it does not set itself', () => {
  const schema = JSON.parse(readDeployed('helm/user-group-service/values.schema.json'))
  const own = ['HOST', 'PORT', 'UGS_DATA_DIR', 'DATABASE_URL', 'UGS_SECRET_KEYS', 'UGS_MIGRATE']
  // The Secret sets all of them in the environment.
  own.push(
    'UGS_SECRET_KEYS_FILE',
    'UGS_DRAIN_MS',
    'UGS_CLOSE_TIMEOUT_MS',
    'UGS_METRICS_PORT',
    'UGS_METRICS_HOST',
  )
  assert.deepEqual(
    schema.properties.settings.propertyNames.anyOf[0].enum.toSorted(),
    Object.keys(settings)
      .filter((name) => !own.includes(name))
      .toSorted(),
  )
})

test('the chart and the service have the same version', () => {
  const { version } = JSON.parse(readDeployed('../server/package.json'))
  assert.match(
    readDeployed('helm/user-group-service/Chart.yaml'),
    new RegExp(`^appVersion: ${version}$`, 'm'),
  )
})
