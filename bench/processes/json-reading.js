// Parses the load's bodies with the strict reader and with JSON.parse, and reports the CPU time of each to the parent process.
// One message runs one round, so that the parent can alternate with rounds of load.
import { readStrictJson } from '../../server/dist/contract/json/strict-json.js'
import { bodyOf } from '../lib/bodies.js'
import { idAt, knownIds } from '../lib/ids.js'
import { handleMessages } from '../lib/worker.js'

/**
 * @typedef {object} ReadingCosts
 * @property {number} strict CPU time per body, in microseconds
 * @property {number} plain CPU time per body with `JSON.parse` alone, in microseconds
 */

const blocks = 20
/** Bytes per block, so that blocks of all body sizes take about the same time. */
const bytesPerBlock = 4_000_000

/** Keeps the results, so that V8 cannot optimize the parsing away. */
let kept = /** @type {unknown} */ (undefined)

/**
 * @param {readonly Buffer[]} bodies
 * @param {number} bodiesPerBlock
 * @param {(bytes: Buffer) => unknown} read
 */
function block(bodies, bodiesPerBlock, read) {
  const before = process.cpuUsage()
  for (let count = 0; count < bodiesPerBlock; count++)
    kept = read(/** @type {Buffer} */ (bodies[count % bodies.length]))
  const { user, system } = process.cpuUsage(before)
  return user + system
}

/** @param {Buffer} bytes */
const readPlainly = (bytes) => /** @type {unknown} */ (JSON.parse(bytes.toString('utf8')))

handleMessages((size) => {
  const bodies = Array.from({ length: knownIds.count }, (_, index) =>
    Buffer.from(bodyOf(/** @type {import('../lib/bodies.js').BodySize} */ (size), idAt(knownIds, index))),
  )
  const bodiesPerBlock = Math.ceil(bytesPerBlock / (bodies[0]?.length ?? 1))
  let strict = 0
  let plain = 0
  // Short alternating blocks, so that a disturbance of the machine affects both.
  for (let count = 0; count < blocks; count++) {
    strict += block(bodies, bodiesPerBlock, readStrictJson)
    plain += block(bodies, bodiesPerBlock, readPlainly)
  }
  if (kept === undefined) throw new Error('no body was parsed')
  const bodiesRead = blocks * bodiesPerBlock
  /** @type {ReadingCosts} */
  const costs = { strict: strict / bodiesRead, plain: plain / bodiesRead }
  return costs
})
