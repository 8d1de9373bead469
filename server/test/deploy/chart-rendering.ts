import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from '../support/service.ts'
import { deployFolder, importLint, parseYaml } from './deploy-folder.ts'

const chart = join(deployFolder, 'helm/user-group-service')

export function run(t: TestContext, command: string, args: readonly string[], values: object) {
  const file = join(temporaryFolder(t), 'values.json')
  writeFileSync(file, JSON.stringify(values))
  return spawnSync(command, [...args, chart, '--values', file], { encoding: 'utf8' })
}

export function renderText(t: TestContext, command: string, values: object, release = 'release'): string {
  const { status, stdout, stderr } = run(t, command, ['template', release], values)
  assert.equal(status, 0, stderr)
  return stdout
}

export async function render(
  t: TestContext,
  command: string,
  values: object,
  release?: string,
): Promise<any[]> {
  const text = renderText(t, command, values, release)
  return (await parseYaml(text)).filter((manifest) => manifest !== null)
}

/** Returns false for the kinds of the Prometheus Operator, which are not part of Kubernetes. */
export const isKnown = ({ kind }: any) => kind !== 'PodMonitor' && kind !== 'PrometheusRule'

/** Validates against Kubernetes' schemas, which accept unknown fields. */
export async function assertSchemas(manifests: readonly any[]): Promise<void> {
  for (const manifest of manifests.filter(isKnown)) {
    const module = await importLint(`kubernetes-models/${manifest.apiVersion}/${manifest.kind}.js`)
    new module[manifest.kind](manifest).validate()
  }
}

export const workloadOf = (manifests: readonly any[]): any =>
  manifests.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet')
export const environmentOf = (container: any): Record<string, string> =>
  Object.fromEntries(container.env.map(({ name, value }: any) => [name, value]))

/** Returns the pod specifications of a manifest. */
export function podsOf({ kind, spec }: any): any[] {
  if (kind === 'CronJob') return [spec.jobTemplate.spec.template.spec]
  return ['Deployment', 'StatefulSet', 'Job'].includes(kind) ? [spec.template.spec] : []
}

/** The Pod Security Standard "restricted", with a read-only root file system. */
export function assertRestricted({
  securityContext,
  containers,
  automountServiceAccountToken,
  volumes,
}: any): void {
  assert.equal(automountServiceAccountToken, false)
  assert.equal(securityContext.runAsNonRoot, true)
  assert.equal(securityContext.seccompProfile.type, 'RuntimeDefault')
  const kinds = ['emptyDir', 'configMap', 'secret', 'persistentVolumeClaim']
  for (const volume of volumes) assert.ok(kinds.some((kind) => kind in volume))
  for (const container of containers) {
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
  }
}
