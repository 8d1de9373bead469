// Sends requests to a server and reports the result to the parent process. It is a separate process, so that its CPU time
// counts neither for the server nor for the parent.
import { HttpConnection } from '../lib/http-connection.js'
import { indexes, shares } from '../lib/ids.js'
import { connections } from '../lib/load.js'
import { requestTemplate } from '../lib/request-template.js'
import { percentiles } from '../lib/statistics.js'
import { handleMessages } from '../lib/worker.js'

/** Maximum response time; longer is a failure. */
const responseTimeoutMs = 30_000

/**
 * Sends sequential requests on one connection until the time is over, the ids are used up or a request fails.
 * @param {import('../lib/load.js').Load} load
 * @param {import('../lib/ids.js').Ids} ids
 * @param {(verdict: 'good' | 'shed' | 'failed', milliseconds: number) => void} count
 * @returns {Promise<void>}
 */
function sendRequests(load, ids, count) {
  const requestFor = requestTemplate(load, ids)
  const nextIndex = indexes(ids, load.order)
  return new Promise((resolve) => {
    let sent = performance.now()
    const end = sent + load.seconds * 1000
    const connection = new HttpConnection(new URL(load.origin), {
      expected: load.expected,
      onResponse: (isGood, isShed) => {
        const now = performance.now()
        const continues = isGood || (isShed && load.mayBeShed === true)
        count(isGood ? 'good' : continues ? 'shed' : 'failed', now - sent)
        if (load.pauseMs === undefined || !continues) sendNext(continues ? now : Infinity)
        else setTimeout(() => sendNext(performance.now()), -Math.log(Math.random()) * load.pauseMs)
      },
    })
    const timeout = setTimeout(() => connection.fail(), load.seconds * 1000 + responseTimeoutMs)
    const sendNext = (/** @type {number} */ now) => {
      const index = now < end ? nextIndex() : undefined
      if (index === undefined) {
        clearTimeout(timeout)
        connection.close()
        resolve()
        return
      }
      sent = now
      connection.send(requestFor(index))
    }
    sendNext(sent)
  })
}

/**
 * @param {import('../lib/load.js').Load} load
 * @returns {Promise<import('../lib/load.js').LoadResult>}
 */
async function run(load) {
  /** @type {number[]} */
  const latencies = []
  let failures = 0
  let shed = 0
  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  await Promise.all(
    shares(load.ids, load.connections ?? connections).map((ids) =>
      sendRequests(load, ids, (verdict, milliseconds) => {
        if (verdict === 'good') latencies.push(milliseconds)
        else if (verdict === 'shed') shed++
        else failures++
      }),
    ),
  )
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    responses: latencies.length,
    failures,
    shed,
    seconds,
    ...percentiles(latencies),
    cpuMicroseconds: user + system,
  }
}

handleMessages((load) => run(/** @type {import('../lib/load.js').Load} */ (load)))
