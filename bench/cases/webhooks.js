import { createServer } from 'node:http'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuTime } from '../lib/cpu.js'
import { freshIds } from '../lib/ids.js'
import { withDatabase } from '../lib/postgres.js'
import { isTrial } from '../lib/rounds.js'
import { createGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'

const rounds = isTrial ? 1 : 5
const events = isTrial ? 1000 : 5000

/** @type {import('../run.js').Case} */
export const webhooks = () => measure(undefined)

/** @type {import('../run.js').Case} */
export const postgresWebhooks = () => withDatabase(({ url }) => measure(url))

/**
 * Measures what a delivery costs the service, events included: the CPU time of creations with an endpoint, until all are delivered, less
 * that of as many creations without one. And how fast a receiver gets them that takes some time for each.
 * @param {string | undefined} databaseUrl
 * @returns {ReturnType<import('../run.js').Case>}
 */
async function measure(databaseUrl) {
  const settings = { UGS_WEBHOOK_HTTP: 'on', UGS_WEBHOOK_PRIVATE_ADDRESSES: 'on' }
  const service = await startService(databaseUrl, [], [], settings)
  const receiver = await startReceiver()
  try {
    const rows = []
    for (const delayMs of [0, 100]) {
      const results = []
      for (let round = 0; round < rounds; round++) {
        const without = await cpuOf(service, () => create(service))
        const id = await createEndpoint(service, receiver.url)
        receiver.reset(delayMs)
        const startedAt = performance.now()
        const withEndpoint = await cpuOf(service, async () => {
          await create(service)
          await receiver.until(events)
        })
        const duration = (performance.now() - startedAt) / 1000
        await service.ugs('webhook', 'delete', id, '--environment', 'Testing')
        results.push({
          'CPU of a delivery, µs': (withEndpoint - without) / events,
          'CPU of a creation, µs': without / events,
          'deliveries/s': events / duration,
        })
      }
      rows.push({ name: `a receiver that takes ${delayMs} ms`, figures: summaries(results) })
    }
    return { title: `Webhooks, ${events} events of as many user groups`, rows }
  } finally {
    receiver.close()
    await service.stop()
  }
}

/** @param {import('../lib/service.js').Service} service */
const create = (service) => createGroups(service, 'typical', { ...freshIds(), count: events })

/**
 * @param {import('../lib/service.js').Service} service
 * @param {() => Promise<unknown>} work
 */
async function cpuOf({ pid }, work) {
  const before = cpuTime(pid)
  await work()
  return cpuTime(pid) - before
}

/**
 * @param {import('../lib/service.js').Service} service
 * @param {string} url
 */
async function createEndpoint(service, url) {
  const options = `--name bench --url ${url} --environment Testing --json`.split(' ')
  const output = await service.ugs('webhook', 'create', ...options)
  /** @type {{ id: number }} */
  const endpoint = JSON.parse(output)
  return String(endpoint.id)
}

async function startReceiver() {
  let received = 0
  let delayMs = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      setTimeout(() => response.writeHead(204).end(() => received++), delayMs)
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}/`,
    reset: (/** @type {number} */ ms) => {
      received = 0
      delayMs = ms
    },
    until: async (/** @type {number} */ count) => {
      while (received < count) await sleep(10)
    },
    close: () => server.close(),
  }
}
