// Loads a server and tells the parent process, over its channel, what came of it. A process of its own, so that neither
// the server nor whoever measures it pays for the load.
import { bodyOf } from '../lib/bodies.js'
import { HttpConnection } from '../lib/http-connection.js'
import { idAt, indexes, shares } from '../lib/ids.js'
import { connections } from '../lib/load.js'
import { percentiles } from '../lib/statistics.js'
import { answerEach } from '../lib/worker.js'

/** An answer that takes longer is a failure. */
const patienceMs = 30_000

/**
 * One request for all ids of a range: the next id is written over the last.
 * @param {import('../lib/load.js').Load} load
 * @param {import('../lib/ids.js').Ids} ids
 */
function requestTemplate({ origin, token, size }, ids) {
  const body = bodyOf(size, idAt(ids, 0))
  const text =
    `GET /api/user HTTP/1.1\r\nHost: ${new URL(origin).host}\r\nAuthorization: Token ${token}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
  const bytes = Buffer.from(text)
  const at = bytes.lastIndexOf(idAt(ids, 0)) + ids.prefix.length
  /** @param {number} index */
  return (index) => {
    bytes.write(String(ids.first + index), at, 'latin1')
    return bytes
  }
}

/**
 * @param {import('../lib/load.js').Load} load
 * @returns {Promise<import('../lib/load.js').LoadResult>}
 */
async function run(load) {
  /** @type {number[]} */
  const latencies = []
  let failures = 0
  const cpuBefore = process.cpuUsage()
  const started = performance.now()
  let finished = started
  const end = started + load.seconds * 1000
  await Promise.all(
    shares(load.ids, connections).map(
      (ids) =>
        new Promise((resolve) => {
          const requestFor = requestTemplate(load, ids)
          const nextIndex = indexes(ids, load.order)
          let sent = started
          const connection = new HttpConnection(new URL(load.origin), {
            expected: load.expected,
            onAnswer: (isGood) => {
              finished = performance.now()
              if (isGood) latencies.push(finished - sent)
              else failures++
              next(isGood ? finished : Infinity)
            },
          })
          /** @param {number} now */
          function next(now) {
            const index = now < end ? nextIndex() : undefined
            if (index === undefined) {
              clearTimeout(patience)
              connection.close()
              resolve(undefined)
              return
            }
            sent = now
            connection.send(requestFor(index))
          }
          const patience = setTimeout(() => connection.fail(), load.seconds * 1000 + patienceMs)
          next(started)
        }),
    ),
  )
  const { user, system } = process.cpuUsage(cpuBefore)
  return {
    answers: latencies.length,
    failures,
    seconds: (finished - started) / 1000,
    ...percentiles(latencies),
    cpuMicroseconds: user + system,
  }
}

answerEach((load) => run(/** @type {import('../lib/load.js').Load} */ (load)))
