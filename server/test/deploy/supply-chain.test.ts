import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../support/service.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const script = (name: string) => join(root, 'scripts', name)
const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'))
const { workspaces } = readJson(join(root, 'package.json')) as { workspaces: string[] }

interface Locked {
  dev?: boolean
  devOptional?: boolean
  link?: boolean
  version: string
}

describe('the SBOM', () => {
  const { stdout, status, stderr } = spawnSync(process.execPath, [script('sbom.js')], { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
  const sbom = JSON.parse(stdout)
  const { packages } = readJson(join(root, 'package-lock.json')) as { packages: Record<string, Locked> }
  const purlOf = (name: string, version: string) => `pkg:npm/${name.replace('@', '%40')}@${version}`
  const purls = new Set<string>(sbom.components.map(({ purl }: any) => purl))

  it('describes the service, in CycloneDX', () => {
    assert.deepEqual([sbom.bomFormat, sbom.specVersion, sbom.version], ['CycloneDX', '1.5', 1])
    const { name, type, version } = sbom.metadata.component
    const manifest = readJson(join(root, 'server/package.json')) as { version: string }
    assert.deepEqual([name, type, version], ['user-group-service', 'application', manifest.version])
  })

  it('contains all imported packages and their dependencies, each with hash and license', () => {
    // All production packages of the lock file, except those of the example, the renderer and the isolation package.
    const ofOthers = ['chart.js', '@kurkle/color', 'eventsource-parser', 'tinyglobby', 'fdir', 'picomatch']
    for (const [path, { dev, devOptional, link, version }] of Object.entries(packages)) {
      const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(path)?.[1]
      if (name === undefined || dev === true || devOptional === true || link === true) continue
      if (!ofOthers.includes(name)) assert.ok(purls.has(purlOf(name, version)), path)
    }
    const bundled = readJson(join(root, 'server/bundle/packages.json')) as { name: string; version: string }[]
    assert.ok(bundled.length > 50)
    for (const { name, version } of bundled) assert.ok(purls.has(purlOf(name, version)), name)
    for (const name of ['typescript', 'eslint', 'fast-check', 'react', ...ofOthers])
      assert.ok(!sbom.components.some((component: any) => component.name === name), name)
    for (const { name, hashes, licenses } of sbom.components) {
      assert.equal(hashes[0].alg, 'SHA-512', name)
      assert.ok(licenses.length > 0, name)
    }
  })

  it('refers only to its own components, each once', () => {
    const refs = [sbom.metadata.component, ...sbom.components].map((component) => component['bom-ref'])
    assert.equal(new Set(refs).size, refs.length)
    for (const { ref, dependsOn } of sbom.dependencies)
      for (const named of [ref, ...dependsOn]) assert.ok(refs.includes(named), named)
  })
})

describe('the check of the dependencies', () => {
  function check(t: TestContext, change: (lock: any, manifest: any) => void) {
    const folder = temporaryFolder(t)
    for (const workspace of workspaces)
      cpSync(join(root, workspace, 'package.json'), join(folder, workspace, 'package.json'))
    const lock = readJson(join(root, 'package-lock.json'))
    const manifest = readJson(join(root, 'package.json'))
    change(lock, manifest)
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    const { status, stderr } = spawnSync(process.execPath, [script('check-dependencies.js'), folder], {
      encoding: 'utf8',
    })
    return { status, stderr }
  }

  it('passes on the current lock files', (t) => {
    assert.deepEqual(
      check(t, () => undefined),
      { status: 0, stderr: '' },
    )
  })

  const fastify = 'node_modules/fastify'
  const wrong: Record<string, [(lock: any, manifest: any) => void, RegExp]> = {
    'has no integrity': [
      ({ packages }) => delete packages[fastify].integrity,
      /^node_modules\/fastify: has no/,
    ],
    'is from a repository of git': [
      ({ packages }) => (packages[fastify].resolved = 'git+ssh://git@example.com/fastify.git#abc'),
      /^node_modules\/fastify: has an address of its own/,
    ],
    'has another licence': [
      ({ packages }) => (packages[fastify].license = 'GPL-3.0-only'),
      /^node_modules\/fastify: the license GPL-3.0-only is not on the list/,
    ],
    'has no licence': [({ packages }) => delete packages[fastify].license, /the license is missing/],
    'is used in production with a licence for development alone': [
      ({ packages }) => (packages[fastify].license = 'MPL-2.0'),
      /MPL-2.0 is not on the list/,
    ],
    'has two licences that both hold, one not on the list': [
      ({ packages }) => (packages[fastify].license = '(MIT AND GPL-3.0-only)'),
      /is not on the list/,
    ],
    'has an install script': [
      ({ packages }) => (packages[fastify].hasInstallScript = true),
      /^node_modules\/fastify: has an install script, which is not on the list/,
    ],
    'has an install script that nobody decided on': [
      (_, manifest) => delete manifest.allowScripts.esbuild,
      /^node_modules\/esbuild: package.json does not say in allowScripts/,
    ],
    'is not pinned': [
      (_, manifest) => (manifest.devDependencies.eslint = '^10.0.0'),
      /^package.json: eslint is not pinned to one version \(\^10.0.0\)/,
    ],
  }
  for (const [title, [change, message]] of Object.entries(wrong)) {
    it(`fails where one ${title}`, (t) => {
      const { status, stderr } = check(t, change)
      assert.equal(status, 1)
      assert.match(stderr, message)
    })
  }
})
