// Loads a server and tells the parent process, over its channel, what came of it. A process of its own, so that neither
// the server nor whoever measures it pays for the load.
import autocannon from 'autocannon'
import { bodyOf, groupCount, groupId } from '../lib/bodies.js'
import { connections } from '../lib/load.js'
import { quantile } from '../lib/statistics.js'

/** @param {import('../lib/load.js').Load} load */
async function run({ origin, token, kind, size, seconds, expected }) {
  const round = Date.now().toString(36)
  let made = 0
  const create = () => bodyOf(size, `${round}-${1_000_000 + made++}`)
  /** @type {number[]} */
  const latencies = []
  let failures = 0
  let connection = 0
  const started = performance.now()
  let finished = started
  // Each connection asks for user groups of its own, so that no two ask for the same one at the same time.
  const share = () => {
    const each = groupCount / connections
    const first = connection++ * each
    return Array.from({ length: each }, (_, index) => ({ body: bodyOf(size, groupId(first + index)) }))
  }
  /** @type {import('autocannon').Options} */
  const options = {
    url: `${origin}/api/user`,
    method: 'GET',
    headers: { authorization: `Token ${token}`, 'content-type': 'application/json' },
    connections,
    duration: seconds,
    // How often it looks whether the time is over.
    sampleInt: 50,
    setupClient: (client) => {
      client.setRequests(
        kind === 'create' ? [{ setupRequest: (request) => ({ ...request, body: create() }) }] : share(),
      )
    },
    verifyBody: (body) => String(body).includes(expected),
  }
  /** @type {import('autocannon').Result} */
  const { errors, timeouts, mismatches, resets } = await new Promise((resolve, reject) => {
    const running = autocannon(options, (error, result) => {
      if (error) reject(new Error(String(error)))
      else resolve(result)
    })
    running.on('response', (_client, status, _bytes, milliseconds) => {
      finished = performance.now()
      if (status === 200) latencies.push(milliseconds)
      else failures++
    })
  })
  /** @type {import('../lib/load.js').LoadResult} */
  const result = {
    answers: latencies.length,
    failures: failures + errors + timeouts + mismatches + resets,
    seconds: (finished - started) / 1000,
    p50: latencies.length === 0 ? NaN : quantile(latencies, 0.5),
    p99: latencies.length === 0 ? NaN : quantile(latencies, 0.99),
  }
  process.send?.(result, () => process.disconnect())
}

process.once('message', (load) => void run(/** @type {import('../lib/load.js').Load} */ (load)))
