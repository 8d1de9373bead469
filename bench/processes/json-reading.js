// Reads the bodies that the load sends, strictly and plainly, and tells the parent process what each costs. One round a
// message, so that the parent can put rounds of load between them.
import { readStrictJson } from '../../server/dist/contract/json/strict-json.js'
import { bodyOf } from '../lib/bodies.js'
import { idAt, knownIds } from '../lib/ids.js'
import { answerEach } from '../lib/worker.js'

/**
 * @typedef {object} ReadingCosts
 * @property {number} strict microseconds of CPU time for each body
 * @property {number} plain microseconds of CPU time for each body, with `JSON.parse` alone
 */

const blocks = 20
/** Bytes to read in a block, so that bodies of all sizes take about as long. */
const bytesPerBlock = 4_000_000

/** Keeps what was read alive, so that no reading is optimised away. */
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

answerEach((size) => {
  const bodies = Array.from({ length: knownIds.count }, (_, index) =>
    Buffer.from(bodyOf(/** @type {import('../lib/bodies.js').BodySize} */ (size), idAt(knownIds, index))),
  )
  const bodiesPerBlock = Math.ceil(bytesPerBlock / (bodies[0]?.length ?? 1))
  let strict = 0
  let plain = 0
  // In short turns, so that whatever disturbs the machine disturbs both.
  for (let count = 0; count < blocks; count++) {
    strict += block(bodies, bodiesPerBlock, readStrictJson)
    plain += block(bodies, bodiesPerBlock, readPlainly)
  }
  if (kept === undefined) throw new Error('nothing was read')
  const bodiesRead = blocks * bodiesPerBlock
  /** @type {ReadingCosts} */
  const costs = { strict: strict / bodiesRead, plain: plain / bodiesRead }
  return costs
})
