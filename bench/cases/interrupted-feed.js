import { connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { UserGroupClient } from '../../client/dist/index.js'
import { IntrospectionClient } from '../../renderer/dist/index.js'
import { withDatabase } from '../lib/postgres.js'
import { startService } from '../lib/service.js'
import { quantile } from '../lib/statistics.js'

const renderers = 50
/** Pause between two introspections of a renderer, in milliseconds. */
const pauseMs = 20
/** Time by which a delayed feed is late, in milliseconds. */
const delayMs = 1000

/**
 * Ways to disturb a feed.
 * @type {Record<string, (proxy: Proxy) => void>}
 */
const disturbances = {
  'not at all': () => undefined,
  cut: (proxy) => proxy.cut(),
  stalled: (proxy) => (proxy.holdMs = Infinity),
  'delayed by 1 s': (proxy) => (proxy.holdMs = delayMs),
  'half-closed': (proxy) => proxy.halfClose(),
}

/**
 * Measures for how long renderers with a leased cache accept a rotated token if their feeds are disturbed shortly before the rotation,
 * with the default lease of 5 seconds.
 * @type {import('../run.js').Case}
 */
export const interruptedFeed = () => measure(undefined)

/** @type {import('../run.js').Case} */
export const postgresInterruptedFeed = () => withDatabase(({ url }) => measure(url))

/**
 * @param {string | undefined} databaseUrl
 * @returns {ReturnType<import('../run.js').Case>}
 */
async function measure(databaseUrl) {
  const service = await startService(databaseUrl)
  const apiToken = await service.createToken('introspect')
  try {
    const rows = []
    for (const [name, disturb] of Object.entries(disturbances)) {
      const times = await Promise.all(
        Array.from({ length: renderers }, (_, i) => acceptedFor(service, apiToken, `${name} ${i}`, disturb)),
      )
      const summary = { median: quantile(times, 0.5), min: quantile(times, 0), max: quantile(times, 1) }
      rows.push({ name: `feed ${name}`, figures: { 'accepted for, ms': summary } })
    }
    return {
      title: `A rotated token in ${renderers} renderers with a lease of 5 s, ${databaseUrl === undefined ? 'SQLite' : 'PostgreSQL'}`,
      rows,
    }
  } finally {
    await service.stop()
  }
}

/**
 * Returns the milliseconds from the response of a rotation to the last introspection that accepted the old token.
 * @param {import('../lib/service.js').Service} service
 * @param {string} apiToken
 * @param {string} userGroupId
 * @param {(proxy: Proxy) => void} disturb
 */
async function acceptedFor(service, apiToken, userGroupId, disturb) {
  const proxy = await Proxy.start(Number(new URL(service.origin).port))
  const renderer = new IntrospectionClient({
    url: `${service.origin}/oauth2/introspect`,
    apiToken,
    cache: { lease: true, maxEntries: 10 },
    eventsUrl: proxy.eventsUrl,
  })
  const client = new UserGroupClient({ origin: service.origin, apiToken: service.token })
  try {
    const { token } = (await client.getOrCreate({ userGroupId, name: 'Customer' })).userGroup
    while (!renderer.hasLease) {
      await renderer.introspect(token)
      await sleep(pauseMs)
    }
    await renderer.introspect(token)
    // At any time between two heartbeats.
    await sleep(Math.random() * 1000)
    disturb(proxy)
    await client.rotate({ currentToken: token })
    const rotatedAt = performance.now()
    let acceptedAt = rotatedAt
    while ((await renderer.introspect(token)) !== null) {
      acceptedAt = performance.now()
      await sleep(pauseMs)
    }
    return acceptedAt - rotatedAt
  } finally {
    await renderer.close()
    proxy.stop()
  }
}

/** A TCP proxy in front of the feed of one renderer. */
class Proxy {
  /** Time for which bytes to the renderer are held back, in milliseconds. */
  holdMs = 0
  #isCut = false
  /** @type {Set<import('node:net').Socket>} */
  #sockets = new Set()
  #server

  /** @param {number} port */
  constructor(port) {
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (renderer) => {
      const service = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      for (const socket of [renderer, service]) {
        this.#sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('close', () => {
          renderer.destroy()
          service.destroy()
        })
      }
      if (this.#isCut) renderer.destroy()
      renderer.pipe(service)
      service.on('data', (bytes) => void this.#forward(() => renderer.write(bytes)))
      service.on('end', () => void this.#forward(() => renderer.end()))
    })
  }

  /** @param {number} port of the service */
  static async start(port) {
    const proxy = new Proxy(port)
    await new Promise((resolve) => proxy.#server.listen(0, '127.0.0.1', () => resolve(undefined)))
    return proxy
  }

  get eventsUrl() {
    const { port } = /** @type {import('node:net').AddressInfo} */ (this.#server.address())
    return `http://127.0.0.1:${port}/events`
  }

  /** Ends the connection, and every later one. */
  cut() {
    this.#isCut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Ends the direction to the renderer, and every later connection. */
  halfClose() {
    this.#isCut = true
    for (const socket of this.#sockets) socket.end()
  }

  stop() {
    this.cut()
    this.#server.close()
  }

  /** @param {() => void} forward */
  async #forward(forward) {
    if (this.holdMs === Infinity) return
    if (this.holdMs > 0) await sleep(this.holdMs, undefined, { ref: false })
    forward()
  }
}
