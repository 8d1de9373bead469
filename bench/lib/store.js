import { cpuTime } from './cpu.js'
import { startWorker } from './worker.js'

/**
 * What one round of calls of the store came to.
 * @typedef {object} StoreRound
 * @property {number} calls
 * @property {number} callsPerSecond
 * @property {number} p50Ms
 * @property {number} p99Ms
 * @property {number} cpuMicroseconds of the store's process, for each call
 */

/** The store in a process of its own. */
export const startStore = () => startWorker('store.js')

/**
 * Calls the store for some seconds.
 * @param {import('./worker.js').Worker} store
 * @param {import('../processes/store.js').StoreLoad} load
 * @returns {Promise<StoreRound>}
 * @throws {Error} where any call came to anything but what was expected
 */
export async function storeRound(store, load) {
  const before = cpuTime(store.pid)
  const result = await store.ask(load)
  const cpu = cpuTime(store.pid) - before
  const { calls, failures, seconds, p50, p99 } = /** @type {import('../processes/store.js').StoreResult} */ (
    result
  )
  if (failures > 0 || calls === 0) {
    throw new Error(
      `${failures} of ${calls + failures} calls came to something else: there is nothing to report`,
    )
  }
  return { calls, callsPerSecond: calls / seconds, p50Ms: p50, p99Ms: p99, cpuMicroseconds: cpu / calls }
}
