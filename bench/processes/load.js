// Loads a server and tells the parent process, over its channel, what came of it. A process of its own, so that neither
// the server nor whoever measures it pays for the load.
import { HttpConnection } from '../lib/http-connection.js'
import { indexes, shares } from '../lib/ids.js'
import { connections } from '../lib/load.js'
import { requestTemplate } from '../lib/request-template.js'
import { percentiles } from '../lib/statistics.js'
import { answerEach } from '../lib/worker.js'

/** An answer that takes longer is a failure. */
const patienceMs = 30_000

/**
 * One connection: sends a request once the one before is answered, until the time or the ids are over or one fails.
 * @param {import('../lib/load.js').Load} load
 * @param {import('../lib/ids.js').Ids} ids
 * @param {(verdict: 'good' | 'shed' | 'failed', milliseconds: number) => void} count
 * @returns {Promise<void>}
 */
function keepAsking(load, ids, count) {
  const requestFor = requestTemplate(load, ids)
  const nextIndex = indexes(ids, load.order)
  return new Promise((resolve) => {
    let sent = performance.now()
    const end = sent + load.seconds * 1000
    const connection = new HttpConnection(new URL(load.origin), {
      expected: load.expected,
      onAnswer: (isGood, isShed) => {
        const now = performance.now()
        const goesOn = isGood || (isShed && load.mayBeShed === true)
        count(isGood ? 'good' : goesOn ? 'shed' : 'failed', now - sent)
        if (load.pauseMs === undefined || !goesOn) ask(goesOn ? now : Infinity)
        else setTimeout(() => ask(performance.now()), -Math.log(Math.random()) * load.pauseMs)
      },
    })
    const patience = setTimeout(() => connection.fail(), load.seconds * 1000 + patienceMs)
    const ask = (/** @type {number} */ now) => {
      const index = now < end ? nextIndex() : undefined
      if (index === undefined) {
        clearTimeout(patience)
        connection.close()
        resolve()
        return
      }
      sent = now
      connection.send(requestFor(index))
    }
    ask(sent)
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
      keepAsking(load, ids, (verdict, milliseconds) => {
        if (verdict === 'good') latencies.push(milliseconds)
        else if (verdict === 'shed') shed++
        else failures++
      }),
    ),
  )
  const seconds = (performance.now() - started) / 1000
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    answers: latencies.length,
    failures,
    shed,
    seconds,
    ...percentiles(latencies),
    cpuMicroseconds: user + system,
  }
}

answerEach((load) => run(/** @type {import('../lib/load.js').Load} */ (load)))
