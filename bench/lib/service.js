import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readLocatorKey } from './locator-key.js'
import { Keyring, parseSecretKeys } from '../../server/dist/domain/secret-key/keyring.js'

const ugs = fileURLToPath(new URL('../../server/bin/ugs.js', import.meta.url))
/** Unbundled build, one file per module. */
const ugsInModules = fileURLToPath(new URL('../../server/dist/main.js', import.meta.url))

/**
 * A server in a separate process.
 * @typedef {object} Server
 * @property {string} origin
 * @property {number} pid
 * @property {string} token API token of the requests
 * @property {string} [head] request line and authentication header, if the server has another API
 * @property {() => Promise<string>} [readLocatorKey] reads the key of the store's locators, in hexadecimal
 * @property {() => Promise<void>} stop ends the process and removes its data
 */
/**
 * @typedef {Server & { createToken: (scope: string) => Promise<string>, ugs: (...args: string[]) => Promise<string>, metricsUrl: string | undefined, file: string }} Service
 * `createToken` creates an API token, `ugs` runs a command on the service's store, `file` is its SQLite file
 */

/** The same for all services, because several may share a database. */
const secretKeys = `bench:${randomBytes(32).toString('base64')}`
/** Encrypts and decrypts as the services do. */
export const keyring = new Keyring(parseSecretKeys(secretKeys))

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
// Ends the servers if a run fails.
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/**
 * Starts the built service with `ugs serve` and default settings, except for a free port and a temporary data folder.
 * @param {string} [databaseUrl] default is SQLite in that folder
 * @param {readonly string[]} [args] of `ugs serve`
 * @param {readonly string[]} [nodeArgs]
 * @param {Record<string, string>} [environment] settings other than the defaults
 * @returns {Promise<Service>}
 */
export async function startService(databaseUrl, args = [], nodeArgs = [], environment = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const settings = {
    PORT: '0',
    UGS_DATA_DIR: join(folder, 'data'),
    UGS_DRAIN_MS: '0',
    UGS_SECRET_KEYS: secretKeys,
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
    ...environment,
  }
  // Profilers and replaced modules need the unbundled build.
  const script = nodeArgs.length === 0 ? ugs : ugsInModules
  const { stdout, ...server } = await startServer([...nodeArgs, script, 'serve', ...args], settings)
  return {
    ...server,
    metricsUrl: /"metrics":"([^"]+)"/.exec(stdout)?.[1],
    token: await createToken(settings, 'write'),
    file: join(settings.UGS_DATA_DIR, 'ugs.db'),
    readLocatorKey: async () =>
      (await readLocatorKey(databaseUrl ?? join(settings.UGS_DATA_DIR, 'ugs.db'))).toString('hex'),
    createToken: (scope) => createToken(settings, scope),
    ugs: (...args) => runUgs(args, settings),
    stop: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Creates the service's tables.
 * @param {{ DATABASE_URL: string } | { UGS_DATA_DIR: string }} location
 */
export async function migrate(location) {
  await runUgs(['migrate'], location)
}

/**
 * @param {Record<string, string>} settings
 * @param {string} scope
 */
async function createToken(settings, scope) {
  const stdout = await runUgs(
    ['api-token', 'create', '--environment', 'Testing', '--name', 'bench', '--scopes', scope],
    settings,
  )
  return stdout.trim()
}

/**
 * @param {readonly string[]} args
 * @param {Record<string, string>} settings
 */
async function runUgs(args, settings) {
  const { stdout } = await promisify(execFile)(process.execPath, [ugs, ...args], {
    env: environmentOf(settings),
  })
  return stdout
}

/**
 * Starts a server of `baselines/`.
 * @param {string} name
 * @param {readonly string[]} [args]
 * @returns {Promise<Server>}
 */
export async function startBaseline(name, args = []) {
  const script = fileURLToPath(new URL(`../baselines/${name}`, import.meta.url))
  const { origin, pid, stop } = await startServer([script, ...args], {})
  return { origin, pid, token: 'unused', stop }
}

/**
 * @param {readonly string[]} command arguments of Node.js: options, a script and its arguments
 * @param {Record<string, string>} settings
 */
export async function startServer(command, settings) {
  const child = spawn(process.execPath, [...profiling(), ...command], {
    env: environmentOf(settings),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  let stdout = ''
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (/** @type {string} */ text) => (stderr += text))
  /** @type {string} */
  const origin = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (/** @type {string} */ text) => {
      stdout += text
      const found = /listens on (http:[^"\s]+)/.exec(stdout)?.[1]
      if (found !== undefined) setImmediate(resolve, found)
    })
    child.on('exit', (code) => reject(new Error(`${command.join(' ')} ended with ${code}: ${stderr}`)))
  })
  return { origin, pid: child.pid ?? 0, stdout, stop }
}

/**
 * Returns the settings plus PATH and HOME, so that no setting of this machine reaches the process.
 * @param {Record<string, string>} settings
 */
function environmentOf(settings) {
  return { PATH: process.env.PATH, HOME: process.env.HOME, ...settings }
}

/** With `BENCH_CPU_PROF=FOLDER`, each server writes a CPU profile to that folder when it stops. */
function profiling() {
  const folder = process.env.BENCH_CPU_PROF
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}
