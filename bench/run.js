// Runs the benchmarks on Linux: `npm run bench`, or `npm run bench -- CASE…` for some cases. `goals` runs the cases of most
// goals, and `pictures` draws the latest results. Prints a table per case and writes all figures to results/.
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { accessLog } from './cases/access-log.js'
import { postgresAlternatives, sqliteAlternatives } from './cases/alternatives.js'
import { audit, postgresAudit } from './cases/audit.js'
import { bulk, postgresBulk } from './cases/bulk.js'
import { citus } from './cases/citus.js'
import { postgresColdStart } from './cases/cold-start.js'
import { events, outbox, postgresEvents, postgresOutbox } from './cases/events.js'
import { byBodySize, byConnections, memory, postgresRows, rows, rowsLarge } from './cases/growth.js'
import { refusedFloods } from './cases/floods.js'
import { drawFlameGraph } from './cases/flame-graph.js'
import { hostileJson } from './cases/hostile-json.js'
import { interruptedFeed, postgresInterruptedFeed } from './cases/interrupted-feed.js'
import { isolation } from './cases/isolation.js'
import { leasedCache } from './cases/leased-cache.js'
import { metrics, metricsCheck, postgresMetrics, postgresMetricsCheck } from './cases/metrics.js'
import { mixed, postgresMixed } from './cases/mixed.js'
import { operations, postgresOperations } from './cases/operations.js'
import { overload, postgresOverload } from './cases/overload.js'
import { postgresDrivers } from './cases/postgres-drivers.js'
import { postgresSize } from './cases/postgres-size.js'
import { postgresSearch, search } from './cases/search.js'
import { strictJson } from './cases/strict-json.js'
import { start } from './cases/start.js'
import { traces } from './cases/traces.js'
import { usage } from './cases/usage.js'
import { postgresViewerSessions, viewerSessions } from './cases/viewer-sessions.js'
import { postgresWebhooks, webhooks } from './cases/webhooks.js'
import { postgresWorkers, workers } from './cases/workers.js'
import { judge } from './goals.js'
import { drawPictures, resultFolder } from './lib/pictures.js'
import { isTrial } from './lib/rounds.js'

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
  'postgres-cold-start': postgresColdStart,
  mixed,
  'postgres-mixed': postgresMixed,
  alternatives: sqliteAlternatives,
  'postgres-alternatives': postgresAlternatives,
  start,
  memory,
  rows,
  'rows-large': rowsLarge,
  'postgres-rows': postgresRows,
  connections: byConnections,
  'body-size': byBodySize,
  'flame-graph': drawFlameGraph,
  'strict-json': strictJson,
  'hostile-json': hostileJson,
  usage,
  'viewer-sessions': viewerSessions,
  'postgres-viewer-sessions': postgresViewerSessions,
  webhooks,
  'postgres-webhooks': postgresWebhooks,
  floods: refusedFloods,
  audit,
  'access-log': accessLog,
  'leased-cache': leasedCache,
  isolation,
  events,
  'interrupted-feed': interruptedFeed,
  outbox,
  traces,
  bulk,
  search,
  metrics,
  'metrics-check': metricsCheck,
  overload,
  workers,
  'postgres-audit': postgresAudit,
  'postgres-bulk': postgresBulk,
  'postgres-metrics': postgresMetrics,
  'postgres-metrics-check': postgresMetricsCheck,
  'postgres-overload': postgresOverload,
  'postgres-events': postgresEvents,
  'postgres-interrupted-feed': postgresInterruptedFeed,
  'postgres-outbox': postgresOutbox,
  'postgres-drivers': postgresDrivers,
  'postgres-search': postgresSearch,
  'postgres-size': postgresSize,
  'postgres-workers': postgresWorkers,
  citus,
}

const goalCases = [
  'operations',
  'postgres-operations',
  'postgres-cold-start',
  'memory',
  'mixed',
  'postgres-mixed',
]
/** Run only by name: seeding of the first takes longer than all other cases together, the second needs a cluster. */
const onlyByName = ['rows-large', 'citus']

const names = process.argv.slice(2)
const wanted = [
  ...new Set(
    names.length === 0
      ? Object.keys(cases).filter((name) => !onlyByName.includes(name))
      : names.flatMap((name) => (name === 'goals' ? goalCases : name === 'pictures' ? [] : name)),
  ),
]
const unknown = wanted.filter((name) => !(name in cases))
if (unknown.length > 0) {
  console.error(
    `Unknown case: ${unknown.join(', ')}. Cases are goals, pictures, ${Object.keys(cases).join(', ')}.`,
  )
  process.exit(1)
}

/** Trials are too short to report, so their results have other names. */
const filePrefix = isTrial ? 'trial-' : '2'
if (wanted.length > 0) await run()
if (names.length === 0 || names.includes('pictures')) drawPictures(filePrefix)

async function run() {
  const machine = `Node ${process.versions.node}, ${cpus().length} cores`
  /** @type {Record<string, Report>} */
  const reports = {}
  for (const name of wanted) {
    const report = await /** @type {Case} */ (cases[name])()
    reports[name] = report
    print(name, report)
  }
  const goals = judge(reports)
  if (goals.length > 0) printGoals(goals)
  mkdirSync(resultFolder, { recursive: true })
  const at = new Date().toISOString()
  const file = new URL(`${isTrial ? 'trial-' : ''}${at.replaceAll(':', '-')}.json`, resultFolder)
  writeFileSync(file, `${JSON.stringify({ at, machine, reports, goals }, null, 2)}\n`)
  console.log(`\n${machine}. All figures are in ${file.pathname}.`)
  if (isTrial) console.log('This was a trial: reported runs have at least five rounds.')
}

/**
 * Prints one line per figure: the median, minimum and maximum of the rounds.
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
  printTable([['', '', 'median', 'rounds'], ...lines])
  for (const note of notes) console.log(`\n  ${note}`)
}

/** @param {readonly import('./goals.js').Judgement[]} goals */
function printGoals(goals) {
  console.log('\ngoals, by the median of the rounds\n')
  printTable([
    ['', '', 'goal', 'figure', 'rounds'],
    ...goals.map(({ name, goal, figure: { median, min, max }, isMet }) => [
      name,
      isMet ? 'met' : 'missed',
      goal,
      readable(median),
      `${readable(min)} to ${readable(max)}`,
    ]),
  ])
}

/** @param {readonly string[][]} table the first two columns are left-aligned */
function printTable(table) {
  const widths = (table[0] ?? []).map((_, column) =>
    Math.max(...table.map((line) => line[column]?.length ?? 0)),
  )
  for (const line of table) {
    const cells = line.map((cell, column) =>
      column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
    )
    console.log(`  ${cells.join('   ')}`)
  }
}

/** @param {number} value */
function readable(value) {
  return value >= 1000 ? value.toFixed(0) : value.toPrecision(3)
}
