import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ugs = fileURLToPath(new URL('../../server/bin/ugs.js', import.meta.url))
const bareFastify = fileURLToPath(new URL('../baselines/bare-fastify.js', import.meta.url))

/**
 * A server in a process of its own.
 * @typedef {object} Server
 * @property {string} origin
 * @property {number} pid
 * @property {string} token what to send as the API token
 * @property {() => Promise<void>} stop ends the process and removes what it kept
 */

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
// None outlives a run that fails.
process.on('exit', () => running.forEach((child) => child.kill('SIGKILL')))

/**
 * Starts the built service as its users do, `ugs serve` with default settings, but for a free port and a temporary data
 * folder.
 * @returns {Promise<Server>}
 */
export async function startService() {
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const settings = { PORT: '0', UGS_DATA_DIR: join(folder, 'data'), UGS_DRAIN_MS: '0' }
  const { stdout, ...server } = await startServer([ugs, 'serve'], settings)
  return {
    ...server,
    // The first start prints one for each environment.
    token: /uga_testing_\w+/.exec(stdout)?.[0] ?? '',
    stop: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * What one pays for HTTP, Fastify and the schemas alone.
 * @returns {Promise<Server>}
 */
export async function startBareFastify() {
  const { origin, pid, stop } = await startServer([bareFastify], {})
  return { origin, pid, token: 'not judged', stop }
}

/**
 * @param {readonly [script: string, ...args: string[]]} command
 * @param {Record<string, string>} settings besides PATH and HOME, so that no setting of this machine reaches it
 */
async function startServer([script, ...args], settings) {
  const child = spawn(process.execPath, [...profiling(), script, ...args], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...settings },
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
      const found = /listens on (http:\S+)/.exec(stdout)?.[1]
      if (found !== undefined) setImmediate(resolve, found)
    })
    child.on('exit', (code) => reject(new Error(`${script} ended with ${code}: ${stderr}`)))
  })
  return { origin, pid: child.pid ?? 0, stdout, stop }
}

/** `BENCH_CPU_PROF=FOLDER` has each server leave a CPU profile there when it stops. */
function profiling() {
  const folder = process.env.BENCH_CPU_PROF
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`]
}
