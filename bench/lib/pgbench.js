import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { cpuTimeOfEnded } from './cpu.js'
import { findProgram } from './postgres.js'

/**
 * @typedef {object} PgbenchRun
 * @property {string} script one transaction
 * @property {Record<string, string | number>} [variables] initial variables of the script
 * @property {number} clients connections, each with sequential transactions
 * @property {number} threads of pgbench
 * @property {number} seconds
 */

/**
 * @typedef {object} PgbenchRound
 * @property {number} transactions
 * @property {number} transactionsPerSecond
 * @property {number} averageMs
 * @property {number} cpuMicroseconds of pgbench, per transaction
 * @property {number} serverCpuMicroseconds of PostgreSQL, per transaction; NaN if the server is not a child process
 */

/**
 * Runs pgbench with prepared statements.
 * @param {import('./postgres.js').Database} database
 * @param {PgbenchRun} run
 * @returns {Promise<PgbenchRound>}
 * @throws {Error} if any transaction failed
 */
export async function pgbenchRound(database, { script, variables = {}, clients, threads, seconds }) {
  const url = new URL(database.url)
  const password = decodeURIComponent(url.password)
  url.password = ''
  const cpuBefore = cpuTimeOfEnded(process.pid)
  const serverBefore = database.cpuTime()
  const child = spawn(
    findProgram('pgbench'),
    [
      '--no-vacuum',
      '--protocol=prepared',
      `--client=${clients}`,
      `--jobs=${threads}`,
      `--time=${seconds}`,
      ...Object.entries(variables).map(([name, value]) => `--define=${name}=${value}`),
      '--file=-',
      url.href,
    ],
    { env: { PATH: process.env.PATH, LC_ALL: 'C', PGPASSWORD: password } },
  )
  child.stdin.end(script)
  const [output, problems, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    /** @type {Promise<[number | null]>} */ (once(child, 'exit')),
  ])
  const number = (/** @type {RegExp} */ pattern) => Number(pattern.exec(output)?.[1])
  const transactions = number(/transactions actually processed: (\d+)/)
  // Before version 15 pgbench does not count failures: a failure ends its client and sets the exit code.
  const failures = output.includes('failed transactions') ? number(/failed transactions: (\d+)/) : 0
  if (code !== 0 || failures !== 0 || !(transactions > 0)) {
    throw new Error(`pgbench ended with ${code}, and ${failures} transactions failed: ${problems}`)
  }
  return {
    transactions,
    transactionsPerSecond: number(/tps = ([\d.]+) \((?:without|excluding)/),
    averageMs: number(/latency average = ([\d.]+) ms/),
    cpuMicroseconds: (cpuTimeOfEnded(process.pid) - cpuBefore) / transactions,
    serverCpuMicroseconds: (database.cpuTime() - serverBefore) / transactions,
  }
}

/** @param {PgbenchRound} round */
export function pgbenchFigures(round) {
  return {
    'transactions/s': round.transactionsPerSecond,
    'average, ms': round.averageMs,
    'CPU/transaction, µs': round.cpuMicroseconds,
    'PostgreSQL, µs': round.serverCpuMicroseconds,
  }
}
