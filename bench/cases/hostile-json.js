import { readRotationBody, readUserGroupBody } from '../../server/dist/contract/user/bodies.js'
import { summaries } from '../lib/statistics.js'

const rounds = 7
const bytes = 1024 * 1024 - 64

/**
 * Builds a body of nearly 1 MiB.
 * @param {string} open
 * @param {string | ((i: number) => string)} piece
 * @param {string} close
 */
function filled(open, piece, close) {
  const pieces = []
  let length = open.length + close.length
  for (let i = 0; ; i++) {
    const next = typeof piece === 'string' ? piece : piece(i)
    length += next.length
    if (length > bytes) return Buffer.from(open + pieces.join('') + close)
    pieces.push(next)
  }
}

const start = '{"user_group_id":"a","name":"A","properties":'

/** @type {Record<string, Buffer>} */
const bodies = {
  'records of an export': filled(
    `${start}{"a":[`,
    (i) => `{"id":${i},"name":"name ${i}","region":"EU","is_active":true},`,
    '0]}}',
  ),
  'escapes in a string': filled(`${start}{"a":"`, '\\n', '"}}'),
  'escapes in a key': filled(`${start}{"`, '\\\\', '":0}}'),
  'keys of one length': filled(`${start}{`, (i) => `"${String(i).padStart(10, 'k')}":0,`, '"":0}}'),
  'keys "0" to "n"': filled(`${start}{`, (i) => `"${i}":0,`, '"":0}}'),
  'keys of digits that are far from each other': filled(
    `${start}{`,
    (i) => `"${(i + 1) * 65_536}":0,`,
    '"":0}}',
  ),
  'strings of digits that share their low bits': filled(
    `${start}{"a":[`,
    (i) => `"${((i + 1) * 131_072) % 2 ** 32}",`,
    '0]}}',
  ),
  'a duplicate after many keys': filled(`${start}{`, (i) => `"k${i}":0,`, '"k0":0}}'),
  'numbers that are slow to compare': filled(`${start}{"a":[`, `${5n ** 1074n}e-1074,`, '0]}}'),
  'numbers with 17 digits': filled(`${start}{"a":[`, '1.7976931348623157e308,', '0]}}'),
  'arrays in arrays': filled(`${start}{"a":`, '[', ''),
  'empty objects': filled(`${start}{"a":[`, '{},', '0]}}'),
  'unknown fields': filled('{', (i) => `"k${i}":0,`, '"user_group_id":"a"}'),
  'a mapping of invalid values': filled('{"user_group_id":"a","mapping":{', (i) => `"${i}":[],`, '"":0}}'),
}

/**
 * Measures the CPU time for parsing and validating the worst bodies, compared with a harmless body of the same size. The process
 * serves no other request meanwhile.
 * @type {import('../run.js').Case}
 */
export function hostileJson() {
  const results = new Map(
    Object.keys(bodies).map((name) => [name, /** @type {Record<string, number>[]} */ ([])]),
  )
  for (let round = 0; round <= rounds; round++) {
    let harmless = 0
    for (const [name, body] of Object.entries(bodies)) {
      const took = Math.max(msOf(readUserGroupBody, body), msOf(readRotationBody, body))
      harmless = harmless === 0 ? took : harmless
      // The first round is a warm-up.
      if (round > 0) results.get(name)?.push({ 'CPU, ms': took, 'times the first': took / harmless })
    }
  }
  const rows = [...results].map(([name, figures]) => ({ name, figures: summaries(figures) }))
  return Promise.resolve({ title: 'Cost of a body of 1 MiB, the higher of GET and POST', rows })
}

/**
 * @param {(bytes: Buffer) => unknown} read
 * @param {Buffer} body
 */
function msOf(read, body) {
  const before = process.cpuUsage()
  try {
    read(body)
  } catch {
    // Most bodies are invalid.
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
