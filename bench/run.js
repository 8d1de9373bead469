// Runs the benchmarks: `npm run bench`, or `npm run bench -- CASE…` for some of them. Prints a table for each and writes
// all figures to results/. Runs on Linux only.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { accessLog } from './cases/access-log.js'
import { postgresAlternatives, sqliteAlternatives } from './cases/alternatives.js'
import { audit, postgresAudit } from './cases/audit.js'
import { bulk, postgresBulk } from './cases/bulk.js'
import { checkpoints } from './cases/checkpoints.js'
import { hostileJson } from './cases/hostile-json.js'
import { metrics, metricsCheck, postgresMetrics, postgresMetricsCheck } from './cases/metrics.js'
import { operations, postgresOperations } from './cases/operations.js'
import { overload, postgresOverload } from './cases/overload.js'
import { postgresDrivers } from './cases/postgres-drivers.js'
import { postgresSize } from './cases/postgres-size.js'
import { strictJson } from './cases/strict-json.js'
import { start } from './cases/start.js'
import { traces } from './cases/traces.js'
import { postgresWorkers, workers } from './cases/workers.js'

/**
 * @typedef {object} Report
 * @property {string} title
 * @property {{ name: string, figures: Record<string, import('./lib/statistics.js').Summary> }[]} rows
 * @property {string[]} [notes]
 */
/** @typedef {() => Promise<Report>} Case */

/** @type {Record<string, Case>} */
const cases = {
  operations,
  'postgres-operations': postgresOperations,
  alternatives: sqliteAlternatives,
  'postgres-alternatives': postgresAlternatives,
  'strict-json': strictJson,
  'hostile-json': hostileJson,
  audit,
  checkpoints,
  'access-log': accessLog,
  traces,
  bulk,
  metrics,
  'metrics-check': metricsCheck,
  overload,
  start,
  workers,
  'postgres-audit': postgresAudit,
  'postgres-bulk': postgresBulk,
  'postgres-metrics': postgresMetrics,
  'postgres-metrics-check': postgresMetricsCheck,
  'postgres-overload': postgresOverload,
  'postgres-drivers': postgresDrivers,
  'postgres-size': postgresSize,
  'postgres-workers': postgresWorkers,
}

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(cases)
const unknown = wanted.filter((name) => !(name in cases))
if (unknown.length > 0) {
  console.error(`no such case: ${unknown.join(', ')}; there are ${Object.keys(cases).join(', ')}`)
  process.exit(1)
}

const machine = `Node ${process.versions.node}, ${cpus().length} cores`
/** @type {Record<string, Report>} */
const reports = {}
for (const name of wanted) {
  const report = await /** @type {Case} */ (cases[name])()
  reports[name] = report
  print(name, report)
}

const folder = new URL('results/', import.meta.url)
mkdirSync(folder, { recursive: true })
const at = new Date().toISOString()
const file = new URL(`${at.replaceAll(':', '-')}.json`, folder)
writeFileSync(file, `${JSON.stringify({ at, machine, reports }, null, 2)}\n`)
console.log(`\n${machine}; all figures are in ${file.pathname}`)

/**
 * One line a figure: the median of the rounds, and between which values they were.
 * @param {string} name
 * @param {Report} report
 */
function print(name, { title, rows, notes = [] }) {
  console.log(`\n${name}: ${title}\n`)
  const lines = rows.flatMap((row) =>
    Object.entries(row.figures).map(([figure, { median, min, max }], index) => [
      index === 0 ? row.name : '',
      figure,
      readable(median),
      `${readable(min)} to ${readable(max)}`,
    ]),
  )
  const table = [['', '', 'median', 'rounds'], ...lines]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((line) => line[column]?.length ?? 0)))
  for (const line of table) {
    const cells = line.map((cell, column) =>
      column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
    console.log(`  ${cells.join('   ')}`)
  }
  for (const note of notes) console.log(`\n  ${note}`)
}

/** @param {number} value */
function readable(value) {
  return value >= 1000 ? value.toFixed(0) : value.toPrecision(3)
}
