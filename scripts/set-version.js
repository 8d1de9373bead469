// Sets the version of all packages and of the chart, for a release: `node scripts/set-version.js 1.0.0-rc.1`.
import { readFileSync, writeFileSync } from 'node:fs'

const [version = ''] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+(-[a-z]+\.\d+)?$/.test(version)) {
  console.error('use: node scripts/set-version.js VERSION, for example 1.0.0 or 1.0.0-rc.1')
  process.exit(2)
}

/** @typedef {{ name: string, version: string, workspaces: string[], dependencies?: Record<string, string> }} Manifest */

/** @returns {unknown} */
const readJson = (/** @type {string} */ path) => JSON.parse(readFileSync(path, 'utf8'))
const writeJson = (/** @type {string} */ path, /** @type {unknown} */ value) =>
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
const replace = (/** @type {string} */ path, /** @type {RegExp} */ pattern, /** @type {string} */ text) =>
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(pattern, text))

const { workspaces } = /** @type {Manifest} */ (readJson('package.json'))
const manifests = new Map(
  ['', ...workspaces].map((folder) => {
    const path = folder === '' ? 'package.json' : `${folder}/package.json`
    return [folder, { path, manifest: /** @type {Manifest} */ (readJson(path)) }]
  }),
)
const names = [...manifests.values()].map(({ manifest }) => manifest.name)
const lock = /** @type {{ version: string, packages: Record<string, Manifest> }} */ (
  readJson('package-lock.json')
)
lock.version = version
for (const [folder, { path, manifest }] of manifests) {
  for (const one of [manifest, lock.packages[folder]]) {
    if (one === undefined) throw new Error(`package-lock.json lacks "${folder}": run npm install`)
    one.version = version
    for (const name of names) if (one.dependencies?.[name] !== undefined) one.dependencies[name] = version
  }
  writeJson(path, manifest)
}
writeJson('package-lock.json', lock)
replace('deploy/helm/user-group-service/Chart.yaml', /^(version|appVersion): .*$/gm, `$1: ${version}`)
for (const folder of ['client', 'renderer'])
  replace(`${folder}/src/version.ts`, /^((?:export )?const version = )'.*'/gm, `$1'${version}'`)
replace('clients/go/version.go', /^const version = .*$/gm, `const version = "${version}"`)
replace('clients/java/pom.xml', /^ {2}<version>.*$/gm, `  <version>${version}</version>`)
replace('clients/java/README.md', /^ {2}<version>.*$/gm, `  <version>${version}</version>`)
replace('clients/java/src/main/java/usergroupservice/Version.java', /(VERSION = ).*$/gm, `$1"${version}";`)
// PEP 440 writes 1.0.0rc1.
const pythonVersion = version.replace(/-([a-z]+)\./, '$1')
replace('clients/python/pyproject.toml', /^version = .*$/gm, `version = "${pythonVersion}"`)
replace(
  'clients/python/src/user_group_service/_version.py',
  /^__version__ = .*$/gm,
  `__version__ = "${pythonVersion}"`,
)
