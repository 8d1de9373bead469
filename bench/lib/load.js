import { cpuTimeOfFamily } from './cpu.js'
import { residentBytes } from './memory.js'
import { startWorker } from './worker.js'

/** @typedef {'get' | 'put' | 'rotate' | 'introspect'} Operation */

/**
 * Requests of one operation. Those that send tokens are about user groups that were seeded.
 * @typedef {object} Load
 * @property {string} origin
 * @property {string} token
 * @property {string} [head] the request line, and what says who calls, of a server that is called in another way
 * @property {Operation} [operation] where it is not `get`
 * @property {import('./bodies.js').BodySize} size
 * @property {import('./ids.js').Ids} ids whom the requests are about
 * @property {'random' | 'once'} order
 * @property {number} seconds after which no more are sent
 * @property {number} [connections] where not as many as ever
 * @property {number} [pauseMs] between an answer and the next request of a connection, in the mean; random, as callers are
 * @property {string} expected what each answer must hold
 * @property {boolean} [mayBeShed] where 503 that says when to come again is no failure
 */

/**
 * What the load's process counted.
 * @typedef {object} LoadResult
 * @property {number} answers
 * @property {number} failures anything but 200 with what was expected: other statuses, lost connections, timeouts
 * @property {number} shed
 * @property {number} seconds
 * @property {number} p50 milliseconds
 * @property {number} p95 milliseconds
 * @property {number} p99 milliseconds
 * @property {number} cpuMicroseconds of the load's process
 */

/**
 * What one round of load on a server came to.
 * @typedef {object} Round
 * @property {number} answers
 * @property {number} requestsPerSecond
 * @property {number} p50Ms
 * @property {number} p95Ms
 * @property {number} p99Ms
 * @property {number} cpuMicroseconds of the server, for each request
 * @property {number} cpuShare of one core, that the server was busy: well below 1, the load was the limit
 * @property {number} loadCpuMicroseconds of the load, for each request
 * @property {number} shedShare of all answers
 * @property {number} memoryBytes resident, of the process of the server that was started first, at the end
 */

export const connections = 32

/** @type {import('./worker.js').Worker | undefined} */
let worker

/**
 * Loads a server for some seconds, from a process of its own.
 * @param {import('./service.js').Server} server
 * @param {Omit<Load, 'origin' | 'token' | 'head'>} load
 * @returns {Promise<Round>}
 * @throws {Error} where any answer was an error: its speed is no figure to report
 */
export async function loadRound({ origin, pid, token, head }, load) {
  worker ??= startWorker('load.js')
  // With `--workers` the service is a family of processes.
  const before = cpuTimeOfFamily(pid)
  const { answers, failures, shed, seconds, p50, p95, p99, cpuMicroseconds } = /** @type {LoadResult} */ (
    await worker.ask({ origin, token, head, ...load })
  )
  const cpu = cpuTimeOfFamily(pid) - before
  if (failures > 0 || answers === 0) {
    throw new Error(`${failures} of ${answers + failures} requests failed: there is nothing to report`)
  }
  return {
    answers,
    requestsPerSecond: answers / seconds,
    p50Ms: p50,
    p95Ms: p95,
    p99Ms: p99,
    cpuMicroseconds: cpu / answers,
    cpuShare: cpu / 1e6 / seconds,
    loadCpuMicroseconds: cpuMicroseconds / answers,
    shedShare: shed / (answers + shed),
    memoryBytes: residentBytes(pid),
  }
}
