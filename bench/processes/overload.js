// Sends requests to a server at a fixed rate, whether or not it keeps up, and reports the result to the parent process.
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

/**
 * Acts as many backends: each request takes a free connection or waits for one.
 * @param {import('../cases/overload.js').Overload} load
 * @returns {Promise<import('../cases/overload.js').OverloadResult>}
 */
async function run(load) {
  const origin = new URL(load.origin)
  const requestFor = requestTemplate(load, load.ids)
  const nextIndex = indexes(load.ids, load.order)
  /** @type {{ good: number[], shed: number[], health: number[] }} */
  const times = { good: [], shed: [], health: [] }
  let [failures, waiting, offered, open] = [0, 0, 0, 0]
  /** @type {(() => void)[]} */
  const free = []
  let end = Infinity
  let mostMemory = 0

  const connect = () => {
    open++
    let sent = 0
    const send = () => {
      sent = performance.now()
      // A copy, because other connections overwrite the shared buffer before it is sent.
      connection.send(Buffer.from(requestFor(nextIndex() ?? 0)))
    }
    const connection = new HttpConnection(origin, {
      expected: load.expected,
      onResponse: (isGood, isShed) => {
        const took = performance.now() - sent
        if (isGood) times.good.push(took)
        else if (isShed) times.shed.push(took)
        else {
          failures++
          open--
          return
        }
        if (waiting > 0 && performance.now() < end) {
          waiting--
          send()
        } else free.push(send)
      },
    })
    send()
  }

  /** @type {() => Promise<void>} */
  const askHealth = () =>
    new Promise((resolve) => {
      let sent = performance.now()
      const connection = new HttpConnection(origin, {
        expected: 'ok',
        onResponse: (isGood) => {
          if (isGood) times.health.push(performance.now() - sent)
          else failures++
          if (!isGood || performance.now() >= end) {
            connection.close()
            resolve()
            return
          }
          setTimeout(ask, healthIntervalMs)
        },
      })
      const ask = () => {
        sent = performance.now()
        connection.send(healthRequest(origin.host))
      }
      ask()
    })

  // Opens one connection after another, so that connecting is not part of the measurement.
  while (open < load.connections) {
    connect()
    while (free.length < open && failures === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  times.good.length = 0
  times.shed.length = 0
  const started = performance.now()
  end = started + load.seconds * 1000
  const health = askHealth()
  while (performance.now() < end) {
    const due = Math.floor(((performance.now() - started) / 1000) * load.requestsPerSecond)
    for (; offered < due; offered++) {
      const send = free.shift()
      if (send === undefined) waiting++
      else send()
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
    mostMemory = Math.max(mostMemory, residentBytes(load.pid))
  }
  for (const late = performance.now() + responseTimeoutMs; free.length < open && performance.now() < late;)
    await new Promise((resolve) => setTimeout(resolve, 10))
  await health
  const pending = open - free.length
  return {
    offered,
    waiting,
    failures: failures + pending,
    good: timesOf(times.good),
    shed: timesOf(times.shed),
    health: timesOf(times.health),
    mostMemory,
  }
}

handleMessages((load) => run(/** @type {import('../cases/overload.js').Overload} */ (load)))
