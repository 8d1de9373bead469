import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { readDeployed } from './deploy-folder.ts'

/** Manifests that the chart renders for some values. */
interface Rendered {
  readonly title: string
  readonly manifests: readonly any[]
}

/** Compares manifests with those that were reviewed: all of their values, or what differs from other manifests. */
export function assertSnapshot({ title, manifests }: Rendered, base?: Rendered): void {
  const { version } = JSON.parse(readDeployed('../server/package.json'))
  const lines = base === undefined ? valuesOf(manifests) : differences(base, manifests)
  const text = `${lines.join('\n')}\n`.replaceAll(version, 'VERSION')
  const file = fileURLToPath(new URL(`snapshots/${title.replaceAll(/\W+/g, '-')}.txt`, import.meta.url))
  if (process.env.UPDATE_SNAPSHOTS) writeFileSync(file, text)
  const hint = `If the change of ${file} is wanted, run: UPDATE_SNAPSHOTS=1 npm test -- deploy/chart`
  assert.equal(text, readFileSync(file, 'utf8'), hint)
}

const nameOf = ({ kind, metadata }: any): string => `${kind}/${metadata.name}`

const valuesOf = (manifests: readonly any[]): string[] =>
  manifests.flatMap((manifest) => [...leaves(manifest, nameOf(manifest))])

function differences(base: Rendered, manifests: readonly any[]): string[] {
  const names = new Set(manifests.map(nameOf))
  const removed = base.manifests.map(nameOf).filter((name) => !names.has(name))
  const before = valuesOf(base.manifests.filter((manifest) => names.has(nameOf(manifest))))
  const after = valuesOf(manifests)
  const [known, present] = [new Set(before), new Set(after)]
  return [
    `Differences from the manifests ${base.title}:`,
    ...removed.map((name) => `- ${name}`),
    ...before.filter((line) => !present.has(line)).map((line) => `- ${line}`),
    ...after.filter((line) => !known.has(line)).map((line) => `+ ${line}`),
  ]
}

/** Returns a line for each value, with its whole path. The elements of a list have names, or else numbers. */
function* leaves(value: unknown, path: string): Generator<string> {
  const items: unknown = typeof value === 'string' && value.includes('\n') ? value.split('\n') : value
  if (typeof items !== 'object' || items === null || Object.keys(items).length === 0)
    yield `${path}: ${JSON.stringify(items)}`
  else if (!Array.isArray(items))
    for (const [key, member] of Object.entries(items)) yield* leaves(member, `${path}.${key}`)
  else {
    const names = items.map((item) => item?.name)
    const isNamed = names.every((name) => typeof name === 'string') && new Set(names).size === names.length
    // The order matters, for example of containers.
    if (isNamed && names.length > 1) yield `${path}: ${names.join(', ')}`
    for (const [i, item] of items.entries()) yield* leaves(item, `${path}[${isNamed ? names[i] : i}]`)
  }
}
