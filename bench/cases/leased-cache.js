import { createServer } from 'node:http'
import { IntrospectionClient } from '../../renderer/dist/index.js'
import { seconds, rounds } from '../lib/rounds.js'
import { summaries } from '../lib/statistics.js'

const tokens = 10_000
/** Time between two heartbeats of the feed, in milliseconds. */
const heartbeatMs = 500
/** Calls between two looks at the time. */
const callsPerBlock = 10_000

/**
 * Measures the CPU time of a cached introspection in a renderer with 10,000 tokens. Each call gets a new string, as from the header
 * of a request.
 * @type {import('../run.js').Case}
 */
export async function leasedCache() {
  const service = await startService()
  const client = new IntrospectionClient({
    url: `${service.origin}/oauth2/introspect`,
    apiToken: 'uga_customer_x',
    cache: { lease: true, maxEntries: tokens },
  })
  const known = Array.from({ length: tokens }, (_, i) => tokenOf(i))
  try {
    await client.introspect(tokenOf(0))
    while (!client.hasLease) await new Promise((resolve) => setTimeout(resolve, 10))
    for (const token of known) await client.introspect(token)
    const results = []
    for (let round = 0; round <= rounds; round++) {
      const before = service.introspections()
      const result = await measure(client, known)
      if (service.introspections() > before) throw new Error('a call was not served from the cache')
      // The first round is a warm-up.
      if (round > 0) results.push(result)
    }
    return {
      title: `Cost of a cached introspection with a lease, ${tokens} tokens`,
      rows: [{ name: 'introspect', figures: summaries(results) }],
    }
  } finally {
    await client.close()
    service.stop()
  }
}

/**
 * @param {IntrospectionClient} client
 * @param {readonly string[]} known
 */
async function measure(client, known) {
  let calls = 0
  const start = performance.now()
  const cpu = process.cpuUsage()
  while (performance.now() - start < seconds * 1000) {
    for (let i = 0; i < callsPerBlock; i++) {
      // Spread over all tokens, and without the hash code that a string keeps.
      const token = Buffer.from(known[(i * 7919) % tokens] ?? '', 'latin1').toString('latin1')
      await client.introspect(token)
    }
    calls += callsPerBlock
    // Lets heartbeats in.
    await new Promise(setImmediate)
  }
  const { user, system } = process.cpuUsage(cpu)
  return {
    'CPU, µs': (user + system) / calls,
    'calls/s': calls / ((performance.now() - start) / 1000),
  }
}

/** @param {number} i */
const tokenOf = (i) => `ugt_customer_${String(i).padStart(50, 'x')}`

async function startService() {
  let introspections = 0
  const server = createServer((request, response) => {
    if (request.method === 'GET') {
      const start = performance.now()
      const beat = () =>
        response.write(
          `: complete ${Math.floor(performance.now() - start)}\nid: a-1\nevent: heartbeat\ndata: {}\n\n`,
        )
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      beat()
      const timer = setInterval(beat, heartbeatMs)
      response.on('close', () => clearInterval(timer))
      return
    }
    introspections++
    request.resume().on('end', () => {
      response
        .writeHead(200, { 'content-type': 'application/json', 'x-event-position': 'a-1' })
        .end(JSON.stringify({ ...userGroup, team_id: introspections }))
    })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    origin: `http://127.0.0.1:${port}`,
    introspections: () => introspections,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const userGroup = {
  active: true,
  token_type: 'user_group',
  sub: 'customer-42',
  iat: 1_790_000_000,
  name: 'Example customer',
  api_environment_tag: 'Customer',
  mapping: { 40: '213' },
  properties: { region: 'EU' },
  data_sources: { 40: { id: 213, provided_id: 'warehouse-eu', name: 'Warehouse EU' } },
}
