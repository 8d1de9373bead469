import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import BetterSqlite3 from 'better-sqlite3'
import { UserGroupClient } from '../../client/dist/index.js'
import { IntrospectionClient } from '../../renderer/dist/index.js'
import { compare, httpFigures } from '../lib/compare.js'
import { cpuTime } from '../lib/cpu.js'
import { freshIds } from '../lib/ids.js'
import { connections, loadRound } from '../lib/load.js'
import { residentBytes } from '../lib/memory.js'
import { withDatabase } from '../lib/postgres.js'
import { rounds, seconds } from '../lib/rounds.js'
import { startService } from '../lib/service.js'
import { quantile, summaries } from '../lib/statistics.js'

const idleConnections = 1000
const rotationsPerRound = 200

/**
 * Measures how soon a renderer stops a rotated token, and what idle connections cost. Two service processes share the store: one
 * rotates, the renderer is connected to the other.
 * @type {import('../run.js').Case}
 */
export const events = () => measure(undefined)

/** @type {import('../run.js').Case} */
export const postgresEvents = () => withDatabase(({ url }) => measure(url))

/**
 * Measures the cost of the event of a creation: the service with and without it, each on a separate store.
 * @type {import('../run.js').Case}
 */
export async function outbox() {
  const server = await startService()
  const other = await startService()
  const database = new BetterSqlite3(other.file)
  database.exec('DROP TRIGGER audit_event_insert_event')
  database.close()
  return compareCreations(server, other)
}

/** @type {import('../run.js').Case} */
export const postgresOutbox = () =>
  withDatabase(({ url }) =>
    withDatabase(async ({ url: otherUrl, client }) => {
      const server = await startService(url)
      const other = await startService(otherUrl)
      // Without the table, the function that creates user groups writes no events.
      await client.query('ALTER TABLE event RENAME TO no_event')
      return compareCreations(server, other)
    }),
  )

/**
 * @param {string | undefined} databaseUrl
 * @returns {ReturnType<import('../run.js').Case>}
 */
async function measure(databaseUrl) {
  const writer = await startService(databaseUrl)
  const folder = writer.file.slice(0, writer.file.lastIndexOf('/'))
  const feed = await startService(databaseUrl, [], [], {
    UGS_DATA_DIR: folder,
    // Half of them for the API token.
    UGS_MAX_EVENT_CONNECTIONS: String(2 * (idleConnections + 1)),
  })
  const apiToken = await writer.createToken('introspect')
  const renderer = new IntrospectionClient({
    url: `${feed.origin}/oauth2/introspect`,
    apiToken,
    cache: { lease: true, maxEntries: 10 },
  })
  const client = new UserGroupClient({ origin: writer.origin, apiToken: writer.token })
  try {
    await renderer.introspect(writer.token)
    while (!renderer.hasLease) await sleep(10)
    const latencies = []
    for (let round = 0; round <= rounds; round++) {
      const result = await measureRotations(client, renderer)
      // The first round is a warm-up.
      if (round > 0) latencies.push(result)
    }
    await renderer.close()
    return {
      title: `Events on ${databaseUrl === undefined ? 'SQLite' : 'PostgreSQL'}, two service processes`,
      rows: [
        {
          name: 'from the response of a rotation until the renderer drops the token',
          figures: summaries(latencies),
        },
        {
          name: `${idleConnections} idle connections`,
          figures: summaries([await measureIdle(feed, apiToken)]),
        },
      ],
    }
  } finally {
    await renderer.close()
    await feed.stop()
    await writer.stop()
  }
}

/**
 * @param {UserGroupClient} client
 * @param {IntrospectionClient} renderer
 */
async function measureRotations(client, renderer) {
  /** @type {number[]} */
  const latencies = []
  /** @type {(at: number) => void} */
  let onRevoked = () => undefined
  const listener = () => onRevoked(performance.now())
  renderer.on('revoked', listener)
  let { token } = (await client.getOrCreate({ userGroupId: 'customer', name: 'Customer' })).userGroup
  for (let i = 0; i < rotationsPerRound; i++) {
    await renderer.introspect(token)
    /** @type {Promise<number>} */
    const dropped = new Promise((resolve) => (onRevoked = resolve))
    token = (await client.rotate({ currentToken: token })).token
    const rotatedAt = performance.now()
    // The event may come before the response.
    latencies.push(Math.max(0, (await dropped) - rotatedAt))
    // Rotations begin at any time between two reads of the feed.
    await sleep(Math.random() * 50)
  }
  renderer.off('revoked', listener)
  return {
    'p50, ms': quantile(latencies, 0.5),
    'p99, ms': quantile(latencies, 0.99),
    'longest, ms': quantile(latencies, 1),
  }
}

/**
 * @param {import('../lib/service.js').Service} service
 * @param {string} apiToken
 */
async function measureIdle({ origin, pid }, apiToken) {
  const { hostname, port } = new URL(origin)
  const before = residentBytes(pid)
  /** @type {import('node:net').Socket[]} */
  const sockets = []
  const open = () =>
    new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname)
      sockets.push(socket)
      socket.once('error', reject)
      socket.write(`GET /events HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${apiToken}\r\n\r\n`)
      socket.once('data', (bytes) => {
        const text = bytes.toString('latin1')
        if (text.startsWith('HTTP/1.1 200 ')) resolve(undefined)
        else reject(new Error(text))
      })
    })
  try {
    // A few at a time, so that the service refuses none as overload.
    while (sockets.length < idleConnections) await Promise.all(Array.from({ length: 50 }, open))
    sockets.forEach((socket) => socket.resume())
    // Opening them is no part of the idle time.
    await sleep(5000)
    const cpu = cpuTime(pid)
    await sleep(seconds * 1000)
    return {
      'CPU, % of a core': (cpuTime(pid) - cpu) / (seconds * 10_000),
      'memory, MB': (residentBytes(pid) - before) / 1e6,
    }
  } finally {
    sockets.forEach((socket) => socket.destroy())
  }
}

/**
 * @param {import('../lib/service.js').Service} service
 * @param {import('../lib/service.js').Service} without
 * @returns {ReturnType<import('../run.js').Case>}
 */
async function compareCreations(service, without) {
  const name = 'without events'
  try {
    const contestants = [
      { name: 'service', server: service },
      { name, server: without },
    ].map((one) => ({
      name: one.name,
      round: async () =>
        httpFigures(
          await loadRound(one.server, {
            ...{
              size: /** @type {const} */ ('typical'),
              ids: freshIds(),
              order: /** @type {const} */ ('once'),
            },
            seconds,
            expected: '"new_user_group":true',
          }),
        ),
    }))
    return {
      title: `GET that creates a user group, ${connections} connections`,
      ...(await compare(contestants, { baselines: [name] })),
    }
  } finally {
    await service.stop()
    await without.stop()
  }
}
