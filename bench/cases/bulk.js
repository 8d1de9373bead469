import { request } from 'node:http'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { residentBytes } from '../lib/memory.js'
import { withDatabase } from '../lib/postgres.js'
import { startService } from '../lib/service.js'
import { quantile, summaries } from '../lib/statistics.js'

const count = Number(process.env.BENCH_USER_GROUPS ?? 1_000_000)
/** Every hundredth row is invalid. */
const badEvery = 100
const parts = 10
/** Number of requests per page. */
const requestsPerPage = 20

/** @typedef {{ created: number, unchanged: number, refused: number }} Summary */

/** @type {import('../run.js').Case} */
export const bulk = () => bulkOf('SQLite')

/** @type {import('../run.js').Case} */
export const postgresBulk = () => withDatabase(({ url, version }) => bulkOf(`PostgreSQL ${version}`, url))

/**
 * Imports `BENCH_USER_GROUPS` user groups, imports them again, exports them and requests the pages of the console. Goals: an
 * import of 1,000,000 rows within 60 s into SQLite and 90 s into PostgreSQL, constant memory, and pages within 200 ms.
 * @param {string} store
 * @param {string} [url]
 * @returns {Promise<import('../run.js').Report>}
 */
async function bulkOf(store, url) {
  const service = await startService(url)
  try {
    const token = await service.createToken('admin')
    const headers = { authorization: `Token ${token}` }
    const memory = []
    const waits = []
    /** @type {Record<string, number>[]} */
    const imports = []
    for (let part = 0; part < parts; part++) {
      const rows = rowsOf((part * count) / parts, count / parts)
      const started = performance.now()
      const waiting = { isOver: false }
      const waited = measureWaits(service, waiting)
      const { created, refused } = await importRows(service, headers, rows)
      waiting.isOver = true
      if (created + refused !== count / parts || refused !== count / parts / badEvery)
        throw new Error(`unexpected result: ${created} created and ${refused} refused`)
      imports.push({ 'rows/s': (count / parts / (performance.now() - started)) * 1000 })
      waits.push(...(await waited))
      memory.push(residentBytes(service.pid) / 1e6)
    }
    const again = performance.now()
    const { unchanged } = await importRows(service, headers, rowsOf(0, count / parts))
    if (unchanged !== (count / parts) * (1 - 1 / badEvery))
      throw new Error('importing again changed user groups')
    const againSeconds = (performance.now() - again) / 1000
    const out = performance.now()
    const bytes = await exportRows(service, headers)
    const outSeconds = (performance.now() - out) / 1000
    return {
      title: `Import of ${count} rows, one of ${badEvery} bad, then the pages of the console (${store})`,
      rows: [
        { name: 'import', figures: summaries(imports) },
        {
          name: 'GET of a user group during the import',
          figures: summaries([{ 'p50, ms': quantile(waits, 0.5), 'p99, ms': quantile(waits, 0.99) }]),
        },
        { name: 'memory after each tenth', figures: summaries(memory.map((MB) => ({ MB }))) },
        { name: 'import again, unchanged', figures: summaries([{ 'rows/s': count / parts / againSeconds }]) },
        {
          name: 'export',
          figures: summaries([{ 'rows/s': (count * (1 - 1 / badEvery)) / outSeconds, MB: bytes / 1e6 }]),
        },
        ...(await pages(service, headers)),
      ],
      notes: [
        `Memory after the first tenth ${memory[0]?.toFixed(0)} MB, after the last ${memory.at(-1)?.toFixed(0)} MB.`,
      ],
    }
  } finally {
    await service.stop()
  }
}

/**
 * @param {number} first
 * @param {number} count
 */
export function* rowsOf(first, count) {
  const lines = 500
  for (let start = first; start < first + count; start += lines) {
    let text = ''
    for (let i = start; i < Math.min(start + lines, first + count); i++) {
      const row = {
        user_group_id: `customer-${i}`,
        name: i % badEvery === 0 ? 0 : `Customer number ${i}`,
        mapping: { sales: `warehouse-${i % 5000}` },
        properties: {
          region: i % 2 === 0 ? 'EU' : 'US',
          plan: i % 10_000 === 1 ? 'gold' : 'basic',
          seats: i % 300,
        },
      }
      text += `${JSON.stringify(row)}\n`
    }
    yield text
  }
}

