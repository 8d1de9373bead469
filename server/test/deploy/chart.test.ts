import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { settings } from '../../src/config/settings.ts'
import { temporaryFolder } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { allValues, baseOf, extra, image } from './chart-examples.ts'
import {
  assertRestricted,
  assertSchemas,
  environmentOf,
  isKnown,
  podsOf,
  render,
  run,
  workloadOf,
} from './chart-rendering.ts'
import { deployFolder, helm, readDeployed } from './deploy-folder.ts'
import { assertSnapshot } from './snapshot.ts'

const models = join(deployFolder, 'lint/node_modules/kubernetes-models')

/** Validates against Kubernetes' types, which find unknown fields. */
function assertTypes(t: TestContext, manifests: readonly any[]): void {
  const pathOf = ({ apiVersion, kind }: any) => join(models, apiVersion, `${kind}.js`)
  const folder = temporaryFolder(t)
  const file = join(folder, 'manifests.ts')
  const lines = manifests.filter(isKnown).map((manifest, i) => {
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
  await assert.rejects(assertSchemas([{ ...account, automountServiceAccountToken: 'no' }]), /boolean/)
  assert.throws(() => assertTypes(t, [{ ...account, automountToken: false }]), /automountToken/)
})

test('the chart renders only fields that Kubernetes knows', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const all = await Promise.all(Object.values(allValues).map((values) => render(t, command, values)))
  assertTypes(t, all.flat())
})

for (const [title, values] of Object.entries(allValues)) {
  test(`the chart ${title} passes the linter and renders valid manifests`, async (t) => {
    const command = findTool(t, helm)
    if (command === undefined) return
    const linted = run(t, command, ['lint', '--strict'], values)
    assert.equal(linted.status, 0, linted.stdout + linted.stderr)
    const manifests = await render(t, command, values)
    const base = baseOf[title]
    assertSnapshot(
      { title, manifests },
      base && { title: base, manifests: await render(t, command, allValues[base]) },
    )
    await assertSchemas(manifests)
    assertMetrics(
      manifests,
      manifests.filter((manifest) => !isKnown(manifest)),
      (values as any).metrics?.enabled ?? false,
    )
    assertSecrets(manifests, values)
    for (const pod of manifests.flatMap(podsOf)) assertRestricted(pod)
    const { spec } = workloadOf(manifests).spec.template
    const env = environmentOf(spec.containers[0])
    const stopMs = Number(env.UGS_DRAIN_MS) + Number(env.UGS_CLOSE_TIMEOUT_MS)
    assert.ok(spec.terminationGracePeriodSeconds * 1000 > stopMs)
    assert.equal(env.UGS_MIGRATE, manifests.some(({ kind }) => kind === 'Job') ? 'check' : 'auto')
  })
}

/** Secrets are in a Secret only, and only those that do not come from elsewhere. */
function assertSecrets(manifests: readonly any[], { secret, sqlite }: any): void {
  const others = manifests.filter(({ kind }) => kind !== 'Secret')
  assert.ok(!JSON.stringify(others).includes('do-not-show'))
  const keys = [...(sqlite ? [] : ['DATABASE_URL']), ...(secret.keysFile ? [] : ['UGS_SECRET_KEYS'])]
  assert.deepEqual(
    manifests.filter(({ kind }) => kind === 'Secret').map(({ stringData }) => Object.keys(stringData)),
    secret.existing || keys.length === 0 ? [] : [keys],
  )
}

test('the chart mounts files, and passes on placement and labels', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const values = { image, secret: { existing: 'url', keysFile: 'keys' }, ...extra }
  const manifests = await render(t, command, values)
  const pods = manifests.flatMap(podsOf)
  assert.equal(pods.length, 2)
  for (const { containers, volumes, priorityClassName } of pods) {
    const [{ volumeMounts }] = containers
    const env = environmentOf(containers[0])
    const sourceAt = (file = '') => {
      const mount = volumeMounts.find(({ mountPath }: any) => file.startsWith(`${mountPath}/`))
      return volumes.find(({ name }: any) => name === mount?.name)
    }
    assert.equal(sourceAt(env.NODE_EXTRA_CA_CERTS).configMap.name, 'database-ca')
    assert.match(env.NODE_EXTRA_CA_CERTS ?? '', /\/ca\.crt$/)
    assert.equal(sourceAt(env.UGS_SECRET_KEYS_FILE).secret.secretName, 'keys')
    assert.match(env.UGS_SECRET_KEYS_FILE ?? '', /\/secret-keys$/)
    assert.equal(sourceAt('/etc/policy/a').configMap.name, 'policy')
    assert.equal(priorityClassName, 'high')
  }
  const { metadata, spec } = workloadOf(manifests).spec.template
  assert.deepEqual(spec.affinity, extra.affinity)
  assert.equal(metadata.labels.team, 'a')
  assert.equal(metadata.annotations['example/scrape'], 'yes')
})

