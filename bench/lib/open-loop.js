import { quantile } from './statistics.js'

/**
 * Result of a run, in milliseconds.
 * @typedef {object} OpenLoopResult
 * @property {number[]} latencies from the scheduled time of each request to its response
 * @property {number[]} delays from the scheduled time of each request to the time at which this process noticed it
 * @property {number} longestPause between two responses
 * @property {number} duration until the last response
 */

/**
 * Starts requests at a fixed rate on a fixed number of connections. A request that waits for a connection is measured from its
 * scheduled time, so that a pause of the server counts for each request that it delays (coordinated omission).
 */
export class OpenLoop {
  /** @type {OpenLoopResult} */
  result = { latencies: [], delays: [], longestPause: 0, duration: 0 }
  #noticed = 0
  #started = 0
  #lastResponseAt
  #free
  #options

  /**
   * @param {object} options
   * @param {number} options.requestsPerSecond
   * @param {number} options.count of requests
   * @param {number} options.connections
   * @param {number} options.startedAt time of the first request, in milliseconds
   * @param {(connection: number, index: number) => void} options.send
   */
  constructor(options) {
    this.#options = options
    this.#lastResponseAt = options.startedAt
    this.#free = Array.from({ length: options.connections }, (_, connection) => connection)
  }

  get isOver() {
    return this.result.latencies.length === this.#options.count
  }

  /** Sends the requests whose time has come. @param {number} now */
  sendDue(now) {
    const { count, send } = this.#options
    for (; this.#noticed < count && this.#scheduledAt(this.#noticed) <= now; this.#noticed++)
      this.result.delays.push(now - this.#scheduledAt(this.#noticed))
    while (this.#started < this.#noticed) {
      const connection = this.#free.shift()
      if (connection === undefined) return
      send(connection, this.#started++)
    }
  }

  /**
   * Call it when a response arrives.
   * @param {number} connection
   * @param {number} index of the request
   * @param {number} now
   */
  responded(connection, index, now) {
    const { result } = this
    result.latencies.push(now - this.#scheduledAt(index))
    result.longestPause = Math.max(result.longestPause, now - this.#lastResponseAt)
    result.duration = now - this.#options.startedAt
    this.#lastResponseAt = now
    this.#free.push(connection)
    this.sendDue(now)
  }

  /** @param {number} index */
  #scheduledAt(index) {
    const { startedAt, requestsPerSecond } = this.#options
    return startedAt + (index * 1000) / requestsPerSecond
  }
}

/** @param {readonly OpenLoopResult[]} results of one run, which may have several parts */
export function openLoopFigures(results) {
  const latencies = results.flatMap((result) => result.latencies)
  const delays = results.flatMap((result) => result.delays)
  const duration = results.reduce((sum, result) => sum + result.duration, 0)
  return {
    'requests/s': (latencies.length / duration) * 1000,
    'p50, ms': quantile(latencies, 0.5),
    'p99, ms': quantile(latencies, 0.99),
    'p99.9, ms': quantile(latencies, 0.999),
    'longest, ms': quantile(latencies, 1),
    'longest pause, ms': Math.max(...results.map(({ longestPause }) => longestPause)),
    [sentLate]: quantile(delays, 0.99),
  }
}

/** Name of the figure that shows whether the load generator itself kept its schedule. */
export const sentLate = 'sent late, p99, ms'
