import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { cpuTime } from './cpu.js'

/**
 * Of what kind the requests are; each is a GET of /api/user with a body.
 * - `unchanged`: user groups that exist and stay as they are
 * - `create`: one that is new with each request
 * @typedef {'unchanged' | 'create'} LoadKind
 */

/**
 * @typedef {object} Load
 * @property {string} origin
 * @property {string} token
 * @property {LoadKind} kind
 * @property {import('./bodies.js').BodySize} size
 * @property {number} seconds
 * @property {string} expected what each answer must hold
 */

/**
 * What the load's process counted.
 * @typedef {object} LoadResult
 * @property {number} answers
 * @property {number} failures anything but 200 with what was expected: other statuses, lost connections, timeouts
 * @property {number} seconds
 * @property {number} p50 milliseconds
 * @property {number} p99 milliseconds
 */

/**
 * What one round of load on a server came to.
 * @typedef {object} Round
 * @property {number} requestsPerSecond
 * @property {number} p50Ms
 * @property {number} p99Ms
 * @property {number} cpuMicroseconds of the server, for each request
 * @property {number} cpuShare of one core, that the server was busy: well below 1, the load was the limit
 */

export const connections = 32

const script = fileURLToPath(new URL('../processes/load.js', import.meta.url))

/**
 * Loads a server for some seconds, from a process of its own.
 * @param {import('./service.js').Server} server
 * @param {Pick<Load, 'kind' | 'size' | 'seconds' | 'expected'>} load
 * @returns {Promise<Round>}
 * @throws {Error} where any answer was an error: its speed is no figure to report
 */
export async function loadRound({ origin, pid, token }, load) {
  const before = cpuTime(pid)
  const { answers, failures, seconds, p50, p99 } = await run({ origin, token, ...load })
  const cpu = cpuTime(pid) - before
  if (failures > 0 || answers === 0) {
    throw new Error(`${failures} of ${answers + failures} requests failed: there is nothing to report`)
  }
  return {
    requestsPerSecond: answers / seconds,
    p50Ms: p50,
    p99Ms: p99,
    cpuMicroseconds: cpu / answers,
    cpuShare: cpu / 1e6 / seconds,
  }
}

/**
 * @param {Load} load
 * @returns {Promise<LoadResult>}
 */
function run(load) {
  return new Promise((resolve, reject) => {
    const child = fork(script)
    child.once('message', (result) => resolve(/** @type {LoadResult} */ (result)))
    // Does nothing where the result has come.
    child.once('exit', (code) => reject(new Error(`the load ended with ${code} and no result`)))
    child.once('error', reject)
    child.send(load)
  })
}
