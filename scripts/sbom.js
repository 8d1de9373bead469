// Writes a CycloneDX SBOM (JSON) of the service's package: `npm run --silent sbom > sbom.json`. Needs a build. npm makes it out of
// package-lock.json. Of a workspace, `npm sbom --omit dev` leaves out each package that another one has for its development
// (fastify, pg and all that they bring), so that npm is given the service as a project of its own.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** @typedef {Record<string, string>} Versions */
/** @typedef {{ name: string, dependencies: Versions, devDependencies: Versions }} Manifest */
/** @typedef {{ packages: Record<string, Manifest & { dev?: boolean, link?: boolean }> }} Lock */

const root = new URL('../', import.meta.url)
/** @returns {unknown} */
const readJson = (/** @type {string} */ path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'))

const { devDependencies, ...manifest } = /** @type {Manifest} */ (readJson('server/package.json'))
const lock = /** @type {Lock} */ (readJson('package-lock.json'))
const bundled = /** @type {{ name: string }[]} */ (readJson('server/bundle/packages.json')).map(
  ({ name }) => name,
)
const dependencies = {
  ...manifest.dependencies,
  ...Object.fromEntries(Object.entries(devDependencies).filter(([name]) => bundled.includes(name))),
}
// npm leaves out those that nothing depends on.
const installed = Object.entries(lock.packages)
  .filter(([path, { link }]) => path.includes('node_modules/') && link !== true)
  .map(([path, locked]) => [path.replace(/^server\//, ''), { ...locked, dev: undefined }])
const packages = { '': { ...manifest, dependencies }, ...Object.fromEntries(installed) }

const folder = mkdtempSync(join(tmpdir(), 'ugs-sbom-'))
try {
  // npm takes the name of the project from its folder.
  const project = join(folder, manifest.name)
  mkdirSync(project)
  const write = (/** @type {string} */ file, /** @type {object} */ value) =>
    writeFileSync(join(project, file), JSON.stringify(value))
  write('package.json', { ...manifest, dependencies })
  write('package-lock.json', { ...lock, packages })
  const text = execFileSync(
    'npm',
    [
      'sbom',
      '--sbom-format=cyclonedx',
      '--sbom-type=application',
      '--omit=dev',
      '--package-lock-only',
      '--offline',
    ],
    { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  )
  process.stdout.write(text)
} finally {
  rmSync(folder, { recursive: true })
}
