import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { deployFolder, helm, parseYaml } from '../deploy/deploy-folder.ts'
import { temporaryFolder } from '../support/service.ts'
import { findTool } from '../support/tool.ts'
import { readBlocks } from './blocks.ts'
import { runShell } from './shell.ts'
import { repository } from './support.ts'

describe('the commands of docs/deployment.md', () => {
  it('create the secrets that Compose reads', async (t) => {
    const [create] = readBlocks('docs/deployment.md', 'Compose', 1)
    const folder = temporaryFolder(t)
    mkdirSync(join(folder, 'deploy'))
    await runShell(create, folder)
    const compose = readFileSync(join(deployFolder, 'compose.yaml'), 'utf8')
    const required = [...compose.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name)
    const created = readFileSync(join(folder, 'deploy/.env'), 'utf8').trim().split('\n')
    assert.deepEqual(new Set(created.map((line) => line.split('=')[0])), new Set(required))
  })

  it('install the chart with a Secret that has its keys', async (t) => {
    const [install] = readBlocks('docs/deployment.md', 'Kubernetes', 1)
    const run = await runOnKubernetes(t, install)
    if (run === undefined) return
    const { manifests, secretKeys } = run
    assert.ok(manifests.some(({ kind }) => kind === 'Deployment'))
    assert.deepEqual(secretKeys, ['DATABASE_URL', 'UGS_SECRET_KEYS'])
  })

  it('give the chart a configuration with the API tokens of a Secret', async (t) => {
    const [values, create] = readBlocks('docs/deployment.md', 'Configuration and API tokens', 2)
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'values.yaml'), values)
    const run = await runOnKubernetes(
      t,
      `${create}
       helm upgrade --install ugs ${deployFolder}helm/user-group-service --values '${folder}/values.yaml' \\
         --set image.repository=a --set secret.existing=b`,
    )
    if (run === undefined) return
    const [{ env }] = run.manifests.find(({ kind }) => kind === 'Deployment').spec.template.spec.containers
    const keys = env.flatMap(({ valueFrom }: any) => valueFrom?.secretKeyRef.key ?? [])
    assert.deepEqual(run.secretKeys, keys)
  })

  it('install the chart with SQLite, and create an API token in its pod', async (t) => {
    const [install] = readBlocks('docs/deployment.md', 'SQLite on Kubernetes', 1)
    const run = await runOnKubernetes(t, install)
    if (run === undefined) return
    const { output, manifests, pod, secretKeys } = run
    const set = manifests.find(({ kind }) => kind === 'StatefulSet')
    assert.equal(pod, `${set.metadata.name}-0`)
    assert.deepEqual(secretKeys, ['secret-keys'])
    assert.match(output, /^uga_customer_\w+$/m)
  })

  it('mount the settings of the log as docs/operations.md says', async (t) => {
    const [values] = readBlocks('docs/operations.md', 'Change the log at run time', 2)
    const folder = temporaryFolder(t)
    writeFileSync(join(folder, 'values.yaml'), values)
    const run = await runOnKubernetes(
      t,
      `helm upgrade --install ugs ${deployFolder}helm/user-group-service --values '${folder}/values.yaml' \\
         --set image.repository=a --set secret.existing=b`,
    )
    if (run === undefined) return
    const [{ env, volumeMounts }] = run.manifests.find(({ kind }) => kind === 'Deployment').spec.template.spec
      .containers
    const file = env.find(({ name }: any) => name === 'UGS_LOG_SETTINGS_FILE').value
    assert.ok(volumeMounts.some(({ mountPath }: any) => file === `${mountPath}/log-settings`))
  })
})

/**
 * Runs commands without a cluster: Helm renders the chart, and with --wait there is a store. A pod is this checkout, and a Secret is not created. Returns undefined
 * after a skip.
 */
async function runOnKubernetes(t: TestContext, commands: string) {
  const command = findTool(t, helm)
  if (command === undefined) return undefined
  const folder = temporaryFolder(t)
  for (const name of ['deploy', 'server']) symlinkSync(join(repository, name), join(folder, name))
  const cluster = `
    helm() {
      shift 2
      '${command}' template "$@" >manifests
      case "$*" in *--wait*) npx ugs migrate ;; esac
    }
    kubectl() {
      echo "$@" >>kubectl
      if [ "$1" = exec ]; then shift 3; "$@"; fi
    }`
  const output = await runShell(`${cluster}\n${commands}`, folder, { UGS_DATA_DIR: join(folder, 'data') })
  const kubectl = commands.includes('kubectl') ? readFileSync(join(folder, 'kubectl'), 'utf8') : ''
  return {
    output,
    manifests: await parseYaml(readFileSync(join(folder, 'manifests'), 'utf8')),
    pod: /^exec (\S+) --/m.exec(kubectl)?.[1],
    secretKeys: [...kubectl.matchAll(/--from-file=([\w-]+)/g)].map(([, key]) => key),
  }
}