/**
 * @param {import('../lib/service.js').Server} service
 * @param {Record<string, string>} headers
 * @param {Iterable<string>} rows
 * @returns {Promise<Summary>}
 */
export async function importRows({ origin }, headers, rows) {
  const importRequest = request(`${origin}/admin/v1/user-groups/import`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/x-ndjson' },
  })
  Readable.from(rows).pipe(importRequest)
  /** @type {import('node:http').IncomingMessage} */
  const response = await new Promise((resolve, reject) =>
    importRequest.once('response', resolve).once('error', reject),
  )
  let end = ''
  const texts = /** @type {AsyncIterable<string>} */ (response.setEncoding('utf8'))
  for await (const text of texts) end = `${end}${text}`.slice(-2000)
  const last = /** @type {{ summary: Summary }} */ (JSON.parse(end.trim().split('\n').at(-1) ?? ''))
  return last.summary
}

/**
 * @param {import('../lib/service.js').Server} service
 * @param {Record<string, string>} headers
 */
async function exportRows({ origin }, headers) {
  const response = await fetch(`${origin}/admin/v1/user-groups/export`, { headers })
  let bytes = 0
  for await (const chunk of /** @type {AsyncIterable<Uint8Array>} */ (response.body)) bytes += chunk.length
  return bytes
}

/**
 * Measures the response times of other clients, with sequential requests and pauses.
 * @param {import('../lib/service.js').Service} service
 * @param {{ isOver: boolean }} waiting
 */
async function measureWaits(service, waiting) {
  const token = service.token
  const waits = []
  while (!waiting.isOver) {
    const started = performance.now()
    const response = await fetch(`${service.origin}/api/user`, {
      method: 'POST',
      headers: {
        authorization: `Token ${token}`,
        'content-type': 'application/json',
        'x-http-method-override': 'GET',
      },
      body: '{"user_group_id":"waiting","name":"Waiting"}',
    })
    await response.text()
    if (response.status !== 200) throw new Error(`a GET during the import returned ${response.status}`)
    waits.push(performance.now() - started)
    await sleep(20)
  }
  return waits
}

/**
 * Measures the requests of each page of the console.
 * @param {import('../lib/service.js').Server} service
 * @param {Record<string, string>} headers
 */
async function pages({ origin }, headers) {
  const some = count / 2 + 1
  const paths = {
    'list of user groups': '/user-groups?limit=50',
    'search: id prefix': `/user-groups?limit=50&user_group_id_prefix=customer-${String(some).slice(0, 4)}`,
    'search: a name that many have': '/user-groups?limit=50&name=number%207',
    'search: a name that one has': `/user-groups?limit=50&name=number%20${some}`,
    'search: property that few have': '/user-groups?limit=50&property=/plan&property_value=gold',
    'search: data source': '/user-groups?limit=50&schema=sales&data_source=warehouse-7',
    'search: suspended': '/user-groups?limit=50&suspended=true',
    'one user group': '/user-groups/2/view',
    'its versions': '/user-groups/2/versions',
    'isolation report': '/isolation-findings?limit=50',
    'deleted user groups': '/deleted-user-groups',
    'API tokens': '/api-tokens',
    'data sources': '/data-sources',
  }
  const rows = []
  for (const [name, path] of Object.entries(paths)) {
    const rounds = []
    for (let i = 0; i < requestsPerPage; i++) {
      const started = performance.now()
      const response = await fetch(`${origin}/admin/v1${path}`, { headers })
      await response.text()
      if (response.status !== 200) throw new Error(`${path} returned ${response.status}`)
      rounds.push({ ms: performance.now() - started })
    }
    rows.push({ name, figures: summaries(rounds) })
  }
  return rows
}