test('the chart with SQLite runs one pod on a volume, and a job that makes backups beside it', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const manifests = await render(t, command, {
    image,
    secret: { keysFile: 'keys' },
    sqlite: { enabled: true, backup: { keep: 2 } },
    autoscaling: { enabled: true },
  })
  assert.deepEqual(manifests.map(({ kind }) => kind).sort(), [
    ...['CronJob', 'NetworkPolicy', 'PersistentVolumeClaim', 'Service', 'ServiceAccount', 'StatefulSet'],
  ])
  const workload = workloadOf(manifests)
  const [claim] = workload.spec.volumeClaimTemplates
  const { labels } = workload.spec.template.metadata
  const [service] = workload.spec.template.spec.containers
  assert.equal(workload.spec.replicas, 1)
  assert.equal(environmentOf(service).DATABASE_URL, 'sqlite:/data/ugs.db')

  const cronJob = manifests.find(({ kind }) => kind === 'CronJob')
  const [pod] = podsOf(cronJob)
  const claims = pod.volumes.flatMap(
    ({ persistentVolumeClaim }: any) => persistentVolumeClaim?.claimName ?? [],
  )
  const backups = manifests.find(({ kind }) => kind === 'PersistentVolumeClaim').metadata.name
  assert.deepEqual(claims, [backups, `${claim.metadata.name}-${workload.metadata.name}-0`])
  const [rule] = pod.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution
  for (const [name, value] of Object.entries(rule.labelSelector.matchLabels))
    assert.equal(labels[name], value)
  const [job] = pod.containers
  assert.deepEqual(environmentOf(job), {
    DATABASE_URL: 'sqlite:/data/ugs.db',
    UGS_SECRET_KEYS_FILE: '/etc/user-group-service/keys/secret-keys',
  })

  const folder = temporaryFolder(t)
  for (const day of ['01', '02', '03'])
    for (const ending of ['db', 'db.manifest'])
      writeFileSync(join(folder, `ugs-202601${day}T000000Z.${ending}`), '')
  writeFileSync(join(folder, 'other.db'), '')
  for (const name of ['ugs-a.db.1.unfinished', 'ugs-a.db.2.unfinished']) writeFileSync(join(folder, name), '')
  utimesSync(join(folder, 'ugs-a.db.1.unfinished'), 0, 0)
  const script = job.args[0]
    .replace('/backups', folder)
    .replace('node /app/server/bin/ugs.js backup', 'touch')
  const [shell, ...options] = job.command
  assert.equal(spawnSync(shell, [...options, script]).status, 0)
  const kept = readdirSync(folder).sort()
  assert.deepEqual(kept.slice(0, 3), [
    'other.db',
    'ugs-20260103T000000Z.db',
    'ugs-20260103T000000Z.db.manifest',
  ])
  assert.match(kept[3] ?? '', /^ugs-2\d+T\d+Z\.db$/)
  assert.deepEqual(kept.slice(4), ['ugs-a.db.2.unfinished'])
})

test('the chart with SQLite opens no port to a database', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const manifests = await render(t, command, {
    image,
    secret: { keysFile: 'keys' },
    sqlite: { enabled: true },
  })
  const { spec } = manifests.find(({ kind }) => kind === 'NetworkPolicy')
  const ports = spec.egress.flatMap(({ ports }: any) => ports.map(({ port }: any) => port))
  assert.deepEqual(ports, [53, 53])
})

test('the chart with SQLite accepts the longest release name', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const values = { image, secret: { keysFile: 'keys' }, sqlite: { enabled: true } }
  const manifests = await render(t, command, values, 'a'.repeat(53))
  // The schemas do not have the limit of Kubernetes.
  assert.ok(manifests.find(({ kind }) => kind === 'CronJob').metadata.name.length <= 52)
})

test('the chart runs the image of its version, and leaves the pull policy to Kubernetes', async (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const { version } = JSON.parse(readDeployed('../server/package.json'))
  const values = (more: object) => ({ image: { ...image, ...more }, secret: { existing: 'keys' } })
  const [service] = workloadOf(await render(t, command, values({}))).spec.template.spec.containers
  assert.equal(service.image, `${image.repository}:${version}`)
  assert.equal(service.imagePullPolicy, undefined)
  const changed = values({ tag: 'a', pullPolicy: 'Never' })
  const [other] = workloadOf(await render(t, command, changed)).spec.template.spec.containers
  assert.equal(other.image, `${image.repository}:a`)
  assert.equal(other.imagePullPolicy, 'Never')
})

test('the notes of the chart name the workload', (t) => {
  const command = findTool(t, helm)
  if (command === undefined) return
  const notesOf = (values: object) => {
    const { status, stdout, stderr } = run(t, command, ['install', 'a', '--dry-run=client'], values)
    assert.equal(status, 0, stderr)
    return stdout.slice(stdout.indexOf('NOTES:'))
  }
  assert.match(notesOf({ image, secret: { existing: 'keys' } }), /exec deployment\/a --/)
  const notes = notesOf({ image, secret: { keysFile: 'keys' }, sqlite: { enabled: true } })
  assert.match(notes, /rollout status statefulset\/a\n/)
  assert.match(notes, /exec statefulset\/a --/)
  assert.doesNotMatch(notes, /Back up UGS_SECRET_KEYS/)
})

/** Metrics have a port that is not in a Service. The monitor refers to its name. */
function assertMetrics(manifests: readonly any[], podMonitors: readonly any[], areEnabled: boolean): void {
  const { spec } = workloadOf(manifests).spec.template
  const env = environmentOf(spec.containers[0])
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
  'no replicas': [{ image, secret: { existing: 'a' }, replicas: 0 }, /replicas/],
  'a shortened digest': [{ image: { ...image, digest: 'sha256:a' }, secret: { existing: 'a' } }, /digest/],
  'a misspelt value': [{ image, secret: { existing: 'a' }, replica: 3 }, /replica/],
  'a label that selects the pods': [
    { image, secret: { existing: 'a' }, podLabels: { 'app.kubernetes.io/name': 'x' } },
    /invalid propertyName 'app.kubernetes.io\/name'/,
  ],
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
    'UGS_CONFIG_FILE',
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
