import { rowReaders } from '../../server/dist/contract/import/import-rows.js'
import { readRotationBody, readUserGroupBody } from '../../server/dist/contract/user/bodies.js'
import { cpuTime } from '../lib/cpu.js'
import { hostileBodies, plainBodies } from '../lib/hostile-bodies.js'
import { startService } from '../lib/service.js'
import { quantile, summaries } from '../lib/statistics.js'

const rounds = 7
const requestsPerRound = 20
const lineFeed = 0x0a
const readers = [readUserGroupBody, readRotationBody, readAsImport]
const bodies = Object.entries({ ...plainBodies, ...hostileBodies })

/**
 * Measures the CPU time for bodies of 1 MiB, compared with plain strings of the same size: for reading and validating, the highest of GET,
 * POST and a line of an import, and for whole GETs.
 * @type {import('../run.js').Case}
 */
export async function hostileJson() {
  const service = await startService()
  try {
    const reading = await measure(async (body) => {
      const all = []
      for (const read of readers) all.push(await msOf(read, body))
      return Math.max(...all)
    })
    return {
      title: 'Cost of a body of 1 MiB',
      rows: [
        ...rowsOf('reading: ', reading),
        ...rowsOf('whole GET: ', await measure((body) => msOfGet(service, body))),
      ],
    }
  } finally {
    await service.stop()
  }
}

/** @param {(body: Buffer) => Promise<number>} msOfBody */
async function measure(msOfBody) {
  const results = new Map(bodies.map(([name]) => [name, /** @type {number[]} */ ([])]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, body] of bodies) {
      const ms = await msOfBody(body)
      // The first round is a warm-up.
      if (round > 0) results.get(name)?.push(ms)
    }
  }
  return results
}

/**
 * @param {string} prefix
 * @param {ReadonlyMap<string, readonly number[]>} results
 */
function rowsOf(prefix, results) {
  const [plainName = NaN, plainProperties = NaN] = Object.keys(plainBodies).map((name) =>
    quantile(results.get(name) ?? [], 0.5),
  )
  return [...results].map(([name, all]) => ({
    name: prefix + name,
    figures: summaries(
      all.map((ms) => ({
        'CPU, ms': ms,
        '÷ plain name': ms / plainName,
        '÷ plain properties': ms / plainProperties,
      })),
    ),
  }))
}

/** @param {Buffer} body */
async function readAsImport(body) {
  if (body.includes(lineFeed)) return
  for await (const rows of rowReaders.ndjson(chunksOf(body)))
    if (rows.length > 1) throw new Error('not a row')
}

/** @param {Buffer} body */
async function* chunksOf(body) {
  yield await Promise.resolve(body)
}

/**
 * @param {(body: Buffer) => unknown} read
 * @param {Buffer} body
 */
async function msOf(read, body) {
  const before = process.cpuUsage()
  try {
    await read(body)
  } catch {
    // Most bodies are invalid.
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * @param {import('../lib/service.js').Service} service
 * @param {Buffer} body
 */
async function msOfGet({ origin, pid, token }, body) {
  const headers = { authorization: `Token ${token}`, 'content-type': 'application/json' }
  const before = cpuTime(pid)
  for (let i = 0; i < requestsPerRound; i++) {
    const response = await fetch(`${origin}/api/user/get-or-create`, {
      method: 'POST',
      headers,
      body: new Uint8Array(body),
    })
    await response.arrayBuffer()
    if (![200, 400].includes(response.status)) throw new Error(`a body got ${response.status}`)
  }
  return (cpuTime(pid) - before) / 1000 / requestsPerRound
}
