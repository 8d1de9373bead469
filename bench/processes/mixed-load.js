// Sends a mix of requests at a fixed rate and reports the result to the parent process.
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpConnection } from '../lib/http-connection.js'
import { indexes } from '../lib/ids.js'
import { OpenLoop } from '../lib/open-loop.js'
import { requestTemplate } from '../lib/request-template.js'
import { handleMessages } from '../lib/worker.js'

const connections = 64
/** Maximum wait for responses after the last request is due. */
const responseTimeoutMs = 30_000

/**
 * @param {import('../cases/mixed.js').MixedLoad} load
 * @returns {Promise<import('../lib/open-loop.js').OpenLoopResult>}
 */
async function run({ origin, requestsPerSecond, seconds, parts }) {
  const operations = parts.map(({ share, ids, order, expected, ...part }) => ({
    nextRequest: requestsOf({ origin, size: 'typical', ...part }, ids, order),
    expected: Buffer.from(expected),
    share,
  }))
  const mix = operations.flatMap((operation) => Array.from({ length: operation.share }, () => operation))
  let failures = 0
  const open = Array.from({ length: connections }, (_, connection) => {
    let current = 0
    const http = new HttpConnection(new URL(origin), {
      onResponse: (isGood) => {
        if (isGood) loop.responded(connection, current, performance.now())
        else failures++
      },
    })
    return {
      close: () => http.close(),
      send: (/** @type {number} */ index) => {
        current = index
        // The step spreads each operation evenly over each hundred requests.
        const { nextRequest, expected } = /** @type {typeof operations[number]} */ (
          mix[(index * 37) % mix.length]
        )
        http.send(nextRequest(), expected)
      },
    }
  })
  // Connecting is not part of the measurement.
  await sleep(200)
  const startedAt = performance.now()
  const loop = new OpenLoop({
    requestsPerSecond,
    startedAt,
    count: requestsPerSecond * seconds,
    connections,
    send: (connection, index) => open[connection]?.send(index),
  })
  const end = startedAt + seconds * 1000 + responseTimeoutMs
  while (!loop.isOver && failures === 0 && performance.now() < end) {
    loop.sendDue(performance.now())
    await sleep(1)
  }
  for (const { close } of open) close()
  if (!loop.isOver) throw new Error(`${failures} requests failed, and some got no response`)
  return loop.result
}

/**
 * @param {Parameters<typeof requestTemplate>[0]} part
 * @param {import('../lib/ids.js').Ids} ids
 * @param {'random' | 'once'} order
 */
function requestsOf(part, ids, order) {
  const requestFor = requestTemplate(part, ids)
  const nextIndex = indexes(ids, order)
  return () => {
    const index = nextIndex()
    if (index === undefined) throw new Error('the ids are used up')
    // A copy, because other connections overwrite the shared buffer before it is sent.
    return Buffer.from(requestFor(index))
  }
}

handleMessages((load) => run(/** @type {import('../cases/mixed.js').MixedLoad} */ (load)))
