// Installs npm projects that are not workspaces: `node scripts/install-packages.js FOLDER…`.
import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/**
 * Installs the packages of a project that is not a workspace, unless they are installed already.
 * @param {string} path path of the project's folder from the repository root
 * @returns {string} absolute path of the folder
 */
export function installPackages(path) {
  const folder = fileURLToPath(new URL(`../${path}`, import.meta.url))
  // npm writes the first file after an installation.
  const installed = modifiedAt(join(folder, 'node_modules/.package-lock.json'))
  const locked = modifiedAt(join(folder, 'package-lock.json'))
  if (installed < (locked || modifiedAt(join(folder, 'package.json')))) {
    console.error(`Installing the packages of ${path}.`)
    const command = locked > 0 ? ['ci'] : ['install', '--no-package-lock']
    execFileSync('npm', [...command, '--no-audit', '--no-fund'], {
      cwd: folder,
      stdio: ['ignore', 2, 'inherit'],
    })
  }
  return folder
}

/**
 * Loads a package of such a project and installs it if necessary.
 * @param {string} path
 * @param {string} name
 * @returns {unknown}
 */
export function requirePackage(path, name) {
  return createRequire(join(installPackages(path), 'package.json'))(name)
}

/** @param {string} file */
function modifiedAt(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const path of process.argv.slice(2)) installPackages(path)
