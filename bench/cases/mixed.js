import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { compare } from '../lib/compare.js'
import { changedIds, freshIds, manyKnownIds, rotatedIds } from '../lib/ids.js'
import { loadRound } from '../lib/load.js'
import { openLoopFigures, sentLate } from '../lib/open-loop.js'
import { findProgram, withDatabase } from '../lib/postgres.js'
import { seedUserGroups } from '../lib/seed.js'
import { startService } from '../lib/service.js'
import { summaries } from '../lib/statistics.js'
import { startWorker } from '../lib/worker.js'
import { importRows, rowsOf } from './bulk.js'

/**
 * Requests of several operations at a fixed rate. The shares are percentages.
 * @typedef {object} MixedLoad
 * @property {string} origin
 * @property {number} requestsPerSecond
 * @property {number} seconds
 * @property {(Pick<import('../lib/load.js').Load, 'operation' | 'token' | 'ids' | 'order' | 'expected' | 'locatorKey'> & { share: number })[]} parts
 */
/** @typedef {import('../lib/open-loop.js').OpenLoopResult} OpenLoopResult */
/** @typedef {import('../lib/service.js').Service} Service */
/** @typedef {import('../lib/postgres.js').Database} Database */

const rates = [1000, 5000]
/** 10,000 requests at the lower rate, so that ten of them are above p99.9. */
const seconds = 10
const size = 'typical'
const known = { ...manyKnownIds, count: 20_000 }
/** More than a run rotates. */
const rotatedInARun = 1000
const maxRuns = 200
const imported = Number(process.env.BENCH_USER_GROUPS ?? 1_000_000)
const backupEveryMs = 10_000
/** A timer of the load generator is up to 1 ms late. */
const maxLateMs = 2

/** @type {import('../run.js').Case} */
export const mixed = () => measure()

/** @type {import('../run.js').Case} */
export const postgresMixed = () => withDatabase(measure)

/**
 * Measures latencies of a mixed load at fixed rates, also beside an import, backups, checkpoints and housekeeping.
 * @param {Database} [database]
 * @returns {Promise<import('../run.js').Report>}
 */
async function measure(database) {
  const service = await startService(database?.url)
  const worker = startWorker('mixed-load.js')
  try {
    for (const ids of [known, changedIds, { ...rotatedIds, count: maxRuns * rotatedInARun }])
      await seedUserGroups(database?.client ?? service.file, ids)
    await database?.client.query('VACUUM (ANALYZE)')
    const mix = await mixOf(service)
    const run = async (/** @type {number} */ requestsPerSecond) =>
      /** @type {OpenLoopResult} */ (
        await worker.ask({ origin: service.origin, requestsPerSecond, seconds, parts: mix() })
      )
    const { rows } = await compare(
      rates.map((rate) => ({
        name: `${rate.toLocaleString('en')}/s`,
        round: async () => openLoopFigures([await run(rate)]),
      })),
    )
    rows.push({
      name: `1,000/s beside an import of ${imported.toLocaleString('en')} rows, backups, checkpoints and housekeeping`,
      figures: summaries([await besideOtherWork(() => run(1000), service, database)]),
    })
    return {
      title: `90 % unchanged GET, 6 % introspection, 2 % create, 1 % change, 1 % rotate at a fixed rate, ${database ? `PostgreSQL ${database.version}` : 'SQLite'}`,
      rows,
      notes: rows
        .filter(({ figures }) => (figures[sentLate]?.median ?? NaN) > maxLateMs)
        .map(({ name }) => `${name}: the load generator was late, so latencies are upper bounds.`),
    }
  } finally {
    await worker.stop()
    await service.stop()
  }
}

/**
 * Fills the response cache and returns a function that returns the operations of a run.
 * @param {Service} service
 */
async function mixOf(service) {
  const { token } = service
  const locatorKey = await service.readLocatorKey?.()
  let runs = 0
  const get = { token, ids: known, expected: '"new_user_group":false' }
  const introspection = {
    ...{ operation: /** @type {const} */ ('introspect'), ids: known, expected: '"active":true' },
    token: await service.createToken('introspect'),
  }
  for (const load of [get, get, introspection, introspection])
    await loadRound({ ...service, token: load.token }, { size, order: 'once', seconds: 600, ...load })
  return () => [
    { ...get, share: 90, order: 'random' },
    { ...introspection, locatorKey, share: 6, order: 'random' },
    { token, ids: freshIds(), share: 2, order: 'once', expected: '"new_user_group":true' },
    { ...get, operation: 'put', ids: changedIds, share: 1, order: 'random' },
    {
      token,
      locatorKey,
      operation: 'rotate',
      share: 1,
      order: 'once',
      ids: { ...rotatedIds, first: rotatedIds.first + rotatedInARun * runs++, count: rotatedInARun },
      expected: '"token":"ugt_testing_',
    },
  ]
}

/**
 * Repeats a run until an import has ended. Each backup is followed by a checkpoint and by the deletion of audit events.
 * @param {() => Promise<OpenLoopResult>} run
 * @param {Service} service
 * @param {Database | undefined} database
 */
async function besideOtherWork(run, service, database) {
  const headers = { authorization: `Token ${await service.createToken('admin')}` }
  const folder = mkdtempSync(join(tmpdir(), 'ugs-bench-'))
  const started = performance.now()
  let importSeconds = 0
  let backups = 0
  const importing = importRows(service, headers, rowsOf(0, imported)).then(() => {
    importSeconds = (performance.now() - started) / 1000
  })
  const maintain = async () => {
    while (importSeconds === 0) {
      const file = join(folder, `backup-${backups++}`)
      // SQLite's checkpoints come with the import.
      if (database === undefined) await service.ugs('backup', file)
      else {
        await promisify(execFile)(findProgram('pg_dump'), ['--format=custom', `--file=${file}`, database.url])
        await database.client.query('CHECKPOINT')
      }
      await service.ugs('audit', 'prune', '--older-than', '1m')
      rmSync(file, { recursive: true })
      await sleep(backupEveryMs)
    }
  }
  const measureAll = async () => {
    const results = []
    while (importSeconds === 0) results.push(await run())
    return results
  }
  try {
    const [results] = await Promise.all([measureAll(), importing, maintain()])
    return {
      ...openLoopFigures(results),
      'import, rows/s': imported / importSeconds,
      backups,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
