// Sends requests to a server at a fixed rate, whether or not it keeps up, and reports the result to the parent process.
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpConnection } from '../lib/http-connection.js'
import { indexes } from '../lib/ids.js'
import { residentBytes } from '../lib/memory.js'
import { requestTemplate } from '../lib/request-template.js'
import { percentiles, quantile } from '../lib/statistics.js'
import { handleMessages } from '../lib/worker.js'

/** Interval of requests to `/healthz`. */
const healthIntervalMs = 20
/** Maximum wait for responses after the last request. */
const responseTimeoutMs = 30_000

const healthRequest = (/** @type {string} */ host) =>
  Buffer.from(`GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`)

/** @param {readonly number[]} milliseconds */
function timesOf(milliseconds) {
  const { p50, p99 } = percentiles(milliseconds)
  return {
    count: milliseconds.length,
    p50,
    p99,
    max: milliseconds.length === 0 ? NaN : quantile(milliseconds, 1),
  }
}

/** Acts as many backends: each request takes a free connection or waits for one. */
class Backends {
  /** @type {{ good: number[], shed: number[] }} milliseconds */
  times = { good: [], shed: [] }
  failures = 0
  /** Requests that wait for a connection. */
  waiting = 0
  /** After this time, waiting requests are no longer sent. */
  end = Infinity
  #origin
  #expected
  #nextRequest
  #open = 0
  /** @type {(() => void)[]} */
  #free = []

  /** @param {import('../cases/overload.js').Overload} load */
  constructor(load) {
    this.#origin = new URL(load.origin)
    this.#expected = load.expected
    const requestFor = requestTemplate(load, load.ids)
    const nextIndex = indexes(load.ids, load.order)
    // A copy, because other connections overwrite the shared buffer before it is sent.
    this.#nextRequest = () => Buffer.from(requestFor(nextIndex() ?? 0))
  }

  /** Requests without a response. */
  get pending() {
    return this.#open - this.#free.length
  }

  /**
   * Opens one connection after another, so that connecting is not part of the measurement.
   * @param {number} connections
   */
  async connect(connections) {
    while (this.#open < connections) {
      this.#connectOne()
      while (this.pending > 0 && this.failures === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    this.times = { good: [], shed: [] }
  }

  request() {
    const send = this.#free.shift()
    if (send === undefined) this.waiting++
    else send()
  }

  #connectOne() {
    this.#open++
    let sent = 0
    const send = () => {
      sent = performance.now()
      connection.send(this.#nextRequest())
    }
    const connection = new HttpConnection(this.#origin, {
      expected: this.#expected,
      onResponse: (isGood, isShed) => {
        if (isGood || isShed) this.times[isGood ? 'good' : 'shed'].push(performance.now() - sent)
        else {
          this.failures++
          this.#open--
          return
        }
        if (this.waiting > 0 && performance.now() < this.end) {
          this.waiting--
          send()
        } else this.#free.push(send)
      },
    })
    send()
  }
}

/**
 * Sends requests to `/healthz` until `end` or a failure, and resolves with their durations in milliseconds.
 * @param {URL} origin
 * @param {number} end
 * @returns {Promise<{ times: number[], failures: number }>}
 */
function requestHealth(origin, end) {
  return new Promise((resolve) => {
    /** @type {number[]} */
    const times = []
    let sent = 0
    const connection = new HttpConnection(origin, {
      expected: 'ok',
      onResponse: (isGood) => {
        if (isGood) times.push(performance.now() - sent)
        if (!isGood || performance.now() >= end) {
          connection.close()
          resolve({ times, failures: isGood ? 0 : 1 })
          return
        }
        setTimeout(send, healthIntervalMs)
      },
    })
    const send = () => {
      sent = performance.now()
      connection.send(healthRequest(origin.host))
    }
    send()
  })
}

/**
 * @param {import('../cases/overload.js').Overload} load
 * @returns {Promise<import('../cases/overload.js').OverloadResult>}
 */
async function run(load) {
  const backends = new Backends(load)
  await backends.connect(load.connections)
  let offered = 0
  let peakMemory = 0
  const started = performance.now()
  const end = started + load.seconds * 1000
  backends.end = end
  const health = requestHealth(new URL(load.origin), end)
  while (performance.now() < end) {
    const due = Math.floor(((performance.now() - started) / 1000) * load.requestsPerSecond)
    for (; offered < due; offered++) backends.request()
    await sleep(1)
    peakMemory = Math.max(peakMemory, residentBytes(load.pid))
  }
  for (const late = performance.now() + responseTimeoutMs; backends.pending > 0 && performance.now() < late;)
    await sleep(10)
  const { times, failures } = await health
  return {
    offered,
    waiting: backends.waiting,
    failures: backends.failures + failures + backends.pending,
    good: timesOf(backends.times.good),
    shed: timesOf(backends.times.shed),
    health: timesOf(times),
    peakMemory,
  }
}

handleMessages((load) => run(/** @type {import('../cases/overload.js').Overload} */ (load)))
