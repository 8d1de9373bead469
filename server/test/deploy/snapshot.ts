import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readDeployed } from './deploy-folder.ts'

/** Compares rendered manifests with those that were reviewed. */
export function assertSnapshot(title: string, rendered: string): void {
  const { version } = JSON.parse(readDeployed('../server/package.json'))
  const text = rendered.replaceAll(version, 'VERSION')
  const file = fileURLToPath(new URL(`snapshots/${title.replaceAll(/\W+/g, '-')}.yaml`, import.meta.url))
  if (process.env.UPDATE_SNAPSHOTS) writeFileSync(file, text)
  const hint = `If the change of ${file} is wanted, run: UPDATE_SNAPSHOTS=1 npm test -- deploy/chart`
  assert.equal(text, readFileSync(file, 'utf8'), hint)
}
