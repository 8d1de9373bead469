// Runs statements like the store's with one of the drivers and reports the number of rows to the parent process. One message
// runs one round.
import pg from 'pg'
import { requirePackage } from '../../scripts/install-packages.js'
import { idAt } from '../lib/ids.js'
import { coalescedInsert, coalescedSelect, typicalRow } from '../lib/user-groups.js'
import { handleMessages } from '../lib/worker.js'

/**
 * @typedef {object} DriverSetting
 * @property {'pg' | 'postgres'} driver
 * @property {number} connections
 * @property {'pipeline' | 'binary' | 'pool'} [mode] of pg: pipelined statements, binary results, or a pooled
 * connection per statement
 */
/**
 * @typedef {object} DriverLoad
 * @property {string} url
 * @property {'select' | 'insert'} statement
 * @property {DriverSetting} setting
 * @property {number} rows of a statement
 * @property {number} inFlight statements at once
 * @property {import('../lib/ids.js').Ids} ids
 * @property {number} seconds
 */
/** @typedef {{ rows: number, seconds: number }} DriverResult */
/**
 * @typedef {object} Postgres the parts of the package `postgres` in use here
 * @property {(value: unknown, type: number) => unknown} typed
 * @property {(text: string, values: unknown[], options: { prepare: boolean }) => Promise<readonly unknown[]>} unsafe
 */
/** @typedef {(text: string, name: string, values: unknown[]) => Promise<readonly unknown[]>} Run */

/** The type bytea[]. */
const bytesArray = 1001

/**
 * @param {string} url
 * @param {DriverSetting} setting
 * @returns {Promise<Run[]>} one per connection, or a single one if the driver distributes the statements
 */
async function open(url, { driver, connections, mode }) {
  if (driver === 'postgres') {
    const bigint = { to: 20, from: [20], parse: Number, serialize: String }
    const postgres = /** @type {(url: string, options: object) => Postgres} */ (
      requirePackage('bench/alternatives', 'postgres')
    )
    const sql = postgres(url, { max: connections, types: { bigint } })
    // The driver would send an array of Buffers as a single value.
    const typed = (/** @type {unknown} */ value) =>
      Array.isArray(value) && Buffer.isBuffer(value[0]) ? sql.typed(value, bytesArray) : value
    return [(text, _name, values) => sql.unsafe(text, values.map(typed), { prepare: true })]
  }
  const types = new pg.TypeOverrides()
  types.setTypeParser(pg.types.builtins.INT8, Number)
  types.setTypeParser(pg.types.builtins.INT8, 'binary', (bytes) => Number(bytes.readBigInt64BE()))
  types.setTypeParser(pg.types.builtins.BYTEA, 'binary', (bytes) => bytes)
  const config = { connectionString: url, types, pipeline: mode === 'pipeline', binary: mode === 'binary' }
  /** @type {(queryable: pg.Client | pg.Pool) => Run} */
  const runOn = (queryable) => async (text, name, values) => {
    /** @type {{ rows: unknown[] }} */
    const { rows } = await queryable.query({ text, name, values })
    return rows
  }
  if (mode === 'pool') return [runOn(new pg.Pool({ ...config, max: connections }))]
  return Promise.all(
    Array.from({ length: connections }, async () => {
      const client = new pg.Client(config)
      await client.connect()
      return runOn(client)
    }),
  )
}

/** Distance between the ids of a statement. It is coprime to their number, so that ids do not repeat. */
const step = 3001
let next = 0

/** @param {DriverLoad} load */
function idsOf({ statement, ids, rows }) {
  if (statement === 'insert') return Array.from({ length: rows }, () => idAt(ids, next++))
  const first = Math.floor(Math.random() * ids.count)
  return Array.from({ length: rows }, (_, i) => idAt(ids, (first + i * step) % ids.count))
}

let hashes = 0

/**
 * @param {readonly string[]} ids
 * @returns {unknown[]}
 */
function insertValues(ids) {
  const { name, mapping, properties, keyId, sealed } = typicalRow
  const now = Date.now()
  const bytes = Buffer.from(sealed.slice(2), 'hex')
  return [
    ids,
    ids.map(() => name),
    ids.map(() => mapping),
    ids.map(() => properties),
    ids.map(() => {
      const hash = Buffer.alloc(32)
      // Random, like a hash.
      hash.writeDoubleBE(Math.random())
      hash.writeUInt32BE(process.pid, 8)
      hash.writeUInt32BE(hashes++, 12)
      return hash
    }),
    ids.map(() => keyId),
    ids.map(() => bytes),
    ids.map(() => now),
  ]
}

/** @type {Promise<Run[]> | undefined} */
let opened

/**
 * @param {DriverLoad} load
 * @returns {Promise<DriverResult>}
 */
async function run(load) {
  opened ??= open(load.url, load.setting)
  const connections = await opened
  next = 0
  let rows = 0
  const started = performance.now()
  const end = started + load.seconds * 1000
  await Promise.all(
    Array.from({ length: load.inFlight }, async (_, index) => {
      const runStatement = /** @type {Run} */ (connections[index % connections.length])
      while (performance.now() < end) {
        const ids = idsOf(load)
        const found =
          load.statement === 'select'
            ? await runStatement(coalescedSelect, 'select', [1, 'Testing', ids])
            : await runStatement(coalescedInsert, 'insert', [1, 'Testing', ...insertValues(ids)])
        if (found.length !== ids.length) throw new Error(`${found.length} rows of ${ids.length}`)
        rows += found.length
      }
    }),
  )
  return { rows, seconds: (performance.now() - started) / 1000 }
}

handleMessages((load) => run(/** @type {DriverLoad} */ (load)))
