// Writes a CycloneDX SBOM (JSON) of what the service runs with: `npm run --silent sbom > sbom.json`. npm makes it out of
// package-lock.json. Of a workspace, `npm sbom --omit dev` leaves out each package that another one has for its development
// (fastify, pg and all that they bring), so that npm is given what belongs to the service alone.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * @typedef {{ dev?: boolean, devOptional?: boolean, link?: boolean, resolved?: string }} LockedPackage
 */

/** The service, and what it serves. */
const workspaces = ['server', 'console']

const root = new URL('../', import.meta.url)
/** @returns {unknown} */
const readJson = (/** @type {string} */ path) => JSON.parse(readFileSync(new URL(path, root), 'utf8'))
const read = (/** @type {string} */ path) => /** @type {object} */ (readJson(path))

const lock = /** @type {{ packages: Record<string, LockedPackage> }} */ (read('package-lock.json'))
const production = Object.entries(lock.packages).filter(
  ([path, { dev, devOptional, link, resolved = '' }]) =>
    link === true || !path.includes('node_modules/')
      ? path === '' || workspaces.includes(link === true ? resolved : path)
      : dev !== true && devOptional !== true,
)

const folder = mkdtempSync(join(tmpdir(), 'ugs-sbom-'))
try {
  // It has the name that npm gives the whole.
  const project = join(folder, 'user-group-service')
  const write = (/** @type {string} */ path, /** @type {object} */ value) => {
    mkdirSync(join(project, path, '..'), { recursive: true })
    writeFileSync(join(project, path), JSON.stringify(value))
  }
  write('package.json', {
    ...read('package.json'),
    devDependencies: undefined,
    overrides: undefined,
    workspaces,
  })
  for (const workspace of workspaces)
    write(`${workspace}/package.json`, { ...read(`${workspace}/package.json`), devDependencies: undefined })
  const packages = production.map(([path, locked]) => [
    path,
    { ...locked, devDependencies: undefined, ...(path === '' && { workspaces }) },
  ])
  write('package-lock.json', { ...lock, packages: Object.fromEntries(packages) })
  const text = execFileSync(
    'npm',
    [
      ...['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'],
      ...['--omit=dev', '--package-lock-only', '--offline'],
    ],
    { cwd: project, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  )
  process.stdout.write(text)
} finally {
  rmSync(folder, { recursive: true })
}
