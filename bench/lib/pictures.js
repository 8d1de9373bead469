import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { barChart } from './bar-chart.js'

/** @typedef {import('../run.js').Report} Report */

export const resultFolder = new URL('../results/', import.meta.url)
export const imageFolder = new URL('../../docs/images/', import.meta.url)

/** Suffixes and prefixes of row names that become the names of groups. */
const byConnections = /, (\d+ connections?)$/
const byOperation = /: (.+)$/
const byRequest = /^(GET, unchanged|GET that creates), /

/** @type {Record<string, { file: string, title: string, groupBy?: RegExp, isService: (name: string) => boolean }>} */
const pictures = {
  operations: {
    file: 'operations.svg',
    title: 'SQLite: requests a second',
    groupBy: byConnections,
    isService: isOperation,
  },
  'postgres-operations': {
    file: 'postgres-operations.svg',
    title: 'PostgreSQL: requests a second',
    groupBy: byConnections,
    isService: isOperation,
  },
  alternatives: {
    file: 'alternatives.svg',
    title: 'SQLite, 32 connections: requests a second',
    groupBy: byOperation,
    isService: (name) => name === 'service',
  },
  'postgres-alternatives': {
    file: 'postgres-alternatives.svg',
    title: 'PostgreSQL, 32 connections: requests a second',
    groupBy: byOperation,
    isService: (name) => name === 'service',
  },
  rows: { file: 'rows.svg', title: 'SQLite: GET, unchanged, requests a second', isService: () => true },
  connections: {
    file: 'connections.svg',
    title: 'SQLite: requests a second',
    groupBy: byConnections,
    isService: () => true,
  },
  'body-size': {
    file: 'body-size.svg',
    title: 'SQLite: requests a second',
    groupBy: byRequest,
    isService: () => true,
  },
}

/** @param {string} name */
function isOperation(name) {
  return /^(GET|PUT|POST|introspection)/.test(name)
}

/**
 * Draws the results of the latest run of each case.
 * @param {string} prefix of the result files' names
 */
export function drawPictures(prefix) {
  const files = readdirSync(resultFolder)
    .filter((file) => file.startsWith(prefix))
    .sort()
  /** @type {Record<string, Report>} */
  const reports = Object.assign(
    {},
    ...files.map((file) => {
      /** @type {{ reports: Record<string, Report> }} */
      const result = JSON.parse(readFileSync(new URL(file, resultFolder), 'utf8'))
      return result.reports
    }),
  )
  mkdirSync(imageFolder, { recursive: true })
  for (const [name, { file, title, groupBy, isService }] of Object.entries(pictures)) {
    const report = reports[name]
    if (report === undefined) continue
    writeFileSync(new URL(file, imageFolder), barChart(title, groupsOf(report, isService, groupBy)))
    console.log(`docs/images/${file}`)
  }
}

/**
 * Groups the rows by name. Throughput, if a row has it, is its first figure.
 * @param {Report} report
 * @param {(name: string) => boolean} isService
 * @param {RegExp} [groupBy]
 */
function groupsOf({ rows }, isService, groupBy) {
  /** @type {Map<string, import('./bar-chart.js').BarGroup>} */
  const groups = new Map()
  for (const { name, figures } of rows) {
    const [figure = '', summary] = Object.entries(figures)[0] ?? []
    if (summary === undefined || !figure.endsWith('/s')) continue
    const own = groupBy === undefined ? name : name.replace(groupBy, '')
    const groupName = groupBy?.exec(name)?.[1] ?? ''
    const group = groups.get(groupName) ?? { name: groupName, bars: [] }
    groups.set(groupName, group)
    group.bars.push({ name: own, summary, isService: isService(own) })
  }
  return [...groups.values()]
}
