import { cpuTimeOfFamily } from './cpu.js'
import { residentBytes } from './memory.js'
import { startWorker } from './worker.js'

/** @typedef {'get' | 'put' | 'rotate' | 'introspect'} Operation */

/**
 * Requests of one operation. Operations that send tokens need seeded user groups.
 * @typedef {object} Load
 * @property {string} origin
 * @property {string} token
 * @property {string} [head] request line and authentication header, for a server with another API
 * @property {string} [locatorKey] of the store, for operations that send tokens; hexadecimal
 * @property {Operation} [operation] default is `get`
 * @property {import('./bodies.js').BodySize} size
 * @property {import('./ids.js').Ids} ids of the user groups
 * @property {'random' | 'once'} order
 * @property {number} seconds duration of sending
 * @property {number} [connections] default is 32
 * @property {number} [pauseMs] mean pause between a response and the connection's next request; exponentially distributed
 * @property {string} expected text that each response must contain
 * @property {boolean} [mayBeShed] whether a 503 with `Retry-After` is not a failure
 */

/**
 * Counts of the load process.
 * @typedef {object} LoadResult
 * @property {number} responses
 * @property {number} failures other statuses, unexpected bodies, lost connections and timeouts
 * @property {number} shed
 * @property {number} seconds
 * @property {number} p50 milliseconds
 * @property {number} p95 milliseconds
 * @property {number} p99 milliseconds
 * @property {number} cpuMicroseconds of the load process
 */

/**
 * Result of one round of load on a server.
 * @typedef {object} Round
 * @property {number} responses
 * @property {number} requestsPerSecond
 * @property {number} p50Ms
 * @property {number} p95Ms
 * @property {number} p99Ms
 * @property {number} cpuMicroseconds of the server, per request
 * @property {number} cpuShare server CPU time in cores; well below 1 means that the load was the limit
 * @property {number} loadCpuMicroseconds of the load, per request
 * @property {number} shedShare of all responses
 * @property {number} memoryBytes resident memory of the server's main process at the end
 */

export const connections = 32

/** @type {import('./worker.js').Worker | undefined} */
let worker

/**
 * Sends requests to a server for some seconds, from a separate process.
 * @param {import('./service.js').Server} server
 * @param {Omit<Load, 'origin' | 'token' | 'head' | 'locatorKey'>} load
 * @returns {Promise<Round>}
 * @throws {Error} if any request failed
 */
export async function loadRound({ origin, pid, token, head, readLocatorKey }, load) {
  worker ??= startWorker('load.js')
  const sendsTokens = load.operation === 'rotate' || load.operation === 'introspect'
  const locatorKey = sendsTokens ? await readLocatorKey?.() : undefined
  // With `--workers` the service has several processes.
  const before = cpuTimeOfFamily(pid)
  const { responses, failures, shed, seconds, p50, p95, p99, cpuMicroseconds } = /** @type {LoadResult} */ (
    await worker.ask({ origin, token, head, locatorKey, ...load })
  )
  const cpu = cpuTimeOfFamily(pid) - before
  if (failures > 0 || responses === 0) {
    throw new Error(`${failures} of ${responses + failures} requests failed`)
  }
  return {
    responses,
    requestsPerSecond: responses / seconds,
    p50Ms: p50,
    p95Ms: p95,
    p99Ms: p99,
    cpuMicroseconds: cpu / responses,
    cpuShare: cpu / 1e6 / seconds,
    loadCpuMicroseconds: cpuMicroseconds / responses,
    shedShare: shed / (responses + shed),
    memoryBytes: residentBytes(pid),
  }
}
