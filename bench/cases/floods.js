import { setTimeout as sleep } from 'node:timers/promises'
import { cpuTime } from '../lib/cpu.js'
import { HttpConnection } from '../lib/http-connection.js'
import { residentBytes } from '../lib/memory.js'
import { isTrial } from '../lib/rounds.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'
import { startWorker } from '../lib/worker.js'

/**
 * Requests to `GET /api/user` over several connections at once.
 * @typedef {object} Flood
 * @property {string} origin
 * @property {number} connections
 * @property {number} requests per connection
 * @property {string} headers lines; `{}` is a text that differs between requests, `{token}` an API token
 * @property {string} [body]
 * @property {boolean} isRead each request waits for the response before it; otherwise all are sent at once and no response is read
 */

const rounds = isTrial ? 1 : 3
const healthIntervalMs = 20
/** Time after the end of a flood in which memory is freed and health checks are measured, in milliseconds. */
const afterMs = 30_000

/** @type {Record<string, Omit<Flood, 'origin'>>} */
const floods = {
  '100 connections, 5,000 unread requests each without a token': {
    connections: 100,
    requests: 5000,
    headers: '',
    isRead: false,
  },
  '100 connections, 5,000 unread GETs each of one user group': {
    connections: 100,
    requests: 5000,
    headers: 'Authorization: Token {token}\r\nContent-Type: application/json\r\n',
    body: '{"user_group_id":"a","name":"A"}',
    isRead: false,
  },
  '2,000 connections, 50 requests each with a wrong token': {
    connections: 2000,
    requests: 50,
    headers: 'Authorization: Token wrong-{}\r\n',
    isRead: true,
  },
}

/**
 * Measures memory and response times of health checks during a flood of requests, and after it, and the CPU time until memory is measured
 * again. Each round starts a new service.
 * @type {import('../run.js').Case}
 */
export async function refusedFloods() {
  const rows = []
  for (const [name, flood] of Object.entries(floods)) {
    const results = []
    for (let round = 0; round < rounds; round++) results.push(await measure(flood))
    rows.push({ name, figures: summaries(results) })
  }
  return { title: 'Floods of requests', rows }
}

/** @param {Omit<Flood, 'origin'>} flood */
async function measure(flood) {
  const service = await startService()
  const worker = startWorker('flood.js')
  const health = new HealthChecks(service)
  try {
    await sleep(2000)
    const before = residentBytes(service.pid)
    const cpuBefore = cpuTime(service.pid)
    health.start()
    const headers = flood.headers.replace('{token}', service.token)
    await worker.ask({ ...flood, headers, origin: service.origin })
    await sleep(afterMs)
    await health.stop()
    const megabytes = (/** @type {number} */ bytes) => bytes / 1e6
    return {
      'memory before, MB': megabytes(before),
      'memory at most, MB': megabytes(health.peakMemory),
      'memory after 30 s, MB': megabytes(residentBytes(service.pid)),
      'longest health check, ms': health.longest,
      'CPU, ms': (cpuTime(service.pid) - cpuBefore) / 1000,
    }
  } finally {
    health.close()
    await worker.stop()
    await service.stop()
  }
}

/** Health checks over one connection, one after another. */
class HealthChecks {
  longest = 0
  peakMemory = 0
  #pid
  #request
  #connection
  #isRunning = false
  #failures = 0
  /** @type {Promise<void>} */
  #end = Promise.resolve()
  #responded = () => /** @type {void} */ (undefined)

  /** @param {import('../lib/service.js').Service} service */
  constructor({ origin, pid }) {
    this.#pid = pid
    this.#request = Buffer.from(`GET /healthz HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n\r\n`)
    this.#connection = new HttpConnection(new URL(origin), {
      onResponse: (isGood) => {
        if (!isGood) this.#failures++
        this.#responded()
      },
    })
  }

  start() {
    this.#isRunning = true
    this.#end = this.#run()
  }

  async stop() {
    this.#isRunning = false
    await this.#end
    if (this.#failures > 0) throw new Error('a health check failed')
  }

  close() {
    this.#connection.close()
  }

  async #run() {
    while (this.#isRunning && this.#failures === 0) {
      const sentAt = performance.now()
      await new Promise((resolve) => {
        this.#responded = () => resolve(undefined)
        this.#connection.send(this.#request)
      })
      this.longest = Math.max(this.longest, performance.now() - sentAt)
      this.peakMemory = Math.max(this.peakMemory, residentBytes(this.#pid))
      await sleep(healthIntervalMs)
    }
  }
}
